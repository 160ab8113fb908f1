package sampler_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWeightedFrequencies compares how often units are drawn with their weights.
func TestWeightedFrequencies(t *testing.T) {
	const draws = 200_000
	tiny, huge := math.SmallestNonzeroFloat64, math.MaxFloat64
	tests := []struct {
		name    string
		weights []float64
		shares  []float64
	}{
		{"equal", []float64{1, 1, 1}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"in proportion", []float64{1, 2, 3, 4}, []float64{0.1, 0.2, 0.3, 0.4}},
		{"0 is never drawn", []float64{0, 1, 0, 3, 0}, []float64{0, 0.25, 0, 0.75, 0}},
		{"one only", []float64{0, 0.3}, []float64{0, 1}},
		{"as large as there are", []float64{huge, huge, huge / 2}, []float64{0.4, 0.4, 0.2}},
		{"as small as there are", []float64{tiny, 3 * tiny}, []float64{0.25, 0.75}},
		{"of all sizes", []float64{tiny, huge, 1}, []float64{0, 1, 0}},
		{"many small ones", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.5}, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.5}},
	}
	for _, tt := range tests {
		s := tensor.Must(sampler.Weighted(tt.weights, sampler.WeightedOptions{Draws: draws}))
		counts := make([]int, len(tt.weights))
		for p, x := range all(t, s, epoch(len(counts), 1, 0)) {
			if x/len(counts) != p {
				t.Fatalf("%s: got repetition %d at position %d", tt.name, x/len(counts), p)
			}
			counts[x%len(counts)]++
		}
		for unit, share := range tt.shares {
			want, spread := draws*share, math.Sqrt(draws*share*(1-share))
			require.InDelta(t, want, counts[unit], 4*spread, "%s, unit %d", tt.name, unit)
		}
	}
}

// TestWeightedZerosAreNotDrawn tries weights whose shares do not add up.
func TestWeightedZerosAreNotDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := make([]float64, 2+r.IntN(30))
		for i := range w {
			w[i] = max(0, r.Float64()-0.5) * math.Pow(10, float64(r.IntN(20)))
		}
		w[0] = 0.1
		s := tensor.Must(sampler.Weighted(w, sampler.WeightedOptions{Draws: 500}))
		for _, x := range all(t, s, epoch(len(w), r.Uint64(), 0)) {
			require.Positive(t, w[x%len(w)])
		}
	}
}

// TestWeightedOnce checks that units are drawn once, and how likely the first two are.
func TestWeightedOnce(t *testing.T) {
	w := []float64{1, 0, 2, 5}
	s := tensor.Must(sampler.Weighted(w, sampler.WeightedOptions{Draws: 2, WithoutReplacement: true}))
	const epochs = 20_000
	counts := map[[2]int]float64{}
	for e := range uint64(epochs) {
		order := all(t, s, epoch(4, 9, e))
		require.Len(t, order, 2)
		counts[[2]int(order)]++
	}
	total := 0.0
	for i, first := range w {
		for j, second := range w {
			if i == j {
				continue
			}
			p := first / 8 * second / (8 - first)
			total += counts[[2]int{i, j}]
			require.InDelta(t, epochs*p, counts[[2]int{i, j}], 4*math.Sqrt(epochs*p*(1-p)), "%d, then %d", i, j)
		}
	}
	require.Equal(t, float64(epochs), total)
}

func TestWeightedLengths(t *testing.T) {
	w := []float64{1, 0, 2, 5}
	tests := []struct {
		name string
		opt  sampler.WeightedOptions
		want int
	}{
		{"as many as weights", sampler.WeightedOptions{}, 4},
		{"as many as asked for", sampler.WeightedOptions{Draws: 9}, 9},
		{"without end", sampler.WeightedOptions{Draws: sampler.NoEnd}, sampler.NoEnd},
		{"once, as many as positive weights", sampler.WeightedOptions{WithoutReplacement: true}, 3},
		{"once, as many as asked for", sampler.WeightedOptions{WithoutReplacement: true, Draws: 2}, 2},
	}
	for _, tt := range tests {
		o := orderOf(t, tensor.Must(sampler.Weighted(w, tt.opt)), epoch(4, 1, 0))
		require.Equal(t, tt.want, o.Len(), tt.name)
	}
}

// TestLogarithm compares with the standard library's, which differs between platforms, and on some
// is wrong for subnormal numbers.
func TestLogarithm(t *testing.T) {
	require.InDelta(t, -1074*math.Ln2, sampler.Logarithm(math.SmallestNonzeroFloat64), 1e-12)
	r := rand.New(rand.NewPCG(5, 6))
	near := []float64{math.MaxFloat64, 1, 1 - 1e-16, 0.5, 0.7071, 0.7072, math.Pi}
	for range 10_000 {
		near = append(near, math.Float64frombits(1<<52+r.Uint64()%(0x7fe<<52)), r.Float64()+1e-300)
	}
	for _, x := range near {
		want := math.Log(x)
		require.InDelta(t, want, sampler.Logarithm(x), 1e-15*max(math.Abs(want), 1e-3), "log %v", x)
	}
}

// TestWeightedOrdersStay pins orders, in which floats are rounded.
func TestWeightedOrdersStay(t *testing.T) {
	w := []float64{0.1, 0.7, 0.3, 0.9, 0.2, 0.4}
	s := tensor.Must(sampler.Weighted(w, sampler.WeightedOptions{}))
	require.Equal(t, []int{4, 8, 15, 21, 27, 33}, all(t, s, epoch(6, 1, 0)))
	s = tensor.Must(sampler.Weighted(w, sampler.WeightedOptions{WithoutReplacement: true}))
	require.Equal(t, []int{1, 3, 0, 5, 2, 4}, all(t, s, epoch(6, 1, 0)))
}
