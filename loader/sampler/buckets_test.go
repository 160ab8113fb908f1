package sampler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestBuckets(t *testing.T) {
	tests := []struct {
		name    string
		lengths []int64
		opt     sampler.BucketOptions
		want    [][]int
	}{
		{"powers of two", []int64{0, 1, 2, 3, 4, 5, 8, 9}, sampler.BucketOptions{Rows: 9},
			[][]int{{0, 1}, {2}, {3, 4}, {5, 6}, {7}}},
		{"bounds, and one bucket more", []int64{9, 3, 10, 11, 0, 99}, sampler.BucketOptions{Bounds: []int64{3, 10}, Rows: 9},
			[][]int{{1, 4}, {0, 2}, {3, 5}}},
		{"batches come as they are full", []int64{9, 1, 9, 1, 1, 9}, sampler.BucketOptions{Rows: 2},
			[][]int{{0, 2}, {1, 3}, {4}, {5}}},
		{"tokens count what is padded", []int64{5, 8, 6, 5}, sampler.BucketOptions{Tokens: 16},
			[][]int{{0, 1}, {2, 3}}},
		{"a long row makes others too many", []int64{5, 5, 8, 5}, sampler.BucketOptions{Tokens: 16},
			[][]int{{0, 1}, {2, 3}}},
		{"rows come first", []int64{5, 5, 5}, sampler.BucketOptions{Tokens: 16, Rows: 2},
			[][]int{{0, 1}, {2}}},
		{"a row as long as a batch", []int64{16, 1}, sampler.BucketOptions{Tokens: 16},
			[][]int{{0}, {1}}},
		{"rows of no length", []int64{0, 0, 0}, sampler.BucketOptions{Tokens: 1},
			[][]int{{0, 1, 2}}},
		{"DropLast leaves out what is not full", []int64{9, 1, 9, 1, 1, 9}, sampler.BucketOptions{Rows: 2, DropLast: true},
			[][]int{{0, 2}, {1, 3}}},
		{"DropLast keeps a full batch at the end", []int64{9, 9}, sampler.BucketOptions{Rows: 2, DropLast: true},
			[][]int{{0, 1}}},
		{"the longest row there is", []int64{math.MaxInt64, math.MaxInt64, 1}, sampler.BucketOptions{Rows: 5},
			[][]int{{2}, {0, 1}}},
		{"no rows", nil, sampler.BucketOptions{Tokens: 5}, [][]int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			batching, err := sampler.Buckets(tt.lengths, tt.opt)
			require.NoError(t, err)
			units, err := batching.Units(len(tt.lengths))
			require.NoError(t, err)
			require.Equal(t, len(tt.lengths), units)
			order := tensor.Must(sampler.Sequential().Order(sampler.Epoch{Units: units}))
			plan, err := batching.Plan(order, units)
			require.NoError(t, err)
			got := [][]int{}
			for k := range plan.Len() {
				b := plan.Batch(k, sampler.Batch{Rows: []int{7, 7}})
				require.Nil(t, b.Splits)
				require.False(t, b.Run)
				got = append(got, b.Rows)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// naiveBuckets returns the batches that a map of open ones gives.
func naiveBuckets(lengths []int64, opt sampler.BucketOptions, order []int) [][]int {
	bucket := func(length int64) int {
		for i, bound := range opt.Bounds {
			if length <= bound {
				return i
			}
		}
		return len(opt.Bounds)
	}
	over := func(rows []int, more int64) bool {
		longest := more
		for _, row := range rows {
			longest = max(longest, lengths[row%len(lengths)])
		}
		n := int64(len(rows)) + 1
		return opt.Rows > 0 && n > int64(opt.Rows) || opt.Tokens > 0 && n*longest > int64(opt.Tokens)
	}
	open, batches := map[int][]int{}, [][]int{}
	for _, row := range order {
		length := lengths[row%len(lengths)]
		b := bucket(length)
		if over(open[b], length) {
			batches, open[b] = append(batches, open[b]), nil
		}
		open[b] = append(open[b], row)
		if over(open[b], 0) {
			batches, open[b] = append(batches, open[b]), nil
		}
	}
	for b := range len(opt.Bounds) + 1 {
		if len(open[b]) > 0 && !opt.DropLast {
			batches = append(batches, open[b])
		}
	}
	return batches
}

// TestBucketsAreNaive compares batches of random lengths, in orders with repetitions too, with
// naive ones, and counts the rows.
func TestBucketsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 50, 3000} {
		lengths := make([]int64, n)
		for i := range lengths {
			lengths[i] = r.Int64N(100)
		}
		again := make(fixedOrder, 3*n)
		for i := range again {
			again[i] = r.IntN(4 * n)
		}
		random := tensor.Must(sampler.Random().Order(sampler.Epoch{Units: n, Seed: 3}))
		for _, bounds := range [][]int64{{0, 10, 50}, {99}, {20, 40, 60, 80}} {
			for _, opt := range []sampler.BucketOptions{{Tokens: 300}, {Rows: 7}, {Tokens: 500, Rows: 9}, {Tokens: 99, DropLast: true}} {
				opt.Bounds = bounds
				for _, order := range []sampler.Order{random, again} {
					plan := tensor.Must(tensor.Must(sampler.Buckets(lengths, opt)).Plan(order, n))
					want, rows := naiveBuckets(lengths, opt, whole(order)), []int{}
					require.Equal(t, len(want), plan.Len())
					got := sampler.Batch{}
					for k := range want {
						got = plan.Batch(k, got)
						require.Equal(t, want[k], got.Rows)
						rows = append(rows, got.Rows...)
					}
					if !opt.DropLast {
						require.Equal(t, slices.Sorted(slices.Values(whole(order))), slices.Sorted(slices.Values(rows)))
					}
				}
			}
		}
	}
}

func TestBucketsRefuse(t *testing.T) {
	some := []int64{3, 7, 5}
	of := func(lengths []int64, opt sampler.BucketOptions) error {
		return testkit.Err(sampler.Buckets(lengths, opt))
	}
	tests := []struct {
		name string
		err  error
		is   error
	}{
		{"no bound", of(some, sampler.BucketOptions{}), sampler.ErrSize},
		{"negative tokens", of(some, sampler.BucketOptions{Tokens: -1, Rows: 3}), sampler.ErrSize},
		{"negative rows", of(some, sampler.BucketOptions{Tokens: 9, Rows: -3}), sampler.ErrSize},
		{"a negative bound", of(some, sampler.BucketOptions{Rows: 3, Bounds: []int64{-1, 3}}), sampler.ErrSize},
		{"bounds that do not ascend", of(some, sampler.BucketOptions{Rows: 3, Bounds: []int64{1, 3, 3}}), sampler.ErrSize},
		{"a negative length", of([]int64{3, -7}, sampler.BucketOptions{Rows: 3}), sampler.ErrSize},
		{"a row that is too long", of(some, sampler.BucketOptions{Tokens: 6}), sampler.ErrTooLong},
		{"an endless order", testkit.Err(tensor.Must(sampler.Buckets(some, sampler.BucketOptions{Rows: 3})).Plan(infiniteOrder(3), 3)), sampler.ErrSize},
		{"another number of rows", testkit.Err(tensor.Must(sampler.Buckets(some, sampler.BucketOptions{Rows: 3})).Units(4)), sampler.ErrUnits},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.err) })
	}
}

