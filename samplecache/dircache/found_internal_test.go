//go:build unix

package dircache

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func foundSchema(t *testing.T) *tdict.TensorDict {
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Int64))))
	return td
}

func foundSession(t *testing.T, dir string) *samplecache.Cache {
	c, err := samplecache.Open(context.Background(), Engine{Dir: dir}, samplecache.Options{OnError: func(err error) { t.Log("OnError:", err) }})
	require.NoError(t, err)
	return c
}

func foundDir(t *testing.T, cfg samplecache.Config) string {
	dir := filepath.Join(t.TempDir(), "c")
	require.NoError(t, Create(dir, foundSchema(t), cfg))
	return dir
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// R1
func TestFoundFree(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 3})
	s0, err := Engine{Dir: dir}.Join(context.Background(), samplecache.Options{})
	require.NoError(t, err)
	s := s0.(*session)
	cl, err := s.Claim(context.Background(), "")
	require.NoError(t, err)
	_, err = cl.Reserve(context.Background(), 0)
	require.NoError(t, err)
	// the first half of free, then death
	require.NoError(t, s.use(func(w words) {
		require.True(t, w.cas(s.layout.slots, slotWord(1, s.me, slotReserved), slotWord(1, 0, slotFree)))
	}))
	require.NoError(t, Vanish(s))
	for range 2 {
		c := foundSession(t, dir)
		p, _ := c.Producer("")
		for i := range 3 {
			err := p.Put(soon(t), foundSchema(t))
			t.Log(i, err)
		}
		require.NoError(t, c.Close())
	}
	c := foundSession(t, dir)
	defer c.Close()
	st, _ := c.Stats()
	require.NotZero(t, st.Latest)
}

// R2
func TestFoundOrder(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 100})
	c := foundSession(t, dir)
	b, _ := c.Producer("")
	slot, err := b.Reserve(soon(t))
	require.NoError(t, err)
	a, err := c.Producer("a")
	require.NoError(t, err)
	for range 70 {
		require.NoError(t, a.Put(soon(t), foundSchema(t)))
	}
	require.NoError(t, slot.Abort())
	require.NoError(t, a.Put(soon(t), foundSchema(t))) // number 70, in slot 0
	require.Equal(t, uint64(71), a.Next())
	require.NoError(t, c.Close())
	require.NoError(t, Reboot(dir))
	c = foundSession(t, dir)
	defer c.Close()
	st, _ := c.Stats()
	a, err = c.Producer("a")
	require.NoError(t, err)
	t.Log(st.Committed, a.Window())
	require.Equal(t, 71, st.Committed)
}

// R3
func TestFoundForget(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 20})
	c := foundSession(t, dir)
	a, err := c.Producer("a")
	require.NoError(t, err)
	for range 110 {
		require.NoError(t, a.Put(soon(t), foundSchema(t)))
	}
	require.NoError(t, a.Close())
	require.NoError(t, c.Forget(soon(t), "a"))
	a, err = c.Producer("a")
	require.NoError(t, err)
	require.Zero(t, a.Next())
	u, _ := c.Producer("")
	for range 10 {
		require.NoError(t, u.Put(soon(t), foundSchema(t)))
	}
	require.NoError(t, a.Close())
	a, err = c.Producer("a")
	require.NoError(t, err)
	t.Log("after publish", a.Window())
	require.Zero(t, a.Next())
}

func TestFoundForgetReboot(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 20})
	c := foundSession(t, dir)
	a, err := c.Producer("a")
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, a.Put(soon(t), foundSchema(t)))
	}
	require.NoError(t, a.Close())
	require.NoError(t, c.Forget(soon(t), "a"))
	a, err = c.Producer("a")
	require.NoError(t, err)
	for range 5 {
		require.NoError(t, a.Put(soon(t), foundSchema(t)))
	}
	require.NoError(t, c.Close())
	require.NoError(t, Reboot(dir))
	c = foundSession(t, dir)
	defer c.Close()
	st, _ := c.Stats()
	require.Equal(t, 5, st.Committed)
}

