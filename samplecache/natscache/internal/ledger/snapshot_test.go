package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// rich returns a cache that has some of everything.
func rich(t testing.TB) *cache {
	c := newCache(t, engine.Config{Samples: 2, Retain: -1, MaxHeld: 2, MaxHold: ratio.MaxHold, Limits: engine.Limits{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3}})
	sessions := c.join("a", "b")
	claim := c.ok("a", Event{Kind: Claim, Of: sessions[0], Name: "n"})
	for n := range uint64(2) {
		c.put("a", claim, n)
	}
	c.ok("b", Event{Kind: Hold, Of: sessions[1], Generation: 1})
	c.put("a", claim, 2)
	c.put("a", claim, 5)
	seat := c.ok("b", Event{Kind: Enter, Of: sessions[1], Name: "g", World: 2})
	pass := c.ok("b", Event{Kind: Begin, Of: seat, Epoch: 4})
	c.ok("b", Event{Kind: Take, Of: pass, Count: 2})
	c.put("a", claim, 3)
	c.ok("a", Event{Kind: Reserve, Of: claim, Number: 4})
	require.Equal(t, []uint64{1, 2}, c.kept())
	return c
}

// TestDecodeRefuses alters one thing of a snapshot.
func TestDecodeRefuses(t *testing.T) {
	type object = map[string]any
	at := func(o object, path string) object {
		for _, name := range strings.Fields(path) {
			o = o[name].(object)
		}
		return o
	}
	set := func(path, name string, value any) func(o object) {
		return func(o object) { at(o, path)[name] = value }
	}
	remove := func(path, name string) func(o object) {
		return func(o object) { delete(at(o, path), name) }
	}
	row := object{"row": 9, "sums": []int{1}, "at": []int{1}}
	tests := []struct {
		name  string
		alter func(o object)
		want  error
		text  string
	}{
		{"a newer version", set("charter", "version", Version+1), ErrVersion, "got version 2 of a cache, want 1"},
		{"a newer version of another form", func(o object) {
			set("charter", "version", Version+1)(o)
			o["things"], o["kept"] = []int{1}, "elsewhere"
		}, ErrVersion, "got version 2 of a cache, want 1"},
		{"no version", remove("charter", "version"), engine.ErrCorrupt, "got version 0 of a cache, want 1"},
		{"a negative version", set("charter", "version", -1), engine.ErrCorrupt, "got version -1"},
		{"no charter", remove("", "charter"), engine.ErrCorrupt, "got version 0"},
		{"no filling", remove("", "filling"), engine.ErrCorrupt, "does not follow the latest, 2"},
		{"null for filling", set("", "filling", nil), engine.ErrCorrupt, "does not follow the latest, 2"},
		{"no kept", remove("", "kept"), engine.ErrCorrupt, "a part is missing"},
		{"no processes", remove("", "processes"), engine.ErrCorrupt, "a part is missing"},
		{"no things", remove("", "things"), engine.ErrCorrupt, "a part is missing"},
		{"no names", remove("", "names"), engine.ErrCorrupt, "a part is missing"},
		{"null for a process", set("processes", "a", nil), engine.ErrCorrupt, "a part is missing"},
		{"null for a thing", set("things", "1", nil), engine.ErrCorrupt, "a part is missing"},
		{"null for a generation", set("kept", "1", nil), engine.ErrCorrupt, "a part is missing"},
		{"an invalid config", set("charter config", "samples", 0), engine.ErrCorrupt, "got Samples 0"},
		{"another latest", set("", "latest", 7), engine.ErrCorrupt, "does not follow the latest, 7"},
		{"a number beyond its type", set("", "last", 1e30), engine.ErrCorrupt, "1e+30"},
		{"a negative number", set("", "seq", -1), engine.ErrCorrupt, "-1"},
		{"a thing of no process", remove("processes", "b"), engine.ErrCorrupt, `of process "b", which is missing`},
		{"a thing of no session", remove("things", "2"), engine.ErrCorrupt, "of session 2, which is missing"},
		{"a thing of a session of another process", set("things 3", "process", "b"), engine.ErrCorrupt, "thing 3 is of session 1, which is missing"},
		{"a session of another", set("things 2", "session", 1), engine.ErrCorrupt, "is missing"},
		{"a thing of an unknown kind", set("things 3", "kind", "take"), engine.ErrCorrupt, `thing 3 is a "take"`},
		{"a thing that is still to come", set("", "last", 4), engine.ErrCorrupt, "want 1 to 4"},
		{"a session of a session", func(o object) {
			o["last"] = 99
			at(o, "things")["99"] = object{"kind": "join", "process": "a", "session": 1}
		}, engine.ErrCorrupt, "thing 99 is of session 1, which is missing"},
		{"a thing without a number", set("things", "0", object{"kind": "join", "process": "a", "session": 0}), engine.ErrCorrupt, "got thing 0, want 1 to 12"},
		{"two claims of a name", func(o object) {
			o["last"] = 99
			at(o, "things")["99"] = object{"kind": "claim", "process": "b", "session": 2, "name": "n"}
		}, engine.ErrCorrupt, `"n" is claimed twice`},
		{"a row of another generation", set("things 12", "generation", 1), engine.ErrCorrupt, "row 12 is of generation 1, want 3"},
		{"a generation in another place", set("kept 1", "id", 2), engine.ErrCorrupt, "got generation 2 in place of 1"},
		{"a generation that is still to come", func(o object) { at(o, "kept")["9"] = object{"id": 9, "rows": []object{row, row}} }, engine.ErrCorrupt, "got generation 9 in place of 9, want at most 2"},
		{"a generation that is not whole", set("kept 1", "rows", []object{row}), engine.ErrCorrupt, "generation 1 has 1 samples, want 2"},
		{"more rows than room", set("filling", "rows", []object{row, row}), engine.ErrCorrupt, "2 samples and 1 rows, want at most 2"},
		{"rows without room", set("filling", "room", false), engine.ErrCorrupt, "generation 3 has 1 samples and 1 rows, want none"},
		{"a sample without sums", set("kept 2", "rows", []object{{"at": []int{1}}, row}), engine.ErrCorrupt, "generation 2: row 0: corrupt: got 0 sums and 1 chunks, want 1 and 1"},
		{"a sample without chunks", set("filling", "rows", []object{{"sums": []int{1}}}), engine.ErrCorrupt, "generation 3: row 0: corrupt: got 1 sums and 0 chunks, want 1 and 1"},
	}
	good, err := rich(t).Encode()
	require.NoError(t, err)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o object
			require.NoError(t, json.Unmarshal(good, &o))
			tt.alter(o)
			data, err := json.Marshal(o)
			require.NoError(t, err)
			_, err = Decode(data)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			require.NotErrorIs(t, err, map[error]error{ErrVersion: engine.ErrCorrupt, engine.ErrCorrupt: ErrVersion}[tt.want])
		})
	}
}

