package samplecache_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tensor"
)

// A twisted is an engine in memory that does some things in another way.
type twisted struct {
	*memcache.Engine
	commit func(ctx context.Context, r engine.Row, sums []uint32) error
	abort  func(r engine.Row) error
	row    func(r engine.Row) engine.Row
	rows   func(r engine.Rows) engine.Rows
	take   func(n int) (int, error)
	opened atomic.Int32
	closed atomic.Int32
	ended  chan struct{} // closed by Close of a session; or nil
}

func (e *twisted) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.Engine.Join(ctx, opt)
	return &twistedSession{s, e}, err
}

type twistedSession struct {
	engine.Session
	e *twisted
}

func (s *twistedSession) Close() error {
	if s.e.ended != nil {
		close(s.e.ended)
	}
	return s.Session.Close()
}

func (s *twistedSession) Claim(ctx context.Context, name string) (engine.Claim, error) {
	c, err := s.Session.Claim(ctx, name)
	return &twistedClaim{c, s.e}, err
}

func (s *twistedSession) Open(ctx context.Context, id uint64) (engine.Rows, error) {
	r, err := s.Session.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	s.e.opened.Add(1)
	r = &twistedRows{r, s.e}
	if s.e.rows != nil {
		r = s.e.rows(r)
	}
	return r, nil
}

type twistedClaim struct {
	engine.Claim
	e *twisted
}

func (c *twistedClaim) Reserve(ctx context.Context, number uint64) (engine.Row, error) {
	r, err := c.Claim.Reserve(ctx, number)
	if err != nil {
		return nil, err
	}
	if c.e.row != nil {
		r = c.e.row(r)
	}
	return &twistedRow{r, c.e}, nil
}

func (s *twistedSession) Enter(ctx context.Context, group string, world int) (engine.Seat, error) {
	seat, err := s.Session.Enter(ctx, group, world)
	return &twistedSeat{seat, s.e}, err
}

type twistedSeat struct {
	engine.Seat
	e *twisted
}

func (s *twistedSeat) Begin(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	p, err := s.Seat.Begin(ctx, epoch, want)
	if err != nil || s.e.take == nil {
		return p, err
	}
	return &counted{p, s.e.take}, nil
}

type twistedRow struct {
	engine.Row
	e *twisted
}

func (r *twistedRow) Commit(ctx context.Context, sums []uint32) error {
	if r.e.commit != nil {
		return r.e.commit(ctx, r.Row, sums)
	}
	return r.Row.Commit(ctx, sums)
}

func (r *twistedRow) Abort() error {
	if r.e.abort != nil {
		return r.e.abort(r.Row)
	}
	return r.Row.Abort()
}

type twistedRows struct {
	engine.Rows
	e *twisted
}

func (r *twistedRows) Close() error {
	r.e.closed.Add(1)
	return r.Rows.Close()
}

// TestCommitAfterALostPlace commits to an engine that has lost the place, and has no other yet.
func TestCommitAfterALostPlace(t *testing.T) {
	tries := 0
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 1})}
	other := producer(t, join(t, e), "other")
	e.commit = func(ctx context.Context, r engine.Row, sums []uint32) error {
		if tries++; tries <= 3 {
			return engine.Waiting("a place")
		}
		return r.Commit(ctx, sums)
	}
	c := join(t, e)
	slot := reserved(t, producer(t, c, "p"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	err := slot.Commit(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, samplecache.ErrBlocked)
	require.ErrorContains(t, err, "waiting for a place")
	require.ErrorIs(t, slot.Sample().SetIndex(marked(1)), samplecache.ErrClosed, "its sums were taken")
	done := make(chan error, 1)
	go func() { done <- slot.Commit(soon(t)) }()
	require.Eventually(t, func() bool { // any change wakes it
		require.NoError(t, other.Close())
		other = producer(t, c, "other")
		return len(done) > 0
	}, patience, time.Millisecond)
	require.NoError(t, <-done)
	require.EqualValues(t, 0, row(t, tensor.Must(c.Latest(soon(t))), 0))
}

// TestOpenOutcome loses the reply of Commit: calling it again finds out that the sample is there,
// and so do Put, which aborts, and a producer that reserves the number again.
func TestOpenOutcome(t *testing.T) {
	lost := true
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 3})}
	e.commit = func(ctx context.Context, r engine.Row, sums []uint32) error {
		err := r.Commit(ctx, sums)
		if lost {
			lost = false
			return context.DeadlineExceeded
		}
		return err
	}
	e.abort = func(r engine.Row) error {
		if r.Commit(t.Context(), nil) == nil { // it knows that this is committed
			return engine.ErrCommitted
		}
		return r.Abort()
	}
	c := join(t, e)
	p := producer(t, c, "p")
	slot := reserved(t, p)
	require.ErrorIs(t, slot.Commit(soon(t)), context.DeadlineExceeded)
	require.Zero(t, p.Next(), "nobody knows")
	require.NoError(t, slot.Commit(soon(t)))
	require.EqualValues(t, 1, p.Next())

	lost = true
	require.NoError(t, p.Put(soon(t), marked(1)))
	require.EqualValues(t, 2, p.Next())
	lost = true
	slot = reserved(t, p)
	require.ErrorIs(t, slot.Commit(soon(t)), context.DeadlineExceeded)
	require.ErrorIs(t, slot.Abort(), samplecache.ErrCommitted)
	require.NoError(t, slot.Commit(soon(t)))
	require.EqualValues(t, 3, p.Next())
	require.NoError(t, p.Close(), "no slot is left")
	require.EqualValues(t, 1, tensor.Must(c.Stats()).Latest)
}

