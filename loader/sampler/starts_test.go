package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
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

// groupsAt returns groups that begin at some rows.
func groupsAt(starts []int) *sampler.Groups {
	ids := make([]int64, starts[len(starts)-1])
	for g, start := range starts[:len(starts)-1] {
		for row := start; row < starts[g+1]; row++ {
			ids[row] = int64(g)
		}
	}
	return tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
}

// endpoints returns where batches of so many groups begin and end.
func endpoints(groups *sampler.Groups, batch int, dropLast bool) ([][2]int, error) {
	batching, err := groups.Batches(sampler.GroupBatchOptions{Groups: batch, DropLast: dropLast})
	if err != nil {
		return nil, err
	}
	order := tensor.Must(sampler.Sequential().Order(sampler.Epoch{Units: groups.Len()}))
	plan := tensor.Must(batching.Plan(order, 0))
	ends := [][2]int{}
	for k := range plan.Len() {
		rows := plan.Batch(k, sampler.Batch{}).Rows
		ends = append(ends, [2]int{rows[0], rows[len(rows)-1] + 1})
	}
	return ends, nil
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
		{"the largest batch", g2, math.MaxInt, false, [][2]int{{0, 9}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := endpoints(groupsAt(tt.starts), tt.batch, tt.dropLast)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEndpointsRefuse(t *testing.T) {
	for name, batch := range map[string]int{"M22": 0, "a negative batch": -3} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, sampler.ErrSize, testkit.Err(endpoints(groupsAt([]int{0, 1}), batch, false)))
		})
	}
}

// TestEndpointsOfAll is M24: for every number of groups and every batch, batches follow each other,
// cover all, and only the last is smaller.
func TestEndpointsOfAll(t *testing.T) {
	for n := 1; n <= 256; n++ {
		groups := groupsAt(ones(n))
		for b := 1; b <= 64; b += longtests.Times(7, 1) {
			all, err := endpoints(groups, b, false)
			if err != nil || len(all) != (n+b-1)/b || all[len(all)-1][1] != n {
				t.Fatalf("M24 n=%d b=%d: got %v, %v", n, b, all, err)
			}
			for k, ends := range all {
				if ends[0] != k*b || ends[1] != min(k*b+b, n) {
					t.Fatalf("M24 n=%d b=%d: got %v as batch %d", n, b, ends, k)
				}
			}
			full, err := endpoints(groups, b, true)
			if err != nil || !slices.Equal(full, all[:n/b]) {
				t.Fatalf("M24 n=%d b=%d: got %v, %v, want the full ones of %v", n, b, full, err, all)
			}
		}
	}
}
