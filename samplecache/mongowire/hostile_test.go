package mongowire_test

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// with32 returns a copy of b with a number at a place.
func with32(b []byte, at int, n uint32) []byte {
	b = bytes.Clone(b)
	le.PutUint32(b[at:], n)
	return b
}

// TestHostileMessages sends bytes that are no messages. Each ends its connection; another one goes
// on.
func TestHostileMessages(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	ping := request(bson.D{{"ping", 1}, {"$db", "unit"}}, "")
	twice := append(slices.Clone(ping), ping[20:]...)
	deep := bson.D{}
	for range 101 {
		deep = bson.D{{"d", deep}}
	}
	good := dial(t, addr)
	for rule, b := range map[string][]byte{
		"garbage":                    bytes.Repeat([]byte{0xa5}, 100),
		"HTTP":                       []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"a length of 0":              with32(ping, 0, 0),
		"a length of 15":             with32(ping, 0, 15),
		"a length below 0":           with32(ping, 0, 1<<31),
		"a length of 48 MB and more": with32(ping, 0, 48_000_001),
		"a header alone":             with32(ping[:16], 0, 16),
		"flags that are not known":   with32(ping, 16, 4),
		"a wrong checksum":           with32(ping, 16, 1),
		"another opcode":             with32(ping, 12, 2012),
		"a document too long":        with32(ping, 21, 1000),
		"a document too short":       with32(ping, 21, 4),
		"two commands":               with32(twice, 0, uint32(len(twice))),
		"section of kind 2":          append(append(slices.Clone(ping[:20]), 2), ping[21:]...),
		"no section":                 with32(ping[:20], 0, 20),
		"a document too deep":        request(deep, ""),
	} {
		c := dial(t, addr)
		_, err := c.Write(b)
		require.NoError(t, err)
		_, err = c.receive()
		require.Error(t, err, rule)
		require.False(t, errors.Is(err, context.DeadlineExceeded), rule)
		require.Empty(t, firstError(good.do(bson.D{{"ping", 1}}, "")), rule)
	}
	sequence := request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", bson.D{{"id", 1}})
	at := bytes.Index(sequence, []byte("documents")) - 4
	for _, n := range []uint32{0, 5, 14, 1000, 1 << 31} {
		c := dial(t, addr)
		_, err := c.Write(with32(sequence, at, n))
		require.NoError(t, err)
		_, err = c.receive()
		require.Error(t, err, "a sequence of %d bytes", n)
	}
}

// TestChecksum sends a message with its checksum.
func TestChecksum(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	b := with32(request(bson.D{{"ping", 1}, {"$db", "unit"}}, ""), 16, 1)
	b = with32(b, 0, uint32(len(b)+4))
	b = le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	_, err := c.Write(b)
	require.NoError(t, err)
	reply, err := c.receive()
	require.NoError(t, err)
	require.Empty(t, firstError(reply))
}

// TestTooManyDocuments sends more documents than hello allows.
func TestTooManyDocuments(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	_, err := c.Write(request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", make([]bson.D, 100_001)...))
	require.NoError(t, err)
	_, err = c.receive()
	require.Error(t, err)
}

// TestStalls has clients that stop in the middle of a message, that say they send 48 MB and do not,
// and that do not take their reply. Others go on, and these are disconnected.
func TestStalls(t *testing.T) {
	mongowire.SetStall(t, time.Second)
	s, addr := serve(t, memory(t, pair(t, 4<<20), 1), mongowire.Options{Inflight: 199 << 20})
	good := dial(t, addr)
	good.put(1, 4<<20)
	ping := request(bson.D{{"ping", 1}, {"$db", "unit"}}, "")
	lie := with32(request(bson.D{{"ping", make([]byte, 20<<10)}}, ""), 0, 48_000_000)
	for _, b := range [][]byte{ping[:1], ping[:15], ping[:20], lie, lie} {
		_, err := dial(t, addr).Write(b)
		require.NoError(t, err)
	}
	slow := dial(t, addr)
	for range 3 {
		_, err := slow.Write(request(bson.D{{"find", "read.bin"}, {"$db", "unit"}}, ""))
		require.NoError(t, err)
	}
	require.Len(t, good.find("read.bin", e("filter", bson.D{{"kind", "data"}})), 1)
	good.put(2, 4<<20) // more than is left of the budget: it waits until the liars are gone
	eventually(t, func() bool { return s.Conns() == 1 })
	n, bytes := s.Out()
	require.Zero(t, n)
	require.Zero(t, bytes)
}

// TestHalfSent has 200 clients that send the first half of a message of 1 MiB or less, and nothing
// more. They take as much memory as Inflight allows, one that sends a whole sample is served
// meanwhile or soon after, and all of them are disconnected.
func TestHalfSent(t *testing.T) {
	mongowire.SetStall(t, 300*time.Millisecond)
	mongowire.SetPatience(t, 100*time.Millisecond)
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{Inflight: 4 << 20})
	good := dial(t, addr)
	good.put(1, 4)
	before := inUse()
	for i := range 200 {
		b := request(bson.D{{"insert", "write.bin"}, {"x", make([]byte, 100+i*5000)}, {"$db", "unit"}}, "")
		if i%20 > 0 { // others stop before the server needs memory for all of it
			b = b[:min(len(b), 20<<10)]
		}
		_, err := dial(t, addr).Write(b[:len(b)/2])
		require.NoError(t, err)
	}
	require.Less(t, int64(inUse())-int64(before), int64(4<<20+32<<20))
	good.put(2, 4)
	require.NotEmpty(t, good.find("read.bin"))
	eventually(t, func() bool { return s.Conns() == 1 })
	_, bytes := s.Out()
	require.Zero(t, bytes)
}