// TestDecodeDamaged cuts a snapshot at each byte, and alters each byte. Decode refuses
// it, or gives a ledger that goes on.
func TestDecodeDamaged(t *testing.T) {
	good, err := rich(t).Encode()
	require.NoError(t, err)
	refused, accepted := 0, 0
	for i := range good {
		_, err := Decode(good[:i])
		require.ErrorIs(t, err, engine.ErrCorrupt, "cut at %d", i)
		bad := slices.Clone(good)
		if bad[i] ^= 1; i%2 == 0 {
			bad[i] = '7'
		}
		if goesOn(t, bad) {
			accepted++
		} else {
			refused++
		}
	}
	t.Logf("%d refused, %d accepted", refused, accepted)
	require.Positive(t, refused)
	require.Positive(t, accepted)
}

// goesOn reports whether Decode accepts data. If it does, what follows must not panic.
func goesOn(t testing.TB, data []byte) bool {
	l, err := Decode(data)
	if err != nil {
		require.True(t, errors.Is(err, engine.ErrCorrupt) || errors.Is(err, ErrVersion), "unclassified error %v", err)
		return false
	}
	again, err := l.Encode()
	require.NoError(t, err)
	twin, err := Decode(again)
	require.NoError(t, err, "it does not accept its own snapshot")
	for _, one := range []*Ledger{l, twin} {
		one.Stats(one.Now)
		one.Due()
		one.Free()
		for _, id := range slices.Sorted(maps.Keys(one.Things)) {
			_ = one.Begins(id, 1)
			one.Allows(id)
			one.Committed(one.Things[id].Generation, id)
		}
		m := Message{Process: "new", Number: 1, Events: []Event{{Kind: Process}, {Kind: Tick}}}
		for _, name := range slices.Sorted(maps.Keys(one.Names)) {
			m.Events = append(m.Events, Event{Kind: Join}, Event{Kind: Claim, Of: one.Last + 1, Name: name})
		}
		for _, name := range slices.Sorted(maps.Keys(one.Processes)) {
			m.Events = append(m.Events, Event{Kind: Gone, Name: name})
		}
		data, err := m.Encode()
		require.NoError(t, err)
		if one.Seq+1 > 0 {
			_, err = one.Apply(one.Seq+1, start, data)
			require.NoError(t, err)
		}
	}
	first, err := l.Encode()
	require.NoError(t, err)
	second, err := twin.Encode()
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	return true
}