// A copying has no rows in memory.
type copying struct{ engine.Rows }

func (copying) Place(int) (tensor.Lender, int) { return nil, 0 }

func (r copying) Read(_ context.Context, rows []int, leaf int, dst []byte) error {
	lender, offset := r.Rows.Place(leaf)
	b, err := lender.Borrow()
	if err != nil {
		return err
	}
	defer lender.Return()
	size := len(dst) / len(rows)
	for i, row := range rows {
		copy(dst[i*size:][:size], b[offset+row*size:])
	}
	return nil
}

// TestCopiedRows reads rows that an engine copies, compares their sums, and keeps them.
func TestCopiedRows(t *testing.T) {
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 3})}
	e.rows = func(r engine.Rows) engine.Rows { return copying{r} }
	c := join(t, e)
	fill(t, producer(t, c, "p"), 3)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	_, err = g.Slice(0, 2)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	dst, err := g.Fetch(soon(t), []int{2, 0, 2}, nil)
	require.NoError(t, err)
	again, err := g.Fetch(soon(t), []int{1, 1, 0}, dst)
	require.NoError(t, err)
	require.Same(t, dst, again)
	for i, want := range []int{1, 1, 0} {
		one := tensor.Must(again.Narrow(0, i, 1))
		require.Equal(t, row(t, g, want), tensor.Must(shown(one)))
	}
	other, err := g.Fetch(soon(t), []int{1}, dst)
	require.NoError(t, err)
	require.NotSame(t, dst, other, "it does not fit")
	_, err = g.Fetch(soon(t), []int{3}, nil)
	require.Error(t, err)
	about, err := g.Describe()
	require.NoError(t, err)
	require.Equal(t, 24, about.RowBytes)

	path := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, c.Keep(soon(t), 1, path))
	require.ErrorIs(t, c.Keep(soon(t), 1, path), fs.ErrExist)
	ds, err := memmap.Open(path)
	require.NoError(t, err)
	require.Equal(t, 3, ds.Shape()[0])
	require.NoError(t, ds.Close())
}

// damage changes sample 1 of generation 1, of three, under the engine.
func damage(t *testing.T, e *twisted) {
	t.Helper()
	rows := tensor.Must(tensor.Must(e.Engine.Join(t.Context(), engine.Options{})).Open(t.Context(), 1))
	for leaf := range 3 {
		if lender, _ := rows.Place(leaf); lender != nil && len(tensor.Must(lender.Borrow())) == 24 {
			binary.LittleEndian.PutUint64(tensor.Must(lender.Borrow())[8:], 77)
		}
	}
}

// TestChecksums damages a sample under the engine: each way to read it says so, whether rows are in
// memory or not, unless sums are never compared.
func TestChecksums(t *testing.T) {
	for name, rows := range map[string]func(r engine.Rows) engine.Rows{
		"in memory": func(r engine.Rows) engine.Rows { return r },
		"copied":    func(r engine.Rows) engine.Rows { return copying{r} },
	} {
		t.Run(name, func(t *testing.T) {
			e := &twisted{Engine: memory(t, samplecache.Config{Samples: 3})}
			e.rows = rows
			c := join(t, e)
			fill(t, producer(t, c, "p"), 3)
			damage(t, e)
			g := tensor.Must(c.Latest(soon(t)))
			_, err := g.Fetch(soon(t), []int{0, 1}, nil)
			require.ErrorIs(t, err, samplecache.ErrChecksum)
			fault, ok := errors.AsType[*samplecache.RowError](err)
			require.True(t, ok)
			require.Equal(t, "deep/n", fault.Key)
			require.EqualValues(t, []any{uint64(1), 1}, []any{fault.Generation, fault.Row})
			if name == "in memory" {
				require.ErrorIs(t, errOf(g.Slice(1, 2)), samplecache.ErrChecksum)
				require.NoError(t, errOf(g.Slice(0, 1)))
			}
			require.NoError(t, errOf(g.Fetch(soon(t), []int{0, 2}, nil)))
			never := tensor.Must(samplecache.Open(t.Context(), e, samplecache.Options{Verify: samplecache.Never}))
			require.NoError(t, errOf(tensor.Must(never.Latest(soon(t))).Fetch(soon(t), []int{0, 1}, nil)))
			require.NoError(t, never.Close())
		})
	}
}

