package sampler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// lengths returns how many rows each part has.
func lengths(parts [][]int) []int {
	out := make([]int, len(parts))
	for i, part := range parts {
		out[i] = len(part)
	}
	return out
}

// checkParts checks that each of n rows is in one part, and that rows of a part ascend.
func checkParts(t *testing.T, n int, parts [][]int) {
	t.Helper()
	seen := make([]bool, n)
	for _, part := range parts {
		require.True(t, slices.IsSorted(part))
		for _, row := range part {
			if seen[row] {
				t.Fatalf("row %d is there twice", row)
			}
			seen[row] = true
		}
	}
	require.False(t, slices.Contains(seen, false), "a row is in no part")
}

// TestSplitSizes: fractions make the parts that torch.utils.data.random_split (2.6) makes of them.
func TestSplitSizes(t *testing.T) {
	tests := []struct {
		n         int
		fractions []float64
		want      []int
	}{
		{0, []float64{0.8, 0.1, 0.1}, []int{0, 0, 0}},
		{1, []float64{0.8, 0.1, 0.1}, []int{1, 0, 0}},
		{1797, []float64{0.8, 0.1, 0.1}, []int{1438, 180, 179}},
		{7, []float64{0.29, 0.71}, []int{3, 4}},
		{100, []float64{0.29, 0.71}, []int{29, 71}},
		{7, []float64{0.15, 0.15, 0.7}, []int{2, 1, 4}},
		{101, []float64{0.5, 0.5}, []int{51, 50}},
		{2, []float64{1. / 3, 1. / 3, 1. / 3}, []int{1, 1, 0}},
		{10, []float64{1, 0}, []int{10, 0}},
		{10, []float64{0, 1}, []int{0, 10}},
		{1, []float64{0.999, 0.001}, []int{1, 0}},
		{10, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	}
	for _, tt := range tests {
		parts, err := sampler.Split(tt.n, tt.fractions, 1)
		require.NoError(t, err)
		require.Equal(t, tt.want, lengths(parts), "%d, %v", tt.n, tt.fractions)
		checkParts(t, tt.n, parts)
		again, err := sampler.Split(tt.n, tt.want, 1)
		require.NoError(t, err)
		require.Equal(t, parts, again, "numbers of rows make the parts that fractions make")
	}
}

// TestSplitIsAPartition: of any sizes, also of more rows than an order is written out for, and of
// folds. Parts are slices of one array, which appending to one does not overwrite.
func TestSplitIsAPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 10))
	for _, n := range []int{1, 2, 3, 10, 99, 50_000, 50_001, 120_000} {
		sizes := []int{}
		for left := n; left > 0; left -= sizes[len(sizes)-1] {
			sizes = append(sizes, r.IntN(left+1))
		}
		parts, err := sampler.Split(n, sizes, r.Uint64())
		require.NoError(t, err)
		require.Equal(t, sizes, lengths(parts))
		for i := range parts {
			_ = append(parts[i], -1)
		}
		checkParts(t, n, parts)
		for _, k := range []int{2, 3, 7, n} {
			if k < 2 || k > n {
				continue
			}
			folds, err := sampler.Folds(n, k, 1)
			require.NoError(t, err)
			require.Len(t, folds, k)
			require.LessOrEqual(t, len(folds[0])-len(folds[k-1]), 1)
			checkParts(t, n, folds)
		}
	}
}

// TestSplitIsStable: parts of these seeds stay what they are, in every version.
func TestSplitIsStable(t *testing.T) {
	tests := []struct {
		n    int
		seed uint64
		want string
	}{
		{10, 0, "[[0 1 2 4 5 6 9] [3 7 8]]"},
		{10, 1, "[[1 2 3 4 5 7 8] [0 6 9]]"},
		{10, math.MaxUint64, "[[1 2 3 5 6 7 8] [0 4 9]]"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, fmt.Sprint(tensor.Must(sampler.Split(tt.n, []float64{0.7, 0.3}, tt.seed))))
	}
	parts := tensor.Must(sampler.Split(1_000_000, []float64{0.7, 0.3}, 1))
	require.Equal(t, []int{3, 5, 10}, parts[1][:3])
}

// TestSplitIsUniform: over seeds, each row is in a part as often as any other, each pair of rows
// too, and also of orders that are not written out.
func TestSplitIsUniform(t *testing.T) {
	const n, in, rounds = 8, 3, 20_000
	rows, pairs := make([]float64, n), map[[2]int]float64{}
	for seed := range uint64(rounds) {
		part := tensor.Must(sampler.Split(n, []int{n - in, in}, seed))[1]
		for i, a := range part {
			rows[a]++
			for _, b := range part[i+1:] {
				pairs[[2]int{a, b}]++
			}
		}
	}
	for row, times := range rows {
		require.InDelta(t, rounds*in/n, times, 350, "row %d", row) // 5 standard deviations
	}
	require.Len(t, pairs, n*(n-1)/2)
	for pair, times := range pairs {
		require.InDelta(t, rounds*in*(in-1)/(n*(n-1)), times, 220, "rows %v", pair)
	}
	large := tensor.Must(sampler.Split(1_000_000, []float64{0.9, 0.1}, 7))[1]
	tenths := make([]int, 10)
	for _, row := range large {
		tenths[row/100_000]++
	}
	for i, times := range tenths {
		require.InDelta(t, 10_000, times, 500, "tenth %d", i)
	}
}

