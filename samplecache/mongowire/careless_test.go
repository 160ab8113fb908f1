package mongowire_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
)

// open reports whether the server has not ended a connection that has sent nothing.
func (c *client) open() bool {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// TestStrangers has far more silent connections than there are places for, before and after one of
// them says hello: clients with the password come in, those that are in stay, and the silent ones
// end, the oldest first and all at last.
func TestStrangers(t *testing.T) {
	mongowire.SetLoginTime(t, time.Second)
	mongowire.SetMaxConns(t, 8, 20)
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	known := dial(t, addr)
	require.Empty(t, known.login(t, nonce, "pencil"))
	var silent []*client
	for i := range 60 {
		silent = append(silent, dial(t, addr))
		if i%3 == 0 {
			_, err := silent[i].Write(request(bson.D{{"hello", 1}, {"$db", "admin"}}, ""))
			require.NoError(t, err)
		}
		if i%10 == 9 {
			c := dial(t, addr)
			require.Empty(t, c.login(t, nonce, "pencil"))
			require.Empty(t, c.find("read.bin"))
			_ = c.Close()
		}
	}
	require.Empty(t, known.find("read.bin"))
	eventually(t, func() bool { return s.Conns() <= 21 })
	require.False(t, silent[1].open(), "the oldest ends first")
	require.True(t, silent[59].open())
	eventually(t, func() bool { return s.Conns() == 1 })
	known.put(1, 4)
}

// TestIdleConnections has more clients than places, without a password: those that have sent no
// command for the longest time end, but not those with a ticket, or that wait for one.
func TestIdleConnections(t *testing.T) {
	mongowire.SetMaxConns(t, 10, 10)
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	holder, waiter := dial(t, addr), dial(t, addr)
	id := holder.draw()
	drawn := make(chan int, 1)
	go func() {
		n, _ := waiter.tryDraw()
		drawn <- n
	}()
	eventually(t, func() bool { return s.Active() == 1 })
	ping := bson.D{{"ping", 1}}
	var idle []*client
	for i := range 50 {
		idle = append(idle, dial(t, addr))
		require.Empty(t, firstError(idle[i].do(ping, "")))
		require.Empty(t, firstError(idle[max(0, i-2)].do(ping, "")), "it is in use")
	}
	eventually(t, func() bool { return s.Conns() == 10 })
	require.Empty(t, holder.insert(sample(t, id, 1, 4)...))
	require.Empty(t, waiter.insert(sample(t, <-drawn, 1, 4)...))
}

// TestWrongPasswordWaits has a client with a wrong password wait; others do not.
func TestWrongPasswordWaits(t *testing.T) {
	mongowire.SetWrongPause(t, 300*time.Millisecond)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	began := time.Now()
	require.Contains(t, dial(t, addr).login(t, nonce, "pen"), "wrong user or password")
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
	require.Empty(t, dial(t, addr).login(t, nonce, "pencil"))
}

// TestPanic has a fault of the server: the connection on which it happens ends, and what it held is
// free; others go on.
func TestPanic(t *testing.T) {
	var told atomic.Pointer[error]
	s, addr := serve(t, nil, mongowire.Options{Samples: 2, OnError: func(err error) { told.Store(&err) },
		Create: func(context.Context, *tdict.TensorDict) (*samplecache.Cache, error) { panic("a fault") }})
	other := dial(t, addr)
	require.Empty(t, other.find("read.bin"))
	for range 3 {
		c := dial(t, addr)
		id := c.draw()
		_, err := c.try(bson.D{{"insert", "write.bin"}}, "documents", sample(t, id, 1, 4)...)
		require.Error(t, err)
		eventually(t, func() bool { n, bytes := s.Out(); return n == 0 && bytes == 0 && s.Conns() == 1 && s.Active() == 0 })
		require.ErrorContains(t, *told.Load(), "a fault")
	}
	require.Empty(t, other.find("read.bin"))
	require.NoError(t, s.Shutdown(within(t, 5*time.Second)))
}

// TestMillionsOfValues has commands with millions of values where a few belong: they are refused at
// the first one too many, and take little memory besides the message.
func TestMillionsOfValues(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	const n = 600_000
	fill := func(kind byte, v any) bson.Value {
		one := bson.AppendValue(nil, "a", v)
		b := make([]byte, 4, 5+n*len(one))
		for range n {
			b = append(b, one...)
		}
		b = append(b, 0)
		le.PutUint32(b, uint32(len(b)))
		outer, err := bson.Parse(append(le.AppendUint32(nil, uint32(len(b)+5+3)), append([]byte{kind, 'x', 0}, append(b, 0)...)...))
		require.NoError(t, err)
		return outer.Get("x")
	}
	nulls, ints, docs := fill(bson.Array, nil), fill(bson.Array, 7), fill(bson.Array, bson.D{})
	fields := fill(bson.Object, 1)
	for _, d := range []bson.D{
		{{"killCursors", "read.bin"}, {"cursors", nulls}},
		{{"killCursors", "read.bin"}, {"cursors", ints}},
		{{"insert", "write.bin"}, {"documents", nulls}},
		{{"insert", "write.bin"}, {"documents", docs}},
		{{"insert", "write.bin"}, {"documents", bson.A{fields}}},
		{{"update", "counter"}, {"updates", nulls}},
		{{"find", "read.bin"}, {"projection", fields}},
		{{"find", "read.bin"}, {"filter", fields}},
		{{"find", "read.bin"}, {"filter", bson.D{{"id", bson.D{{"$in", ints}}}}}},
		{{"find", "read.bin"}, {"sort", fields}},
		{{"listCollections", 1}, {"filter", fields}},
	} {
		b := request(append(d, e("$db", "unit")), "")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Write(b)
		require.NoError(t, err)
		reply, err := c.receive()
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		require.NotEmpty(t, firstError(reply), d[0].Name())
		require.Less(t, len(reply), 4<<10)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*len(b)+16<<20), "%s of %d bytes", d[0].Name(), len(b))
	}
	many := bson.D{{"ping", 1}}
	for range 100 {
		many = append(many, e("comment", 1))
	}
	require.Contains(t, firstError(c.do(many, "")), "more than 64 fields")
}

