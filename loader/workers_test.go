package loader_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

var errMine = errors.New("mine")

// noLeak checks at the end of a test that there are no more goroutines than at its beginning.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 20_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(time.Millisecond)
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines more:\n%s", runtime.NumGoroutine()-before, stacks[:runtime.Stack(stacks, true)])
	})
}

// jitter is a transform that takes some time, draws a number for each row, and fails at a row.
func jitter(failAt int, fail func() error) transform.Transform {
	return transform.Random("jitter", func(td *tdict.TensorDict, d transform.Draw) (*tdict.TensorDict, error) {
		if slices.Contains(d.Rows, failAt) {
			return nil, fail()
		}
		if rand.N(3) == 0 {
			time.Sleep(rand.N(100 * time.Microsecond))
		}
		drawn := make([]float64, td.Shape()[0])
		err := d.Each(td, func(i int, r *rand.Rand) { drawn[i] = r.Float64() })
		if err != nil {
			return nil, err
		}
		return td, td.Set("drawn", tensor.Vector(drawn...))
	})
}

func never() error { return nil }

// all returns the text of what a loader gives in some epochs.
func all(t testing.TB, l *loader.Loader, epochs uint64) []string {
	t.Helper()
	var texts []string
	for l.Epoch() < epochs {
		for batch, err := range l.Batches(context.Background()) {
			require.NoError(t, err)
			text := string(must(batch.MarshalJSON()))
			texts = append(texts, text)
		}
	}
	return texts
}

// TestWorkersGiveTheSame: batches do not depend on how many workers there are, how far ahead they
// are, or whether memory is used again.
func TestWorkersGiveTheSame(t *testing.T) {
	noLeak(t)
	sources := map[string]loader.Source{
		"numbers": numbered(t, 40),
		"kinds":   must(loader.From(kinds(t, 0, 40))),
		"mapped":  must(loader.FromDataset(open(t, kinds(t, 0, 40)))),
		"concat":  must(loader.Concat(must(loader.From(kinds(t, 0, 25))), must(loader.From(kinds(t, 25, 15))))),
		"zip":     must(loader.Zip(numbered(t, 40), column(t, "b", 100, 40))),
	}
	for name, src := range sources {
		for order, kind := range kindsOfOrder(t) {
			opt := kind.opt
			opt.Seed, opt.Transform, opt.RowsKey = 9, jitter(-1, never), "number"
			if name == "kinds" {
				opt.Collate = loader.Pad(ragged.DensifyOptions{Masks: "masks"})
			}
			want := all(t, must(loader.New(src, opt)), 2)
			require.NotEmpty(t, want)
			for _, workers := range []int{0, 1, 3} {
				opt.Workers, opt.Ahead, opt.AheadBytes = workers, rand.N(9), rand.N(2)*300
				opt.Own, opt.Poison = rand.N(2) == 0, rand.N(2) == 0
				require.Equal(t, want, all(t, must(loader.New(src, opt)), 2), "%s, %s: %+v", name, order, opt)
			}
		}
	}
}

// TestFailuresEndTheLoop: with an error that says where, and the loader stands before the batch.
func TestFailuresEndTheLoop(t *testing.T) {
	tests := []struct {
		name string
		fail func() error
		is   error
	}{
		{"an error", func() error { return errMine }, errMine},
		{"a panic", func() error { panic(errMine) }, errMine},
	}
	for _, tt := range tests {
		for _, workers := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%s/workers=%d", tt.name, workers), func(t *testing.T) {
				noLeak(t)
				opt := loader.Options{Batch: 6, Workers: workers, Transform: jitter(20, tt.fail)}
				l := must(loader.New(numbered(t, 100), opt))
				for range 2 { // it is tried again
					got, err := untilError(l)
					require.ErrorIs(t, err, tt.is)
					testkit.Fails(t, tt.is, err)
					var failed *loader.BatchError
					require.ErrorAs(t, err, &failed)
					require.Equal(t, uint64(0), failed.Epoch)
					require.Equal(t, 3, failed.Batch)
					require.Equal(t, []int{18, 19, 20, 21, 22, 23}, failed.Rows)
					require.Equal(t, 3, l.State().Batch)
					require.LessOrEqual(t, got, 3)
				}
			})
		}
	}
}