// TestTrickle has a client that sends a byte of a message now and then: it is disconnected at a
// time that follows from the length of the message.
func TestTrickle(t *testing.T) {
	mongowire.SetStall(t, 100*time.Millisecond)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	for _, n := range []int{100, 100 << 10, 4 << 20} {
		c := dial(t, addr)
		b := request(bson.D{{"insert", "write.bin"}, {"x", make([]byte, n)}, {"$db", "unit"}}, "")
		start := time.Now()
		for i := 0; i < len(b); i++ {
			if _, err := c.Write(b[i : i+1]); err != nil {
				break
			}
			if time.Since(start) > 10*time.Second {
				t.Fatalf("a message of %d bytes goes on", n)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// TestLeaseWaitsForASlowMessage has a client that takes longer than the lease for a message.
func TestLeaseWaitsForASlowMessage(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{Lease: 250 * time.Millisecond})
	c := dial(t, addr).with("slow")
	id := c.draw()
	b := request(append(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, bson.E{"lsid", c.session}), "documents", sample(t, id, 1, 4)...)
	for i := 0; i < len(b); i += 200 {
		_, err := c.Write(b[i:min(i+200, len(b))])
		require.NoError(t, err)
		time.Sleep(30 * time.Millisecond)
	}
	reply, err := c.receive()
	require.NoError(t, err)
	require.Empty(t, firstError(reply))
}

// TestThousandConnections has 1,000 clients, some of which wait for a ticket, while one puts and
// reads. They take little memory.
func TestThousandConnections(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	good, holder := dial(t, addr), dial(t, addr)
	good.put(1, 4)
	holder.draw()
	before := inUse()
	for i := range 1000 {
		c := dial(t, addr)
		d := bson.D{{"ping", 1}, {"$db", "unit"}}
		if i%4 == 0 {
			d = append(drawing(), e("$db", "unit"))
		}
		_, err := c.Write(request(d, ""))
		require.NoError(t, err)
	}
	eventually(t, func() bool { return s.Conns() == 1002 })
	require.Less(t, int64(inUse())-int64(before), int64(32<<20))
	require.Empty(t, good.find("read.bin"))
	require.NotEmpty(t, good.find("counter"))
}

// inUse returns the bytes of the heap and of stacks.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// TestRandomBytes sends messages with some bytes changed, at once. The server stays whole.
func TestRandomBytes(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{Lease: 100 * time.Millisecond})
	good := dial(t, addr)
	good.put(1, 4)
	seeds := [][]byte{
		request(append(drawing(), e("$db", "unit")), ""),
		request(bson.D{{"find", "read.bin"}, {"filter", bson.D{{"id", bson.D{{"$in", bson.A{0, 1}}}}}}, {"$db", "unit"}}, ""),
		request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", sample(t, 0, 1, 4)...),
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 150 {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					b := bytes.Clone(seeds[rng.IntN(len(seeds))])
					for range rng.IntN(4) {
						b[rng.IntN(len(b))] = byte(rng.Uint32())
					}
					_, _ = nc.Write(b)
				}
				_ = nc.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
				_, _ = io.Copy(io.Discard, nc)
				_ = nc.Close()
			}
		})
	}
	all.Wait()
	eventually(t, func() bool { n, bytes := s.Out(); return s.Conns() == 1 && n == 0 && bytes == 0 })
	good.put(2, 4)
}

// TestMemory puts and reads samples of 16 MiB by several clients, while the heap is watched: it
// follows Inflight, not the samples.
func TestMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // garbage counts: see testkit.Main
	const n, inflight, clients, each = 8 << 20, 80 << 20, 4, 6
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, pair(t, n), samplecache.Config{Samples: 4}))
	cache, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	defer cache.Close()
	s, addr := serve(t, cache, mongowire.Options{Inflight: inflight})
	defer s.Close()
	message := request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", sample(t, 0, 1, n)...)
	base, peak := inUse(), uint64(0)
	var all sync.WaitGroup
	for range clients {
		c := dial(t, addr)
		all.Go(func() {
			for range each {
				id, err := c.tryDraw()
				if err != nil {
					t.Error(err)
					return
				}
				if err := c.sendWithID(message, id); err != nil {
					t.Error(err)
					return
				}
				_, _ = io.CopyN(io.Discard, c, 16+5+int64(len(bson.Append(nil, bson.D{{"n", 1}, {"ok", 1.0}}))))
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(5 * time.Millisecond):
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc+m.StackInuse)
		}
	}
	stats, err := cache.Stats()
	require.NoError(t, err)
	require.EqualValues(t, clients*each/4, stats.Latest)
	require.Less(t, int64(peak)-int64(base), int64(inflight+64<<20))
	t.Logf("%d MiB above %d", (int64(peak)-int64(base))>>20, base>>20)
}

// sendWithID sends an insert with another number as id, without a copy of it.
func (c *client) sendWithID(b []byte, id int) error {
	mark, number := []byte("\x10id\x00"), le.AppendUint32(nil, uint32(id))
	for {
		at := bytes.Index(b, mark)
		if at < 0 {
			_, err := c.Write(b)
			return err
		}
		for _, part := range [][]byte{b[:at+4], number} {
			if _, err := c.Write(part); err != nil {
				return err
			}
		}
		b = b[at+8:]
	}
}