// TestConditions has filters of many conditions, on one field and on many.
func TestConditions(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	for _, n := range []int{64, 65, 10_000} {
		one, each := bson.D{}, bson.D{}
		for i := range n {
			one = append(one, e("$gte", 0))
			each = append(each, e(fmt.Sprintf("id%d", i), bson.D{{"$exists", false}}))
		}
		for _, filter := range []bson.D{{{"id", one}}, each} {
			reply := c.do(bson.D{{"find", "read.bin"}, {"filter", filter}}, "")
			if n > 64 {
				require.Contains(t, firstError(reply), "filter: got more than 64 conditions")
			} else {
				require.Empty(t, firstError(reply))
			}
		}
	}
}

// TestLongFindEnds has finds that look at very many documents: they end with maxTimeMS, with their
// client, even if it has sent more, and with the server.
func TestLongFindEnds(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, memory(t, pair(t, 50_000), 1), mongowire.Options{ChunkBytes: 1})
	dial(t, addr).put(1, 50_000)
	filter := bson.D{{"kind", "nothing"}}
	for range 50 {
		filter = append(filter, e("nothing", bson.D{{"$exists", false}}))
	}
	filter = append(filter[1:], filter[0]) // the last one fails
	long := func(more ...bson.E) bson.D {
		return append(bson.D{{"find", "read.bin"}, {"filter", filter}, {"$db", "unit"}}, more...)
	}
	c := dial(t, addr)
	_, err := c.Write(request(long(e("maxTimeMS", 1)), ""))
	require.NoError(t, err)
	reply, err := c.receive()
	require.NoError(t, err)
	require.Contains(t, show(reply), "MaxTimeMSExpired")
	for _, more := range [][]byte{nil, request(bson.D{{"ping", 1}, {"$db", "unit"}}, "")} {
		for range 4 {
			c := dial(t, addr)
			_, err := c.Write(append(request(long(), ""), more...))
			require.NoError(t, err)
			_ = c.Close()
		}
	}
	eventually(t, func() bool { return s.Active() == 0 && s.Conns() == 2 })
	_, err = c.Write(request(long(), ""))
	require.NoError(t, err)
	eventually(t, func() bool { return s.Active() == 1 })
	require.NoError(t, s.Close())
}