// untilError returns how many batches came before an error, which must be the last that comes.
func untilError(l *loader.Loader) (n int, err error) {
	for _, failed := range l.Batches(context.Background()) {
		if err != nil {
			panic("came after an error")
		}
		if err = failed; err == nil {
			n++
		}
	}
	return n, err
}

func TestCancel(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		for _, at := range []int{0, 1, 4} {
			t.Run(fmt.Sprintf("workers=%d/at=%d", workers, at), func(t *testing.T) {
				noLeak(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				l := must(loader.New(numbered(t, 100), loader.Options{Batch: 10, Workers: workers, Transform: jitter(-1, never)}))
				if at == 0 {
					cancel(errMine)
				}
				got := 0
				for _, err := range l.Batches(ctx) {
					if err != nil {
						require.ErrorIs(t, err, errMine)
						break
					}
					if got++; got == at {
						cancel(errMine)
					}
				}
				require.Equal(t, at, got)
				require.Equal(t, at, l.State().Batch)
				require.Equal(t, 10-at, len(epoch(t, l)), "the rest comes to who goes on")
			})
		}
	}
}

// TestBreak: a loop that ends early leaves the loader where it is, and no goroutine.
func TestBreak(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		for _, at := range []int{1, 5, 10} {
			t.Run(fmt.Sprintf("workers=%d/at=%d", workers, at), func(t *testing.T) {
				noLeak(t)
				l := must(loader.New(numbered(t, 100), loader.Options{Batch: 10, Workers: workers, Transform: jitter(-1, never)}))
				got := 0
				for _, err := range l.Batches(t.Context()) {
					require.NoError(t, err)
					if got++; got == at {
						break
					}
				}
				require.Equal(t, at/10, int(l.Epoch()), "all batches have come")
				require.Equal(t, 10-at%10, l.Left())
				require.Equal(t, 10-at%10, len(epoch(t, l)))
			})
		}
	}
}

// TestMemoryIsUsedAgain: a batch that is kept changes, unless it owns its memory.
func TestMemoryIsUsedAgain(t *testing.T) {
	for _, workers := range []int{0, 2} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("workers=%d/own=%t", workers, own), func(t *testing.T) {
				l := must(loader.New(numbered(t, 30), loader.Options{
					Batch: 10, Sampler: sampler.Random(), Workers: workers, Own: own, Poison: true,
				}))
				var kept []*tdict.TensorDict
				var was [][]int
				for batch, err := range l.Batches(t.Context()) {
					require.NoError(t, err)
					kept, was = append(kept, batch), append(was, rowsOf(t, batch))
				}
				for i, batch := range kept {
					if own {
						require.Equal(t, was[i], rowsOf(t, batch))
					} else {
						require.Equal(t, slices.Repeat([]int{math.MinInt64}, 10), rowsOf(t, batch))
					}
				}
			})
		}
	}
}

// TestSourceIsLeftAlone: not even batches that are views are poisoned.
func TestSourceIsLeftAlone(t *testing.T) {
	td := tdict.New(20)
	require.NoError(t, td.Set("row", tensor.Must(tensor.Arange[int64](0, 20, 1))))
	was := must(td.Clone())
	for _, s := range []sampler.Sampler{sampler.Sequential(), sampler.Random()} {
		l := must(loader.New(must(loader.From(td)), loader.Options{Batch: 6, Sampler: s, Poison: true}))
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			shares := must(batch.Tensor("row")).SharesMemory(must(td.Tensor("row")))
			require.Equal(t, s == sampler.Sequential(), shares, "batches in order are views")
			require.NoError(t, batch.Set("more", tensor.Must(tensor.Zeros[bool](batch.Shape()...))))
			require.NoError(t, batch.Delete("row"))
		}
		require.True(t, td.Equal(was))
		require.Equal(t, 4, len(epoch(t, l)), "what the loop did to a batch is nothing to the next")
	}
}

