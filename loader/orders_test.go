package loader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// kindsOfOrder returns options for 40 rows of all kinds of order, each of which ends, and whether
// each row comes once in an epoch.
func kindsOfOrder(t testing.TB) map[string]struct {
	opt  loader.Options
	once bool
} {
	t.Helper()
	const n = 40
	ids, weights, lengths := make([]int64, n), make([]float64, n), make([]int64, n)
	for i := range n {
		ids[i], weights[i], lengths[i] = int64(i*7%11), float64(i%5), int64(i*3%17)
	}
	groups := must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
	random := sampler.Random()
	rows := func(s sampler.Sampler) loader.Options { return loader.Options{Batch: 6, Sampler: s} }
	groupsOf := func(opt sampler.GroupBatchOptions, s sampler.Sampler) loader.Options {
		return loader.Options{Batching: must(groups.Batches(opt)), Sampler: s}
	}
	return map[string]struct {
		opt  loader.Options
		once bool
	}{
		"sequential":       {rows(nil), true},
		"random":           {rows(random), true},
		"random, dropping": {loader.Options{Batch: 7, Sampler: random, DropLast: true}, false},
		"blocks":           {rows(sampler.Blocks(sampler.BlockOptions{BlockBytes: 24, WindowBytes: 72})), true},
		"weighted":         {rows(must(sampler.Weighted(weights, sampler.WeightedOptions{}))), false},
		"weighted 1x":      {rows(must(sampler.Weighted(weights, sampler.WeightedOptions{WithoutReplacement: true}))), false},
		"stratified":       {rows(must(sampler.Stratified(tensor.Vector(ids...), sampler.StratifiedOptions{}))), true},
		"balanced":         {rows(must(sampler.Stratified(tensor.Vector(ids...), sampler.StratifiedOptions{Balanced: true}))), false},
		"mixture":          {rows(must(sampler.Mixture([]sampler.Part{{Units: 30, Weight: 2}, {Units: 10, Weight: 1}}, sampler.MixtureOptions{}))), false},
		"among":            {rows(must(sampler.Among([]int{3, 1, 4, 15, 9, 2, 6}, random))), false},
		"shard":            {rows(must(sampler.Shard(random, sampler.Share{Rank: 1, World: 3}))), false},
		"buckets":          {loader.Options{Batching: must(sampler.Buckets(lengths, sampler.BucketOptions{Tokens: 40})), Sampler: random}, true},
		"groups":           {groupsOf(sampler.GroupBatchOptions{Groups: 2}, random), true},
		"groups packed":    {groupsOf(sampler.GroupBatchOptions{MaxRows: 9}, random), true},
		"groups FNV":       {groupsOf(sampler.GroupBatchOptions{Groups: 3}, groups.FNV()), true},
	}
}

// TestEveryEpochIsAPermutation: of the rows, where each is to come once; and Len says how many
// batches there are.
func TestEveryEpochIsAPermutation(t *testing.T) {
	for name, kind := range kindsOfOrder(t) {
		t.Run(name, func(t *testing.T) {
			l := must(loader.New(numbered(t, 40), kind.opt))
			for range 5 {
				n := l.Len()
				batches := epoch(t, l)
				require.Len(t, batches, n)
				rows := slices.Concat(batches...)
				slices.Sort(rows)
				if kind.once {
					require.Len(t, rows, 40)
					require.Len(t, slices.Compact(rows), 40)
				}
			}
		})
	}
}

// TestM32ResumeOfEveryOrder: at each batch, with another number of workers, of three epochs.
func TestM32ResumeOfEveryOrder(t *testing.T) {
	noLeak(t)
	for name, kind := range kindsOfOrder(t) {
		t.Run(name, func(t *testing.T) {
			opt := kind.opt
			opt.Seed, opt.Transform = 11, jitter(-1, never)
			whole, states := run(t, must(loader.New(numbered(t, 40), opt)), 3, nil)
			opt.Workers, opt.Seed = 2, 12
			for k, state := range states {
				rest, _ := run(t, must(loader.New(numbered(t, 40), opt)), 3, state)
				require.Equal(t, whole[k:], rest, "k=%d", k)
			}
		})
	}
}

