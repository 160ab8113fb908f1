//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMisuse uses things wrongly: errors with names, and texts that say what is wrong.
func TestMisuse(t *testing.T) {
	type thing struct {
		ctx  context.Context
		c    *samplecache.Cache
		p    *samplecache.Producer
		slot *samplecache.Slot
		g    *samplecache.Generation
	}
	open := func(eng samplecache.Engine) error {
		return testkit.Err(samplecache.Open(context.Background(), eng, samplecache.Options{}))
	}
	tests := []testkit.Refusal[*thing]{
		{"nil engine", func(*thing) error { return open(nil) }, samplecache.ErrEngine},
		{"zero engine", func(*thing) error { return open(dircache.Engine{}) }, fs.ErrInvalid},
		{"a wrong option", func(*thing) error {
			return testkit.Err(samplecache.Open(context.Background(), dircache.Engine{Dir: "x"}, samplecache.Options{Verify: 9}))
		}, samplecache.ErrConfig},
		{"a context that has ended", func(x *thing) error {
			ctx, cancel := context.WithCancel(x.ctx)
			cancel()
			return testkit.Err(samplecache.Open(ctx, dircache.Engine{Dir: "x"}, samplecache.Options{}))
		}, context.Canceled},
		{"nil sample", func(x *thing) error { return x.p.Put(x.ctx, nil) }, samplecache.ErrSchema},
		{"a sample with a batch shape", func(x *thing) error { return x.p.Put(x.ctx, tdict.New(1)) }, samplecache.ErrSchema},
		{"a sample without a key", func(x *thing) error { return x.p.Put(x.ctx, tdict.New()) }, samplecache.ErrSchema},
		{"a sample of another shape", func(x *thing) error {
			td := marked(1)
			return errors.Join(td.Set("image", tensor.Vector[uint8](1)), x.p.Put(x.ctx, td))
		}, samplecache.ErrSchema},
		{"a sample without elements", func(x *thing) error { return x.p.Put(x.ctx, x.c.Schema()) }, tensor.ErrMeta},
		{"a key set in a slot", func(x *thing) error { return x.slot.Sample().Set("more", tensor.Scalar(int8(1))) }, tdict.ErrLocked},
		{"a key deleted from a slot", func(x *thing) error { return x.slot.Sample().Delete("image") }, tdict.ErrLocked},
		{"a view written", func(x *thing) error {
			image := tensor.Must(tensor.Must(x.g.Slice(0, 2)).Tensor("image"))
			return tensor.Write(image, func(b []uint8) { b[0] = 1 })
		}, tensor.ErrReadOnly},
		{"commit after abort", func(x *thing) error { return errors.Join(x.slot.Abort(), x.slot.Commit(x.ctx)) }, samplecache.ErrClosed},
		{"abort twice", func(x *thing) error { return errors.Join(x.slot.Abort(), x.slot.Abort()) }, samplecache.ErrClosed},
		{"abort after commit", func(x *thing) error { return errors.Join(x.slot.Commit(x.ctx), x.slot.Abort()) }, samplecache.ErrClosed},
		{"a sample after commit", func(x *thing) error {
			return errors.Join(x.slot.Commit(x.ctx), x.slot.Sample().SetIndex(marked(1)))
		}, samplecache.ErrClosed},
		{"a sample read after abort", func(x *thing) error {
			return errors.Join(x.slot.Abort(), testkit.Err(x.slot.Sample().Clone()))
		}, samplecache.ErrClosed},
		{"a slot's slice after commit", func(x *thing) error {
			image := tensor.Must(x.slot.Sample().Tensor("image"))
			return errors.Join(x.slot.Commit(x.ctx), testkit.Err(tensor.Of[uint8](image)))
		}, samplecache.ErrClosed},
		{"a producer closed before its slot", func(x *thing) error { return x.p.Close() }, samplecache.ErrReserved},
		{"a closed producer", func(x *thing) error {
			return errors.Join(x.slot.Abort(), x.p.Close(), x.p.Put(x.ctx, marked(1)))
		}, samplecache.ErrClosed},
		{"a producer closed twice", func(x *thing) error { return errors.Join(x.slot.Abort(), x.p.Close(), x.p.Close()) }, samplecache.ErrClosed},
		{"a producer twice", func(x *thing) error { return testkit.Err(x.c.Producer("p")) }, samplecache.ErrProducerBusy},
		{"a number that is reserved", func(x *thing) error { return testkit.Err(x.p.ReserveAt(x.ctx, x.slot.Number())) }, samplecache.ErrReserved},
		{"a number that is committed", func(x *thing) error { return testkit.Err(x.p.ReserveAt(x.ctx, 0)) }, samplecache.ErrCommitted},
		{"a number without a name", func(x *thing) error {
			return testkit.Err(tensor.Must(x.c.Producer("")).ReserveAt(x.ctx, 0))
		}, samplecache.ErrProducer},
		{"a name that is too long", func(x *thing) error { return testkit.Err(x.c.Producer(strings.Repeat("n", 65))) }, samplecache.ErrProducer},
		{"to forget one that is busy", func(x *thing) error { return x.c.Forget(x.ctx, "p") }, samplecache.ErrProducerBusy},
		{"to forget nobody", func(x *thing) error { return x.c.Forget(x.ctx, "q") }, samplecache.ErrProducer},
		{"to forget no name", func(x *thing) error { return x.c.Forget(x.ctx, "") }, samplecache.ErrProducer},
		{"generation 0", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 0)) }, samplecache.ErrGenerationGone},
		{"one to come", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 2)) }, samplecache.ErrGenerationGone},
		{"one that cannot be", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 1<<63)) }, samplecache.ErrGenerationGone},
		{"a row that is none", func(x *thing) error { return testkit.Err(x.g.Fetch(x.ctx, []int{2}, nil)) }, shapeops.ErrIndex},
		{"a row below 0", func(x *thing) error { return testkit.Err(x.g.Info(-1)) }, shapeops.ErrIndex},
		{"rows in reverse", func(x *thing) error { return testkit.Err(x.g.Slice(1, 0)) }, shapeops.ErrIndex},
		{"a closed generation", func(x *thing) error {
			return errors.Join(x.g.Close(), testkit.Err(x.g.Fetch(x.ctx, []int{0}, nil)))
		}, samplecache.ErrClosed},
		{"a view of a closed generation", func(x *thing) error {
			view := tensor.Must(x.g.Slice(0, 2))
			return errors.Join(x.g.Close(), testkit.Err(view.Clone()))
		}, samplecache.ErrClosed},
		{"a generation closed twice", func(x *thing) error { return errors.Join(x.g.Close(), x.g.Close()) }, samplecache.ErrClosed},
		{"a group without a name", func(x *thing) error { return testkit.Err(x.c.Group("", 1).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"a group of none", func(x *thing) error { return testkit.Err(x.c.Group("g", 0).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"a group of too many", func(x *thing) error { return testkit.Err(x.c.Group("g", 1<<20).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"an epoch that cannot be", func(x *thing) error { return testkit.Err(x.c.Group("g", 1).Epoch(x.ctx, 1<<63)) }, samplecache.ErrGroup},
		{"to keep what is not there", func(x *thing) error { return x.c.Keep(x.ctx, 7, "kept") }, samplecache.ErrGenerationGone},
		{"to keep at a file", func(x *thing) error { return x.c.Keep(x.ctx, 1, "file") }, fs.ErrExist},
		{"an epoch after Close", func(x *thing) error {
			return errors.Join(x.c.Close(), testkit.Err(x.c.Group("g", 1).Epoch(x.ctx, 0)))
		}, samplecache.ErrClosed},
		{"a producer after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Producer("q"))) }, samplecache.ErrClosed},
		{"a slot after Close", func(x *thing) error { return errors.Join(x.c.Close(), x.slot.Commit(x.ctx)) }, samplecache.ErrClosed},
		{"the latest after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Latest(x.ctx))) }, samplecache.ErrClosed},
		{"to wait after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Wait(x.ctx, 9))) }, samplecache.ErrClosed},
		{"stats after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Stats())) }, samplecache.ErrClosed},
		{"Close twice", func(x *thing) error { return errors.Join(x.c.Close(), x.c.Close()) }, samplecache.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			at := home(t)
			inDir(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			require.NoError(t, os.WriteFile("file", nil, 0o666))
			require.NoError(t, dircache.Create("x", marked(0), samplecache.Config{Samples: 2}))
			c := joinSound(t, "x")
			x := &thing{ctx: ctx, c: c, p: putter(t, c, "p")}
			for v := range int64(2) {
				require.NoError(t, x.p.Put(ctx, marked(v)))
			}
			var err error
			x.g, err = c.Latest(ctx)
			require.NoError(t, err)
			x.slot, err = x.p.Reserve(ctx)
			require.NoError(t, err)
			err = tt.Op(x)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			if strings.Contains(tt.Name, "producer twice") {
				err = &placeless{err, fmt.Sprint(os.Getpid()), "PID"}
			}
			fails(t, at, tt.Is, err)
		})
	}
}

// TestCommitTwice commits a slot again, which changes nothing.
func TestCommitTwice(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	p := putter(t, c, "gen-7")
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, slot.Sample().SetIndex(marked(6)))
	for range 3 {
		require.NoError(t, slot.Commit(soon(t)))
	}
	require.EqualValues(t, 7, p.Next())
}

// writing writes a slot's sample in another goroutine, until end is called.
func writing(t *testing.T, slot *samplecache.Slot) (end func() error) {
	t.Helper()
	image := tensor.Must(slot.Sample().Tensor("image"))
	began, stop, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- tensor.Write(image, func(b []uint8) {
			close(began)
			<-stop
			copy(b, tensor.Must(tdict.Slice[uint8](marked(6), "image")))
		})
	}()
	<-began
	return func() error { close(stop); return <-done }
}

// TestCommitWaitsForWriters commits while another writes: it waits, and its context ends that.
func TestCommitWaitsForWriters(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	slot, err := putter(t, c, "gen-7").Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, slot.Sample().SetIndex(marked(6)))
	end := writing(t, slot)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- slot.Commit(ctx) }()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	go func() { done <- slot.Commit(soon(t)) }()
	require.NoError(t, end())
	require.NoError(t, <-done)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	td, err := g.Fetch(soon(t), []int{2}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 6, tensor.Must(shown(td)))
	require.NoError(t, g.Close())
}

// TestCloseWhileWriting closes the cache, and aborts, in the middle of a write, by the goroutine
// that writes: neither waits for it, and the memory stays until it is done.
func TestCloseWhileWriting(t *testing.T) {
	for name, end := range map[string]func(c *samplecache.Cache, slot *samplecache.Slot) error{
		"close": func(c *samplecache.Cache, _ *samplecache.Slot) error { return c.Close() },
		"abort": func(_ *samplecache.Cache, slot *samplecache.Slot) error { return slot.Abort() },
		"abort and close": func(c *samplecache.Cache, slot *samplecache.Slot) error {
			return errors.Join(slot.Abort(), c.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			dir := s.write(t)
			require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error {
				c, err := tr.open()
				if err != nil {
					return err
				}
				defer c.Close()
				p, err := c.Producer("gen-7")
				if err != nil {
					return err
				}
				slot, err := p.Reserve(tr.ctx)
				if err != nil {
					return err
				}
				image, err := slot.Sample().Tensor("image")
				if err != nil {
					return err
				}
				var failed error
				err = tensor.Write(image, func(b []uint8) {
					failed = end(c, slot)
					for i := range b {
						b[i] = 9
					}
				})
				return errors.Join(err, failed)
			}))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			p := putter(t, joinSound(t, dir), "other")
			require.NoError(t, p.Put(ctx, marked(102)), "the slot is free")
		})
	}
}

// TestSlotEndsOnce commits, aborts and closes from many goroutines: a slot ends in one way.
func TestSlotEndsOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 1000}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for round := range 60 {
		c := joinSound(t, dir)
		p := putter(t, c, "p")
		next := p.Next()
		slot, err := p.Reserve(ctx)
		require.NoError(t, err)
		require.NoError(t, slot.Sample().SetIndex(marked(1)))
		var wg sync.WaitGroup
		errs := make([]error, 7)
		for i := range errs {
			wg.Go(func() {
				switch {
				case i == 6 && round%3 == 0:
					_ = c.Close()
				case i%2 == 0:
					errs[i] = slot.Commit(ctx)
				default:
					errs[i] = slot.Abort()
				}
			})
		}
		wg.Wait()
		_ = c.Close()
		committed, aborted := false, 0
		for i, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrClosed)
			} else if i%2 == 0 && !(i == 6 && round%3 == 0) {
				committed = true
			} else if i%2 == 1 {
				aborted++
			}
		}
		require.LessOrEqual(t, aborted, 1)
		require.False(t, committed && aborted > 0)
		c = joinSound(t, dir)
		got := putter(t, c, "p").Next()
		require.Equal(t, committed, got == next+1, "acknowledged %v, got %d after %d", committed, got, next)
		require.NoError(t, c.Close())
	}
}