// TestBatchesWithinBatches: one loop at a time.
func TestBatchesWithinBatches(t *testing.T) {
	l := must(loader.New(numbered(t, 30), loader.Options{Batch: 10}))
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		for batch, err := range l.Batches(t.Context()) {
			require.Nil(t, batch)
			require.ErrorIs(t, err, loader.ErrBusy)
		}
		require.ErrorIs(t, l.Restore(l.State()), loader.ErrBusy)
		require.ErrorIs(t, l.Seek(0, 0), loader.ErrBusy)
	}
	require.Equal(t, uint64(1), l.Epoch())
}

// TestBytesAreBounded: batches that are made ahead have no more bytes than there may be, and one
// that is larger than that comes all the same.
func TestBytesAreBounded(t *testing.T) {
	const batch = 1000 * 8
	for _, limit := range []int{1, batch, 3*batch + 5, 100 * batch} {
		t.Run(fmt.Sprintf("limit=%d", limit), func(t *testing.T) {
			var made, most atomic.Int64
			src := must(loader.FromFunc(40_000, func(_ context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
				n := made.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				td := tdict.New(len(rows))
				return td, td.Set("x", tensor.Must(tensor.Zeros[int64](len(rows))))
			}))
			l := must(loader.New(src, loader.Options{Batch: 1000, Workers: 3, Ahead: 20, AheadBytes: limit}))
			got := 0
			for _, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				got++
				made.Add(-1)
				time.Sleep(200 * time.Microsecond)
			}
			require.Equal(t, 40, got)
			require.LessOrEqual(t, int(most.Load()), max(1, min(20, limit/batch))+1, "those ahead, and that of the loop")
		})
	}
}

// TestProgressAndStats: what is reported adds up.
func TestProgressAndStats(t *testing.T) {
	for _, workers := range []int{0, 2} {
		var reports []loader.Progress
		l := must(loader.New(numbered(t, 25), loader.Options{
			Batch: 10, Workers: workers, Sampler: sampler.Random(),
			Progress: func(p loader.Progress) { reports = append(reports, p) },
		}))
		for _, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			time.Sleep(time.Millisecond)
		}
		require.Len(t, reports, 3)
		for i, p := range reports {
			require.Equal(t, []int{i + 1, 3}, []int{p.Done, p.Total})
			require.Equal(t, i+1, p.Stats.Batches)
			require.Contains(t, p.String(), fmt.Sprintf("epoch 0: %d of 3 batches, ", i+1))
		}
		require.Zero(t, reports[2].Left())
		s := l.Stats()
		require.Equal(t, []int{3, 25, 25 * 8}, []int{s.Batches, s.Rows, s.Bytes})
		require.GreaterOrEqual(t, s.Used, 3*time.Millisecond)
		require.Positive(t, s.Worked)
		require.Equal(t, s.Used+s.Waited, s.Elapsed())
		require.Contains(t, s.String(), "3 batches, 25 rows, 200 B in ")
	}
}

func TestTexts(t *testing.T) {
	s := loader.Stats{Batches: 29, Rows: 1797, Bytes: 129_384, Waited: 492 * time.Microsecond, Used: 708 * time.Microsecond, Worked: 512340 * time.Nanosecond}
	require.Equal(t, "29 batches, 1797 rows, 129 kB in 1.2ms: 1.50 Mrows/s, 108 MB/s; waited 41%, worked 512µs", s.String())
	require.Equal(t, "0 batches, 0 rows, 0 B in 0s: 0 rows/s, 0 B/s; waited 0%, worked 0s", loader.Stats{}.String())
	p := loader.Progress{Epoch: 3, Done: 10, Total: 30, Stats: s}
	require.Equal(t, "epoch 3: 10 of 30 batches, 1.50 Mrows/s, 2.4ms left", p.String())
}

