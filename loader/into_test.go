package loader_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// A ring is memory for some batches, given out one after another.
type ring struct {
	t     testing.TB
	free  chan *tdict.TensorDict
	mu    sync.Mutex
	given []*tdict.TensorDict // in the order in which it was given
	got   int                 // number of batches that the loop had
}

// newRing returns memory like a batch for most rows.
func newRing(t testing.TB, like *tdict.TensorDict, most, count int) *ring {
	t.Helper()
	r := &ring{t: t, free: make(chan *tdict.TensorDict, count)}
	for range count {
		r.free <- must(tdict.SchemaOf(like).Zeros(most))
	}
	return r
}

// into is an Options.Into.
func (r *ring) into(ctx context.Context) (*tdict.TensorDict, error) {
	select {
	case td := <-r.free:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.given = append(r.given, td)
		return td, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// next returns the memory of the next batch of the loop, and checks that the batch is there.
func (r *ring) next(key nestedkey.Key, batch *tdict.TensorDict) *tdict.TensorDict {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	td := r.given[r.got]
	r.got++
	require.True(r.t, must(td.Tensor(key)).SharesMemory(must(batch.Tensor(key))), "the batch lies in the memory that was given for it")
	return td
}

// dense returns the tensors of kinds, which memory of one size can have.
func dense(t testing.TB, start, n int) *tdict.TensorDict {
	t.Helper()
	return must(kinds(t, start, n).Select("row", "deep/x", "weights"))
}

// TestInto: batches are the same as without Into, lie in the memory that was given for them, and
// stay as they are until that is given out again.
func TestInto(t *testing.T) {
	noLeak(t)
	sources := map[string]loader.Source{
		"memory": must(loader.From(dense(t, 0, 40))),
		"mapped": must(loader.FromDataset(open(t, dense(t, 0, 40)))),
		"concat": must(loader.Concat(must(loader.From(dense(t, 0, 25))), must(loader.From(dense(t, 25, 15))))),
		"zip":    must(loader.Zip(must(loader.From(dense(t, 0, 40))), column(t, "b", 100, 40))),
	}
	add := transform.Func("add", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td, td.Set("more", must(tensor.Zeros[int8](td.Shape()[0])))
	})
	options := map[string]loader.Options{
		"sequential": {Batch: 7},
		"random":     {Batch: 7, Sampler: sampler.Random(), RowsKey: "number"},
		"transform":  {Batch: 7, Sampler: sampler.Random(), RowsKey: "number", Transform: add},
	}
	for name, src := range sources {
		for how, opt := range options {
			for _, workers := range []int{0, 1, 3} {
				t.Run(fmt.Sprintf("%s/%s/workers=%d", name, how, workers), func(t *testing.T) {
					opt := opt
					want := all(t, must(loader.New(src, opt)), 2)
					r := newRing(t, first(t, src, opt), 7, 4)
					opt.Into, opt.Workers, opt.Poison = r.into, workers, true
					require.Equal(t, want, held(t, r, must(loader.New(src, opt))))
				})
			}
		}
	}
}

// first returns the first batch, in memory of its own.
func first(t testing.TB, src loader.Source, opt loader.Options) *tdict.TensorDict {
	t.Helper()
	for batch, err := range must(loader.New(src, opt)).Batches(t.Context()) {
		require.NoError(t, err)
		return must(batch.Clone())
	}
	return nil
}

// held returns the texts of the batches of two epochs. It holds three batches at a time, and reads
// each when it gives its memory back.
func held(t testing.TB, r *ring, l *loader.Loader) (texts []string) {
	t.Helper()
	type pair struct{ batch, memory *tdict.TensorDict }
	var holds []pair
	back := func() {
		texts = append(texts, string(must(holds[0].batch.MarshalJSON())))
		r.free <- holds[0].memory
		holds = holds[1:]
	}
	for l.Epoch() < 2 {
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			if holds = append(holds, pair{batch, r.next("row", batch)}); len(holds) == 3 {
				back()
			}
		}
	}
	for len(holds) > 0 {
		back()
	}
	return texts
}

// TestIntoPads: a Collate that pads fills the memory, whose leaves have one width.
func TestIntoPads(t *testing.T) {
	src := must(loader.From(must(kinds(t, 0, 20).Select("row", "codes"))))
	opt := loader.Options{Batch: 6, Sampler: sampler.Random(), Collate: loader.Pad(ragged.DensifyOptions{Masks: "masks", Widths: []int{3}})}
	want := all(t, must(loader.New(src, opt)), 2)
	r := newRing(t, first(t, src, opt), 6, 4)
	opt.Into, opt.Workers = r.into, 2
	require.Equal(t, want, held(t, r, must(loader.New(src, opt))))
}

// TestIntoSplits: the memory has room for the most groups; a batch of fewer groups has empty ones
// at the end.
func TestIntoSplits(t *testing.T) {
	ids := tensor.Vector[int64](0, 0, 1, 2, 2, 2, 3)
	groups := must(sampler.NewGroups(ids, sampler.GroupOptions{}))
	opt := loader.Options{Batching: must(groups.Batches(sampler.GroupBatchOptions{MaxRows: 3}))}
	memory := func(splits int) *tdict.TensorDict {
		td := must(tdict.SchemaOf(must(kinds(t, 0, 7).Select("row"))).Zeros(4))
		require.NoError(t, td.Set("splits", must(tdict.NewUnbatched(must(tensor.Zeros[int64](splits))))))
		return td
	}
	src := must(loader.From(must(kinds(t, 0, 7).Select("row"))))
	opt.Into = func(context.Context) (*tdict.TensorDict, error) { return memory(4), nil }
	var got []string
	for batch, err := range must(loader.New(src, opt)).Batches(t.Context()) {
		require.NoError(t, err)
		u := must(tdict.Get[*tdict.Unbatched](batch, "splits"))
		got = append(got, fmt.Sprint(rowsOf(t, batch), must(tensor.Of[int64](u.Tensor()))))
	}
	require.Equal(t, []string{"[0 1 2] [0 2 3 3]", "[3 4 5] [0 3 3 3]", "[6] [0 1 1 1]"}, got)

	opt.Into = func(context.Context) (*tdict.TensorDict, error) { return memory(2), nil }
	_, err := untilError(must(loader.New(src, opt)))
	testkit.Fails(t, shapeops.ErrShape, err)
}

