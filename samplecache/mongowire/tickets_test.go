package mongowire_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestTicketsAreDrawnOnce has 32 clients draw tickets at once, again and again.
func TestTicketsAreDrawnOnce(t *testing.T) {
	const clients, each = 32, 25
	c := memory(t, pair(t, 4), 40)
	_, addr := serve(t, c, mongowire.Options{})
	var mu sync.Mutex
	out := map[int]bool{}
	mark := func(id int, is bool) {
		mu.Lock()
		defer mu.Unlock()
		if out[id] == is {
			t.Errorf("ticket %d: out %v twice", id, is)
		}
		out[id] = is
	}
	var all sync.WaitGroup
	for i := range clients {
		cl := dial(t, addr).with(fmt.Sprint(i))
		all.Go(func() {
			for range each {
				id, err := cl.tryDraw()
				if err != nil || id >= 40 {
					t.Errorf("got ticket %d, %v", id, err)
					return
				}
				mark(id, true)
				docs := sample(t, id, byte(i), 4)
				mark(id, false)
				if text := cl.insert(docs...); text != "" {
					t.Error(text)
				}
			}
		})
	}
	all.Wait()
	stats, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, clients*each/40, stats.Latest, "all samples are published")
}

// TestTicketOfOneWhoIsGone has a client wait for the only slot, whose holder goes.
func TestTicketOfOneWhoIsGone(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	holder := dial(t, addr).with("holder")
	second := dial(t, addr).with("holder") // another connection of its driver
	holder.draw()
	second.find("counter")
	got := make(chan time.Time, 1)
	go func() {
		_, _ = dial(t, addr).tryDraw()
		got <- time.Now()
	}()
	_ = holder.Close()
	eventually(t, func() bool { return s.Conns() == 2 })
	select {
	case <-got:
		t.Fatal("the driver has a connection left")
	case <-time.After(50 * time.Millisecond):
	}
	gone := time.Now()
	_ = second.Close()
	require.Less(t, (<-got).Sub(gone), 20*time.Second, "not at the end of the lease of a minute")
}

// TestWaitingClientIsGone closes clients that wait for a ticket: none goes to them.
func TestWaitingClientIsGone(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	holder := dial(t, addr)
	id := holder.draw()
	for range 5 {
		c := dial(t, addr)
		_, err := c.Write(request(append(drawing(), e("$db", "unit")), ""))
		require.NoError(t, err)
		time.Sleep(5 * time.Millisecond)
		_ = c.Close()
	}
	eventually(t, func() bool { return s.Conns() == 1 })
	require.Empty(t, holder.insert(sample(t, id, 1, 4)...))
	holder.put(2, 4)
	n, bytes := s.Out()
	require.Zero(t, n)
	require.Zero(t, bytes)
}

// TestWaitHasADeadline has a client that says how long it waits.
func TestWaitHasADeadline(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.draw()
	require.Contains(t, firstError(c.do(append(drawing(), e("maxTimeMS", 20)), "")), "deadline")
}

// TestTicketsFollowInflight has room for two samples at a time.
func TestTicketsFollowInflight(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 1<<20), 10), mongowire.Options{Inflight: 9 << 20})
	a, b := dial(t, addr), dial(t, addr)
	ids := []int{a.draw()}
	got := make(chan int, 1)
	go func() {
		id, _ := b.tryDraw()
		got <- id
	}()
	ids = append(ids, <-got)
	go func() {
		id, _ := b.tryDraw()
		got <- id
	}()
	eventually(t, func() bool { return s.Waiting() == 1 })
	require.Empty(t, a.insert(sample(t, ids[0], 1, 1<<20)...))
	require.Equal(t, ids[0], <-got)
}

// TestNumbersAreBelowSamples has three clients share room for one sample: a number is free only
// when its ticket is, and the number after it is never drawn.
func TestNumbersAreBelowSamples(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	var all sync.WaitGroup
	for range 3 {
		c := dial(t, addr)
		all.Go(func() {
			for n := range byte(100) {
				id, err := c.tryDraw()
				if err != nil || id != 0 {
					t.Errorf("got ticket %d: %v", id, err)
					return
				}
				if reply, err := c.try(bson.D{{"insert", "write.bin"}}, "documents", sample(t, id, n, 4)...); err != nil || firstError(reply) != "" {
					t.Errorf("insert: %v, %s", err, firstError(reply))
					return
				}
			}
		})
	}
	all.Wait()
}

