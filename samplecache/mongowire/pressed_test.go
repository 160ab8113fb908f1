package mongowire_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCursorOutlivesItsConnection has connections that end while another one reads on with their
// cursors, as a pool of a driver does. A cursor is the connection's that used it last, and ends
// with it.
func TestCursorOutlivesItsConnection(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 4), mongowire.Options{})
	other := dial(t, addr)
	for i := range 4 {
		other.put(byte(i), 4)
	}
	for range 200 {
		c := dial(t, addr)
		reply := c.do(bson.D{{"find", "read.bin"}, {"batchSize", 1}}, "")
		cur, _ := reply.Get("cursor").Doc()
		id, _ := cur.Get("id").Int()
		var ended sync.WaitGroup
		ended.Go(func() { _ = c.Close() })
		other.do(bson.D{{"getMore", id}, {"collection", "read.bin"}, {"batchSize", 1}}, "")
		ended.Wait()
	}
	_ = other.Close()
	eventually(t, func() bool { return s.Conns() == 0 })
	require.Zero(t, s.Cursors())
	require.Zero(t, s.CursorBytes())
}

// TestCursorOfTwo has two connections that read with the same cursor at once: one of them is told
// that it is not open, and what they get meets the filter.
func TestCursorOfTwo(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, memory(t, pair(t, 4), 100), mongowire.Options{})
	c := dial(t, addr)
	for i := range 100 {
		c.put(byte(i), 4)
	}
	for range 30 {
		reply := c.do(bson.D{{"find", "read.bin"}, {"filter", bson.D{{"kind", "data"}}}, {"batchSize", 1}}, "")
		cur, _ := reply.Get("cursor").Doc()
		id, _ := cur.Get("id").Int()
		var both sync.WaitGroup
		for range 2 {
			d := dial(t, addr)
			both.Go(func() {
				for range 100 {
					reply, err := d.try(bson.D{{"getMore", id}, {"collection", "read.bin"}, {"batchSize", 1}}, "")
					if err != nil {
						t.Error(err)
						return
					}
					cur, _ := reply.Get("cursor").Doc()
					docs, _ := cur.Get("nextBatch").Doc()
					for _, v := range docs.All() {
						doc, _ := v.Doc()
						if kind, _ := doc.Get("kind").Text(); kind != "data" {
							t.Errorf("got %s", show(doc))
						}
					}
				}
			})
		}
		both.Wait()
	}
}

// TestLongTexts has commands with texts of many megabytes where names belong: they take little
// memory besides the message, and replies and cursors do not keep them.
func TestLongTexts(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	long := strings.Repeat("\x01", 12<<20)
	for _, d := range []bson.D{
		{{"find", long}},
		{{"collStats", long}},
		{{"drop", long}},
		{{"create", long}},
		{{long, 1}},
		{{"hello", 1}, {long, 1}},
		{{"hello", 1}, {"saslSupportedMechs", long}},
		{{"saslStart", 1}, {"mechanism", long}},
		{{"delete", long}},
		{{"ping", long}},
		{{"killCursors", long}, {"cursors", bson.A{1}}},
		{{"find", "read.bin"}, {"projection", bson.D{{long, 0}}}, {"batchSize", 1}},
		{{"find", "read.bin"}, {"sort", bson.D{{long, 1}}}},
		{{"find", "read.bin"}, {"filter", bson.D{{long, 1}}}},
		{{"find", "read.bin"}, {"comment", long}, {"batchSize", 1}},
		{{"update", "counter"}, {"updates", bson.A{bson.D{{"q", bson.D{{"_id", long}}}}}}},
		{{"findAndModify", "counter"}, {"query", bson.D{{"_id", long}}}},
		{{"insert", "write.bin"}, {"documents", bson.A{bson.D{{"id", 0}, {"chunk_id", 0}, {"kind", long}, {"chunk", []byte{}}}}}},
		{{"insert", "write.bin"}, {"documents", bson.A{bson.D{{long, 0}}}}},
		{{long, 1}, {"insert", "write.bin"}},
	} {
		b := request(append(d, e("$db", "unit")), "")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Write(b)
		require.NoError(t, err)
		reply, err := c.receive()
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		name := d[0].Name()[:min(10, len(d[0].Name()))]
		more := (after.TotalAlloc - before.TotalAlloc) >> 20
		if len(reply) > 4<<10 || more > 12*5 {
			t.Errorf("%s: reply of %d bytes, %d MiB", name, len(reply), more)
		}
	}
	require.LessOrEqual(t, s.Cursors(), 1)
}

// TestFirstSampleOfLongKinds has first samples whose kinds are long: the error is short, and takes
// little memory.
func TestFirstSampleOfLongKinds(t *testing.T) {
	_, addr := serve(t, nil, mongowire.Options{Samples: 2, Create: inMemory(t, 2)})
	c := dial(t, addr)
	long := strings.Repeat("\x01", 12<<20)
	id := c.draw()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := c.insert(bson.D{{"id", id}, {"chunk_id", 0}, {"kind", long}, {"chunk", []byte{}}, {"telomere", true}})
	runtime.ReadMemStats(&after)
	require.NotEmpty(t, text)
	require.Less(t, len(text), 4<<10)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(12*8))
}

