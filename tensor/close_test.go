package tensor_test

import (
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// naiveClose compares lists of elements.
func naiveClose(x, y []complex128, rtol, atol float64) bool {
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		if cmplx.IsInf(y[i]) || cmplx.IsNaN(x[i]) || cmplx.IsNaN(y[i]) || cmplx.Abs(x[i]-y[i]) > atol+rtol*cmplx.Abs(y[i]) {
			return false
		}
	}
	return true
}

// layouts returns tensors of values and shape [rows cols] that lie differently.
func layouts(x *tensor.Tensor) map[string]*tensor.Tensor {
	rows, cols := x.Shape()[0], x.Shape()[1]
	turned := tensor.Must(tensor.Must(tensor.Must(x.Transpose(0, 1)).Contiguous()).Transpose(0, 1))
	wide := tensor.Must(tensor.New(x.DType(), rows, 2*cols))
	stepped := tensor.Must(wide.Index(ix.All, ix.Range(0, 2*cols).Step(2)))
	_ = stepped.CopyFrom(x)
	return map[string]*tensor.Tensor{"in order": x, "transposed": turned, "stepped": stepped}
}

// TestComparisonsAreNaive compares AllClose, Equal and Diff with loops, for every dtype and layouts
// of either side, on tensors of several blocks of which one element differs, or none.
func TestComparisonsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	rows, cols := longtests.Times(61, 211), 300
	for _, d := range tensor.DTypes() {
		values := make([]float64, rows*cols)
		for i := range values {
			values[i] = float64(r.IntN(2))
		}
		x := tensor.Must(tensor.Must(tensor.From(values, rows, cols)).Cast(d))
		for _, at := range []int{-1, 0, 1 << 14, rows*cols - 1, r.IntN(rows * cols)} {
			y := tensor.Must(x.Clone())
			if at >= 0 {
				part := tensor.Must(y.Index(ix.At(at/cols), ix.At(at%cols)))
				require.NoError(t, part.CopyFrom(tensor.Must(tensor.Scalar(1-values[at]).Cast(d))))
			}
			for xName, x := range layouts(x) {
				for yName, y := range layouts(y) {
					about := fmt.Sprint(d, " ", xName, ", ", yName, ", element ", at)
					require.Equal(t, at < 0, x.Equal(y), about)
					got, err := x.AllClose(y, tensor.Tolerance{Relative: 0.1, Absolute: 0.1})
					require.NoError(t, err, about)
					require.Equal(t, at < 0, got, about)
					text, err := x.Diff(y)
					require.NoError(t, err, about)
					if at >= 0 {
						require.Contains(t, text, fmt.Sprintf("element [%d %d] is ", at/cols, at%cols), about)
					}
				}
			}
		}
	}
}

// TestAllCloseBroadcasts: the second operand has one element, one for each row, or one for each
// column.
func TestAllCloseBroadcasts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for range longtests.Times(60, 300) {
		rows, cols := 1+r.IntN(200), 1+r.IntN(200)
		shape := [][]int{{}, {1}, {cols}, {1, cols}, {rows, 1}, {rows, cols}}[r.IntN(6)]
		y := drawnNear(r, shape)
		wide := tensor.Must(tensor.Must(y.Expand(rows, cols)).Clone())
		x := tensor.Must(wide.Clone())
		require.NoError(t, tensor.Write(x, func(s []complex128) {
			for range r.IntN(3) {
				s[r.IntN(len(s))] += complex(0.1*r.NormFloat64(), 0.1*r.NormFloat64())
			}
		}))
		for _, x := range layouts(x) {
			got, err := x.AllClose(y, tensor.Tolerance{Relative: 0.05, Absolute: 0.05})
			require.NoError(t, err)
			want := naiveClose(testkit.Elements[complex128](t, x), testkit.Elements[complex128](t, wide), 0.05, 0.05)
			require.Equal(t, want, got)
		}
	}
}

// drawnNear returns a complex tensor of numbers close to 1.
func drawnNear(r *rand.Rand, shape []int) *tensor.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	s := make([]complex128, n)
	for i := range s {
		s[i] = complex(1+r.NormFloat64()/10, r.NormFloat64()/10)
	}
	return tensor.Must(tensor.From(s, shape...))
}

// TestComparisonsAllocateLittle: memory does not depend on the size of a tensor, in any layout,
// and repeated elements are compared once.
func TestComparisonsAllocateLittle(t *testing.T) {
	compare := map[string]func(x, y *tensor.Tensor) bool{
		"all close": func(x, y *tensor.Tensor) bool { return tensor.Must(x.AllClose(y, tensor.Tolerance{})) },
		"equal":     func(x, y *tensor.Tensor) bool { return x.Equal(y) },
	}
	for name, same := range compare {
		for _, n := range []int{20, 200, 2000} {
			x := tensor.Must(tensor.Zeros[float32](n, 1000))
			for xName, x := range layouts(x) {
				for yName, y := range layouts(tensor.Must(x.Clone())) {
					t.Run(fmt.Sprintf("%s/n=%d/%s, %s", name, n*1000, xName, yName), func(t *testing.T) {
						testkit.MaxBytes(t, 3<<20, func() { require.True(t, same(x, y)) })
					})
				}
			}
		}
		t.Run(name+"/repeated", func(t *testing.T) {
			x := tensor.Must(tensor.Scalar(1.0).Expand(1<<20, 1<<20))
			y := tensor.Must(tensor.Scalar(1.0).Expand(1<<20, 1<<20))
			testkit.MaxBytes(t, 3<<20, func() { require.True(t, same(x, y)) })
		})
	}
	x := tensor.Must(tensor.Zeros[int8](4000, 1000))
	testkit.MaxBytes(t, 3<<20, func() { require.True(t, tensor.Must(x.AllClose(tensor.Scalar[int8](0), tensor.Tolerance{}))) })
}

// TestAllCloseRefusesBadBools: in either operand, wherever it lies, and though the answer is known
// before. The error says where.
func TestAllCloseRefusesBadBools(t *testing.T) {
	const n = 100_000
	bad := make([]byte, n)
	bad[0], bad[n-1] = 1, 7
	x := tensor.Must(tensor.FromBytes(tensor.Bool, bad, n))
	y := tensor.Must(tensor.Zeros[bool](n))
	_, err := x.AllClose(y, tensor.Tolerance{})
	testkit.Fails(t, tensor.ErrDType, err)
	_, err = y.AllClose(x, tensor.Tolerance{})
	testkit.Fails(t, tensor.ErrDType, err)
}

// TestDistancesThatOverflow: numbers whose distance is not finite are not close, as in torch.
func TestDistancesThatOverflow(t *testing.T) {
	const most = 1.7e308
	for _, c := range []struct {
		a, b *tensor.Tensor
		want bool
	}{
		{tensor.Vector(-most), tensor.Vector(most), false},
		{tensor.Vector(0i), tensor.Vector(complex(1.5e308, 1.5e308)), false},
		{tensor.Vector(most), tensor.Vector(most / 2), true},
	} {
		got, err := c.a.AllClose(c.b, tensor.Tolerance{Relative: 2})
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v %v", c.a, c.b)
	}
}