// TestShutdownWritesReplies shuts a server down while a client has not taken the reply to its last
// insert: it still gets it.
func TestShutdownWritesReplies(t *testing.T) {
	s, _ := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	theirs, ours := net.Pipe()
	c := &client{t: t, Conn: ours}
	var ended sync.WaitGroup
	ended.Go(func() { _ = s.Serve(&pipe{theirs: theirs}) })
	docs := sample(t, c.draw(), 1, 4)
	_, err := c.Write(request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", docs...))
	require.NoError(t, err)
	eventually(t, func() bool { n, _ := s.Out(); return n == 0 })
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(within(t, 10*time.Second)) }()
	select {
	case err := <-done:
		t.Fatalf("the reply is not written: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	reply, err := c.receive()
	require.NoError(t, err)
	require.Empty(t, firstError(reply))
	require.NoError(t, <-done)
	ended.Wait()
}

// A pipe is a listener to which one client connects. Writes wait until it reads.
type pipe struct {
	theirs net.Conn
}

func (p *pipe) Accept() (net.Conn, error) {
	if c := p.theirs; c != nil {
		p.theirs = nil
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipe) Addr() net.Addr { return &net.UnixAddr{} }
func (p *pipe) Close() error   { return nil }

// TestServerGoes closes a server and starts another one of the same directory: tickets are void,
// samples are kept.
func TestServerGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, pair(t, 4), samplecache.Config{Samples: 3}))
	open := func() *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		return c
	}
	cache := open()
	s, addr := serve(t, cache, mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	id := c.draw()
	require.NoError(t, s.Close())
	require.NoError(t, cache.Close())
	_, err := c.tryDraw()
	require.Error(t, err)

	cache = open()
	defer cache.Close()
	s, addr = serve(t, cache, mongowire.Options{})
	defer s.Close()
	c = dial(t, addr)
	require.Contains(t, c.insert(sample(t, id, 9, 4)...), "is not out")
	c.put(2, 4)
	c.put(3, 4)
	g, err := cache.Latest(t.Context())
	require.NoError(t, err)
	defer g.Close()
	td, err := g.Slice(0, 3)
	require.NoError(t, err)
	var got []byte
	require.NoError(t, tensor.Read(tensor.Must(td.Tensor("data")), func(b []uint8) { got = append(got, b[0], b[4], b[8]) }))
	require.ElementsMatch(t, []byte{1, 2, 3}, got)
}

// TestShutdown gives out no tickets, and waits for the samples of those that are out.
func TestShutdown(t *testing.T) {
	cache := memory(t, pair(t, 4), 2)
	s, addr := serve(t, cache, mongowire.Options{})
	a, b, c := dial(t, addr), dial(t, addr), dial(t, addr)
	id := a.draw()
	b.draw()
	waits := make(chan error, 1)
	go func() {
		_, err := c.tryDraw()
		waits <- err
	}()
	eventually(t, func() bool { return s.Conns() == 3 })
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(context.Background()) }()
	require.ErrorContains(t, <-waits, "ShutdownInProgress")
	_, err := c.tryDraw()
	require.ErrorContains(t, err, "ShutdownInProgress")
	require.Empty(t, a.insert(sample(t, id, 1, 4)...), "a ticket that was drawn before")
	select {
	case <-done:
		t.Fatal("a ticket is out")
	case <-time.After(30 * time.Millisecond):
	}
	_ = b.Close()
	require.NoError(t, <-done)
	require.ErrorIs(t, s.Close(), mongowire.ErrServerClosed)
	stats, err := cache.Stats()
	require.NoError(t, err)
	require.Equal(t, 1, stats.Committed)
}

// TestShutdownHasADeadline gives up tickets that are out.
func TestShutdownHasADeadline(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	dial(t, addr).draw()
	require.ErrorIs(t, s.Shutdown(within(t, 20*time.Millisecond)), context.DeadlineExceeded)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, s.Serve(l), mongowire.ErrServerClosed)
}

// TestSnapshot follows samples through the numbers of the logger.
func TestSnapshot(t *testing.T) {
	s, addr := serve(t, nil, mongowire.Options{Samples: 2, Create: func(ctx ctx, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		return inMemory(t, 2)(ctx, schema)
	}})
	c := dial(t, addr)
	first, err := s.Snapshot(mongowire.Snapshot{})
	require.NoError(t, err)
	require.Equal(t, 2, first.SwapCap)
	require.Nil(t, first.SwapTimestamp)
	for n := range byte(5) {
		c.put(n, 4)
		c.find("status") // the server sees each publication
	}
	c.draw()
	got, err := s.Snapshot(first)
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 1}, []int{got.SamplesStarted, got.SamplesCompleted, got.InFlight})
	require.Equal(t, 50.0, got.FillPct)
	require.Equal(t, []int{2, 4, 2}, []int{got.WriteDocs, got.ReadDocs, got.SwapCount})
	require.Len(t, got.RecentSwaps, 2)
	require.InDelta(t, 5, got.SamplesPerS*got.PollInterval, 1e-6)
	require.Equal(t, *got.SwapDuration, *got.AvgSwapDuration)
}

// TestManySwaps has more publications than status lists: all are counted.
func TestManySwaps(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	var before mongowire.Snapshot
	for n := range 1010 {
		if n == 1003 {
			var err error
			before, err = s.Snapshot(mongowire.Snapshot{})
			require.NoError(t, err)
		}
		c.put(byte(n), 4)
		c.find("counter") // the server sees each publication
	}
	got, err := s.Snapshot(before)
	require.NoError(t, err)
	require.Equal(t, 1010, got.SwapCount)
	require.InDelta(t, 7, got.SwapsPerS*got.PollInterval, 1e-6)
	require.Equal(t, 1010, got.RecentSwaps[9].SwapCount)
	require.Len(t, c.find("status"), 1000)
}
