package mongowire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tensor"
)

// A lab is a server of generations of 3 samples, and two clients that put them.
type lab struct {
	*testing.T
	s    *mongowire.Server
	c    *samplecache.Cache
	addr string
	a, b *client
}

func newLab(t *testing.T, opt mongowire.Options) *lab {
	l := &lab{T: t, c: memory(t, pair(t, 4), 3)}
	l.s, l.addr = serve(t, l.c, opt)
	l.a, l.b = dial(t, l.addr).with("a"), dial(t, l.addr).with("b")
	return l
}

// cycle does what wirehead's generator does for a sample: it draws a ticket, looks whether
// write.bin is there, inserts, counts up, and reads the counter.
func (l *lab) cycle(c *client, n byte) {
	l.Helper()
	id := c.draw()
	require.Less(l, id, 3)
	c.find("write.bin", bson.E{"limit", 1})
	require.Empty(l, c.insert(sample(l, id, n, 4)...))
	require.Empty(l, firstError(c.do(bson.D{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "completed"}}}, {"update", bson.D{{"$inc", bson.D{{"sequence_value", 1}}}}}}, "")))
	docs := c.find("counter", bson.E{"filter", bson.D{{"_id", "completed"}}})
	done, _ := docs[0].Get("sequence_value").Int()
	require.Less(l, done, int64(3), "no client publishes")
}

// publishes wants a generation that has samples, and no others.
func (l *lab) publishes(id uint64, want ...byte) {
	l.Helper()
	g, err := l.c.Wait(within(l, 5*time.Second), id-1)
	require.NoError(l, err)
	defer g.Close()
	require.Equal(l, id, g.ID())
	require.ElementsMatch(l, want, l.values(g))
}

func (l *lab) values(g *samplecache.Generation) (got []byte) {
	l.Helper()
	td, err := g.Slice(0, 3)
	require.NoError(l, err)
	require.NoError(l, tensor.Read(tensor.Must(td.Tensor("label")), func(b []uint8) {
		for i := 0; i < len(b); i += 4 {
			got = append(got, b[i])
		}
	}))
	return got
}

// swaps sends all that wirehead's generator sends to swap, and wants all of it to change nothing.
func (l *lab) swaps(c *client) {
	l.Helper()
	lock := bson.D{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "swap_lock"}, {"locked", false}}}, {"update", bson.D{{"$set", bson.D{{"locked", true}}}}}, {"upsert", true}, {"new", true}}
	for _, d := range []bson.D{
		lock,
		{{"renameCollection", "unit.write.bin"}, {"to", "unit.temp.bin"}, {"dropTarget", false}},
		{{"delete", "temp.bin"}, {"deletes", bson.A{bson.D{{"q", bson.D{{"id", bson.D{{"$gt", 2}}}}}, {"limit", 0}}}}},
		{{"renameCollection", "unit.temp.bin"}, {"to", "unit.read.bin"}, {"dropTarget", true}},
		{{"insert", "status"}, {"documents", bson.A{bson.D{{"swapped", true}}}}},
		{{"drop", "read.bin"}},
		{{"drop", "status"}},
		{{"dropDatabase", 1}},
	} {
		require.NotEmpty(l, firstError(c.do(d, "")), "%v", d)
	}
	for _, d := range []bson.D{
		{{"drop", "write.bin"}}, {{"drop", "temp.bin"}}, {{"drop", "counter"}}, {{"create", "counter"}},
		{{"update", "counter"}, {"updates", bson.A{bson.D{{"q", bson.D{{"_id", "completed"}}}, {"u", bson.D{{"$set", bson.D{{"sequence_value", 0}}}}}, {"upsert", true}}}}},
		{{"createIndexes", "write.bin"}, {"indexes", bson.A{bson.D{{"key", bson.D{{"id", 1}}}, {"name", "id_1"}}}}},
	} {
		require.Empty(l, firstError(c.do(d, "")), "%v", d)
	}
}

