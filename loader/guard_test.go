package loader_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A broken sampler has an order of some length, in which AppendTo does what it is told.
type broken struct {
	length int
	append func(dst []int, start, stop int) []int
}

func (b broken) Order(sampler.Epoch) (sampler.Order, error) { return b, nil }
func (b broken) String() string                             { return "broken" }
func (b broken) Len() int                                   { return b.length }
func (b broken) AppendTo(dst []int, start, stop int) []int  { return b.append(dst, start, stop) }

// An orderless sampler returns no order.
type orderless struct{}

func (orderless) Order(sampler.Epoch) (sampler.Order, error) { return nil, nil }
func (orderless) String() string                             { return "orderless" }

// TestBrokenSamplers: what breaks its word ends in an error, with every batching, and not in a
// panic or fewer batches.
func TestBrokenSamplers(t *testing.T) {
	ids := tensor.Vector[int64](0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	groups := must(sampler.NewGroups(ids, sampler.GroupOptions{}))
	batchings := map[string]sampler.Batching{
		"rows": must(sampler.Rows(2, false)), "groups": must(groups.Batches(sampler.GroupBatchOptions{Groups: 2})),
		"packed":  must(groups.Batches(sampler.GroupBatchOptions{MaxRows: 4})),
		"buckets": must(sampler.Buckets(slices.Repeat([]int64{3}, 10), sampler.BucketOptions{Rows: 2})),
	}
	samplers := map[string]sampler.Sampler{
		"no order":       orderless{},
		"less than none": broken{-1, func(dst []int, _, _ int) []int { return dst }},
		"too few":        broken{4, func(dst []int, _, _ int) []int { return dst }},
		"too many":       broken{4, func(dst []int, _, _ int) []int { return append(dst, 0, 1, 2, 3, 4) }},
		"panics":         broken{4, func([]int, int, int) []int { panic(errMine) }},
		"negative": broken{4, func(dst []int, start, stop int) []int {
			return append(dst, slices.Repeat([]int{-1}, stop-start)...)
		}},
	}
	for batching, b := range batchings {
		for name, s := range samplers {
			for _, endless := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/endless=%t", batching, name, endless), func(t *testing.T) {
					if endless {
						s = sampler.Endless(s)
					}
					l, err := loader.New(numbered(t, 10), loader.Options{Batching: b, Sampler: s})
					if err == nil {
						_, err = untilError(l)
					}
					require.Error(t, err)
				})
			}
		}
	}
}

// TestReadAheadOfMuch: what is told of ahead is bounded by rows, too, and a loop that ends does not
// wait for it.
func TestReadAheadOfMuch(t *testing.T) {
	noLeak(t)
	src := &listener{Source: numbered(t, 1000)}
	l := must(loader.New(src, loader.Options{Batch: 1, Sampler: sampler.Endless(sampler.Random()), ReadAhead: 1 << 40}))
	testkit.MaxBytes(t, 64<<20, func() {
		for _, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			time.Sleep(time.Millisecond)
			break
		}
	})
}

// TestLenOfARunningLoop: Len, Left and State are of the epoch that is loaded, though the source has
// been replaced.
func TestLenOfARunningLoop(t *testing.T) {
	src := &shot{Source: numbered(t, 100), version: "1"}
	l := must(loader.New(src, loader.Options{Batch: 10, Sampler: sampler.Random()}))
	steps := 0
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		src.Source, src.version = numbered(t, 200), "2"
		steps++
		require.Equal(t, []int{10, 10 - steps, 100, steps}, []int{l.Len(), l.Left(), l.State().Rows, l.State().Batch})
	}
	require.Equal(t, []int{20, 20, 200, 0}, []int{l.Len(), l.Left(), l.State().Rows, l.State().Batch})
}

