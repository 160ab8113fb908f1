package sampler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestMixture(t *testing.T) {
	seq := sampler.Sequential()
	tests := []struct {
		name  string
		parts []sampler.Part
		opt   sampler.MixtureOptions
		want  []int
	}{
		{"until the first part would begin again",
			[]sampler.Part{{4, 2, seq}, {3, 1, seq}}, sampler.MixtureOptions{}, []int{0, 4, 1, 2, 5, 3}},
		{"which may be in the middle of a cycle",
			[]sampler.Part{{3, 2, seq}, {9, 1, seq}}, sampler.MixtureOptions{}, []int{0, 3, 1, 2, 4}},
		{"parts begin again",
			[]sampler.Part{{1, 1, seq}, {2, 1, seq}}, sampler.MixtureOptions{Draws: 7}, []int{0, 1, 3, 2, 6, 4, 9}},
		{"weights are divided",
			[]sampler.Part{{2, 500, seq}, {2, 500, seq}}, sampler.MixtureOptions{}, []int{0, 2, 1, 3}},
		{"one part", []sampler.Part{{3, 5, seq}}, sampler.MixtureOptions{}, []int{0, 1, 2}},
		{"a part without end does not end the epoch",
			[]sampler.Part{{1, 1, sampler.Endless(seq)}, {2, 1, seq}}, sampler.MixtureOptions{}, []int{0, 1, 3, 2, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			for _, p := range tt.parts {
				n += p.Units
			}
			require.Equal(t, tt.want, all(t, tensor.Must(sampler.Mixture(tt.parts, tt.opt)), epoch(n, 1, 0)))
		})
	}
}

// TestMixtureRatios checks that every cycle has exactly as many of each part as its weight, that no
// unit comes before all others of its part have, and that passes differ.
func TestMixtureRatios(t *testing.T) {
	parts := []sampler.Part{{Units: 50, Weight: 6}, {Units: 7, Weight: 4}, {Units: 20, Weight: 2}}
	const n, cycle = 77, 6
	s := tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{Draws: sampler.NoEnd}))
	require.Equal(t, sampler.NoEnd, orderOf(t, s, epoch(n, 1, 0)).Len())
	order := first(t, s, epoch(n, 1, 0), 100*cycle)
	times := make([]int, n)
	var seven []int
	for start := 0; start < len(order); start += cycle {
		counts := make([]int, 3)
		for _, x := range order[start : start+cycle] {
			unit := x % n
			require.Equal(t, times[unit], x/n, "repetitions are counted")
			times[unit]++
			switch {
			case unit < 50:
				counts[0]++
			case unit < 57:
				counts[1]++
				seven = append(seven, unit-50)
			default:
				counts[2]++
			}
		}
		require.Equal(t, []int{3, 2, 1}, counts)
	}
	passes := map[[7]int]bool{}
	for ; len(seven) >= 7; seven = seven[7:] {
		require.True(t, isPermutation(seven[:7], 7))
		passes[[7]int(seven)] = true
	}
	require.Greater(t, len(passes), 20, "of 28")
}

// TestMixtureEndsBeforeRepetition compares the length with a search for the first repetition.
func TestMixtureEndsBeforeRepetition(t *testing.T) {
	for a := 1; a < 12; a++ {
		for b := 1; b < 12; b++ {
			for weight := 1; weight < 5; weight++ {
				parts := []sampler.Part{{Units: a, Weight: weight}, {Units: b, Weight: 2}, {Units: 5, Weight: 3}}
				n := orderOf(t, tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{})), epoch(a+b+5, 1, 0)).Len()
				on := tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{Draws: n + 1}))
				for p, x := range all(t, on, epoch(a+b+5, 1, 0)) {
					require.Equal(t, p == n, x >= a+b+5, "%v at %d", parts, p)
				}
			}
		}
	}
}

// TestMixtureCopiesItsParts changes them afterwards.
func TestMixtureCopiesItsParts(t *testing.T) {
	parts := []sampler.Part{{Units: 3, Weight: 1}}
	s := tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{}))
	parts[0].Units = 100
	require.Len(t, all(t, s, epoch(3, 1, 0)), 3)
}

// TestMixedPartsDiffer checks that parts of equal size have orders of their own.
func TestMixedPartsDiffer(t *testing.T) {
	parts := []sampler.Part{{Units: 50, Weight: 1}, {Units: 50, Weight: 1}}
	same := 0
	order := all(t, tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{})), epoch(100, 1, 0))
	for i := 0; i < len(order); i += 2 {
		if order[i]%50 == order[i+1]%50 {
			same++
		}
	}
	require.Less(t, same, 8, "of 50")
}

// Parts of a mixture in a mixture have orders of their own, in every pass.
func TestMixtureInAMixture(t *testing.T) {
	inner := tensor.Must(sampler.Mixture([]sampler.Part{{Units: 8, Weight: 1}, {Units: 8, Weight: 1}}, sampler.MixtureOptions{}))
	outer := tensor.Must(sampler.Mixture([]sampler.Part{{Units: 16, Weight: 1, Sampler: inner}}, sampler.MixtureOptions{Draws: 64}))
	order := tensor.Must(outer.Order(sampler.Epoch{Units: 16}))
	orders := map[string]bool{}
	for pass := range slices.Chunk(order.AppendTo(nil, 0, 64), 16) {
		for part := range 2 {
			var units []int
			for _, unit := range pass {
				if unit%16/8 == part {
					units = append(units, unit%8)
				}
			}
			orders[fmt.Sprint(units)] = true
		}
	}
	require.Len(t, orders, 8)
}
