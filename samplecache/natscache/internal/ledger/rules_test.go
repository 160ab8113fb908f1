package ledger

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

var (
	two    = engine.Config{Samples: 2}
	alone  = engine.Config{Samples: 1, Retain: -1, MaxHeld: -1} // only the latest is kept
	second = engine.Config{Samples: 1, Retain: -1, MaxHeld: -1, MaxHold: time.Second}
	ratio  = engine.Config{Samples: 4, MaxHold: time.Hour, Limits: engine.Limits{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3}}
	passes = engine.Config{Samples: 2, Limits: engine.Limits{MinPasses: 1, MaxPasses: 1}}
)

func TestMessages(t *testing.T) {
	check(t, []rule{
		{"a process begins with its first message", two, func(c *cache, a, b uint64) {
			require.Equal(c.t, &Member{Host: "host-a", PID: 100, Number: 1, Heard: 1}, c.Processes["a"])
		}},
		{"a message counts once", two, func(c *cache, a, b uint64) {
			c.send("a", Event{Kind: Join})
			things, heard := len(c.Things), c.Processes["a"].Heard
			s := c.apply(c.last)
			require.Equal(c.t, Step{Process: "a"}, s)
			require.Len(c.t, c.Things, things)
			require.Equal(c.t, heard, c.Processes["a"].Heard, "what does not count is no sign of life")
		}},
		{"an older message does not count", two, func(c *cache, a, b uint64) {
			old := c.encode("a", Event{Kind: Join})
			c.send("a", Event{Kind: Join})
			things := len(c.Things)
			require.Nil(c.t, c.apply(old).Outcomes)
			require.Len(c.t, c.Things, things)
		}},
		{"the number 0 does not count", two, func(c *cache, a, b uint64) {
			c.numbers["a"] = math.MaxUint64
			require.Nil(c.t, c.send("a", Event{Kind: Join}).Outcomes)
		}},
		{"the greatest number is the last", two, func(c *cache, a, b uint64) {
			c.numbers["a"] = math.MaxUint64 - 1
			c.ok("a", Event{Kind: Join})
			c.numbers["a"] = 1
			require.Nil(c.t, c.send("a", Event{Kind: Join}).Outcomes)
		}},
		{"the messages of a process that never began do not count", two, func(c *cache, a, b uint64) {
			before := c.state()
			require.Nil(c.t, c.send("x", Event{Kind: Join}).Outcomes)
			c.numbers["x"] = 5
			require.Nil(c.t, c.send("x", Event{Kind: Process}, Event{Kind: Join}).Outcomes, "it is not the first message")
			c.numbers["x"] = 0
			require.Nil(c.t, c.send("x", Event{Kind: Join}, Event{Kind: Process}).Outcomes, "it is not the first event")
			c.numbers["x"] = 0
			require.Nil(c.t, c.send("x").Outcomes, "it has no events")
			require.Nil(c.t, c.Processes["x"])
			require.Equal(c.t, before, c.state())
		}},
		{"the messages of a process that is gone do not count", two, func(c *cache, a, b uint64) {
			c.ok("b", Event{Kind: Gone, Name: "a"})
			before := c.state()
			require.Nil(c.t, c.send("a", Event{Kind: Process}, Event{Kind: Join}).Outcomes)
			require.Equal(c.t, before, c.state())
		}},
		{"each event finds what the one before left", two, func(c *cache, a, b uint64) {
			s := c.send("a", Event{Kind: Claim, Of: a, Name: "n"}, Event{Kind: Claim, Of: a, Name: "n"}, Event{Kind: Hold, Of: a, Generation: 1})
			require.Len(c.t, s.Outcomes, 3)
			require.NoError(c.t, s.Outcomes[0].Err)
			require.ErrorIs(c.t, s.Outcomes[1].Err, engine.ErrProducerBusy)
			require.ErrorIs(c.t, s.Outcomes[2].Err, engine.ErrGenerationGone)
		}},
		{"to begin again is nothing", two, func(c *cache, a, b uint64) {
			c.ok("a", Event{Kind: Process, Host: "other", PID: 5})
			require.Equal(c.t, "host-a", c.Processes["a"].Host)
			require.NotNil(c.t, c.Things[a])
		}},
		{"every message is a sign of life", two, func(c *cache, a, b uint64) {
			c.ok("a", Event{Kind: Tick})
			require.Equal(c.t, c.Seq, c.Processes["a"].Heard)
		}},
	})
}