// TestSlotSlices has slices of a slot's leaves: they are the place itself.
func TestSlotSlices(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	slot, err := putter(t, c, "gen-7").Reserve(soon(t))
	require.NoError(t, err)
	for key, x := range marked(6).Tensors() {
		to := tensor.Must(slot.Sample().Tensor(key))
		switch key {
		case "image":
			copy(tensor.Must(tensor.Of[uint8](to)), tensor.Must(tensor.Of[uint8](x)))
		case "deep/n":
			copy(tensor.Must(tensor.Of[int64](to)), tensor.Must(tensor.Of[int64](x)))
		default:
			require.Empty(t, tensor.Must(tensor.Of[float32](to)))
		}
	}
	require.NoError(t, slot.Commit(soon(t)))
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	view := tensor.Must(g.Slice(2, 3))
	require.EqualValues(t, 6, tensor.Must(shown(tensor.Must(g.Fetch(soon(t), []int{2}, nil)))))
	image, err := tensor.Of[uint8](tensor.Must(view.Tensor("image")))
	if err == nil { // a loan that pins
		require.Equal(t, tensor.Must(tdict.Slice[uint8](marked(6), "image")), image)
	} else {
		require.ErrorIs(t, err, tensor.ErrReadOnly)
	}
	require.NoError(t, g.Close())
}

