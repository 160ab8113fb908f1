package sampler_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestEndlessPasses(t *testing.T) {
	const n = 10
	o := orderOf(t, sampler.Endless(sampler.Random()), epoch(n, 1, 5))
	require.Equal(t, sampler.NoEnd, o.Len())
	got := o.AppendTo(nil, 0, 3*n)
	for pass := range 3 {
		for i, unit := range all(t, sampler.Random(), epoch(n, 1, 5+uint64(pass))) {
			require.Equal(t, unit+pass*n, got[pass*n+i], "pass %d at %d", pass, i)
		}
	}
	require.Equal(t, got[7:23], o.AppendTo(nil, 7, 23), "across passes")
}

func TestEndlessFarOut(t *testing.T) {
	const n, far = 1000, 1_000_000_000_000
	o := orderOf(t, sampler.Endless(sampler.Random()), epoch(n, 1, 0))
	want := all(t, sampler.Random(), epoch(n, 1, far/n))
	for i, x := range o.AppendTo(nil, far, far+n) {
		require.Equal(t, want[i]+far, x)
	}
	for _, x := range o.AppendTo(nil, math.MaxInt-2*n, math.MaxInt) {
		require.GreaterOrEqual(t, x, 0)
	}
}

func TestEndlessOfEndless(t *testing.T) {
	s := sampler.Endless(sampler.Sequential())
	require.Equal(t, first(t, s, epoch(3, 1, 0), 20), first(t, sampler.Endless(s), epoch(3, 1, 0), 20))
}

// broken is a sampler the orders of which have these lengths, or fail if those are negative.
type broken []int

// Order implements sampler.Sampler.
func (b broken) Order(e sampler.Epoch) (sampler.Order, error) {
	n := b[min(e.Number, uint64(len(b)-1))]
	if n < 0 {
		return nil, sampler.ErrUnits
	}
	return sampler.Sequential().Order(sampler.Epoch{Units: n})
}

// String implements sampler.Sampler.
func (broken) String() string { return "broken" }

// TestEndlessOfABrokenSampler checks that a sampler which has no order as long as the first later
// on gives the first again.
func TestEndlessOfABrokenSampler(t *testing.T) {
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, s := range []broken{{3, 3, 4}, {3, 3, 2}, {3, 3, -1}} {
		require.Equal(t, want, first(t, sampler.Endless(s), epoch(3, 1, 0), 12))
	}
}

// TestEndlessOfRepetitions checks that repetitions of an order are not lost in its passes.
func TestEndlessOfRepetitions(t *testing.T) {
	twice := tensor.Must(sampler.Mixture([]sampler.Part{{Units: 2, Weight: 1, Sampler: sampler.Sequential()}},
		sampler.MixtureOptions{Draws: 4}))
	require.Equal(t, []int{0, 1, 2, 3, 2, 3, 4, 5}, first(t, sampler.Endless(twice), epoch(2, 1, 0), 8))
}