// TestDue compares how many bytes of snapshots there are with the number of messages, in caches
// that have much of one thing.
func TestDue(t *testing.T) {
	tests := []struct {
		name string
		make func(c *cache, session uint64)
	}{
		{"little", func(c *cache, session uint64) {}},
		{"samples", func(c *cache, session uint64) {
			claim := c.ok("a", Event{Kind: Claim, Of: session})
			for c.Latest == 0 || len(c.Filling.Rows) < 4900 {
				var events []Event
				for n := range uint64(100) {
					events = append(events, Event{Kind: Reserve, Of: claim}, committed(c.Last+1+n))
				}
				c.send("a", events...)
			}
		}},
		{"things", func(c *cache, session uint64) {
			for len(c.Things) < 10_000 {
				c.send("a", slices.Repeat([]Event{{Kind: Join}}, 100)...)
			}
		}},
		{"processes", func(c *cache, session uint64) {
			for n := range 5000 {
				c.send(fmt.Sprint("p", n), Event{Kind: Process, Host: "some machine"})
			}
		}},
		{"names", func(c *cache, session uint64) {
			for n := range 4000 {
				name := fmt.Sprintf("a name of a producer that has some length %d", n)
				claim := c.Last + 1
				c.send("a", Event{Kind: Claim, Of: session, Name: name}, Event{Kind: Reserve, Of: claim}, committed(claim+1), Event{Kind: End, Of: claim})
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCache(t, engine.Config{Samples: 5000, Retain: -1})
			c.fast = true
			tt.make(c, c.join("a")[0])
			bytes, due, from := 0, 0, c.Seq
			for c.Seq-from < 30_000 && due < 2 {
				if c.send("a", Event{Kind: Tick}).Due {
					data, err := c.Encode()
					require.NoError(t, err)
					require.Equal(t, c.Seq, c.Written)
					bytes, due = len(data), due+1
					if due == 1 {
						from = c.Seq
					}
				}
			}
			require.Equal(t, 2, due, "there are no snapshots")
			per := float64(bytes) / float64(c.Seq-from)
			t.Logf("%d bytes after %d messages: %.0f each", bytes, c.Seq-from, per)
			require.Less(t, per, 160.)
			require.GreaterOrEqual(t, c.Seq-from, uint64(snapshotEvents))
		})
	}
}