func errOf[T any](_ T, err error) error { return err }

func errOf2[T, U any](_ T, _ U, err error) error { return err }

// TestOpenAgain opens a generation several times: the engine does so once, and has it back from the
// last. Rows that the process has compared stay so.
func TestOpenAgain(t *testing.T) {
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 3})}
	c := join(t, e)
	fill(t, producer(t, c, "p"), 3)
	one, two := tensor.Must(c.At(soon(t), 1)), tensor.Must(c.At(soon(t), 1))
	require.NoError(t, errOf(one.Fetch(soon(t), []int{1}, nil)))
	damage(t, e)
	require.NoError(t, errOf(two.Fetch(soon(t), []int{1}, nil)))
	require.NoError(t, one.Close())
	require.Zero(t, e.closed.Load())
	require.NoError(t, errOf(two.Fetch(soon(t), []int{1}, nil)))
	require.NoError(t, two.Close())
	require.Equal(t, []int32{1, 1}, []int32{e.opened.Load(), e.closed.Load()})
	three := tensor.Must(c.At(soon(t), 1))
	require.NoError(t, errOf(three.Fetch(soon(t), []int{1}, nil)))
	require.NoError(t, three.Close())
	require.Equal(t, []int32{2, 2}, []int32{e.opened.Load(), e.closed.Load()})
}

// TestLapsed holds a generation for longer than MaxHold: views and reads of each that has it are
// ErrGenerationGone, and so is opening it; the engine has it back once nobody reads it.
func TestLapsed(t *testing.T) {
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 1, MaxHold: 20 * time.Millisecond})}
	c := join(t, e)
	p := producer(t, c, "p")
	fill(t, p, 1)
	one, two := tensor.Must(c.At(soon(t), 1)), tensor.Must(c.At(soon(t), 1))
	view := tensor.Must(one.Slice(0, 1))
	image := tensor.Must(view.Tensor("image"))
	fill(t, p, 2)
	require.NoError(t, tensor.Read(image, func([]uint8) {
		require.Eventually(t, func() bool {
			_, err := two.Fetch(soon(t), []int{0}, nil)
			return errors.Is(err, samplecache.ErrGenerationGone)
		}, patience, time.Millisecond)
		require.ErrorIs(t, errOf(view.Clone()), samplecache.ErrGenerationGone)
		require.ErrorIs(t, errOf(c.At(soon(t), 1)), samplecache.ErrGenerationGone, "though others hold it")
		time.Sleep(2 * time.Millisecond)
		require.Zero(t, e.closed.Load(), "it is being read")
	}))
	require.Eventually(t, func() bool { return e.closed.Load() == 1 }, patience, time.Millisecond)
	require.NoError(t, one.Close())
	require.ErrorIs(t, errOf(one.Info(0)), samplecache.ErrClosed)
	require.NoError(t, two.Close())
	require.EqualValues(t, 1, e.closed.Load())
}

// TestCloseWhileReading closes the cache in the middle of a read, by the goroutine that reads: the
// session ends when the read does.
func TestCloseWhileReading(t *testing.T) {
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 1}), ended: make(chan struct{})}
	c := join(t, e)
	fill(t, producer(t, c, "p"), 1)
	g := tensor.Must(c.Latest(soon(t)))
	image := tensor.Must(tensor.Must(g.Slice(0, 1)).Tensor("image"))
	require.NoError(t, tensor.Read(image, func([]uint8) {
		require.NoError(t, c.Close())
		require.ErrorIs(t, errOf(image.Clone()), samplecache.ErrClosed)
		require.ErrorIs(t, errOf(g.Info(0)), samplecache.ErrClosed)
		select {
		case <-e.ended:
			t.Error("the session has ended")
		case <-time.After(10 * time.Millisecond):
		}
	}))
	<-e.ended
	require.ErrorIs(t, g.Close(), samplecache.ErrClosed)
}

