package tensor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

var errGone = errors.New("closed")

// A operation of each kind into memory that is there: what it says about a bad destination.
func TestLayoutsInto(t *testing.T) {
	type tens = *tensor.Tensor
	one := tensor.Must(tensor.Zeros[int64](2, 3))
	verbs := []struct {
		name string
		into func(x, dst tens) error // dst is [2 3]
	}{
		{"flip", func(x, dst tens) error { return shapeops.FlipInto(dst, x, 0) }},
		{"gather", func(x, dst tens) error { return x.GatherInto(dst, 0, one) }},
		{"take", func(x, dst tens) error { return x.TakeInto(dst, 0, tensor.Vector[int8](1, 1)) }},
		{"pad", func(x, dst tens) error { return tensor.Must(x.Narrow(0, 0, 1)).PadInto(dst, 0, 1, 0) }},
	}
	for _, v := range verbs {
		t.Run(v.name, func(t *testing.T) {
			expanded := tensor.Must(tensor.Must(tensor.Zeros[float32](1, 3)).Expand(2, 3))
			locked := testkit.Make(t, tensor.Float32, []int{2, 3}, testkit.Contiguous, testkit.LentLocked, 0).Tensor
			refuseTensor(t, []testkit.Refusal[tens]{
				{"no destination", func(x tens) error { return v.into(x, nil) }, tensor.ErrKind},
				{"another dtype", func(x tens) error { return v.into(x, tensor.Must(tensor.Zeros[int32](2, 3))) }, tensor.ErrDType},
				{"another shape", func(x tens) error { return v.into(x, tensor.Must(tensor.Zeros[float32](3, 2))) }, shapeops.ErrShape},
				{"a shape that broadcasts", func(x tens) error { return v.into(x, tensor.Must(tensor.Zeros[float32](1, 2, 3))) }, shapeops.ErrShape},
				{"one that repeats", func(x tens) error { return v.into(x, expanded) }, tensor.ErrLayout},
				{"one that is read-only", func(x tens) error { return v.into(x, locked) }, tensor.ErrReadOnly},
				{"one that is gone", func(x tens) error {
					return v.into(x, tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: errGone}, 0, 2, 3)))
				}, errGone},
			})
		})
	}
}

// An element may be copied onto itself.
func TestLayoutsOntoThemselves(t *testing.T) {
	x := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	for name, err := range map[string]error{
		"no padding":         x.PadInto(x, 0),
		"each where it was":  x.TakeInto(x, 1, tensor.Vector[int8](0, -2, 2)),
		"a flip of one":      shapeops.FlipInto(tensor.Must(x.Narrow(0, 1, 1)), tensor.Must(x.Narrow(0, 1, 1)), 0),
		"scattered in place": x.Scatter(1, tensor.Must(tensor.From([]int8{1, 1}, 2, 1)), tensor.Must(x.Narrow(1, 1, 1))),
	} {
		require.NoError(t, err, name)
	}
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, testkit.Elements[float32](t, x))
	becomes := func(err error, want ...float32) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, want, testkit.Elements[float32](t, x))
	}
	becomes(shapeops.FlipInto(x, x, 0), 4, 5, 6, 1, 2, 3)
	becomes(x.TakeInto(x, 0, tensor.Vector[int8](1, 0)), 1, 2, 3, 4, 5, 6)
}

// So may each window.
func TestWindowsOntoThemselves(t *testing.T) {
	x, starts := tensor.Must(tensor.Zeros[float32](2, 3)), tensor.Vector[int8](0, 0)
	require.NoError(t, shapeops.SetWindow(x, x, starts, []int{1}, []int{3}))
}

// What goes into memory that is there costs headers only, however many rows there are. The numbers
// are ceilings: whoever saves an allocation lowers them.
func TestLayoutsIntoAllocateHeaders(t *testing.T) {
	zeros := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros[float32](shape...)) }
	verbs := []struct {
		name string
		most float64
		make func(n int) func() error
	}{
		{"flip", 11, func(n int) func() error {
			x, dst := zeros(n, 4), zeros(n, 4)
			return func() error { return shapeops.FlipInto(dst, x, 0) }
		}},
		{"pad", 23, func(n int) func() error {
			x, dst := zeros(n, 4), zeros(n+3, 4)
			return func() error { return x.PadInto(dst, 7, 1, 2) }
		}},
		{"gather", 8, func(n int) func() error {
			x, dst, index := zeros(n, 4), zeros(n, 1), tensor.Must(tensor.Zeros[int64](n, 1))
			return func() error { return x.GatherInto(dst, 1, index) }
		}},
		{"masked select", 9, func(n int) func() error {
			x, dst, mask := zeros(n, 4), zeros(n, 4), tensor.Must(tensor.Full(true, n))
			return func() error { return x.MaskedSelectInto(dst, mask) }
		}},
		{"pad sequence", 13, func(n int) func() error {
			xs, dst := []*tensor.Tensor{zeros(n, 4), zeros(n-5, 4)}, zeros(2, n, 4)
			return func() error { return shapeops.PadSequenceInto(dst, xs, shapeops.PadSequenceOptions{}) }
		}},
	}
	for _, v := range verbs {
		cost := func(n int) float64 {
			do := v.make(n)
			return testing.AllocsPerRun(50, func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		few, many := cost(10), cost(1000)
		require.InDelta(t, few, many, 2, v.name)
		require.LessOrEqual(t, many, v.most+6, v.name) // a few more under the race detector
	}
}