// TestRefusals has messages that cannot be applied. They leave the ledger as it is.
func TestRefusals(t *testing.T) {
	good := func(c *cache) []byte { return c.encode("a", Event{Kind: Join}) }
	tests := []struct {
		name string
		seq  int // after the next
		data func(c *cache) []byte
		want error
		text string
	}{
		{"a message that comes again", -1, good, engine.ErrCorrupt, "event 2: corrupt: it follows event 2"},
		{"a message that is missing", 1, good, engine.ErrCorrupt, "event 4: corrupt: it follows event 2"},
		{"nothing", 0, func(*cache) []byte { return nil }, engine.ErrCorrupt, "its checksum differs"},
		{"less than a checksum", 0, func(*cache) []byte { return []byte("00000000") }, engine.ErrCorrupt, "its checksum differs"},
		{"no text", 0, func(*cache) []byte { return []byte("00000000 ") }, engine.ErrCorrupt, "unexpected end of JSON input"},
		{"an altered text", 0, func(c *cache) []byte {
			data := good(c)
			data[len(data)-2] ^= 1
			return data
		}, engine.ErrCorrupt, "its checksum differs"},
		{"a number beyond its type", 0, func(*cache) []byte { return summed(`{"process":"a","number":1e30}`) }, engine.ErrCorrupt, "number"},
		{"a negative number", 0, func(*cache) []byte { return summed(`{"process":"a","number":-1}`) }, engine.ErrCorrupt, "number"},
		{"an unknown kind", 0, func(c *cache) []byte { return c.encode("a", Event{Kind: Join}, Event{Kind: "fold"}) }, ErrVersion,
			`event 3: written by a newer version: got an event "fold"`},
		{"an unknown kind of an unknown process", 0, func(c *cache) []byte { return c.encode("x", Event{Kind: ""}) }, ErrVersion, `got an event ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCache(t, two)
			c.join("a", "b")
			before, err := c.Encode()
			require.NoError(t, err)
			s, err := c.Apply(c.Seq+1+uint64(tt.seq), c.at.Add(time.Hour), tt.data(c))
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			require.Zero(t, s)
			after, err := c.Encode()
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
			c.bounds()
		})
	}
}

// TestOfWhat has, for each kind, each kind of thing that it may be about. All others are refused,
// and so are those of other processes and those that have ended.
func TestOfWhat(t *testing.T) {
	about := map[Kind][]Kind{
		Process: nil, Tick: nil, Gone: nil, Join: nil,
		Claim: {Join}, Forget: {Join}, Hold: {Join}, Enter: {Join},
		Reserve: {Claim}, Commit: {Reserve}, Begin: {Enter}, Take: {Begin},
		End: {Join, Claim, Reserve, Hold, Enter, Begin},
	}
	require.Equal(t, len(kinds), len(about), "a kind has no row")
	// things returns a cache with a thing of each kind, of process a.
	things := func(t *testing.T) (*cache, map[Kind]uint64) {
		c := newCache(t, engine.Config{Samples: 3})
		of := map[Kind]uint64{Join: c.join("a", "b")[0]}
		claim := c.ok("a", Event{Kind: Claim, Of: of[Join], Name: "n"})
		for n := range uint64(4) {
			c.put("a", claim, n)
		}
		of[Claim] = claim
		of[Reserve] = c.ok("a", Event{Kind: Reserve, Of: claim, Number: 9})
		of[Hold] = c.ok("a", Event{Kind: Hold, Of: of[Join], Generation: 1})
		of[Enter] = c.ok("a", Event{Kind: Enter, Of: of[Join], Name: "g", World: 2})
		of[Begin] = c.ok("a", Event{Kind: Begin, Of: of[Enter], Epoch: 1})
		other := c.ok("a", Event{Kind: Claim, Of: of[Join], Name: "old"})
		c.put("a", other, 0)
		c.ok("a", Event{Kind: End, Of: other})
		return c, of
	}
	// event returns an event that succeeds.
	event := func(kind Kind, of uint64) Event {
		return map[Kind]Event{
			Claim: {Name: "other"}, Forget: {Name: "old"}, Hold: {Generation: 1}, Enter: {Name: "g", World: 2},
			Reserve: {Number: 10}, Commit: committed(of), Begin: {Epoch: 2}, Take: {Count: 1}, End: {},
		}[kind].with(kind, of)
	}
	for kind, right := range about {
		if right == nil {
			continue
		}
		_, all := things(t)
		for what := range all {
			c, of := things(t)
			e := event(kind, of[what])
			allowed := false
			for _, k := range right {
				allowed = allowed || k == what
			}
			if kind == Reserve { // there is no more room
				c.ok("a", Event{Kind: End, Of: of[Reserve]})
				of[Reserve] = math.MaxUint64
			}
			t.Run(fmt.Sprintf("%s of a %s", kind, what), func(t *testing.T) {
				c.t = t
				c.fails("b", ErrLost, e)
				c.fails("a", ErrLost, event(kind, 0))
				c.fails("a", ErrLost, event(kind, math.MaxUint64))
				if !allowed {
					c.fails("a", ErrLost, e)
					return
				}
				c.ok("a", e)
				if kind == End || kind == Commit {
					c.fails("a", ErrLost, e)
				}
			})
		}
	}
	for _, what := range about[End] {
		t.Run(fmt.Sprintf("an event of a %s that has ended", what), func(t *testing.T) {
			c, of := things(t)
			c.ok("a", Event{Kind: End, Of: of[what]})
			for kind, right := range about {
				if right != nil {
					c.fails("a", ErrLost, event(kind, of[what]))
				}
			}
		})
	}
}

// with returns e with a kind and a thing.
func (e Event) with(kind Kind, of uint64) Event {
	e.Kind, e.Of = kind, of
	return e
}

func TestEnds(t *testing.T) {
	// everything has a session claim, reserve, hold and enter, and begin a pass.
	everything := func(c *cache, process string, session uint64) {
		claim := c.ok(process, Event{Kind: Claim, Of: session, Name: "name-" + process})
		c.ok(process, Event{Kind: Hold, Of: session, Generation: 1})
		c.ok(process, Event{Kind: Reserve, Of: claim})
		seat := c.ok(process, Event{Kind: Enter, Of: session, Name: "g", World: 4})
		c.ok(process, Event{Kind: Begin, Of: seat, Epoch: 1})
	}
	full := func(check func(c *cache, a, b uint64)) func(c *cache, a, b uint64) {
		return func(c *cache, a, b uint64) {
			c.fill("a", c.ok("a", Event{Kind: Claim, Of: a}))
			everything(c, "a", a)
			check(c, a, b)
		}
	}
	// nothing checks that only b's session is left.
	nothing := func(c *cache, b uint64) {
		require.Len(c.t, c.Things, 1)
		require.NotNil(c.t, c.Things[b])
		require.Empty(c.t, c.claims)
		require.Empty(c.t, c.holds)
		require.Empty(c.t, c.holders)
		require.Zero(c.t, c.reserved)
		require.Empty(c.t, c.Groups.List)
	}
	check(t, []rule{
		{"a session ends with all it has", two, full(func(c *cache, a, b uint64) {
			s := c.send("a", Event{Kind: End, Of: a})
			require.True(c.t, s.Wakes)
			require.Len(c.t, s.Freed, 1)
			require.EqualValues(c.t, 2, s.Freed[0].Generation)
			nothing(c, b)
			require.NotNil(c.t, c.Processes["a"])
		})},
		{"another session of the process goes on", two, full(func(c *cache, a, b uint64) {
			other := c.ok("a", Event{Kind: Join})
			claim := c.ok("a", Event{Kind: Claim, Of: other, Name: "x"})
			c.ok("a", Event{Kind: End, Of: a})
			require.Len(c.t, c.Things, 3)
			c.put("a", claim, 0)
		})},
		{"a process ends with all it has", two, full(func(c *cache, a, b uint64) {
			s := c.send("b", Event{Kind: Gone, Name: "a"})
			require.True(c.t, s.Wakes)
			require.Len(c.t, s.Freed, 1)
			nothing(c, b)
			require.Nil(c.t, c.Processes["a"])
		})},
		{"a process with many sessions ends with all of them", engine.Config{Samples: 20}, func(c *cache, a, b uint64) {
			var rows []Freed
			for range 10 {
				session := c.ok("a", Event{Kind: Join})
				claim := c.ok("a", Event{Kind: Claim, Of: session})
				rows = append(rows, Freed{1, c.ok("a", Event{Kind: Reserve, Of: claim})})
			}
			s := c.send("b", Event{Kind: Gone, Name: "a"})
			require.Equal(c.t, rows, s.Freed, "in their order")
			nothing(c, b)
		}},
		{"a process may say itself that it is gone", two, full(func(c *cache, a, b uint64) {
			s := c.send("a", Event{Kind: Tick}, Event{Kind: Gone, Name: "a"}, Event{Kind: Join}, Event{Kind: Tick}, Event{Kind: Process})
			require.NoError(c.t, s.Outcomes[1].Err)
			for _, o := range s.Outcomes[2:] {
				require.ErrorIs(c.t, o.Err, ErrLost)
			}
			nothing(c, b)
		})},
		{"a process that is gone is gone once", two, func(c *cache, a, b uint64) {
			c.ok("b", Event{Kind: Gone, Name: "a"})
			c.fails("b", ErrLost, Event{Kind: Gone, Name: "a"})
			c.fails("b", ErrLost, Event{Kind: Gone, Name: "never"})
		}},
		{"a process that was heard meanwhile is not gone", two, func(c *cache, a, b uint64) {
			heard := c.Processes["a"].Heard
			c.ok("a", Event{Kind: Tick})
			c.fails("b", ErrLost, Event{Kind: Gone, Name: "a", Number: heard})
			require.NotNil(c.t, c.Things[a])
		}},
		{"a process that was silent is gone", two, func(c *cache, a, b uint64) {
			c.ok("a", Event{Kind: Tick})
			c.ok("b", Event{Kind: Gone, Name: "a", Number: c.Processes["a"].Heard})
			require.Nil(c.t, c.Things[a])
		}},
		{"a message that does not count does not save a process", two, func(c *cache, a, b uint64) {
			c.ok("a", Event{Kind: Tick})
			heard, again := c.Processes["a"].Heard, c.last
			c.apply(again)
			c.ok("b", Event{Kind: Gone, Name: "a", Number: heard})
		}},
		{"a life ends the one before it", two, func(c *cache, a, b uint64) {
			s := c.send("a2", Event{Kind: Process}, Event{Kind: Gone, Name: "a"}, Event{Kind: Join})
			require.NoError(c.t, s.Outcomes[1].Err)
			require.NoError(c.t, s.Outcomes[2].Err)
			require.Nil(c.t, c.Things[a])
		}},
		{"a row that ends is free", two, func(c *cache, a, b uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: a})
			one, other := c.ok("a", Event{Kind: Reserve, Of: claim}), c.ok("a", Event{Kind: Reserve, Of: claim})
			require.Zero(c.t, c.Free())
			s := c.send("a", Event{Kind: End, Of: other}, Event{Kind: End, Of: one})
			require.True(c.t, s.Wakes)
			require.Equal(c.t, []Freed{{1, one}, {1, other}}, s.Freed)
			require.Equal(c.t, 2, c.Free())
			require.NotNil(c.t, c.Things[claim])
		}},
		{"a claim that ends is free", two, func(c *cache, a, b uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: a, Name: "n"})
			c.fails("b", engine.ErrProducerBusy, Event{Kind: Claim, Of: b, Name: "n"})
			c.ok("a", Event{Kind: End, Of: claim})
			c.ok("b", Event{Kind: Claim, Of: b, Name: "n"})
		}},
		{"a hold that ends gives a generation back, with the last one", alone, func(c *cache, a, b uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: a})
			c.fill("a", claim)
			one := c.ok("a", Event{Kind: Hold, Of: a, Generation: 1})
			other := c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			c.fill("a", claim)
			require.Zero(c.t, c.Free(), "generation 1 is held")
			require.False(c.t, c.send("a", Event{Kind: End, Of: one}).Wakes)
			s := c.send("b", Event{Kind: End, Of: other})
			require.Equal(c.t, []uint64{1}, s.Dropped)
			require.True(c.t, s.Wakes)
			require.Equal(c.t, 1, c.Free())
		}},
		{"a pass goes on after its seat", passes, func(c *cache, a, b uint64) {
			c.fill("a", c.ok("a", Event{Kind: Claim, Of: a}))
			seat := c.ok("a", Event{Kind: Enter, Of: a, Name: "g", World: 1})
			pass := c.ok("a", Event{Kind: Begin, Of: seat})
			c.ok("a", Event{Kind: End, Of: seat})
			require.NotNil(c.t, c.Things[pass])
			require.Equal(c.t, 1, c.one("a", Event{Kind: Take, Of: pass, Count: 1}).Count)
			c.ok("a", Event{Kind: End, Of: pass})
			require.Empty(c.t, c.Groups.List)
		}},
	})
}

func TestNames(t *testing.T) {
	named := func(name string, check func(c *cache, claim, a, b uint64)) func(c *cache, a, b uint64) {
		return func(c *cache, a, b uint64) {
			check(c, c.ok("a", Event{Kind: Claim, Of: a, Name: name}), a, b)
		}
	}
	check(t, []rule{
		{"one session has a name", two, named("n", func(c *cache, claim, a, b uint64) {
			for _, process := range []string{"a", "b"} {
				o := c.fails(process, engine.ErrProducerBusy, Event{Kind: Claim, Of: map[string]uint64{"a": a, "b": b}[process], Name: "n"})
				require.ErrorContains(c.t, o.Err, "by pid 100 on host-a")
			}
		})},
		{"all share the empty name, and its numbers are not remembered", two, named("", func(c *cache, claim, a, b uint64) {
			other := c.ok("b", Event{Kind: Claim, Of: b})
			require.NotEqual(c.t, claim, other)
			c.put("a", claim, 3)
			c.put("b", other, 3)
			c.put("b", other, math.MaxUint64)
			require.Empty(c.t, c.Names)
			c.fails("a", engine.ErrProducer, Event{Kind: Forget, Of: a})
		})},
		{"a committed number is refused", two, named("n", func(c *cache, claim, a, b uint64) {
			c.put("a", claim, 0)
			c.put("a", claim, 2)
			c.fails("a", engine.ErrCommitted, Event{Kind: Reserve, Of: claim, Number: 0})
			c.fails("a", engine.ErrCommitted, Event{Kind: Reserve, Of: claim, Number: 2})
			c.put("a", claim, 1)
			require.Equal(c.t, engine.Window{Floor: 3}, c.Names["n"])
		})},
		{"a number out of reach is refused", two, named("n", func(c *cache, claim, a, b uint64) {
			o := c.fails("a", engine.ErrProducer, Event{Kind: Reserve, Of: claim, Number: engine.WindowSize})
			require.ErrorContains(c.t, o.Err, "got number 64, want at most 63")
			c.fails("a", engine.ErrProducer, Event{Kind: Reserve, Of: claim, Number: math.MaxUint64})
			c.put("a", claim, engine.WindowSize-1)
			c.put("a", claim, 0)
			c.put("a", claim, engine.WindowSize)
		})},
		{"two rows of one number: the first commit counts", two, named("n", func(c *cache, claim, a, b uint64) {
			one, other := c.ok("a", Event{Kind: Reserve, Of: claim, Number: 1}), c.ok("a", Event{Kind: Reserve, Of: claim, Number: 1})
			c.ok("a", committed(other))
			c.fails("a", engine.ErrCommitted, committed(one))
			c.ok("a", Event{Kind: End, Of: one})
			c.put("a", claim, 0)
			require.Equal(c.t, engine.Window{Floor: 2}, c.Names["n"])
		})},
		{"a row that outlives its claim does not put its number once more", two, named("n", func(c *cache, claim, a, b uint64) {
			row := c.ok("a", Event{Kind: Reserve, Of: claim, Number: 0})
			c.ok("a", Event{Kind: End, Of: claim})
			c.put("b", c.ok("b", Event{Kind: Claim, Of: b, Name: "n"}), 0)
			c.fails("a", engine.ErrCommitted, committed(row))
		})},
		{"a row whose name was forgotten is refused if its number is out of reach now", engine.Config{Samples: 80}, named("n", func(c *cache, claim, a, b uint64) {
			c.put("a", claim, 0)
			row := c.ok("a", Event{Kind: Reserve, Of: claim, Number: engine.WindowSize})
			c.ok("a", Event{Kind: End, Of: claim})
			c.ok("a", Event{Kind: Forget, Of: a, Name: "n"})
			o := c.fails("a", engine.ErrProducer, committed(row))
			require.ErrorContains(c.t, o.Err, "got number 64, want at most 63")
			require.NotContains(c.t, c.Names, "n")
		})},
		{"a number that is aborted may come again", two, named("n", func(c *cache, claim, a, b uint64) {
			row := c.ok("a", Event{Kind: Reserve, Of: claim, Number: 0})
			c.ok("a", Event{Kind: End, Of: row})
			c.put("a", claim, 0)
		})},
		{"a claim gets the numbers of those before", two, named("n", func(c *cache, claim, a, b uint64) {
			c.put("a", claim, 0)
			c.put("a", claim, 5)
			c.ok("a", Event{Kind: End, Of: claim})
			o := c.one("b", Event{Kind: Claim, Of: b, Name: "n"})
			require.Equal(c.t, engine.Window{Floor: 1, Above: 1 << 4}, o.Window)
		})},
		{"names outlive the generations", alone, named("n", func(c *cache, claim, a, b uint64) {
			for n := range uint64(5) {
				c.put("a", claim, n)
			}
			require.Equal(c.t, []uint64{5}, c.kept())
			c.fails("a", engine.ErrCommitted, Event{Kind: Reserve, Of: claim, Number: 0})
		})},
		{"a claimed name is not forgotten", two, named("n", func(c *cache, claim, a, b uint64) {
			c.put("a", claim, 0)
			c.fails("a", engine.ErrProducerBusy, Event{Kind: Forget, Of: a, Name: "n"})
			c.fails("b", engine.ErrProducerBusy, Event{Kind: Forget, Of: b, Name: "n"})
		})},
		{"a forgotten name begins anew", two, named("n", func(c *cache, claim, a, b uint64) {
			c.put("a", claim, 0)
			c.ok("a", Event{Kind: End, Of: claim})
			c.ok("b", Event{Kind: Forget, Of: b, Name: "n"})
			c.fails("b", engine.ErrProducer, Event{Kind: Forget, Of: b, Name: "n"})
			o := c.one("b", Event{Kind: Claim, Of: b, Name: "n"})
			require.Equal(c.t, engine.Window{}, o.Window)
			c.put("b", o.ID, 0)
		})},
		{"a name under which nothing was put is not known", two, named("n", func(c *cache, claim, a, b uint64) {
			c.ok("a", Event{Kind: End, Of: claim})
			c.fails("a", engine.ErrProducer, Event{Kind: Forget, Of: a, Name: "n"})
		})},
		{"a name that is committed and claimed is one name", engine.Config{Samples: maxNames}, named("name 0", func(c *cache, claim, a, b uint64) {
			c.fast = true
			c.put("a", claim, 0)
			for n := 1; n < maxNames-1; n++ {
				claim := c.Last + 1
				s := c.send("a", Event{Kind: Claim, Of: a, Name: fmt.Sprint("name ", n)}, Event{Kind: Reserve, Of: claim}, committed(claim+1))
				for _, o := range s.Outcomes {
					require.NoError(c.t, o.Err, "name %d", n)
				}
			}
			c.ok("b", Event{Kind: Claim, Of: b, Name: "the last"})
			c.fails("b", engine.ErrProducer, Event{Kind: Claim, Of: b, Name: "one more"})
		})},
		{"there are 4096 names, committed or claimed", two, named("name 0", func(c *cache, claim, a, b uint64) {
			c.fast = true
			c.put("a", claim, 0)
			c.ok("a", Event{Kind: End, Of: claim})
			for n := 1; n < maxNames; n++ {
				c.ok("a", Event{Kind: Claim, Of: a, Name: fmt.Sprint("name ", n)})
			}
			o := c.fails("b", engine.ErrProducer, Event{Kind: Claim, Of: b, Name: "one more"})
			require.ErrorContains(c.t, o.Err, "there are 4096 names already")
			c.ok("b", Event{Kind: Claim, Of: b})
			claim = c.ok("b", Event{Kind: Claim, Of: b, Name: "name 0"})
			c.ok("b", Event{Kind: End, Of: claim})
			c.ok("b", Event{Kind: Forget, Of: b, Name: "name 0"})
			c.ok("b", Event{Kind: Claim, Of: b, Name: "one more"})
		})},
	})
}

func TestRows(t *testing.T) {
	free := func(check func(c *cache, claim, a, b uint64)) func(c *cache, a, b uint64) {
		return func(c *cache, a, b uint64) { check(c, c.ok("a", Event{Kind: Claim, Of: a}), a, b) }
	}
	check(t, []rule{
		{"there is room for Samples rows", two, free(func(c *cache, claim, a, b uint64) {
			require.Equal(c.t, 2, c.Free())
			c.ok("a", Event{Kind: Reserve, Of: claim})
			require.Equal(c.t, 1, c.Free())
			row := c.ok("a", Event{Kind: Reserve, Of: claim})
			require.Zero(c.t, c.Free())
			c.fails("a", engine.ErrBlocked, Event{Kind: Reserve, Of: claim})
			c.ok("a", committed(row))
			c.fails("a", engine.ErrBlocked, Event{Kind: Reserve, Of: claim})
		})},
		{"the last commit publishes", two, free(func(c *cache, claim, a, b uint64) {
			one, other := c.ok("a", Event{Kind: Reserve, Of: claim, Number: 4}), c.ok("a", Event{Kind: Reserve, Of: claim, Number: 5})
			require.EqualValues(c.t, 1, c.one("a", committed(other)).Generation)
			require.Zero(c.t, c.Latest)
			require.Nil(c.t, c.Kept[1])
			s := c.send("a", committed(one))
			require.True(c.t, s.Wakes)
			require.EqualValues(c.t, 1, s.Outcomes[0].Generation)
			require.EqualValues(c.t, 1, c.Latest)
			require.Equal(c.t, c.at.UnixNano(), c.Swapped)
			require.Equal(c.t, []Record{
				{Row: other, Number: 5, Time: c.at.UnixNano() - 1e6, Sums: []uint32{7}, At: []uint64{other}},
				{Row: one, Number: 4, Time: c.at.UnixNano(), Sums: []uint32{7}, At: []uint64{one}},
			}, c.Generation(1).Rows, "in the order of commits")
			require.Equal(c.t, 2, c.Free())
		})},
		{"sums are as many as leaves, and chunks as the charter says", two, free(func(c *cache, claim, a, b uint64) {
			row := c.ok("a", Event{Kind: Reserve, Of: claim})
			for _, e := range []Event{
				{}, {Sums: []uint32{1}}, {At: []uint64{1}}, {Sums: []uint32{1, 2}, At: []uint64{1}}, {Sums: []uint32{1}, At: []uint64{1, 2}},
			} {
				o := c.fails("a", engine.ErrCorrupt, e.with(Commit, row))
				require.ErrorContains(c.t, o.Err, fmt.Sprintf("got %d sums and %d chunks, want 1 and 1", len(e.Sums), len(e.At)))
			}
			c.ok("a", committed(row))
		})},
		{"a row is committed once", two, free(func(c *cache, claim, a, b uint64) {
			row := c.ok("a", Event{Kind: Reserve, Of: claim})
			c.ok("a", committed(row))
			c.fails("a", ErrLost, committed(row))
			c.fails("a", ErrLost, Event{Kind: End, Of: row})
		})},
		{"Committed knows rows of generations that are kept, and of the next", alone, free(func(c *cache, claim, a, b uint64) {
			first := c.ok("a", Event{Kind: Reserve, Of: claim})
			require.Equal(c.t, [2]bool{false, true}, both(c.Committed(1, first)))
			c.ok("a", committed(first))
			require.Equal(c.t, [2]bool{true, true}, both(c.Committed(1, first)))
			require.Equal(c.t, [2]bool{false, true}, both(c.Committed(2, first)), "it is in another")
			require.Equal(c.t, [2]bool{false, false}, both(c.Committed(3, first)))
			require.Equal(c.t, [2]bool{false, false}, both(c.Committed(0, first)))
			c.fill("a", claim)
			require.Equal(c.t, [2]bool{false, false}, both(c.Committed(1, first)), "it is gone")
		})},
		{"a full generation waits for passes", passes, free(func(c *cache, claim, a, b uint64) {
			seat := c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 1})
			c.fill("a", claim)
			c.put("a", claim, 0)
			c.put("a", claim, 1)
			require.EqualValues(c.t, 1, c.Latest)
			require.Zero(c.t, c.Free())
			require.Equal(c.t, `group "g", which has taken 0 rows of generation 1, want 2`, c.Stats(0).PublishWaits)
			pass := c.ok("b", Event{Kind: Begin, Of: seat})
			require.Equal(c.t, 2, c.one("b", Event{Kind: Take, Of: pass, Count: 2}).Count)
			require.EqualValues(c.t, 2, c.Latest, "the take publishes")
		})},
		{"a group that leaves publishes", passes, free(func(c *cache, claim, a, b uint64) {
			c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 1})
			c.fill("a", claim)
			c.put("a", claim, 0)
			c.put("a", claim, 1)
			require.EqualValues(c.t, 1, c.Latest)
			s := c.send("a", Event{Kind: Gone, Name: "b"})
			require.True(c.t, s.Wakes)
			require.EqualValues(c.t, 2, c.Latest)
		})},
	})
}

func both(a, b bool) [2]bool { return [2]bool{a, b} }

func TestKept(t *testing.T) {
	free := func(check func(c *cache, claim, a, b uint64)) func(c *cache, a, b uint64) {
		return func(c *cache, a, b uint64) { check(c, c.ok("a", Event{Kind: Claim, Of: a}), a, b) }
	}
	held := engine.Config{Samples: 1, Retain: 1, MaxHeld: 2}
	check(t, []rule{
		{"only what is published is held", two, free(func(c *cache, claim, a, b uint64) {
			c.fails("a", engine.ErrGenerationGone, Event{Kind: Hold, Of: a, Generation: 1})
			c.fails("a", engine.ErrGenerationGone, Event{Kind: Hold, Of: a, Generation: 0})
			c.fill("a", claim)
			o := c.one("a", Event{Kind: Hold, Of: a, Generation: 1})
			require.NoError(c.t, o.Err)
			require.EqualValues(c.t, 1, o.Generation)
			c.ok("a", Event{Kind: Hold, Of: a, Generation: 1}) // again
			require.Equal(c.t, 2, c.holds[1])
		})},
		{"Retain generations are kept besides the latest", engine.Config{Samples: 1, Retain: 3}, free(func(c *cache, claim, a, b uint64) {
			for range 6 {
				c.fill("a", claim)
			}
			require.Equal(c.t, []uint64{3, 4, 5, 6}, c.kept())
			c.fails("a", engine.ErrGenerationGone, Event{Kind: Hold, Of: a, Generation: 2})
		})},
		{"with a negative Retain, only the latest is kept", alone, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			s := c.send("a", Event{Kind: Reserve, Of: claim})
			s = c.send("a", committed(s.Outcomes[0].ID))
			require.Equal(c.t, []uint64{1}, s.Dropped)
			require.Equal(c.t, []uint64{2}, c.kept())
		})},
		{"chunks before the oldest generation that is kept are of no use", held, free(func(c *cache, claim, a, b uint64) {
			put := func(at ...uint64) Step {
				row := c.ok("a", Event{Kind: Reserve, Of: claim})
				return c.send("a", Event{Kind: Commit, Of: row, Sums: []uint32{7}, At: at})
			}
			require.Zero(c.t, put(3).Below)
			hold := c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			put(11)
			put(12)
			s := put(13)
			require.Equal(c.t, []uint64{2}, s.Dropped)
			require.EqualValues(c.t, 3, s.Below, "generation 1 is held")
			s = c.send("b", Event{Kind: End, Of: hold})
			require.Equal(c.t, []uint64{1}, s.Dropped)
			require.EqualValues(c.t, 12, s.Below)
		})},
		{"MaxHeld generations are held, and then there is no room", held, free(func(c *cache, claim, a, b uint64) {
			var holds []uint64
			for id := uint64(1); id <= 3; id++ {
				c.fill("a", claim)
				holds = append(holds, c.ok("b", Event{Kind: Hold, Of: b, Generation: id}))
			}
			c.fill("a", claim)
			require.Equal(c.t, []uint64{1, 2, 3, 4}, c.kept())
			require.Equal(c.t, []uint64{1, 2}, c.Stats(0).Held)
			require.Equal(c.t, 1, c.Free())
			c.fill("a", claim)
			require.Equal(c.t, []uint64{1, 2, 3, 4, 5}, c.kept())
			c.fails("a", engine.ErrBlocked, Event{Kind: Reserve, Of: claim})
			require.Contains(c.t, c.Stats(0).PublishWaits, "readers: MaxHeld is 2, and generations [1 2 3]")
			c.ok("b", Event{Kind: Hold, Of: b, Generation: 1}) // what is kept may be held again
			c.ok("a", Event{Kind: Hold, Of: a, Generation: 5}) // is not kept only for its readers
			second := c.ok("a", Event{Kind: Hold, Of: a, Generation: 2})
			require.Equal(c.t, []engine.HolderStats{{Generation: 1, PID: 101, Host: "host-b"}, {Generation: 2, PID: 101, Host: "host-b"},
				{Generation: 2, PID: 100, Host: "host-a"}, {Generation: 3, PID: 101, Host: "host-b"}}, c.Stats(0).Holders)
			c.ok("a", Event{Kind: End, Of: second})
			c.ok("b", Event{Kind: End, Of: holds[1]})
			require.Equal(c.t, []uint64{1, 3, 4, 5}, c.kept())
			require.Equal(c.t, 1, c.Free())
			require.Empty(c.t, c.Stats(0).PublishWaits)
		})},
		{"a generation of an open epoch is kept", alone, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			seat := c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 1})
			o := c.one("b", Event{Kind: Begin, Of: seat, Epoch: 7})
			require.EqualValues(c.t, 1, o.Generation)
			c.fill("a", claim)
			require.Equal(c.t, []uint64{1, 2}, c.kept())
			require.Equal(c.t, []uint64{1}, c.send("b", Event{Kind: End, Of: o.ID}).Dropped)
		})},
		{"after MaxHold a generation is gone, whoever holds it", second, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			hold := c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			require.Zero(c.t, c.Due())
			c.fill("a", claim)
			require.Equal(c.t, c.at.Add(time.Second).UnixNano(), c.Due())
			c.at = time.Unix(0, c.Due()).Add(-2 * time.Millisecond)
			require.Empty(c.t, c.send("b", Event{Kind: Tick}).Dropped)
			require.Zero(c.t, c.Free())
			s := c.send("b", Event{Kind: Tick})
			require.Equal(c.t, []uint64{1}, s.Dropped)
			require.True(c.t, s.Wakes)
			require.Zero(c.t, c.Due())
			require.Equal(c.t, 1, c.Free())
			c.fails("b", engine.ErrGenerationGone, Event{Kind: Hold, Of: b, Generation: 1})
			c.ok("b", Event{Kind: End, Of: hold})
			require.Empty(c.t, c.holds)
		})},
		{"time passes with messages that do not count", second, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			c.fill("a", claim)
			c.at = c.at.Add(time.Hour)
			s := c.apply(c.last)
			require.Nil(c.t, s.Outcomes)
			require.Equal(c.t, []uint64{1}, s.Dropped)
			require.True(c.t, s.Wakes)
		})},
		{"without MaxHold nothing is due", alone, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			c.fill("a", claim)
			require.Zero(c.t, c.Due())
			c.at = c.at.Add(1000 * time.Hour)
			c.ok("b", Event{Kind: Tick})
			require.Equal(c.t, []uint64{1, 2}, c.kept())
		})},
		{"a MaxHold beyond the end of time is none", engine.Config{Samples: 1, Retain: -1, MaxHeld: -1, MaxHold: math.MaxInt64}, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			c.fill("a", claim)
			require.Zero(c.t, c.Due())
			c.at = time.Unix(0, math.MaxInt64-1e9)
			c.ok("b", Event{Kind: Tick})
			require.Equal(c.t, []uint64{1, 2}, c.kept())
		})},
		{"the generation retired first is due first", engine.Config{Samples: 1, Retain: -1, MaxHeld: 3, MaxHold: time.Second}, free(func(c *cache, claim, a, b uint64) {
			var retired []int64
			for id := uint64(1); id <= 4; id++ {
				c.fill("a", claim)
				retired = append(retired, c.at.UnixNano())
				c.ok("b", Event{Kind: Hold, Of: b, Generation: id})
			}
			require.Equal(c.t, retired[1]+int64(time.Second), c.Due())
		})},
		{"time does not go backwards", second, free(func(c *cache, claim, a, b uint64) {
			c.fill("a", claim)
			c.ok("b", Event{Kind: Hold, Of: b, Generation: 1})
			now := c.Now
			c.at = start.Add(-1000 * time.Hour)
			c.fill("a", claim)
			require.Equal(c.t, now, c.Now)
			require.Equal(c.t, now, c.Swapped)
			require.Equal(c.t, now, c.Kept[2].Rows[0].Time)
			require.Equal(c.t, now+int64(time.Second), c.Due())
			require.Equal(c.t, []uint64{1, 2}, c.kept())
		})},
	})
}

func TestGroups(t *testing.T) {
	entered := func(check func(c *cache, claim, seat, a, b uint64)) func(c *cache, a, b uint64) {
		return func(c *cache, a, b uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: a})
			check(c, claim, c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 2}), a, b)
		}
	}
	check(t, []rule{
		{"a group has World members", two, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fails("a", engine.ErrGroup, Event{Kind: Enter, Of: a, Name: "g", World: 1})
			c.ok("a", Event{Kind: Enter, Of: a, Name: "g", World: 2})
			c.fails("a", engine.ErrGroup, Event{Kind: Enter, Of: a, Name: "g", World: 2})
			c.ok("a", Event{Kind: Enter, Of: a, Name: "h", World: 1})
			c.fails("a", engine.ErrGroup, Event{Kind: Enter, Of: a, Name: "i", World: 1 << 20})
		})},
		{"a group has at least one rank", two, func(c *cache, a, b uint64) {
			for _, world := range []int{0, -1, math.MinInt} {
				o := c.fails("a", engine.ErrGroup, Event{Kind: Enter, Of: a, Name: "g", World: world})
				require.ErrorContains(c.t, o.Err, fmt.Sprintf("got %d ranks, want at least 1", world))
			}
		}},
		{"a pass waits for the first generation", two, entered(func(c *cache, claim, seat, a, b uint64) {
			require.ErrorIs(c.t, c.Begins(seat, 1), engine.ErrBlocked)
			c.fails("b", engine.ErrBlocked, Event{Kind: Begin, Of: seat, Epoch: 1})
			c.fill("a", claim)
			require.NoError(c.t, c.Begins(seat, 1))
			c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})
		})},
		{"an epoch has one generation", two, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			require.EqualValues(c.t, 1, c.one("b", Event{Kind: Begin, Of: seat, Epoch: 1}).Generation)
			c.fill("a", claim)
			other := c.ok("a", Event{Kind: Enter, Of: a, Name: "g", World: 2})
			require.EqualValues(c.t, 1, c.one("a", Event{Kind: Begin, Of: other, Epoch: 1}).Generation)
			require.EqualValues(c.t, 2, c.one("a", Event{Kind: Begin, Of: other, Epoch: 2}).Generation)
		})},
		{"a new epoch gets the generation that it wants", two, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			c.fill("a", claim)
			require.EqualValues(c.t, 1, c.one("b", Event{Kind: Begin, Of: seat, Epoch: 1, Generation: 1}).Generation)
		})},
		{"a generation that is gone is refused, or replaced by the latest", alone, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			c.fill("a", claim)
			c.fails("b", engine.ErrGenerationGone, Event{Kind: Begin, Of: seat, Epoch: 1, Generation: 1})
			c.fails("b", engine.ErrGenerationGone, Event{Kind: Begin, Of: seat, Epoch: 1, Generation: 9})
			require.EqualValues(c.t, 2, c.one("b", Event{Kind: Begin, Of: seat, Epoch: 1, Generation: 1, OrLatest: true}).Generation)
			require.EqualValues(c.t, 2, c.one("b", Event{Kind: Begin, Of: seat, Epoch: 2, Generation: 9, OrLatest: true}).Generation)
		})},
		{"OrLatest does not replace one that is kept", two, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			c.fill("a", claim)
			require.EqualValues(c.t, 1, c.one("b", Event{Kind: Begin, Of: seat, Epoch: 1, Generation: 1, OrLatest: true}).Generation)
		})},
		{"an epoch of an older generation than one that all ranks have left is over at once", ratio, func(c *cache, a, b uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: a})
			c.fill("a", claim)
			c.fill("a", claim)
			seat := c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 1})
			other := c.ok("a", Event{Kind: Enter, Of: a, Name: "other", World: 1})
			c.ok("b", Event{Kind: End, Of: c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})})
			pass := c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 2, Generation: 1})
			require.Equal(c.t, 100, c.one("b", Event{Kind: Take, Of: pass, Count: 100}).Count, "its rows were counted")
			before := *c.Groups.Group("g")
			c.ok("a", Event{Kind: End, Of: other})
			require.Equal(c.t, before, *c.Groups.Group("g"), "another group changes it")
		}},
		{"an epoch older than the last eight is gone", two, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			for epoch := uint64(1); epoch <= 9; epoch++ {
				c.ok("b", Event{Kind: Begin, Of: seat, Epoch: epoch})
			}
			c.fails("b", engine.ErrGenerationGone, Event{Kind: Begin, Of: seat, Epoch: 1})
		})},
		{"no pass beyond MaxPasses", passes, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})
			require.ErrorIs(c.t, c.Begins(seat, 2), engine.ErrBlocked)
			require.NoError(c.t, c.Begins(seat, 1), "the epoch has begun")
			c.fails("b", engine.ErrBlocked, Event{Kind: Begin, Of: seat, Epoch: 2})
		})},
		{"what limits say of rows", ratio, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			pass := c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})
			allowed, group := c.Allows(pass)
			require.True(c.t, allowed)
			require.Equal(c.t, "g", group)
			before := c.state()
			c.Allows(pass)
			require.Equal(c.t, before, c.state(), "Allows counts nothing")
			s := c.send("b", Event{Kind: Take, Of: pass, Count: 100})
			require.Equal(c.t, []Outcome{{Count: 5}}, s.Outcomes, "(4-1)*1 - 5 = -2")
			require.True(c.t, s.Wakes)
			allowed, _ = c.Allows(pass)
			require.False(c.t, allowed)
			c.fails("b", engine.ErrBlocked, Event{Kind: Take, Of: pass, Count: 1})
			row := c.ok("a", Event{Kind: Reserve, Of: claim})
			s = c.send("a", committed(row))
			require.True(c.t, s.Wakes, "the commit allows one more row")
			require.Equal(c.t, 1, c.one("b", Event{Kind: Take, Of: pass, Count: 1}).Count)
		})},
		{"reserved rows count for those who enter", ratio, entered(func(c *cache, claim, seat, a, b uint64) {
			c.ok("b", Event{Kind: End, Of: seat})
			c.put("a", claim, 0)
			c.ok("a", Event{Kind: Reserve, Of: claim})
			c.ok("a", Event{Kind: Reserve, Of: claim})
			c.ok("b", Event{Kind: Enter, Of: b, Name: "g", World: 2})
			require.EqualValues(c.t, 2, c.Stats(0).Groups[0].Taken, "(3-1)*1")
		})},
		{"producers wait for rows to be taken", ratio, entered(func(c *cache, claim, seat, a, b uint64) {
			for n := range uint64(4) {
				c.put("a", claim, n)
			}
			require.Zero(c.t, c.Free(), "(4-1)*1 - 0 = 3")
			c.fails("a", engine.ErrBlocked, Event{Kind: Reserve, Of: claim})
			pass := c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})
			c.ok("b", Event{Kind: Take, Of: pass, Count: 1})
			require.Equal(c.t, 1, c.Free())
		})},
		{"a Count below 1 takes nothing", ratio, entered(func(c *cache, claim, seat, a, b uint64) {
			c.fill("a", claim)
			pass := c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 1})
			c.fails("b", engine.ErrBlocked, Event{Kind: Take, Of: pass, Count: 0})
			c.fails("b", engine.ErrBlocked, Event{Kind: Take, Of: pass, Count: math.MinInt})
		})},
		{"what is not there is not waited for", two, entered(func(c *cache, claim, seat, a, b uint64) {
			require.NoError(c.t, c.Begins(99, 1))
			allowed, group := c.Allows(99)
			require.True(c.t, allowed)
			require.Empty(c.t, group)
		})},
		{"a seat, a pass and their end wake others", two, func(c *cache, a, b uint64) {
			c.fill("a", c.ok("a", Event{Kind: Claim, Of: a}))
			s := c.send("b", Event{Kind: Enter, Of: b, Name: "g", World: 1})
			require.True(c.t, s.Wakes)
			seat := s.Outcomes[0].ID
			s = c.send("b", Event{Kind: Begin, Of: seat})
			require.True(c.t, s.Wakes)
			require.True(c.t, c.send("b", Event{Kind: End, Of: s.Outcomes[0].ID}).Wakes)
			require.True(c.t, c.send("b", Event{Kind: End, Of: seat}).Wakes)
		}},
		{"what frees nothing wakes nobody", two, func(c *cache, a, b uint64) {
			s := c.send("a", Event{Kind: Claim, Of: a}, Event{Kind: Reserve, Of: c.Last + 1}, committed(c.Last+2), Event{Kind: Tick}, Event{Kind: Join}, Event{Kind: End, Of: c.Last + 3})
			for _, o := range s.Outcomes {
				require.NoError(c.t, o.Err)
			}
			require.False(c.t, s.Wakes)
		}},
	})
}

func TestStats(t *testing.T) {
	c := newCache(t, engine.Config{Samples: 3})
	sessions := c.join("a", "b")
	claim := c.ok("a", Event{Kind: Claim, Of: sessions[0], Name: "n"})
	other := c.ok("b", Event{Kind: Claim, Of: sessions[1], Name: "m"})
	for n := range uint64(3) {
		c.put("a", claim, n)
	}
	swapped := c.at
	c.put("b", other, 7)
	c.ok("b", Event{Kind: End, Of: other})
	first := c.ok("b", Event{Kind: Reserve, Of: c.ok("b", Event{Kind: Claim, Of: sessions[1]})})
	c.ok("a", Event{Kind: Reserve, Of: claim, Number: 3})
	c.ok("a", Event{Kind: Enter, Of: sessions[0], Name: "g", World: 3})
	got := c.Stats(c.Now + int64(time.Minute))
	ago := func(id uint64) time.Duration { return time.Duration(c.Now + int64(time.Minute) - c.Things[id].Since) }
	require.Equal(t, engine.Stats{
		Latest: 1, Filling: 2, Samples: 3, Committed: 1, Reserved: 2, Swaps: 1, LastSwap: time.Unix(0, swapped.UnixNano()),
		Slots: []engine.SlotStats{
			{Slot: 1, PID: 101, For: ago(first), Host: "host-b"},
			{Slot: 2, PID: 100, For: ago(first + 1), Host: "host-a"},
		},
		Members: []engine.MemberStats{
			{PID: 100, For: ago(sessions[0]), Host: "host-a"},
			{PID: 101, For: ago(sessions[1]), Host: "host-b"},
		},
		Producers: []engine.ProducerStats{
			{Name: "m", Window: engine.Window{Above: 1 << 7}},
			{Name: "n", PID: 100, Host: "host-a", Window: engine.Window{Floor: 3}},
		},
		Groups: []engine.GroupStats{{Name: "g", World: 3, Members: 1}},
	}, got)
	require.Zero(t, c.Stats(0).Members[0].For, "a clock that is behind")
	require.True(t, New(newCharter(t, two)).Stats(0).LastSwap.IsZero())
}