// TestCloseWakes closes the cache while others wait.
func TestCloseWakes(t *testing.T) {
	for name, wait := range map[string]func(c *samplecache.Cache, slot *samplecache.Slot) error{
		"wait": func(c *samplecache.Cache, _ *samplecache.Slot) error { return errOf(c.Wait(none, 9)) },
		"reserve": func(c *samplecache.Cache, _ *samplecache.Slot) error {
			return errOf(tensor.Must(c.Producer("q")).Reserve(none))
		},
		"epoch":  func(c *samplecache.Cache, _ *samplecache.Slot) error { return errOf(c.Group("g", 1).Epoch(none, 0)) },
		"commit": func(_ *samplecache.Cache, slot *samplecache.Slot) error { return slot.Commit(none) },
	} {
		t.Run(name, func(t *testing.T) {
			c := join(t, memory(t, samplecache.Config{Samples: 1}))
			slot := reserved(t, producer(t, c, "p"))
			end := writing(t, slot)
			done := make(chan error, 1)
			go func() { done <- wait(c, slot) }()
			time.Sleep(5 * time.Millisecond)
			require.Empty(t, done)
			require.NoError(t, c.Close())
			require.ErrorIs(t, <-done, samplecache.ErrClosed)
			require.NoError(t, end())
		})
	}
}

// none is a nil context, which never ends.
var none context.Context

// TestZeroValues calls the methods of values that nobody has made.
func TestZeroValues(t *testing.T) {
	var (
		c samplecache.Cache
		p samplecache.Producer
		s samplecache.Slot
		g samplecache.Generation
		m samplecache.Group
	)
	for name, err := range map[string]error{
		"latest": errOf(c.Latest(none)), "at": errOf(c.At(none, 1)), "wait": errOf(c.Wait(none, 1)),
		"keep": c.Keep(none, 1, "x"), "forget": c.Forget(none, "x"), "stats": errOf(c.Stats()), "close": c.Close(),
		"producer": errOf(c.Producer("x")), "epoch": errOf(c.Group("x", 1).Epoch(none, 0)),
		"reserve": errOf(p.Reserve(none)), "put": p.Put(none, marked(1)), "close producer": p.Close(),
		"commit": s.Commit(none), "abort": s.Abort(),
		"slice": errOf(g.Slice(0, 0)), "fetch": errOf(g.Fetch(none, nil, nil)), "describe": errOf(g.Describe()), "close generation": g.Close(),
		"epoch of a group": errOf(m.Epoch(none, 0)), "close group": m.Close(),
	} {
		require.ErrorIs(t, err, samplecache.ErrClosed, name)
	}
	_, err := g.Info(0)
	require.Error(t, err)
	for name, err := range map[string]error{
		"reserve at": errOf(p.ReserveAt(none, 1)), "put at": p.PutAt(none, 1, marked(1)),
	} {
		require.Error(t, err, name)
	}
	require.Zero(t, c.Config().Samples)
	require.Empty(t, slices.Collect(c.Schema().Keys()))
	require.Empty(t, slices.Collect(s.Sample().Keys()))
	require.ErrorIs(t, errOf2(m.Resume(none, 1, loader.State{}, samplecache.ResumeOptions{})), samplecache.ErrClosed)
	require.Error(t, errOf2(c.Resume(none, loader.State{}, samplecache.ResumeOptions{})))
	require.Empty(t, p.Name())
	require.Zero(t, p.Next()+p.Window().Floor+s.Number()+g.ID()+uint64(g.Len()))
}

// TestNilContexts has contexts that are nil, which never end.
func TestNilContexts(t *testing.T) {
	c, err := samplecache.Open(none, memory(t, samplecache.Config{Samples: 2}), samplecache.Options{})
	require.NoError(t, err)
	p := producer(t, c, "p")
	require.NoError(t, p.Put(none, marked(0)))
	slot, err := p.Reserve(none)
	require.NoError(t, err)
	require.NoError(t, slot.Commit(none))
	for _, open := range []func() (*samplecache.Generation, error){
		func() (*samplecache.Generation, error) { return c.Wait(none, 0) },
		func() (*samplecache.Generation, error) { return c.Latest(none) },
		func() (*samplecache.Generation, error) { return c.At(none, 1) },
		func() (*samplecache.Generation, error) { return c.Group("g", 1).Epoch(none, 0) },
	} {
		g, err := open()
		require.NoError(t, err)
		require.NoError(t, errOf(g.Fetch(none, []int{0}, nil)))
		require.NoError(t, g.Close())
	}
	require.NoError(t, p.Close())
	require.NoError(t, c.Forget(none, "p"))
	require.NoError(t, c.Keep(none, 1, filepath.Join(t.TempDir(), "kept")))
	require.NoError(t, c.Close())
}

// TestGroupOfNone asks for a group of no ranks: the next that asks is not in its way.
func TestGroupOfNone(t *testing.T) {
	c := join(t, memory(t, samplecache.Config{Samples: 1}))
	fill(t, producer(t, c, "p"), 1)
	_, err := c.Group("train", 0).Epoch(soon(t), 0)
	require.ErrorIs(t, err, samplecache.ErrGroup)
	g, err := c.Group("train", 2).Epoch(soon(t), 0)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	require.Same(t, c.Group("train", 2), c.Group("train", 2))
}