// TestNamesOfProducers gives producers odd names: what is taken is found again after everybody was
// gone, and after the control file was made anew; the rest is refused.
func TestNamesOfProducers(t *testing.T) {
	names := []string{"a", strings.Repeat("x", 64), strings.Repeat("ü", 32), "new\nline", "\x00", "a\x00b", `"quoted"\`, "<&>", "\u2028", "\xff", "a\xffb", "\xed\xa0\x80"}
	s := newSpecimen(t)
	for _, name := range names {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			dir := s.write(t)
			c := joinSound(t, dir)
			p, err := c.Producer(name)
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrProducer)
				_, err = c.Group(name, 1).Epoch(soon(t), 0)
				require.ErrorIs(t, err, samplecache.ErrGroup, "groups are named alike")
				return
			}
			for v := range int64(5) {
				require.NoError(t, p.Put(soon(t), marked(v)))
			}
			require.NoError(t, c.Close())
			require.NoError(t, os.Remove(filepath.Join(dir, "control")))
			c = joinSound(t, dir)
			require.EqualValues(t, 5, putter(t, c, name).Next())
			g, err := c.Latest(soon(t))
			require.NoError(t, err)
			info, err := g.Info(1)
			require.NoError(t, err)
			require.Equal(t, name, info.Producer)
			require.NoError(t, g.Close())
			e, err := c.Group(name, 1).Epoch(soon(t), 1<<40)
			require.NoError(t, err, "and an epoch may have a large number")
			require.NoError(t, e.Close())
		})
	}
}