// TestWrongRows: a source that does not return what it was asked for is found out.
func TestWrongRows(t *testing.T) {
	for name, out := range map[string]*tdict.TensorDict{"nil": nil, "too few": tdict.New(2), "no rows": tdict.New()} {
		t.Run(name, func(t *testing.T) {
			src := must(loader.FromFunc(9, func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) { return out, nil }))
			_, err := untilError(must(loader.New(src, loader.Options{Batch: 3})))
			testkit.Fails(t, loader.ErrSource, err)
		})
	}
}

// TestLabels: batches have the numbers of their rows, under a key that must be free.
func TestLabels(t *testing.T) {
	l := must(loader.New(numbered(t, 10), loader.Options{Batch: 4, Sampler: sampler.Random(), RowsKey: "meta/number"}))
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, must(tdict.Slice[int64](batch, "row")), must(tdict.Slice[int64](batch, "meta/number")))
	}
	_, err := untilError(must(loader.New(numbered(t, 10), loader.Options{Batch: 4, RowsKey: "row"})))
	testkit.Fails(t, tdict.ErrExists, err)
}

// A less source has fewer than no rows.
type less struct{ loader.Source }

func (less) Len() int { return -5 }

func TestBadOptions(t *testing.T) {
	src := numbered(t, 10)
	tests := []struct {
		name string
		src  loader.Source
		opt  loader.Options
		want error
	}{
		{"no source", nil, loader.Options{Batch: 1}, loader.ErrSource},
		{"M22 no batch size", src, loader.Options{}, sampler.ErrSize},
		{"a batch size below 1", src, loader.Options{Batch: -1}, sampler.ErrSize},
		{"both a size and a batching", src, loader.Options{Batch: 1, Batching: must(sampler.Rows(2, false))}, loader.ErrOptions},
		{"a batching that drops, said twice", src, loader.Options{DropLast: true, Batching: must(sampler.Rows(2, false))}, loader.ErrOptions},
		{"fewer than no workers", src, loader.Options{Batch: 1, Workers: -1}, loader.ErrOptions},
		{"a rank outside the world", src, loader.Options{Batch: 1, Share: sampler.Share{Rank: 2, World: 2}}, sampler.ErrRank},
		{"a negative rank", src, loader.Options{Batch: 1, Share: sampler.Share{Rank: -1, World: 2}}, sampler.ErrRank},
		{"more workers than anybody has", src, loader.Options{Batch: 1, Workers: 1 << 17}, loader.ErrOptions},
		{"more ahead than anybody needs", src, loader.Options{Batch: 1, Workers: 1, Ahead: 1 << 62}, loader.ErrOptions},
		{"one key for two things", src, loader.Options{Batch: 1, RowsKey: "splits"}, loader.ErrOptions},
		{"a source of fewer than no rows", less{src}, loader.Options{Batch: 1}, loader.ErrSource},
		{"a sampler without an order", src, loader.Options{Batch: 1, Sampler: orderless{}}, loader.ErrOptions},
		{"a key that is ill-formed", src, loader.Options{Batch: 1, RowsKey: "~"}, loader.ErrOptions},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loader.New(tt.src, tt.opt)
			testkit.Fails(t, tt.want, err)
		})
	}
}

// TestShapeOfBatch keeps further batch dims.
func TestShapeOfBatch(t *testing.T) {
	td := tdict.New(6, 2)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[float32](6, 2, 3))))
	for batch, err := range must(loader.New(must(loader.From(td)), loader.Options{Batch: 4, Sampler: sampler.Random()})).Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, shapeops.Shape{batch.Shape()[0], 2}, batch.Shape())
	}
}
