package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Tests of what was found by trying to break things.

// TestMaskOfFewDimsStaysSmall: a mask over a dim that is kept is not spread over those that are
// reduced.
func TestMaskOfFewDimsStaysSmall(t *testing.T) {
	const n = 1 << 20
	x := tensor.Must(tensor.Must(tensor.Full[uint8](1, n, 8)).Permute(1, 0))
	mask := tensor.Vector(true, false, true, true, false, true, true, false)
	var got *tensor.Tensor
	testkit.MaxBytes(t, n, func() { got = tensor.Must(arith.Sum(x, arith.Dims(1).Where(mask))) })
	require.Equal(t, []int64{n, 0, n, n, 0, n, n, 0}, testkit.Elements[int64](t, got))
}

// TestNestedBatchDimsMeetTheirOwn: rows of the outermost dictionaries never meet further batch dims
// of a nested one.
func TestNestedBatchDimsMeetTheirOwn(t *testing.T) {
	x := dict([]int{3}, entry{"in", dict([]int{3, 3}, entry{"x", tensor.Must(tensor.Zeros[float64](3, 3))})})
	shorter := dict([]int{3}, entry{"in", dict([]int{3}, entry{"x", tensor.Vector(10.0, 20, 30)})})
	require.ErrorIs(t, testkit.Err(arith.Add(x, shorter)), shapeops.ErrShape)
	columns := dict([]int{1}, entry{"in", dict([]int{1, 3}, entry{"x", tensor.Must(tensor.From([]float64{10, 20, 30}, 1, 3))})})
	sum := tensor.Must(arith.Add(x, columns))
	require.Equal(t, []float64{10, 20, 30, 10, 20, 30, 10, 20, 30}, tensor.Must(tdict.Slice[float64](sum, "in/x")))
}

// TestLerpEnds: at its ends, Lerp is just one of them, whatever the other is.
func TestLerpEnds(t *testing.T) {
	for _, a := range []float64{0, math.Copysign(0, -1), 1, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
		for _, b := range []float64{1, -math.MaxFloat64, math.Inf(1)} {
			x, end := tensor.Vector(a), tensor.Vector(b)
			require.Equal(t, testkit.Content(t, x), testkit.Content(t, tensor.Must(arith.Lerp(x, end, 0))), "%v to %v", a, b)
			require.Equal(t, testkit.Content(t, end), testkit.Content(t, tensor.Must(arith.Lerp(x, end, 1))), "%v to %v", a, b)
		}
	}
}

// TestQuantileOfInfinities is NaN only between both.
func TestQuantileOfInfinities(t *testing.T) {
	inf, most := math.Inf(1), math.MaxFloat64
	tests := []struct {
		x    []float64
		q    float64
		want float64
	}{
		{[]float64{5, inf}, 0.25, inf}, {[]float64{5, inf}, 0.75, inf}, {[]float64{-inf, 5}, 0.25, -inf},
		{[]float64{1, 2, inf, inf}, 0.5, inf}, {[]float64{-most, most}, 0.5, 0}, {[]float64{-inf, inf}, 0.5, math.NaN()},
		{[]float64{5, inf}, 0, 5}, {[]float64{5, inf}, 1, inf},
	}
	for _, tt := range tests {
		got := tensor.Must(tensor.Item[float64](tensor.Must(arith.Quantile(tensor.Vector(tt.x...), arith.Whole, tt.q))))
		require.True(t, got == tt.want || math.IsNaN(got) && math.IsNaN(tt.want), "%v at %v: got %v", tt.x, tt.q, got)
	}
}

// TestOperandsWithoutLeaves are checked though no leaf meets them.
func TestOperandsWithoutLeaves(t *testing.T) {
	td := dict([]int{3}, entry{"names", texts("a", "b", "c")})
	for _, wrong := range []any{nil, struct{}{}, "abc"} {
		require.ErrorIs(t, testkit.Err(arith.Add(td, wrong)), tensor.ErrKind)
	}
	require.NoError(t, testkit.Err(arith.Add(td, 1)))
	require.NoError(t, testkit.Err(arith.Equal(td, true)))
	require.ErrorIs(t, testkit.Err(arith.OneHot(td, -1, tensor.Bool)), shapeops.ErrShape)
	require.ErrorIs(t, testkit.Err(arith.CastScale(td, tensor.Int8, 1, 0)), tensor.ErrDType)
}

// TestVarOfNothing is NaN with any correction.
func TestVarOfNothing(t *testing.T) {
	for _, correction := range []int{-3, 0, 1} {
		got := tensor.Must(tensor.Item[float64](tensor.Must(arith.Var(tensor.Must(tensor.Zeros[float64](0)), arith.Whole, arith.VarOptions{Correction: correction}))))
		require.True(t, math.IsNaN(got), correction)
	}
}