// TestSplitIsNoEpoch: a part is not the beginning of an order of Random with the same seed.
func TestSplitIsNoEpoch(t *testing.T) {
	part := tensor.Must(sampler.Split(1000, []int{100, 900}, 1))[0]
	for number := range uint64(3) {
		first := orderOf(t, sampler.Random(), epoch(1000, 1, number)).AppendTo(nil, 0, 100)
		slices.Sort(first)
		require.NotEqual(t, part, first)
	}
}

// TestSplitGroupsIsNaive: each group is in one part, and parts have the numbers of groups that
// Split of their number has.
func TestSplitGroupsIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 10))
	for range 200 {
		n := r.IntN(60)
		ids := randomGroups(r, n, 1+r.IntN(20), 1+r.IntN(5))
		if r.IntN(3) == 0 {
			slices.Sort(ids)
		}
		rows, _ := naiveGroups(ids, sampler.GatherApart)
		fractions := [][]float64{{1}, {0.5, 0.5}, {0.8, 0.1, 0.1}}[r.IntN(3)]
		seed := r.Uint64()
		want := [][]int{}
		for _, part := range tensor.Must(sampler.Split(len(rows), fractions, seed)) {
			all := []int{}
			for _, group := range part {
				all = append(all, rows[group]...)
			}
			slices.Sort(all)
			want = append(want, all)
		}
		got, err := sampler.SplitGroups(tensor.Must(tensor.From(ids, n)), fractions, seed)
		require.NoError(t, err)
		require.Equal(t, want, got)
		checkParts(t, n, got)
	}
}

// TestSplitAllocatesItsLists: n numbers, besides what does not grow; for groups that lie apart, the
// groups too.
func TestSplitAllocatesItsLists(t *testing.T) {
	for _, n := range []int{60_000, 600_000, 3_000_000}[:longtests.Times(2, 3)] {
		testkit.MaxBytes(t, uint64(8*n)+1<<20, func() { tensor.Must(sampler.Split(n, []float64{0.9, 0.1}, 1)) })
	}
	for _, n := range []int{5_000, 50_000, 500_000} {
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = int64(i / 10)
		}
		together := tensor.Vector(ids...)
		testkit.MaxBytes(t, uint64(2*8*n)+1<<20, func() { tensor.Must(sampler.SplitGroups(together, []float64{0.9, 0.1}, 1)) })
	}
}

func TestSplitRefuses(t *testing.T) {
	split := func(n int, sizes ...int) error { return testkit.Err(sampler.Split(n, sizes, 1)) }
	fractions := func(f ...float64) error { return testkit.Err(sampler.Split(10, f, 1)) }
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"negative rows", split(-1, 1), sampler.ErrSize},
		{"more rows than a list may have", split(math.MaxInt, math.MaxInt), sampler.ErrSize},
		{"no sizes", split(10), sampler.ErrSize},
		{"no fractions", fractions(), sampler.ErrSize},
		{"a negative size", split(10, 11, -1), sampler.ErrSize},
		{"sizes below the rows", split(10, 8, 1), sampler.ErrSize},
		{"sizes above the rows", split(10, 8, 3), sampler.ErrSize},
		{"sizes that overflow", split(10, math.MaxInt, math.MaxInt, 12), sampler.ErrSize},
		{"a negative fraction", fractions(0.5, 0.7, -0.2), sampler.ErrSize},
		{"not a number", fractions(math.NaN(), 1), sampler.ErrSize},
		{"percentages", fractions(80, 20), sampler.ErrSize},
		{"fractions below 1", fractions(0.8, 0.1), sampler.ErrSize},
		{"fractions above 1", fractions(0.8, 0.3), sampler.ErrSize},
		{"one fold", testkit.Err(sampler.Folds(10, 1, 1)), sampler.ErrSize},
		{"more folds than rows", testkit.Err(sampler.Folds(3, 4, 1)), sampler.ErrSize},
		{"folds of no rows", testkit.Err(sampler.Folds(0, 2, 1)), sampler.ErrSize},
		{"folds of negative rows", testkit.Err(sampler.Folds(-5, 2, 1)), sampler.ErrSize},
		{"folds of too many rows", testkit.Err(sampler.Folds(math.MaxInt, 2, 1)), sampler.ErrSize},
		{"groups: nil", testkit.Err(sampler.SplitGroups(nil, []int{1}, 1)), tensor.ErrKind},
		{"groups: two dims", testkit.Err(sampler.SplitGroups(tensor.Must(tensor.Zeros[int8](2, 2)), []int{1}, 1)), shapeops.ErrDim},
		{"groups: fractions as ids", testkit.Err(sampler.SplitGroups(tensor.Vector(1.5), []int{1}, 1)), tensor.ErrDType},
		{"groups: sizes that count rows", testkit.Err(sampler.SplitGroups(tensor.Vector[int8](1, 1, 2), []int{2, 1}, 1)), sampler.ErrSize},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

func TestInts(t *testing.T) {
	got, err := sampler.Ints([]int64{math.MinInt64, -1, 0, math.MaxInt64})
	require.NoError(t, err)
	require.Equal(t, []int{math.MinInt, -1, 0, math.MaxInt}, got)
	small, err := sampler.Ints([]uint8{0, 255})
	require.NoError(t, err)
	require.Equal(t, []int{0, 255}, small)
	fits, err := sampler.Ints([]uint64{math.MaxInt64})
	require.NoError(t, err)
	require.Equal(t, []int{math.MaxInt}, fits)
	none, err := sampler.Ints[int32](nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestIntsRefuses(t *testing.T) {
	got, err := sampler.Ints([]uint64{7, math.MaxInt64 + 1})
	require.Nil(t, got)
	testkit.Fails(t, sampler.ErrUnits, err)
}
