package loader_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A last batch that is smaller is poisoned, too, though its ragged leaves have memory of their own.
func TestPoisonOfASmallerBatch(t *testing.T) {
	l := must(loader.New(must(loader.From(kinds(t, 1, 10))), loader.Options{Batch: 4, Poison: true, Sampler: sampler.Random()}))
	var last *tdict.TensorDict
	for range 2 {
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			last = batch
		}
	}
	require.Equal(t, 2, last.Shape()[0])
	values := testkit.Elements[int64](t, must(must(tdict.Get[*ragged.Tensor](last, "codes")).Values()))
	for _, v := range values {
		require.Equal(t, int64(math.MinInt64), v)
	}
}

// Batches without bytes are made at the same time, too: no bytes are not the same as none made yet.
func TestBatchesWithoutBytes(t *testing.T) {
	noLeak(t)
	var running, most atomic.Int32
	src := must(loader.FromFunc(40, func(ctx context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for deadline := time.Now().Add(10 * time.Second); rows[0] > 0 && most.Load() < 2 && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond) // until another comes
		}
		return tdict.New(len(rows)), nil
	}))
	l := must(loader.New(src, loader.Options{Batch: 4, Workers: 4, Ahead: 8, AheadBytes: 100}))
	n := 0
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 10, n)
	require.Greater(t, most.Load(), int32(1))
}

// Rows of other batch dims are other rows.
func TestConcatOfOtherBatchDims(t *testing.T) {
	flat, deep := tdict.New(4), tdict.New(4, 3)
	for _, td := range []*tdict.TensorDict{flat, deep} {
		require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[float32](4, 3))))
	}
	testkit.Fails(t, loader.ErrSource, testkit.Err(loader.Concat(must(loader.From(flat)), must(loader.From(deep)))))
}

// A Collate may change splits together with the rows.
func TestSplitsThatAreChanged(t *testing.T) {
	groups := must(sampler.NewGroups(tensor.Vector[int64](1, 1, 1, 2, 2), sampler.GroupOptions{}))
	first := func(td *tdict.TensorDict, _ *loader.Memory) (*tdict.TensorDict, error) {
		out, err := td.Index(ix.Range(0, 1))
		if err != nil {
			return nil, err
		}
		splits, err := tdict.NewUnbatched(tensor.Vector[int64](0, 1))
		if err != nil {
			return nil, err
		}
		return out, out.Set("splits", splits)
	}
	l := must(loader.New(numbered(t, 5), loader.Options{
		Batching: must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})), Collate: first,
	}))
	require.Equal(t, [][]int{{0}, {3}}, epoch(t, l))
}

// A subset tells of rows in the order of its source, so that neighbours are read together.
func TestSubsetTellsInOrder(t *testing.T) {
	src := &listener{Source: numbered(t, 10)}
	some := must(loader.Subset(src, []int{9, 3, 5, 4}))
	require.NoError(t, some.(loader.Prefetcher).Prefetch(0, 1, 2, 3))
	require.Equal(t, [][]int{{3, 4, 5, 9}}, src.told)
}

// A Live that is looked at by several has versions that go forward only.
func TestVersionsOfALive(t *testing.T) {
	s := serve(t, kinds(t, 0, 3))
	src := must(loader.FromLive(s.live, loader.LiveOptions{})).(loader.Snapshotter)
	var versions []string
	for n := range 3 {
		for range 2 {
			now := must(src.Snapshot())
			versions = append(versions, now.Version)
			require.NoError(t, now.Release())
		}
		s.replace(t, kinds(t, 100*n, 3))
	}
	require.Equal(t, "[1 1 2 2 3 3]", fmt.Sprint(versions))
}
