package mongowire_test

import (
	"errors"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A storm is clients that come and go, and servers of one directory that do.
type storm struct {
	dir  string
	next atomic.Int64 // the number in the sample put next

	mu      sync.Mutex
	addr    [2]string
	sure    map[int64]bool // samples that were acknowledged
	seen    map[int64]int  // samples that were published
	skipped bool           // the follower missed a generation
}

// TestStorm has clients whose connections are reset at any moment, two servers of one directory
// that are closed and started again, and one who follows the generations. What was acknowledged is
// published, and nothing is published twice.
func TestStorm(t *testing.T) {
	t.Parallel()
	clients, length := 16, time.Second
	if longtests.On() {
		clients, length = 64, 10*time.Second
	}
	schema := tdict.New()
	require.NoError(t, schema.Set(nestedkey.Key("x"), tensor.Must(tensor.NewMeta(tensor.Int64, 1))))
	st := &storm{dir: filepath.Join(testkit.MemoryDir(t), "cache"), sure: map[int64]bool{}, seen: map[int64]int{}}
	require.NoError(t, dircache.Create(st.dir, schema, samplecache.Config{Samples: 32}))
	stop := make(chan struct{})
	var servers, all sync.WaitGroup
	for i := range st.addr {
		servers.Go(func() { st.serve(t, i, stop) })
	}
	follower, err := samplecache.Open(t.Context(), dircache.Engine{Dir: st.dir}, samplecache.Options{})
	require.NoError(t, err)
	var follows sync.WaitGroup
	follows.Go(func() { st.follow(t, follower) })
	end := time.Now().Add(length)
	for i := range clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for time.Now().Before(end) {
				st.visit(t, rng)
			}
		})
	}
	all.Wait()
	close(stop)
	servers.Wait()
	st.finish(t, follower)
	require.NoError(t, follower.Close())
	follows.Wait()
	for n, times := range st.seen {
		require.Equal(t, 1, times, "sample %d", n)
	}
	require.NotEmpty(t, st.seen)
	for n := range st.sure {
		require.True(t, st.skipped || st.seen[n] == 1, "sample %d was acknowledged, and is not published", n)
	}
	t.Logf("%d acknowledged, %d published of %d, skipped: %v", len(st.sure), len(st.seen), st.next.Load(), st.skipped)
}

// serve serves the directory again and again.
func (st *storm) serve(t *testing.T, i int, stop chan struct{}) {
	for {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: st.dir}, samplecache.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		s, err := mongowire.New(c, mongowire.Options{Database: "unit"})
		if err != nil {
			t.Error(err)
			return
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return
		}
		st.mu.Lock()
		st.addr[i] = l.Addr().String()
		st.mu.Unlock()
		go func() { _ = s.Serve(l) }()
		over := false
		select {
		case <-stop:
			over = true
		case <-time.After(time.Duration(50+rand.IntN(200)) * time.Millisecond):
		}
		if rand.IntN(2) == 0 { // the cache is gone before its server
			_ = c.Close()
		}
		_ = s.Close()
		_ = c.Close()
		if over {
			return
		}
	}
}

// visit puts some samples, and leaves without a word.
func (st *storm) visit(t *testing.T, rng *rand.Rand) {
	st.mu.Lock()
	addr := st.addr[rng.IntN(len(st.addr))]
	st.mu.Unlock()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	life := time.AfterFunc(time.Duration(rng.IntN(500))*time.Millisecond, func() {
		_ = nc.(*net.TCPConn).SetLinger(0)
		_ = nc.Close()
	})
	defer life.Stop()
	defer nc.Close()
	c := &client{t: t, Conn: nc}
	for {
		id, err := c.tryDraw()
		if err != nil {
			return
		}
		n := st.next.Add(1)
		x := tensor.Must(tensor.From([]int64{n}, 1))
		reply, err := c.try(bson.D{{"insert", "write.bin"}}, "documents", parts(id, 300, []string{"x"}, file(t, x))...)
		if err != nil {
			return
		}
		if firstError(reply) == "" {
			st.mu.Lock()
			st.sure[n] = true
			st.mu.Unlock()
		}
	}
}

// follow notes what every generation has.
func (st *storm) follow(t *testing.T, c *samplecache.Cache) {
	for last := uint64(0); ; {
		g, err := c.Wait(t.Context(), last)
		if err != nil {
			return // closed
		}
		td, err := g.Slice(0, g.Len())
		if err == nil {
			st.mu.Lock()
			st.skipped = st.skipped || g.ID() != last+1
			err = tensor.Read(tensor.Must(td.Tensor("x")), func(all []int64) {
				for _, n := range all {
					st.seen[n]++
				}
			})
			st.mu.Unlock()
		}
		if err != nil && !errors.Is(err, samplecache.ErrClosed) { // the storm is over
			t.Error(err)
		}
		last = g.ID()
		_ = g.Close()
	}
}

// finish fills the generation that is open, until all that was acknowledged is published.
func (st *storm) finish(t *testing.T, c *samplecache.Cache) {
	p, err := c.Producer("")
	require.NoError(t, err)
	stats, err := c.Stats()
	require.NoError(t, err)
	for last := stats.Latest; stats.Latest == last; {
		slot, err := p.Reserve(within(t, time.Minute))
		require.NoError(t, err)
		x := tensor.Must(slot.Sample().Tensor("x"))
		require.NoError(t, x.CopyFrom(tensor.Must(tensor.From([]int64{st.next.Add(1)}, 1))))
		require.NoError(t, slot.Commit(t.Context()))
		stats, err = c.Stats()
		require.NoError(t, err)
	}
	eventually(t, func() bool {
		st.mu.Lock()
		defer st.mu.Unlock()
		return len(st.seen) > 0 && st.skipped || len(st.seen)%stats.Samples == 0 && uint64(len(st.seen)/stats.Samples) == stats.Latest
	})
}
