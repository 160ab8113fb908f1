package samplecache_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMisuse uses things wrongly: errors with names, and texts that say what is wrong.
func TestMisuse(t *testing.T) {
	type thing struct {
		ctx  context.Context
		e    *memcache.Engine
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
		{"a nil pointer to an engine", func(*thing) error { return open((*memcache.Engine)(nil)) }, samplecache.ErrEngine},
		{"a wrong option", func(x *thing) error {
			return testkit.Err(samplecache.Open(x.ctx, x.e, samplecache.Options{Verify: 9}))
		}, samplecache.ErrConfig},
		{"a context that has ended", func(x *thing) error {
			ctx, cancel := context.WithCancel(x.ctx)
			cancel()
			return testkit.Err(x.c.Latest(ctx))
		}, context.Canceled},
		{"nil sample", func(x *thing) error { return x.p.Put(x.ctx, nil) }, samplecache.ErrSchema},
		{"a sample with a batch shape", func(x *thing) error { return x.p.Put(x.ctx, tdict.New(1)) }, samplecache.ErrSchema},
		{"a sample without a key", func(x *thing) error { return x.p.Put(x.ctx, tdict.New()) }, samplecache.ErrSchema},
		{"a sample of another shape", func(x *thing) error {
			td := marked(1)
			return errors.Join(td.Set("image", tensor.Vector[uint8](1)), x.p.Put(x.ctx, td))
		}, samplecache.ErrSchema},
		{"a sample with an empty dictionary more", func(x *thing) error {
			td := marked(1)
			return errors.Join(td.Set("more", tdict.New()), x.p.Put(x.ctx, td))
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
		{"to keep what is not there", func(x *thing) error { return x.c.Keep(x.ctx, 7, "no/dir") }, samplecache.ErrGenerationGone},
		{"to keep at a file", func(x *thing) error { return x.c.Keep(x.ctx, 1, "misuse_test.go") }, fs.ErrExist},
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
			e := memory(t, samplecache.Config{Samples: 2})
			c := join(t, e)
			x := &thing{ctx: soon(t), e: e, c: c, p: producer(t, c, "p")}
			fill(t, x.p, 2)
			var err error
			x.g, err = c.Latest(x.ctx)
			require.NoError(t, err)
			x.slot, err = x.p.Reserve(x.ctx)
			require.NoError(t, err)
			err = tt.Op(x)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			testkit.Fails(t, tt.Is, err)
		})
	}
}

// specimen returns a cache of 3 samples a generation, in which 5 were put.
func specimen(t *testing.T) (*memcache.Engine, *samplecache.Cache, *samplecache.Producer) {
	t.Helper()
	e := memory(t, samplecache.Config{Samples: 3})
	c := join(t, e)
	p := producer(t, c, "p")
	fill(t, p, 5)
	return e, c, p
}

// reserved returns a slot, in which the sample of its number was written.
func reserved(t *testing.T, p *samplecache.Producer) *samplecache.Slot {
	t.Helper()
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, slot.Sample().SetIndex(marked(int64(slot.Number()))))
	return slot
}

// TestCommitTwice commits a slot again, which changes nothing.
func TestCommitTwice(t *testing.T) {
	_, _, p := specimen(t)
	slot := reserved(t, p)
	for range 3 {
		require.NoError(t, slot.Commit(soon(t)))
	}
	require.EqualValues(t, 6, p.Next())
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
			copy(b, tensor.Must(tdict.Slice[uint8](marked(int64(slot.Number())), "image")))
		})
	}()
	<-began
	return func() error { close(stop); return <-done }
}

