package ledger

import (
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// start is when caches of tests are made.
var start = time.Unix(1_000_000_000, 0)

// newCharter returns the charter of a cache of samples with one leaf and one chunk.
func newCharter(t testing.TB, config engine.Config) Charter {
	config, err := config.Filled()
	require.NoError(t, err)
	return Charter{Version: Version, ID: "id", Config: config, Lease: time.Second,
		Schema: []Leaf{{Key: "x", DType: "int64", Shape: []int{1}}}, Chunks: 1}
}

// A cache is a ledger with processes that append to its log.
type cache struct {
	t testing.TB
	*Ledger
	at      time.Time
	numbers map[string]uint64 // of the last message of each process
	last    []byte            // the last message
	fast    bool              // bounds is not called
}

func newCache(t testing.TB, config engine.Config) *cache {
	return &cache{t: t, Ledger: New(newCharter(t, config)), at: start, numbers: map[string]uint64{}}
}

// encode returns the next message of a process.
func (c *cache) encode(process string, events ...Event) []byte {
	c.numbers[process]++
	m := Message{Process: process, Number: c.numbers[process], Events: events}
	data, err := m.Encode()
	require.NoError(c.t, err)
	return data
}

// apply appends a message.
func (c *cache) apply(data []byte) Step {
	c.at = c.at.Add(time.Millisecond)
	c.last = data
	s, err := c.Apply(c.Seq+1, c.at, data)
	require.NoError(c.t, err)
	if !c.fast {
		c.bounds()
	}
	return s
}

// send appends the next message of a process.
func (c *cache) send(process string, events ...Event) Step {
	s := c.apply(c.encode(process, events...))
	require.Equal(c.t, process, s.Process)
	return s
}

// one appends an event, and returns its outcome.
func (c *cache) one(process string, e Event) Outcome {
	s := c.send(process, e)
	require.Len(c.t, s.Outcomes, 1)
	return s.Outcomes[0]
}

// ok appends an event that succeeds, and returns the thing that it made.
func (c *cache) ok(process string, e Event) uint64 {
	o := c.one(process, e)
	require.NoError(c.t, o.Err)
	return o.ID
}

// fails appends an event that changes nothing.
func (c *cache) fails(process string, want error, e Event) Outcome {
	before := c.state()
	o := c.one(process, e)
	require.ErrorIs(c.t, o.Err, want)
	require.Equal(c.t, Outcome{Err: o.Err}, o)
	require.Equal(c.t, before, c.state(), "an event that fails changes something")
	return o
}

// state returns the snapshot, but for what every message changes.
func (c *cache) state() string {
	l := *c.Ledger
	l.Seq, l.Now, l.Written, l.Processes = 0, 0, 0, nil
	data, err := l.Encode()
	require.NoError(c.t, err)
	return string(data)
}

// join has processes begin, with a session each.
func (c *cache) join(processes ...string) (sessions []uint64) {
	for i, process := range processes {
		s := c.send(process, Event{Kind: Process, Host: "host-" + process, PID: 100 + i}, Event{Kind: Join})
		require.Len(c.t, s.Outcomes, 2)
		require.NoError(c.t, s.Outcomes[1].Err)
		sessions = append(sessions, s.Outcomes[1].ID)
	}
	return sessions
}

// committed returns the event that commits a row.
func committed(row uint64) Event {
	return Event{Kind: Commit, Of: row, Sums: []uint32{7}, At: []uint64{row}}
}

// put commits a sample.
func (c *cache) put(process string, claim, number uint64) Outcome {
	row := c.ok(process, Event{Kind: Reserve, Of: claim, Number: number})
	o := c.one(process, committed(row))
	require.NoError(c.t, o.Err)
	return o
}

// fill commits samples until the next generation is published.
func (c *cache) fill(process string, claim uint64) {
	for latest := c.Latest; c.Latest == latest; {
		c.put(process, claim, 0)
	}
}

// kept returns the generations that are kept.
func (c *cache) kept() (ids []uint64) {
	for id := range c.Latest + 1 {
		if c.Kept[id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// bounds checks what holds at any time.
func (c *cache) bounds() {
	config, filling := c.Charter.Config, c.Filling
	require.LessOrEqual(c.t, len(filling.Rows)+c.reserved, config.Samples, "more rows than room")
	require.Equal(c.t, c.Latest+1, filling.ID)
	require.LessOrEqual(c.t, len(c.Kept), 2+max(config.Retain, 0)+max(config.MaxHeld, 0), "too many generations are kept")
	require.True(c.t, filling.Room || len(filling.Rows)+c.reserved == 0, "rows without room")
	require.Equal(c.t, filling.Room, len(c.Kept) <= 1+max(config.Retain, 0)+max(config.MaxHeld, 0))
	for id, g := range c.Kept {
		require.Equal(c.t, id, g.ID)
		require.Len(c.t, g.Rows, config.Samples, "generation %d is not whole", id)
	}
	for id := c.Latest; id > 0 && id+uint64(max(config.Retain, 0)) >= c.Latest; id-- {
		require.NotNil(c.t, c.Kept[id], "generation %d is to be retained", id)
	}
	again := c.again()
	before, after := c.index, again.index
	before.progress.Committed, after.progress.Committed = nil, nil
	require.Equal(c.t, after, before, "the index differs from one that is made anew")
}

// again returns the ledger of a snapshot.
func (c *cache) again() *Ledger {
	data, err := c.Encode()
	require.NoError(c.t, err)
	l, err := Decode(data)
	require.NoError(c.t, err)
	same, err := l.Encode()
	require.NoError(c.t, err)
	require.Equal(c.t, string(data), string(same))
	return l
}

// A rule is what one row of a table demands. Processes a and b have sessions.
type rule struct {
	name   string
	config engine.Config
	check  func(c *cache, a, b uint64)
}

func check(t *testing.T, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			c := newCache(t, r.config)
			sessions := c.join("a", "b")
			r.check(c, sessions[0], sessions[1])
		})
	}
}

// summed returns text with its checksum before it.
func summed(text string) []byte {
	return append(fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE([]byte(text))), text...)
}
