package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMemoryIsBounded compares and describes leaves of 64 MiB, and allocates little.
func TestMemoryIsBounded(t *testing.T) {
	a, b := tdict.New(1<<17), tdict.New(1<<17)
	for _, td := range []*tdict.TensorDict{a, b} {
		require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float64, 1<<17, 64))))
	}
	testkit.MaxBytes(t, 1<<20, func() {
		require.Empty(t, differences(t, a, b, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, Workers: 2}))
	})
	opts := map[string]inspect.DescribeOptions{
		"contiguous": {Workers: 2}, "quantiles": {Workers: 2, Quantiles: []float64{0.5}},
	}
	for name, opt := range opts {
		t.Run(name, func(t *testing.T) {
			testkit.MaxBytes(t, 16<<20, func() { describe(t, b, opt) })
		})
	}
}

// TestFewAllocations has leaves that are small: a dataset may have 100,000 of them.
func TestFewAllocations(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Scalar(float32(1))))
	opt := inspect.DescribeOptions{Workers: 1}
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { describe(t, td, opt) }), 60.)
}