// R8
func TestFoundGroup(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})
	c := foundSession(t, dir)
	defer c.Close()
	u, _ := c.Producer("")
	for range 4 {
		require.NoError(t, u.Put(soon(t), foundSchema(t)))
	}
	ga := c.Group("a", 1)
	old, err := ga.Epoch(soon(t), 0)
	require.NoError(t, err)
	require.NoError(t, ga.Close())
	gb := c.Group("b", 1)
	now, err := gb.Epoch(soon(t), 0)
	require.NoError(t, err)
	_, err = old.Fetch(soon(t), []int{0, 1, 2}, nil)
	require.NoError(t, err)
	st, _ := c.Stats()
	t.Logf("after a's fetch of 3 rows: %+v", st.Groups)
	require.NoError(t, old.Close())
	st, _ = c.Stats()
	t.Logf("after a's close: %+v", st.Groups)
	require.Zero(t, st.Groups[0].Current)
	_ = now.Close()
}

// R9: killed within refuse, after the slots are free and before the hint is reset
func TestFoundRefuse(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 3, Limits: samplecache.Limits{}})
	s0, err := Engine{Dir: dir}.Join(context.Background(), samplecache.Options{})
	require.NoError(t, err)
	s := s0.(*session)
	cl, _ := s.Claim(context.Background(), "")
	var last samplecache.Row
	for i := range 3 {
		r, err := cl.Reserve(context.Background(), uint64(i))
		require.NoError(t, err)
		if i < 2 {
			require.NoError(t, r.Commit(context.Background()))
		}
		last = r
	}
	require.NoError(t, last.(*row).record())
	// the last is committed, full() sees it (as Commit's ready does), then a damaged record of slot
	// 1 is refused: its slot is freed, and a kill comes
	require.NoError(t, s.use(func(w words) {
		require.True(t, s.layout.commit(w, 1, s.me, 2))
		require.True(t, s.layout.full(w, 1))
		w.store(s.layout.slots+1, slotWord(1, s.me, slotReserved))
		s.layout.free(w, 1, s.me, 1)
	}))

	require.NoError(t, Vanish(s))
	c := foundSession(t, dir)
	defer c.Close()
	st, _ := c.Stats()
	require.Zero(t, st.Latest, "a generation was published whose slot 1 is free")
}

// OnError that uses the cache
func TestFoundCopyConfig(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1})
	c := foundSession(t, dir)
	defer c.Close()
	dir2 := foundDir(t, c.Config())
	d := foundSession(t, dir2)
	defer d.Close()
	require.Equal(t, c.Config(), d.Config())
}

// R14
func TestFoundSeats(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 1})
	c := foundSession(t, dir)
	defer c.Close()
	u, _ := c.Producer("")
	require.NoError(t, u.Put(soon(t), foundSchema(t)))
	g := c.Group("a", 1)
	var open []*samplecache.Generation
	for e := range uint64(60) {
		x, err := g.Epoch(soon(t), e)
		require.NoError(t, err)
		open = append(open, x)
		if len(open) > 10 {
			require.NoError(t, open[0].Close())
			open = open[1:]
		}
	}
	for _, x := range open {
		require.NoError(t, x.Close())
	}
	s0, err := Engine{Dir: dir}.Join(soon(t), samplecache.Options{})
	require.NoError(t, err)
	defer s0.Close()
	s, n := s0.(*session), 0
	require.NoError(t, s.use(func(w words) {
		for i := range maxSeats {
			if w.load(s.layout.seats+i) != 0 {
				n++
			}
		}
	}))
	require.LessOrEqual(t, n, 1+epochsKept)
}

// TestFoundAbortClose closes the cache while an operation writes to a slot that was aborted: nobody
// else gets the slot before that ends.
func TestFoundAbortClose(t *testing.T) {
	dir := foundDir(t, samplecache.Config{Samples: 1})
	c := foundSession(t, dir)
	p, err := c.Producer("")
	require.NoError(t, err)
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	x := tensor.Must(tdict.Get[*tensor.Tensor](slot.Sample(), "x"))
	_, err = x.Lender().Borrow() // an operation of the user writes
	require.NoError(t, err)
	require.NoError(t, slot.Abort())
	require.NoError(t, c.Close())

	d := foundSession(t, dir)
	q, err := d.Producer("")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = q.Reserve(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	x.Lender().Return()
	require.NoError(t, q.Put(soon(t), foundSchema(t)))
	require.NoError(t, d.Close())
}