// TestBusyConnections has more connections of an address than places, all of which are busy: they
// send messages slowly, wait for tickets, or are of a session that has one. Others come in, and a
// client of another address that is idle, or waits for a ticket, stays.
func TestBusyConnections(t *testing.T) {
	half := request(bson.D{{"ping", 1}, {"$db", "unit"}}, "")[:20]
	draw := request(append(drawing(), e("$db", "unit")), "")
	for rule, hold := range map[string]func(c *client){
		"half a message":    func(c *client) { _, _ = c.Write(half) },
		"waits for tickets": func(c *client) { _, _ = c.Write(draw) },
		"holds a ticket":    func(c *client) { _, _ = c.with("one").try(bson.D{{"ping", 1}}, "") },
	} {
		t.Run(rule, func(t *testing.T) {
			mongowire.SetMaxConns(t, 10, 10)
			s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
			first := dial(t, addr).with("one")
			_ = first.draw()
			waiter := dialFrom(t, "127.0.2.1", addr)
			_, err := waiter.Write(draw)
			require.NoError(t, err)
			eventually(t, func() bool { return s.Active() == 1 })
			idle := dialFrom(t, "127.0.2.3", addr)
			require.Empty(t, idle.find("read.bin"))
			for range 30 {
				c := dial(t, addr)
				_, err := c.try(bson.D{{"ping", 1}}, "")
				require.NoError(t, err)
				hold(c)
			}
			for range 20 {
				c := dialFrom(t, "127.0.2.2", addr)
				_, err := c.try(bson.D{{"ping", 1}}, "")
				require.NoError(t, err)
				_, err = c.try(bson.D{{"find", "read.bin"}}, "")
				require.NoError(t, err)
				_ = c.Close()
			}
			require.True(t, waiter.open())
			require.True(t, idle.open())
		})
	}
}

// TestGetMoresOfOldGenerations has clients that read on with cursors of generations while newer
// ones are published, and do not take the replies: producers do not wait for them.
func TestGetMoresOfOldGenerations(t *testing.T) {
	waitForever(t)
	const n = 8 << 20
	schema := tdict.New()
	require.NoError(t, schema.Set("data", tensor.Must(tensor.NewMeta(tensor.Uint8, 4))))
	require.NoError(t, schema.Set("label", tensor.Must(tensor.NewMeta(tensor.Uint8, n))))
	c := directory(t, schema, samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1})
	_, addr := serve(t, c, mongowire.Options{})
	writer := dial(t, addr)
	short, long := file(t, filled(t, 1, 4)), file(t, filled(t, 1, n))
	put := func() {
		require.NoError(t, writer.SetDeadline(time.Now().Add(time.Minute)))
		require.Empty(t, writer.insert(parts(writer.draw(), 9<<20, kinds, short, long)...))
	}
	put()
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var open []net.Conn
			for !done.Load() {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					continue
				}
				if open = append(open, nc); len(open) > 500 {
					_ = open[len(open)-500].Close()
				}
				_ = nc.(*net.TCPConn).SetReadBuffer(4 << 10)
				_ = nc.SetDeadline(time.Now().Add(time.Minute))
				c := &client{t: t, Conn: nc}
				reply, _ := c.try(bson.D{{"find", "read.bin"}, {"batchSize", 1}}, "")
				cur, _ := reply.Get("cursor").Doc()
				id, _ := cur.Get("id").Int()
				time.Sleep(rand.N(20 * time.Millisecond))
				_, _ = c.Write(request(bson.D{{"getMore", id}, {"collection", "read.bin"}, {"$db", "unit"}}, ""))
			}
			for _, nc := range open {
				_ = nc.Close()
			}
		})
	}
	for range 100 {
		put()
	}
	done.Store(true)
	readers.Wait()
}

// TestSilentReadersInTheKernel has a reader that does not take a reply: the kernel keeps little of
// it.
func TestSilentReadersInTheKernel(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, memory(t, pair(t, 8<<20), 1), mongowire.Options{})
	dial(t, addr).put(1, 8<<20)
	c := dial(t, addr)
	require.NoError(t, c.Conn.(*net.TCPConn).SetReadBuffer(64<<10))
	_, err := c.Write(request(bson.D{{"find", "read.bin"}, {"$db", "unit"}}, ""))
	require.NoError(t, err)
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, s.Close())
	n, _ := io.Copy(io.Discard, c)
	require.Less(t, n, int64(1<<20))
}

// TestStrangersOfManyAddresses has far more strangers of many addresses than places: one of an
// address that has few of them stays, as the connection with which a driver watches the server.
func TestStrangersOfManyAddresses(t *testing.T) {
	mongowire.SetMaxConns(t, 10, 20)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	watcher := dialFrom(t, "127.0.2.1", addr)
	require.Empty(t, firstError(watcher.do(bson.D{{"hello", 1}}, "")))
	for i := range 100 {
		_ = dialFrom(t, fmt.Sprintf("127.0.3.%d", 1+i%5), addr)
	}
	time.Sleep(50 * time.Millisecond)
	require.Empty(t, firstError(watcher.do(bson.D{{"hello", 1}}, "")))
}