// TestSnapshotsAreNotKept: a loader does not keep what its epoch was loaded from.
func TestSnapshotsAreNotKept(t *testing.T) {
	var freed atomic.Int32
	src := &fresh{func() loader.Source {
		x := &sized{numbered(t, 10), 8}
		runtime.AddCleanup(x, func(int) { freed.Add(1) }, 0)
		return x
	}}
	l := must(loader.New(src, loader.Options{Batch: 2}))
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
	}
	for range 2000 {
		if runtime.GC(); freed.Load() == 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	require.Equal(t, int32(2), freed.Load())
	runtime.KeepAlive(l)
}

// A fresh source has another snapshot each time.
type fresh struct{ source func() loader.Source }

func (f *fresh) Len() int { return 10 }

func (f *fresh) Fetch(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) {
	return nil, errMine
}

func (f *fresh) Snapshot() (loader.Snapshot, error) { return loader.Snapshot{Source: f.source()}, nil }

// TestMemoryIsBounded: slots that have been large are not all kept large.
func TestMemoryIsBounded(t *testing.T) {
	const large, n = 1 << 20, 400
	td := tdict.New(n)
	var lengths []int64
	for i := range n {
		lengths = append(lengths, int64(1+i%40))
	}
	require.NoError(t, td.Set("x", must(tensor.Zeros[uint8](n, large/64))))
	l := must(loader.New(must(loader.From(td)), loader.Options{
		Batching: must(sampler.Buckets(lengths, sampler.BucketOptions{Tokens: 80})), Sampler: sampler.Random(),
		Workers: 2, Ahead: 100, AheadBytes: large,
	}))
	for range 4 {
		for _, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
		}
	}
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	with := stats.HeapAlloc
	runtime.KeepAlive(l)
	l = nil
	runtime.GC()
	runtime.ReadMemStats(&stats)
	runtime.KeepAlive(td)
	require.Less(t, int(with)-int(stats.HeapAlloc), 4*large)
}

// TestErrorsNameTheirRows: not those of an earlier batch in the same memory.
func TestErrorsNameTheirRows(t *testing.T) {
	l := must(loader.New(numbered(t, 9), loader.Options{Batching: failing{must(sampler.Rows(2, false))}}))
	n, err := untilError(l)
	require.Equal(t, 2, n)
	var failed *loader.BatchError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []any{2, 0}, []any{failed.Batch, len(failed.Rows)})
}

// A failing batching panics when it is asked for batch 2.
type failing struct{ sampler.Batching }

func (f failing) Plan(o sampler.Order, n int) (sampler.Plan, error) {
	p, err := f.Batching.Plan(o, n)
	return failingPlan{p}, err
}

type failingPlan struct{ sampler.Plan }

func (p failingPlan) Batch(k int, dst sampler.Batch) sampler.Batch {
	if k == 2 {
		panic(errMine)
	}
	return p.Plan.Batch(k, dst)
}

// TestDamagedStates: positions far beyond what there is are refused, and those that are not are of
// whole groups.
func TestDamagedStates(t *testing.T) {
	ids := make([]int64, 100)
	for i := range ids {
		ids[i] = int64(i / 10)
	}
	groups := must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
	for name, opt := range map[string]loader.Options{
		"rows":   {Batch: 10, Sampler: must(sampler.Shard(sampler.Endless(sampler.Random()), sampler.Share{Rank: 1, World: 2}))},
		"groups": {Batching: must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})), Sampler: sampler.Endless(sampler.Random())},
	} {
		t.Run(name, func(t *testing.T) {
			l := must(loader.New(numbered(t, 100), opt))
			for _, at := range []int{1<<40 + 1, 1 << 50, 1<<61 + 5, 1<<62 + 3, sampler.NoEnd - 1, sampler.NoEnd, -1} {
				state := l.State()
				state.Batch = at
				require.ErrorIs(t, l.Restore(state), loader.ErrState, "%d", at)
			}
			require.NoError(t, l.Seek(0, 1<<40))
			for batch, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				require.Len(t, rowsOf(t, batch), 10)
				break
			}
		})
	}
}
