package sampler_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
)

// kinds are the two ways to write an order of random units.
var kinds = map[string]func(n int, key uint64) sampler.Order{"shuffled": sampler.Shuffled, "feistel": sampler.Feistel}

// steps returns how many different distances, modulo n, neighbours of an order have.
func steps(order []int) int {
	seen := map[int]bool{}
	for i, unit := range order[1:] {
		seen[(unit-order[i]+len(order))%len(order)] = true
	}
	return len(seen)
}

// TestNeighbourSteps is M33. Of a random permutation some 63 % of the distances occur.
func TestNeighbourSteps(t *testing.T) {
	for _, n := range []int{1000, 60_000} {
		for name, kind := range kinds {
			for seed := range uint64(20) {
				got := steps(kind(n, sampler.Key(seed, 0)).AppendTo(nil, 0, n))
				require.InDelta(t, 0.632*float64(n), got, 6*math.Sqrt(float64(n))/4+5, "%s of %d, seed %d", name, n, seed)
			}
		}
	}
	for seed := range uint64(20) {
		require.GreaterOrEqual(t, steps(all(t, sampler.Random(), epoch(1000, seed, 0))), 600)
		require.GreaterOrEqual(t, steps(all(t, sampler.Blocks(sampler.BlockOptions{}), epoch(1000, seed, 0))), 600)
	}
}

// chiSquare returns how far counts are from all equal, in standard deviations of chi square.
func chiSquare(counts []int, freedom float64) float64 {
	total, square := 0, 0.0
	for _, c := range counts {
		total += c
	}
	mean := float64(total) / float64(len(counts))
	for _, c := range counts {
		square += (float64(c) - mean) * (float64(c) - mean) / mean
	}
	return (square - freedom) / math.Sqrt(2*freedom)
}

// TestOrdersAreUniform counts, over 20,000 epochs, which unit is at each position, and which units
// follow each other. That of a network of few units is not uniform, for which they are written out.
func TestOrdersAreUniform(t *testing.T) {
	tests := []struct {
		name  string
		n     int
		after bool
	}{{"shuffled", 2, false}, {"shuffled", 5, true}, {"shuffled", 8, true}, {"shuffled", 13, true}, {"feistel", 8, false}}
	for _, tt := range tests {
		n := tt.n
		at, after := make([]int, n*n), make([]int, n*(n-1))
		for e := range uint64(20_000) {
			order := kinds[tt.name](n, sampler.Key(7, e)).AppendTo(nil, 0, n)
			for i, unit := range order {
				at[i*n+unit]++
				if i > 0 {
					after[order[i-1]*(n-1)+(unit-order[i-1]+n)%n-1]++
				}
			}
		}
		require.Less(t, chiSquare(at, float64((n-1)*(n-1))), 4.0, "%s of %d: units at positions", tt.name, n)
		if tt.after {
			require.Less(t, chiSquare(after, float64(n*(n-1)-1)), 4.0, "%s of %d: neighbours", tt.name, n)
		}
	}
}

// TestStepsAreUniform counts the distances between neighbours of the least orders that the network
// makes, over a million neighbours: also those a row of its grid apart.
func TestStepsAreUniform(t *testing.T) {
	const n = 4097
	for name, kind := range kinds {
		for _, gap := range []int{1, 64} {
			counts := make([]int, n-1)
			for e := range uint64(250) {
				order := kind(n, sampler.Key(3, e)).AppendTo(nil, 0, n)
				for i, unit := range order[gap:] {
					counts[(unit-order[i]+n)%n-1]++
				}
			}
			require.InDelta(t, 0, chiSquare(counts, n-2), 4, "%s, %d apart", name, gap)
		}
	}
}

// TestAvalanche compares what is at a position in epochs of neighbouring seeds and numbers: as in
// two random orders, one position in n has the same unit, and half of all bits differ.
func TestAvalanche(t *testing.T) {
	const n = 1 << 12
	for name, kind := range kinds {
		same, flips := 0, 0
		for e := range uint64(32) {
			x := kind(n, sampler.Key(e/4, e%4)).AppendTo(nil, 0, n)
			y := kind(n, sampler.Key(e/4, e%4+1)).AppendTo(nil, 0, n)
			for i := range x {
				flips += bits.OnesCount(uint(x[i] ^ y[i]))
				if x[i] == y[i] {
					same++
				}
			}
		}
		require.InDelta(t, 32, same, 25, name)
		require.InDelta(t, 0.5, float64(flips)/(32*n*12), 0.005, name)
	}
}

// TestOrdersStay pins orders: a state that was saved must find them again.
func TestOrdersStay(t *testing.T) {
	tests := []struct {
		n      int
		number uint64
		want   []int
	}{
		{10, 0, []int{5, 0, 1, 2, 9, 6, 4, 7, 8, 3}},
		{10, 1, []int{6, 2, 0, 3, 5, 4, 1, 9, 8, 7}},
		{1000, 0, []int{719, 38, 80, 493, 560, 590, 155, 690, 133, 688}},
		{1000, 1, []int{750, 423, 806, 982, 753, 121, 63, 536, 411, 738}},
		{100000, 0, []int{96990, 37776, 48308, 27858, 43833, 84091, 89429, 99622, 3998, 33426}},
		{100000, 1, []int{86894, 83565, 58077, 58006, 35827, 84480, 24272, 18509, 38300, 70750}},
	}
	for _, tt := range tests {
		got := first(t, sampler.Random(), epoch(tt.n, 1, tt.number), 10)
		require.Equal(t, tt.want, got, "%d units, epoch %d", tt.n, tt.number)
	}
}

// TestLargeOrdersTakeNoMemory checks orders of 100,000,000 units.
func TestLargeOrdersTakeNoMemory(t *testing.T) {
	const n = 100_000_000
	for _, s := range []sampler.Sampler{sampler.Random(), sampler.Blocks(sampler.BlockOptions{})} {
		for _, unit := range []int{1, 100, 1000} {
			e := sampler.Epoch{Units: n, UnitBytes: unit, Seed: 1}
			dst := make([]int, 0, 100)
			testkit.MaxBytes(t, 64_000, func() {
				o, _ := s.Order(e)
				dst = o.AppendTo(dst, n/2, n/2+100)
			})
			require.Len(t, dst, 100)
		}
	}
}

// TestAgain checks numbers of repetitions up to the largest int.
func TestAgain(t *testing.T) {
	tests := []struct {
		name           string
		unit, k, units int
		want           int
	}{
		{"not again", 3, 0, 10, 3},
		{"again", 3, 2, 10, 23},
		{"a repetition again", 23, 2, 10, 43},
		{"the last one that there is a number for", 0, math.MaxInt - 1, 1, math.MaxInt - 1},
		{"beyond", 0, math.MaxInt, 1, 0},
		{"beyond, of more units than half", 5, 1, math.MaxInt/2 + 1, 5},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, sampler.Again(tt.unit, tt.k, tt.units), tt.name)
	}
	for _, n := range []int{1, 3, 10, math.MaxInt / 3} {
		for _, k := range []int{1, math.MaxInt / 2, math.MaxInt - 1, math.MaxInt} {
			got := sampler.Again(n-1, k, n)
			require.GreaterOrEqual(t, got, n-1)
			require.Equal(t, n-1, got%n)
		}
	}
}
