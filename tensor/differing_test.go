package tensor_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestDiffering agrees with comparing element by element, in every layout and memory.
func TestDiffering(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		other := tensor.Must(tensor.New(s.DType(), s.Shape()...))
		first, count, err := s.Ops().Differing(other, tensor.Tolerance{}, 2)
		require.NoError(t, err)
		require.Len(t, first, min(count, 2))
		require.Equal(t, count == 0, s.Equal(other))
		if !s.Expanded {
			require.Equal(t, differing(t, s.Tensor, other), count, s)
		}
		for _, d := range first {
			require.NotEqual(t, d.A, d.B)
		}
	})
}

// differing counts elements whose texts differ.
func differing(t *testing.T, a, b *tensor.Tensor) (n int) {
	t.Helper()
	p, q := tensor.Must(a.Ops().Texts()), tensor.Must(b.Ops().Texts())
	for i := range p {
		if p[i] != q[i] {
			n++
		}
	}
	return n
}

func TestDifferingOfEveryDType(t *testing.T) {
	for _, d := range tensor.DTypes() {
		zeros := tensor.Must(tensor.New(d, 3))
		one := tensor.Must(tensor.Must(tensor.Vector(false, true, false).Cast(d)).Clone())
		first, count, err := zeros.Ops().Differing(one, tensor.Tolerance{}, 8)
		require.NoError(t, err)
		require.Equal(t, 1, count, d)
		require.Equal(t, []int{1}, first[0].Position, d)
		_, count, err = zeros.Ops().Differing(one, tensor.Tolerance{Absolute: 1}, 8)
		require.NoError(t, err)
		require.Equal(t, d == tensor.Bool, count == 1, "%v: a bool has no tolerance", d)
	}
}

func TestDifferingRefuses(t *testing.T) {
	x := tensor.Vector(1.0)
	gone := tensor.Must(tensor.FromLender(tensor.Float64, &testkit.Lender{Fail: errors.New("closed")}, 0, 1))
	tests := []struct {
		name string
		y    *tensor.Tensor
		want error
	}{
		{"another dtype", tensor.Vector[float32](1), tensor.ErrDType},
		{"another shape", tensor.Scalar(1.0), shapeops.ErrShape},
		{"none", nil, tensor.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := x.Ops().Differing(tt.y, tensor.Tolerance{}, 1)
			testkit.Fails(t, tt.want, err)
		})
	}
	_, _, err := x.Ops().Differing(gone, tensor.Tolerance{}, 1)
	require.EqualError(t, err, "closed")
	endless := tensor.Must(tensor.Scalar(1.0).Expand(1 << 40))
	_, count, err := endless.Ops().Differing(tensor.Must(tensor.Scalar(2.0).Expand(1<<40)), tensor.Tolerance{}, 1)
	require.NoError(t, err)
	require.Equal(t, 1, count, "what both repeat counts once")
}

// TestDifferingOfLargeIntegers compares them as they are, which a float64 does not hold.
func TestDifferingOfLargeIntegers(t *testing.T) {
	const large = 1 << 53
	ints := func(v int64) *tensor.Tensor { return tensor.Scalar(v) }
	uints := func(v uint64) *tensor.Tensor { return tensor.Scalar(v) }
	tests := []struct {
		name string
		a, b *tensor.Tensor
		tol  tensor.Tolerance
		want int
	}{
		{"one apart", ints(large), ints(large + 1), tensor.Tolerance{Absolute: 0.5}, 1},
		{"one apart, and allowed", ints(large), ints(large + 1), tensor.Tolerance{Absolute: 1}, 0},
		{"a fraction is no integer more", ints(large + 2), ints(large), tensor.Tolerance{Absolute: 1.9}, 1},
		{"negative", ints(-large), ints(-large - 1), tensor.Tolerance{Absolute: 0.5}, 1},
		{"relative, and too far", ints(large + 1), ints(large), tensor.Tolerance{Relative: 1e-17}, 1},
		{"relative, and near", ints(large + 1), ints(large), tensor.Tolerance{Relative: 1e-15}, 0},
		{"unsigned", uints(math.MaxUint64), uints(math.MaxUint64 - 1), tensor.Tolerance{Absolute: 0.5}, 1},
		{"the extremes", ints(math.MinInt64), ints(math.MaxInt64), tensor.Tolerance{Absolute: math.MaxInt64}, 1},
		{"the extremes the other way round", ints(math.MaxInt64), ints(math.MinInt64), tensor.Tolerance{Absolute: 1}, 1},
		{"the extremes, by a float64 less", ints(math.MinInt64), ints(math.MaxInt64), tensor.Tolerance{Absolute: 1<<64 - 2048}, 1},
		{"the extremes, and allowed", ints(math.MinInt64), ints(math.MaxInt64), tensor.Tolerance{Absolute: 1 << 64}, 0},
		{"unsigned extremes", uints(0), uints(math.MaxUint64), tensor.Tolerance{Absolute: 1 << 63}, 1},
		{"anything", uints(0), uints(math.MaxUint64), tensor.Tolerance{Absolute: math.Inf(1)}, 0},
		{"a tolerance that is no number", ints(0), ints(1), tensor.Tolerance{Absolute: math.NaN()}, 1},
		{"less than none", ints(0), ints(1), tensor.Tolerance{Absolute: -1}, 1},
		{"small ones across 0", tensor.Scalar[int8](-128), tensor.Scalar[int8](127), tensor.Tolerance{Absolute: 254.5}, 1},
		{"small ones across 0, and allowed", tensor.Scalar[int8](-128), tensor.Scalar[int8](127), tensor.Tolerance{Absolute: 255}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, count, err := tt.a.Ops().Differing(tt.b, tt.tol, 1)
			require.NoError(t, err)
			require.Equal(t, tt.want, count)
		})
	}
}

// TestEqualCost: Equal of small tensors allocates the two headers that it compares, and their
// shape.
func TestEqualCost(t *testing.T) {
	for _, d := range tensor.DTypes() {
		x, y := tensor.Must(tensor.New(d, 2, 3)), tensor.Must(tensor.New(d, 2, 3))
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { x.Equal(y) }), 3.0, "%v", d)
	}
}