// TestFaults has the faults of wirehead, by their numbers in docs/wirehead.md.
func TestFaults(t *testing.T) {
	short := mongowire.Options{Lease: 300 * time.Millisecond}
	for _, tt := range []struct {
		name string
		opt  mongowire.Options
		run  func(l *lab)
	}{
		{"WF1: an error in the middle of a swap does not end all swaps", mongowire.Options{}, func(l *lab) {
			for n := range byte(3) {
				l.swaps(l.b)
				l.cycle(l.a, n)
			}
			l.publishes(1, 0, 1, 2)
		}},
		{"WF2: a kill between ticket and insert leaves no gap", mongowire.Options{}, func(l *lab) {
			l.a.draw()
			_ = l.a.Close()
			for n := range byte(3) {
				l.cycle(l.b, n)
			}
			l.publishes(1, 0, 1, 2)
		}},
		{"WF3: nobody holds the swap_lock", mongowire.Options{}, func(l *lab) {
			l.swaps(l.a)
			_ = l.a.Close()
			require.Empty(l, l.b.find("counter", bson.E{"filter", bson.D{{"_id", "swap_lock"}}}))
			for n := range byte(3) {
				l.cycle(l.b, n)
			}
			l.publishes(1, 0, 1, 2)
		}},
		{"WF4: what is published is in status", mongowire.Options{}, func(l *lab) {
			require.Empty(l, l.b.find("status"))
			for n := range byte(3) {
				l.cycle(l.a, n)
			}
			_ = l.a.Close()
			require.Len(l, l.b.find("status"), 1)
			require.Len(l, l.b.find("read.bin"), 6)
		}},
		{"WF5: a swap that comes late deletes nothing", mongowire.Options{}, func(l *lab) {
			for n := range byte(5) {
				l.cycle(l.a, n)
			}
			l.swaps(l.b)
			l.cycle(l.a, 5)
			l.publishes(2, 3, 4, 5)
		}},
		{"WF6: a sample that was acknowledged is not dropped", mongowire.Options{}, func(l *lab) {
			l.cycle(l.a, 0)
			l.swaps(l.b)
			l.cycle(l.a, 1)
			l.swaps(l.b)
			l.cycle(l.b, 2)
			l.publishes(1, 0, 1, 2)
		}},
		{"WF8: a generator waits while there is no room", mongowire.Options{}, func(l *lab) {
			ids := []int{l.a.draw(), l.a.draw(), l.a.draw()}
			got := make(chan int, 1)
			go func() {
				n, _ := l.b.tryDraw()
				got <- n
			}()
			select {
			case n := <-got:
				l.Fatalf("got ticket %d of a generation that is full", n)
			case <-time.After(50 * time.Millisecond):
			}
			for n, id := range ids {
				require.Empty(l, l.a.insert(sample(l, id, byte(n), 4)...))
			}
			require.Less(l, <-got, 3)
			l.publishes(1, 0, 1, 2)
		}},
		{"WF9: a generator that starts over deletes nothing", mongowire.Options{}, func(l *lab) {
			l.cycle(l.a, 0)
			id := l.a.draw()
			l.swaps(l.b)
			require.Empty(l, l.a.insert(sample(l, id, 1, 4)...))
			l.cycle(l.b, 2)
			l.publishes(1, 0, 1, 2)
		}},
		{"WF10: a late insert is refused, and its number is another's", short, func(l *lab) {
			late := l.a.draw()
			eventually(l, func() bool { n, _ := l.s.Out(); return n == 0 })
			for n := range byte(3) {
				l.cycle(l.b, n)
			}
			require.Contains(l, l.a.insert(sample(l, late, 99, 4)...), "is not out")
			l.publishes(1, 0, 1, 2)
			other := l.b.draw()
			require.Equal(l, late, other)
			require.Contains(l, l.a.insert(sample(l, late, 99, 4)...), "another client's")
		}},
		{"WF10: a client that stalls over a publication holds it up for a lease at most", short, func(l *lab) {
			l.cycle(l.b, 0)
			id := l.a.draw()
			require.Empty(l, l.a.insert(sample(l, id, 99, 4)[0]), "half a sample")
			for n := range byte(2) {
				l.cycle(l.b, 1+n)
			}
			l.publishes(1, 0, 1, 2)
		}},
		{"WF11: a find never mixes two generations", mongowire.Options{}, func(l *lab) {
			for n := range byte(3) {
				l.cycle(l.a, n)
			}
			reply := l.b.do(bson.D{{"find", "read.bin"}, {"batchSize", 2}, {"projection", bson.D{{"_id", 1}}}}, "")
			for n := range byte(3) {
				l.cycle(l.a, 10+n)
			}
			generations := map[string]int{}
			for name := "firstBatch"; ; name = "nextBatch" {
				cursor, _ := reply.Get("cursor").Doc()
				batch, _ := cursor.Get(name).Doc()
				for _, v := range batch.All() {
					doc, _ := v.Doc()
					id, _ := doc.Get("_id").Bytes()
					generations[string(id[:4])]++
				}
				id, _ := cursor.Get("id").Int()
				if id == 0 {
					break
				}
				reply = l.b.do(bson.D{{"getMore", id}, {"collection", "read.bin"}, {"batchSize", 1}}, "")
			}
			require.Equal(l, map[string]int{"\x00\x00\x00\x01": 6}, generations)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, tt.opt)
			tt.run(l)
			_, _ = l.a.Close(), l.b.Close()
			l.a, l.b = dial(t, l.addr), dial(t, l.addr)
			g, err := l.c.Latest(t.Context())
			require.NoError(t, err)
			require.NoError(t, g.Close())
			for n := range byte(3) { // the next publication comes
				l.cycle(l.a, 100+n)
			}
			_, err = l.c.Wait(within(t, 5*time.Second), g.ID())
			require.NoError(t, err)
		})
	}
}

// TestFaultWF7 puts and reads numbers that uint8 does not have.
func TestFaultWF7(t *testing.T) {
	x := tensor.Must(tensor.From([]float32{-1, 300, 2.7}, 3))
	_, addr := serve(t, nil, mongowire.Options{Samples: 1, Create: inMemory(t, 1)})
	c := dial(t, addr)
	require.Empty(t, c.insert(parts(c.draw(), 100, []string{"x"}, file(t, x))...))
	docs := c.find("read.bin")
	require.Len(t, docs, 1)
	got, err := loaded(docs)
	require.NoError(t, err)
	require.True(t, got.Equal(x), "%v", got)
}
