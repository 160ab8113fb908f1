package sampler_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
)

// deals returns counts of parts: all of up to 3 parts of up to 6, some large ones, and random ones.
func deals() [][]int {
	lists := [][]int{{1000, 1}, {1, 1000, 1}, {7, 500, 500}, {2, 3, 5, 7, 11, 13}}
	for a := 1; a <= 6; a++ {
		lists = append(lists, []int{a})
		for b := 1; b <= 6; b++ {
			lists = append(lists, []int{a, b})
			for c := 1; c <= 6; c++ {
				lists = append(lists, []int{a, b, c})
			}
		}
	}
	singles := make([]int, 50)
	for i := range singles {
		singles[i] = 1
	}
	lists = append(lists, singles, append([]int{50}, singles...), append([]int{7, 300}, singles...))
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		list := make([]int, 1+r.IntN(20))
		for i := range list {
			list[i] = 1 + r.IntN(1<<r.IntN(8))
		}
		lists = append(lists, list)
	}
	return lists
}

// TestInterleaveIsExact checks that each part has its share of every beginning, rounded up or down,
// and its positions in their order.
func TestInterleaveIsExact(t *testing.T) {
	for _, counts := range deals() {
		sum := 0
		for _, c := range counts {
			sum += c
		}
		parts, indices := sampler.Deal(counts, 3)
		seen := make([]int, len(counts))
		for p, part := range parts {
			if seen[part] != indices[p] {
				t.Fatalf("%v: got index %d at %d, want %d", counts, indices[p], p, seen[part])
			}
			seen[part]++
			for j, c := range counts {
				share := (p + 1) * c
				if seen[j] < share/sum || seen[j] > (share+sum-1)/sum {
					t.Fatalf("%v: got %d of part %d in the first %d, want %d/%d", counts, seen[j], j, p+1, share, sum)
				}
			}
		}
	}
}

// TestInterleaveDividesCounts checks that a cycle is as short as it can be.
func TestInterleaveDividesCounts(t *testing.T) {
	parts, _ := sampler.Deal([]int{300, 100}, 1)
	require.Equal(t, []int{0, 0, 1, 0}, parts)
	parts, _ = sampler.Deal([]int{5, 1, 1, 1, 1, 1}, 1)
	require.Equal(t, []int{0, 1, 0, 2, 0, 3, 0, 4, 5, 0}, parts, "single ones are spread")
}