// TestIntoRefuses: memory that does not fit is an error with the key, and the loop can go on with
// other memory.
func TestIntoRefuses(t *testing.T) {
	like := dense(t, 0, 8)
	with := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := must(like.Clone())
		if v == nil {
			require.NoError(t, td.Delete(key))
		} else {
			require.NoError(t, td.Set(key, v))
		}
		return td
	}
	tests := []struct {
		name string
		into func(ctx context.Context) (*tdict.TensorDict, error)
		is   error
	}{
		{"an error", func(context.Context) (*tdict.TensorDict, error) { return nil, errMine }, errMine},
		{"a panic", func(context.Context) (*tdict.TensorDict, error) { panic(errMine) }, errMine},
		{"nil", give(nil), tdict.ErrKind},
		{"no batch dim", give(tdict.New()), shapeops.ErrDim},
		{"too few rows", give(dense(t, 0, 3)), shapeops.ErrShape},
		{"another dtype", give(with("row", must(tensor.Zeros[int32](8)))), tensor.ErrDType},
		{"another shape", give(with("deep/x", must(tensor.Zeros[float32](8, 3)))), shapeops.ErrShape},
		{"another kind", give(with("row", must(tdict.DataFrom(make([]string, 8), 8)))), tdict.ErrKind},
		{"a key too few", give(with("row", nil)), tdict.ErrMissing},
		{"a key too many", give(with("more", must(tensor.Zeros[int32](8)))), tdict.ErrMissing},
	}
	src := must(loader.From(like))
	for _, tt := range tests {
		for _, s := range []sampler.Sampler{nil, sampler.Random()} {
			t.Run(fmt.Sprint(tt.name, "/random=", s != nil), func(t *testing.T) {
				noLeak(t)
				into := tt.into
				l := must(loader.New(src, loader.Options{Batch: 4, Sampler: s, Workers: 2, Into: func(ctx context.Context) (*tdict.TensorDict, error) { return into(ctx) }}))
				_, err := untilError(l)
				testkit.Fails(t, tt.is, err)
				failed, ok := errors.AsType[*loader.BatchError](err)
				require.True(t, ok)
				require.Zero(t, failed.Batch)
				into = func(context.Context) (*tdict.TensorDict, error) { return like.NewZeros(8) }
				require.Len(t, epoch(t, l), 2)
			})
		}
	}
	t.Run("RowsKey is not in the memory", func(t *testing.T) {
		_, err := untilError(must(loader.New(src, loader.Options{Batch: 4, Sampler: sampler.Random(), RowsKey: "number", Into: give(like)})))
		testkit.Fails(t, tdict.ErrMissing, err)
	})
	t.Run("with Own", func(t *testing.T) {
		_, err := loader.New(src, loader.Options{Batch: 4, Own: true, Into: give(like)})
		testkit.Fails(t, loader.ErrOptions, err)
	})
}

// give returns an Options.Into that returns td.
func give(td *tdict.TensorDict) func(context.Context) (*tdict.TensorDict, error) {
	return func(context.Context) (*tdict.TensorDict, error) { return td, nil }
}

// TestIntoWaits: a loop that waits for memory ends with its context, and a loop that ends leaves
// nobody waiting.
func TestIntoWaits(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		t.Run(fmt.Sprint("workers=", workers), func(t *testing.T) {
			noLeak(t)
			like := dense(t, 0, 20)
			r := newRing(t, like, 5, 1)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			l := must(loader.New(must(loader.From(like)), loader.Options{Batch: 5, Workers: workers, Into: r.into}))
			var failed error
			for _, err := range l.Batches(ctx) {
				cancel(errMine) // the only memory is in use
				failed = err
			}
			require.ErrorIs(t, failed, errMine)
			r.free <- like
			for range l.Batches(t.Context()) {
				break
			}
		})
	}
}

// TestIntoCopiesOnce: without Collate and Transform a batch costs headers only: its rows go to the
// memory directly, also if the source has unbatched tensors.
func TestIntoCopiesOnce(t *testing.T) {
	const rows, batch, size = 400, 8, 4096
	td := tdict.New(rows)
	require.NoError(t, td.Set("x", must(tensor.Zeros[int64](rows, size))))
	require.NoError(t, td.Set("weights", must(tdict.NewUnbatched(tensor.Vector[float32](1, 2, 3)))))
	for _, s := range []sampler.Sampler{nil, sampler.Random()} {
		opt := loader.Options{Batch: batch, Sampler: s, RowsKey: "number"}
		src := must(loader.From(td))
		r := newRing(t, first(t, src, opt), batch, 1)
		opt.Into = r.into
		l := must(loader.New(src, opt))
		epoch := func() {
			for batch, err := range l.Batches(context.Background()) {
				require.NoError(t, err)
				r.free <- r.next("x", batch)
			}
		}
		epoch()
		testkit.MaxBytes(t, rows*size*8/10, epoch)
	}
}