// TestCommitWaitsForWriters commits while another writes: it waits, and its context ends that.
func TestCommitWaitsForWriters(t *testing.T) {
	_, c, p := specimen(t)
	slot := reserved(t, p)
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
	all := []int64{row(t, g, 0), row(t, g, 1), row(t, g, 2)}
	require.ElementsMatch(t, []int64{3, 4, 5}, all)
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
			e := memory(t, samplecache.Config{Samples: 1})
			c := join(t, e)
			slot := reserved(t, producer(t, c, "p"))
			image := tensor.Must(slot.Sample().Tensor("image"))
			other := producer(t, join(t, e), "other")
			require.NoError(t, tensor.Write(image, func(b []uint8) {
				require.NoError(t, end(c, slot))
				require.ErrorIs(t, testkit.Err(image.Clone()), samplecache.ErrClosed)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				require.ErrorIs(t, other.Put(ctx, marked(7)), samplecache.ErrBlocked, "the slot is not free yet")
				for i := range b {
					b[i] = 9
				}
			}))
			require.NoError(t, other.Put(soon(t), marked(7)), "the slot is free")
		})
	}
}

// TestSlotEndsOnce commits, aborts and closes from many goroutines: a slot ends in one way.
func TestSlotEndsOnce(t *testing.T) {
	e, ctx := memory(t, samplecache.Config{Samples: 1000}), soon(t)
	for round := range 60 {
		c := join(t, e)
		p := producer(t, c, "p")
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
		c = join(t, e)
		p, err = c.Producer("p")
		for errors.Is(err, samplecache.ErrProducerBusy) { // Close has not waited for operations that go on
			p, err = c.Producer("p")
		}
		require.NoError(t, err)
		got := p.Next()
		require.Equal(t, committed, got == next+1, "acknowledged %v, got %d after %d", committed, got, next)
		require.NoError(t, c.Close())
	}
}

// TestSlotSlices has slices of a slot's leaves: they are the place itself.
func TestSlotSlices(t *testing.T) {
	_, c, p := specimen(t)
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	for key, x := range marked(5).Tensors() {
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
	all := []int64{row(t, g, 0), row(t, g, 1), row(t, g, 2)}
	require.Contains(t, all, int64(5))
	require.NoError(t, g.Close())
}

// TestNamesOfProducers gives producers odd names: they are found again, or refused, and groups are
// named alike.
func TestNamesOfProducers(t *testing.T) {
	good := []string{"a", strings.Repeat("x", 64), strings.Repeat("ü", 32), "new\nline", "\x00", "a\x00b", `"quoted"\`, "<&>", "\u2028"}
	bad := []string{"\xff", "a\xffb", "\xed\xa0\x80", strings.Repeat("x", 65), strings.Repeat("ü", 33)}
	_, c, _ := specimen(t)
	for _, name := range bad {
		require.ErrorIs(t, testkit.Err(c.Producer(name)), samplecache.ErrProducer, "%q", name)
		require.ErrorIs(t, c.Forget(soon(t), name), samplecache.ErrProducer, "%q", name)
		require.ErrorIs(t, testkit.Err(c.Group(name, 1).Epoch(soon(t), 0)), samplecache.ErrGroup, "%q", name)
	}
	for _, name := range good {
		p := producer(t, c, name)
		fill(t, p, 3)
		require.NoError(t, p.Close())
		require.EqualValues(t, 3, producer(t, c, name).Next())
		g, err := c.Group(name, 1).Epoch(soon(t), 1<<63)
		require.NoError(t, err, "and an epoch may have a large number")
		info, err := g.Info(2)
		require.NoError(t, err)
		require.Contains(t, append(good, "p"), info.Producer)
		require.NoError(t, g.Close())
	}
}

// TestCommitEndedContext commits with a context that has ended: the slot is as it was, so that its
// sample can still be written.
func TestCommitEndedContext(t *testing.T) {
	c := join(t, memory(t, samplecache.Config{Samples: 1}))
	s, err := producer(t, c, "p").Reserve(soon(t))
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Commit(ended), context.Canceled)
	require.NoError(t, s.Sample().UpdateInPlace(marked(7)))
	require.NoError(t, s.Commit(soon(t)))
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	require.EqualValues(t, 7, row(t, g, 0))
}