// TestEndless: epochs without end, in batches that do not care where one ends, resumed far out.
func TestEndless(t *testing.T) {
	opt := loader.Options{Batch: 4, Sampler: sampler.Endless(sampler.Random()), Seed: 2, Transform: jitter(-1, never)}
	l := must(loader.New(numbered(t, 6), opt))
	require.Equal(t, []int{sampler.NoEnd, sampler.NoEnd}, []int{l.Len(), l.Left()})
	rows, drawn := []int{}, map[float64]bool{}
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		rows = append(rows, rowsOf(t, batch)...)
		for _, x := range must(tdict.Slice[float64](batch, "drawn")) {
			drawn[x] = true
		}
		if len(rows) == 600 {
			break
		}
	}
	require.Len(t, drawn, 600, "a row that comes again draws other numbers")
	for pass := range slices.Chunk(rows, 6) {
		require.Equal(t, []int{0, 1, 2, 3, 4, 5}, slices.Sorted(slices.Values(pass)))
	}
	require.NoError(t, l.Seek(0, 1<<40))
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		require.Len(t, rowsOf(t, batch), 4)
		break
	}
}

// TestM25GroupBatches: the original's batches of groups, with their fields and splits.
func TestM25GroupBatches(t *testing.T) {
	ids := []int64{8, 8, 8, 1, 1, 7, 7, 7, 7}
	td := tdict.New(9)
	require.NoError(t, td.Set("gid", tensor.Vector(ids...)))
	require.NoError(t, td.Set("X", must(must(tensor.Arange[float32](0, 27, 1)).Reshape(9, 3))))
	require.NoError(t, td.Set("y", tensor.Vector[int64](0, 1, 0, 1, 0, 1, 0, 1, 0)))
	groups := must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
	for _, seed := range []uint64{2, 42} {
		l := must(loader.New(must(loader.From(td)), loader.Options{
			Batching: must(groups.Batches(sampler.GroupBatchOptions{Groups: 2})), Sampler: groups.FNV(), Seed: seed, SplitsKey: "meta/splits",
		}))
		var texts []string
		for batch, err := range l.Batches(context.Background()) {
			require.NoError(t, err)
			splits := must(tdict.Get[*tdict.Unbatched](batch, "meta/splits"))
			texts = append(texts, fmt.Sprint(must(tdict.Slice[int64](batch, "gid")), must(tdict.Slice[int64](batch, "y")),
				must(tdict.Slice[float32](batch, "X"))[:3], must(tensor.Of[int64](splits.Tensor()))))
		}
		require.Equal(t, []string{
			"[1 1 8 8 8] [1 0 0 1 0] [9 10 11] [0 2 5]",
			"[7 7 7 7] [1 0 1 0] [15 16 17] [0 4]",
		}, texts)
	}
}

// TestSplitsOfOtherRows: a transform that drops rows must drop the splits, too.
func TestSplitsOfOtherRows(t *testing.T) {
	groups := must(sampler.NewGroups(tensor.Vector[int64](1, 1, 2, 2, 2), sampler.GroupOptions{}))
	drop := func(splits bool) transform.Transform {
		return transform.Func("drop", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
			if splits {
				if err := td.Delete("splits"); err != nil {
					return nil, err
				}
			}
			return td.Index(ix.Range(0, 1))
		})
	}
	opt := loader.Options{Batching: must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})), Transform: drop(true)}
	require.Len(t, epoch(t, must(loader.New(numbered(t, 5), opt))), 2)
	opt.Transform = drop(false)
	_, err := untilError(must(loader.New(numbered(t, 5), opt)))
	testkit.Fails(t, shapeops.ErrShape, err)
}