// TestLiars has clients that announce 48 MB, send a part of it, and stop: from one address, and
// from many. Others are served: small messages at once, whole samples once the liars are found out.
func TestLiars(t *testing.T) {
	mongowire.SetStall(t, time.Hour)
	mongowire.SetPatience(t, 100*time.Millisecond)
	for rule, from := range map[string]func(i int) string{
		"one address":    func(int) string { return "127.0.0.1" },
		"many addresses": func(i int) string { return fmt.Sprintf("127.0.1.%d", i+1) },
	} {
		for _, sent := range []int{20 << 10, 300 << 10, 5 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes", rule, sent), func(t *testing.T) {
				s, addr := serve(t, memory(t, pair(t, 2<<20), 1), mongowire.Options{Inflight: 64 << 20})
				good := dial(t, addr)
				good.put(1, 2<<20)
				lie := with32(request(bson.D{{"ping", make([]byte, sent)}}, ""), 0, 48_000_000)
				for i := range 12 {
					c := dialFrom(t, from(i), addr)
					go func() { _, _ = c.Write(lie) }() // it may not be taken
				}
				time.Sleep(100 * time.Millisecond)
				require.Contains(t, firstError(good.do(bson.D{{"ping", make([]byte, 40<<10)}}, "")), "")
				good.put(2, 2<<20)
				_, bytes := s.Out()
				require.LessOrEqual(t, bytes, int64(64<<20))
			})
		}
	}
}

// TestSilentReaders has readers that ask for a generation and do not take it, each for another one:
// producers do not wait for them, and their memory is bounded.
func TestSilentReaders(t *testing.T) {
	waitForever(t)
	for _, held := range []int{-1, 0, 3} {
		t.Run(fmt.Sprint("MaxHeld ", held), func(t *testing.T) {
			t.Parallel()
			c := directory(t, pair(t, 8<<20), samplecache.Config{Samples: 1, MaxHeld: held})
			s, addr := serve(t, c, mongowire.Options{})
			writer := dial(t, addr)
			for n := range byte(6) {
				writer.put(n, 8<<20)
				for range 2 {
					_, err := dial(t, addr).Write(request(bson.D{{"find", "read.bin"}, {"$db", "unit"}}, ""))
					require.NoError(t, err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			require.NotEmpty(t, dial(t, addr).find("read.bin", e("filter", bson.D{{"kind", "label"}})))
			require.NoError(t, s.Close())
			require.NoError(t, c.Close())
		})
	}
}

// TestSilentReadersOfSmallDocuments has many readers that ask for many small documents and take
// none: a reply that waits takes a bounded memory.
func TestSilentReadersOfSmallDocuments(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 40_000), 1), mongowire.Options{ChunkBytes: 4, Inflight: 64 << 20})
	good := dial(t, addr)
	good.put(1, 40_000)
	before := inUse()
	for range 60 {
		c := dial(t, addr)
		require.NoError(t, c.Conn.(*net.TCPConn).SetReadBuffer(4<<10))
		for range 10 { // replies until the buffers of the kernel are full
			_, err := c.Write(request(bson.D{{"find", "read.bin"}, {"$db", "unit"}}, ""))
			require.NoError(t, err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	require.Len(t, good.find("read.bin", e("limit", 3000)), 3000)
	require.Less(t, int64(inUse())-int64(before), int64(60<<20))
	_, bytes := s.Out()
	require.LessOrEqual(t, bytes, int64(64<<20))
}

// TestClientsLeave has many clients that draw tickets and leave at once, in several ways: all
// tickets are free again.
func TestClientsLeave(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, memory(t, pair(t, 4), 400), mongowire.Options{})
	first := dial(t, addr)
	shared := bson.D{{"id", []byte(strings.Repeat("s", 16))}}
	for round := range 3 {
		var all []*client
		for i := range 300 {
			c := dial(t, addr)
			if round == 1 || round == 2 && i%2 == 0 {
				c.session = shared
			}
			c.draw()
			all = append(all, c)
		}
		n, _ := s.Out()
		require.Equal(t, 300, n)
		for i, c := range all {
			if i%2 == 0 {
				_ = c.Conn.(*net.TCPConn).SetLinger(0)
			}
			_ = c.Close()
		}
		eventually(t, func() bool { n, bytes := s.Out(); return n == 0 && bytes == 0 })
		require.Zero(t, first.draw(), "the lowest number")
		require.Empty(t, first.insert(sample(t, 0, 1, 4)...))
	}
}
