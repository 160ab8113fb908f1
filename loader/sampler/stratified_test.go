package sampler_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// deviation returns how many more or fewer of a class some stretch of an order has than its share.
func deviation(order []int, in func(unit int) bool, share float64) float64 {
	// The number of the class before position p, less its share of p: a stretch's is the
	// difference.
	low, high, sum := 0.0, 0.0, 0.0
	for _, unit := range order {
		if in(unit) {
			sum++
		}
		sum -= share
		low, high = min(low, sum), max(high, sum)
	}
	return high - low
}

// TestStratifiedStretches checks what is said of any stretch, within an epoch.
func TestStratifiedStretches(t *testing.T) {
	for n := 2; n < 200; n += 3 {
		of := tensor.Must(tensor.Of[int32](labels(n)))
		s := tensor.Must(sampler.Stratified(labels(n), sampler.StratifiedOptions{}))
		for e := range uint64(3) {
			order := all(t, s, epoch(n, 3, e))
			for class := range slices.Max(of) + 1 {
				count := 0
				for _, c := range of {
					if c == class {
						count++
					}
				}
				got := deviation(order, func(u int) bool { return of[u] == class }, float64(count)/float64(n))
				require.Less(t, got, 2.0, "class %d of %d units", class, n)
			}
		}
	}
}

// TestBalanced checks that classes are equally often in every beginning, and that each class is
// used up before it begins again.
func TestBalanced(t *testing.T) {
	const n = 64
	of := tensor.Must(tensor.Of[int32](labels(n))) // 7 classes of 32, 16, 8, 4, 2, 1 and 1
	s := tensor.Must(sampler.Stratified(labels(n), sampler.StratifiedOptions{Balanced: true}))
	order := all(t, s, epoch(n, 3, 0))
	require.Len(t, order, n)
	counts, passes := make([]int, 7), map[int]int{}
	for p, x := range order {
		class := of[x%n]
		size := max(1, 32>>class)
		require.Equal(t, counts[class]/size, x/n, "at %d: the repetition is the pass", p)
		require.Equal(t, x/n, passes[x%n], "at %d: unit %d is once in each pass", p, x%n)
		passes[x%n]++
		counts[class]++
		require.LessOrEqual(t, slices.Max(counts)-slices.Min(counts), 1, "at %d", p)
	}
}

// TestStratifiedChanges checks that classes of equal size change places, and rare ones their batch.
func TestStratifiedChanges(t *testing.T) {
	const n = 40
	names := make([]int64, n)
	for i := range names {
		names[i] = int64(i)
	}
	at := map[int]bool{}
	s := tensor.Must(sampler.Stratified(tensor.Vector(names...), sampler.StratifiedOptions{}))
	after := map[int]bool{}
	for e := range uint64(200) {
		order := all(t, s, epoch(n, 1, e))
		first := slices.Index(order, 0)
		at[first], after[order[(first+1)%n]] = true, true
	}
	require.Greater(t, len(at), 35, "each unit a class of its own")
	require.Greater(t, len(after), 35, "the unit after the first")

	clear(at)
	rare := make([]bool, n)
	rare[5] = true
	s = tensor.Must(sampler.Stratified(tensor.Vector(rare...), sampler.StratifiedOptions{}))
	for e := range uint64(200) {
		at[slices.Index(all(t, s, epoch(n, 1, e)), 5)] = true
	}
	require.Greater(t, len(at), 35, "one unit of a class of its own")
}

// TestStratifiedOfNothing checks that there may be no units, and one class.
func TestStratifiedOfNothing(t *testing.T) {
	for _, balanced := range []bool{false, true} {
		opt := sampler.StratifiedOptions{Balanced: balanced}
		require.Empty(t, all(t, tensor.Must(sampler.Stratified(tensor.Vector[uint8](), opt)), epoch(0, 1, 0)))
		one := tensor.Must(sampler.Stratified(tensor.Vector[uint8](3, 3, 3), opt))
		require.True(t, isPermutation(all(t, one, epoch(3, 1, 0)), 3))
	}
}
