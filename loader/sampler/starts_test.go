package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
)

func TestGroupStarts(t *testing.T) {
	tests := []struct {
		name      string
		ids, want []int
	}{
		{"M14 runs", []int{8, 8, 8, 1, 1, 7, 7, 7, 7}, []int{0, 3, 5, 9}},
		{"M14 nothing", nil, []int{0}},
		{"one", []int{4}, []int{0, 1}},
		{"equal ids apart are runs of their own", []int{4, 5, 4}, []int{0, 1, 2, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sampler.GroupStarts(tt.ids)
			require.Equal(t, tt.want, got)
			require.Len(t, got, cap(got))
		})
	}
	require.Equal(t, []int{0, 2, 3}, sampler.GroupStarts([]string{"a", "a", "b"}))
	require.Equal(t, []int{0, 1, 2}, sampler.GroupStarts([]float64{math.NaN(), math.NaN()}))
}

// ones returns where n groups of one row begin.
func ones(n int) []int {
	starts := make([]int, n+1)
	for i := range starts {
		starts[i] = i
	}
	return starts
}

func TestEndpoints(t *testing.T) {
	g2 := []int{0, 3, 5, 9}
	tests := []struct {
		name     string
		starts   []int
		batch    int
		dropLast bool
		want     [][2]int
	}{
		{"M15", g2, 1, false, [][2]int{{0, 3}, {3, 5}, {5, 9}}},
		{"M16", g2, 2, false, [][2]int{{0, 5}, {5, 9}}},
		{"M17 b=3", g2, 3, false, [][2]int{{0, 9}}},
		{"M17 b=4", g2, 4, false, [][2]int{{0, 9}}},
		{"M18 b=5", g2, 5, false, [][2]int{{0, 9}}},
		{"M18 b=7", g2, 7, false, [][2]int{{0, 9}}},
		{"M19", ones(4), 3, false, [][2]int{{0, 3}, {3, 4}}},
		{"M20 n=5", ones(5), 4, false, [][2]int{{0, 4}, {4, 5}}},
		{"M20 n=6", ones(6), 4, false, [][2]int{{0, 4}, {4, 6}}},
		{"M20 n=7", ones(7), 3, false, [][2]int{{0, 3}, {3, 6}, {6, 7}}},
		{"M21 n=2", ones(2), 4, false, [][2]int{{0, 2}}},
		{"M21 n=1", ones(1), 3, false, [][2]int{{0, 1}}},
		{"M21 n=0", ones(0), 2, false, [][2]int{}},
		{"M23", ones(5), 2, true, [][2]int{{0, 2}, {2, 4}}},
		{"dropLast keeps a last batch that is full", ones(4), 2, true, [][2]int{{0, 2}, {2, 4}}},
		{"dropLast of too few", ones(3), 4, true, [][2]int{}},
		{"groups may be empty", []int{0, 0, 2, 2}, 2, false, [][2]int{{0, 2}, {2, 2}}},
		{"the largest batch", g2, math.MaxInt, false, [][2]int{{0, 9}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sampler.Endpoints(tt.starts, tt.batch, tt.dropLast)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEndpointsRefuse(t *testing.T) {
	tests := []struct {
		name   string
		starts []int
		batch  int
	}{
		{"M22", []int{0, 1}, 0},
		{"a negative batch", []int{0, 1}, -3},
		{"no starts", nil, 1},
		{"starts without the leading 0", []int{3, 5}, 1},
		{"starts that descend", []int{0, 5, 3, 9}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, sampler.ErrSize, testkit.Err(sampler.Endpoints(tt.starts, tt.batch, false)))
		})
	}
}

// TestEndpointsOfAll is M24: for every number of groups and every batch, batches follow each other,
// cover all, and only the last is smaller.
func TestEndpointsOfAll(t *testing.T) {
	for n := 1; n <= 256; n++ {
		starts := ones(n)
		for b := 1; b <= 64; b++ {
			all, err := sampler.Endpoints(starts, b, false)
			if err != nil || len(all) != (n+b-1)/b || all[len(all)-1][1] != n {
				t.Fatalf("M24 n=%d b=%d: got %v, %v", n, b, all, err)
			}
			for k, ends := range all {
				if ends[0] != k*b || ends[1] != min(k*b+b, n) {
					t.Fatalf("M24 n=%d b=%d: got %v as batch %d", n, b, ends, k)
				}
			}
			full, err := sampler.Endpoints(starts, b, true)
			if err != nil || !slices.Equal(full, all[:n/b]) {
				t.Fatalf("M24 n=%d b=%d: got %v, %v, want the full ones of %v", n, b, full, err, all)
			}
		}
	}
}