// TestBucketsSayAll: batchings that differ in anything have other descriptions, and what they were
// made of is theirs no more.
func TestBucketsSayAll(t *testing.T) {
	said := map[string]bool{}
	options := []sampler.BucketOptions{
		{Rows: 9}, {Tokens: 9}, {Rows: 9, Tokens: 9}, {Rows: 9, DropLast: true},
		{Rows: 9, Bounds: []int64{1}}, {Rows: 9, Bounds: []int64{1, 2}}, {Rows: 9, Bounds: []int64{2}},
	}
	for _, lengths := range [][]int64{{}, {0}, {1, 2}, {2, 1}} {
		for _, opt := range options {
			bounds, own := slices.Clone(opt.Bounds), slices.Clone(lengths)
			opt.Bounds = bounds
			batching := tensor.Must(sampler.Buckets(own, opt))
			text := batching.String()
			clear(bounds)
			clear(own)
			require.Equal(t, text, batching.String())
			said[text] = true
		}
	}
	require.Len(t, said, 4*len(options))
	require.Regexp(t, `^batches of at most 9 rows: buckets by powers of two of 2 lengths [0-9a-f]{16}$`,
		tensor.Must(sampler.Buckets([]int64{1, 2}, options[0])).String())
}

// TestBatchesInRecycledMemory allocates nothing for a batch that fits into another.
func TestBatchesInRecycledMemory(t *testing.T) {
	ids := randomGroups(rand.New(rand.NewPCG(1, 1)), 1000, 50, 5)
	lengths := make([]int64, 50)
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
	batchings := []sampler.Batching{
		tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 5})),
		tensor.Must(groups.Batches(sampler.GroupBatchOptions{MaxRows: 300})),
		tensor.Must(sampler.Buckets(lengths, sampler.BucketOptions{Rows: 3})),
	}
	for i, batching := range batchings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			order := tensor.Must(sampler.Random().Order(sampler.Epoch{Units: groups.Len()}))
			plan := tensor.Must(batching.Plan(order, 1000))
			batch := sampler.Batch{Rows: make([]int, 0, 400), Splits: make([]int64, 0, 100)}
			require.Zero(t, testing.AllocsPerRun(10, func() {
				for k := range plan.Len() {
					batch = plan.Batch(k, batch)
				}
			}))
		})
	}
}
