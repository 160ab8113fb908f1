package tensor_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestString(t *testing.T) {
	numbers := func(n int, shape ...int) *tensor.Tensor {
		return tensor.Must(tensor.Must(tensor.Arange[int16](0, int16(n), 1)).Reshape(shape...))
	}
	tests := []struct {
		name string
		x    *tensor.Tensor
		want string
	}{
		{"a scalar is on the same line", tensor.Scalar[float32](2.5), "float32 [] 2.5"},
		{"no element", tensor.Must(tensor.Zeros[int8](0)), "int8 [0]\n[]"},
		{"no element in rows", tensor.Must(tensor.Zeros[int8](2, 0)), "int8 [2 0]\n[]"},
		{"no rows", tensor.Must(tensor.Zeros[int8](0, 2)), "int8 [0 2]\n[]"},
		{"integers align right", tensor.Vector[int64](-5, 100, math.MaxInt64), "int64 [3]\n[                 -5                 100 9223372036854775807]"},
		{"the largest of all", tensor.Vector[uint64](math.MaxUint64, 1), "uint64 [2]\n[18446744073709551615                    1]"},
		{"bools", tensor.Vector(true, false), "bool [2]\n[ true false]"},
		{"floats are short", tensor.Vector[float32](0.1, -1.5, 1e10), "float32 [3]\n[  0.1  -1.5 1e+10]"},
		{"floats of 64 bits", tensor.Vector(0.1, 1.0/3), "float64 [2]\n[               0.1 0.3333333333333333]"},
		{"floats of 16 bits", tensor.Vector(tensor.F16Of(0.5), tensor.F16Of(65504)), "float16 [2]\n[  0.5 65504]"},
		{"the other floats of 16 bits", tensor.Vector(tensor.BF16Of(-2), tensor.BF16Of(1)), "bfloat16 [2]\n[-2  1]"},
		{"what is no number", tensor.Vector(math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)), "float64 [4]\n[ NaN +Inf -Inf   -0]"},
		{"complex", tensor.Vector(1+2i, -0.5i), "complex128 [2]\n[  (1+2i) (0-0.5i)]"},
		{"complex of 32 bits is as short", tensor.Vector[complex64](0.1, -1), "complex64 [2]\n[(0.1+0i)  (-1+0i)]"},
		{"rows on lines", numbers(12, 3, 4), "int16 [3 4]\n[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]"},
		{"planes with a line between", numbers(8, 2, 2, 2), "int16 [2 2 2]\n[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"},
		{"a view prints in its order", tensor.Must(numbers(6, 2, 3).Transpose(0, 1)), "int16 [3 2]\n[[0 3]\n [1 4]\n [2 5]]"},
		{"an excerpt of what is long", numbers(1001, 1001), "int16 [1001]\n[   0    1    2 ...  998  999 1000]"},
		{"no excerpt of 1000", tensor.Must(numbers(1000, 1000).Index(ix.Range(0, 7))), "int16 [7]\n[0 1 2 3 4 5 6]"},
		{"an excerpt leaves out rows and columns", numbers(1010, 101, 10),
			"int16 [101 10]\n[[   0    1    2 ...    7    8    9]\n [  10   11   12 ...   17   18   19]\n [  20   21   22 ...   27   28   29]\n ...\n" +
				" [ 980  981  982 ...  987  988  989]\n [ 990  991  992 ...  997  998  999]\n [1000 1001 1002 ... 1007 1008 1009]]"},
		{"an excerpt keeps dims up to 6", numbers(1200, 6, 200),
			"int16 [6 200]\n[[   0    1    2 ...  197  198  199]\n [ 200  201  202 ...  397  398  399]\n [ 400  401  402 ...  597  598  599]\n" +
				" [ 600  601  602 ...  797  798  799]\n [ 800  801  802 ...  997  998  999]\n [1000 1001 1002 ... 1197 1198 1199]]"},
		{"memory that is gone", tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: errors.New("closed")}, 0, 2)), "int8 [2]: closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.x.String()) })
	}
}

// What is printed is short, however large a shape is.
func TestStringIsShort(t *testing.T) {
	expanded := tensor.Must(tensor.Scalar(1.0).Expand(1<<30, 1<<30))
	require.Len(t, strings.Split(expanded.String(), "\n"), 1+2*3+1, "six rows and a gap, after the shape")
	require.Less(t, len(tensor.Must(tensor.Zeros[int8](1<<24, 0)).String()), 200, "rows without an element")
}

func TestJSONAndLog(t *testing.T) {
	gone := tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: errors.New("closed")}, 0, 2))
	tests := []struct {
		name      string
		x         *tensor.Tensor
		json, log string
	}{
		{"a scalar", tensor.Scalar(true), `{"dtype":"bool","shape":[],"values":true}`, "bool [] true"},
		{"nested lists", tensor.Must(tensor.From([]int64{1, 2, 3, 4}, 2, 2)), `{"dtype":"int64","shape":[2,2],"values":[[1,2],[3,4]]}`, "int64 [2 2] [[1,2],[3,4]]"},
		{"what is not a number", tensor.Vector(math.NaN(), math.Inf(-1)), `{"dtype":"float64","shape":[2],"values":["NaN","-Inf"]}`, `float64 [2] ["NaN","-Inf"]`},
		{"complex numbers", tensor.Vector(complex64(1i)), `{"dtype":"complex64","shape":[1],"values":["(0+1i)"]}`, `complex64 [1] ["(0+1i)"]`},
		{"no element", tensor.Must(tensor.Zeros[int8](0, 2)), `{"dtype":"int8","shape":[0,2],"values":[]}`, "int8 [0 2] []"},
		{"every element of many", tensor.Must(tensor.Zeros[int8](1001)), `{"dtype":"int8","shape":[1001],"values":[0` + strings.Repeat(",0", 1000) + "]}", "int8 [1001]"},
		{"too many elements", tensor.Must(tensor.Scalar(int8(0)).Expand(1<<12, 1<<12+1)), "", "int8 [4096 4097]"},
		{"too many to log", tensor.Must(tensor.Zeros[int8](17)), `{"dtype":"int8","shape":[17],"values":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}`, "int8 [17]"},
		{"memory that is gone", gone, "", "int8 [2]: closed"},
		{"no tensor", nil, "null", "<nil>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(tt.x)
			require.Equal(t, tt.json == "", err != nil)
			require.Equal(t, tt.json, string(text))
			require.Equal(t, tt.log, tt.x.LogValue().String())
		})
	}
}

func TestDiff(t *testing.T) {
	x := tensor.Must(tensor.From([]float32{0, 1, 2, 3}, 2, 2))
	turned := tensor.Must(x.Transpose(0, 1))
	tests := []struct {
		name string
		a, b *tensor.Tensor
		want string
	}{
		{"itself", x, x, ""},
		{"a copy", turned, tensor.Must(turned.Clone()), ""},
		{"an element", x, turned, "element [0 1] is 1, other 2"},
		{"a scalar", tensor.Scalar[int8](1), tensor.Scalar[int8](2), "element [] is 1, other 2"},
		{"NaN is not itself", tensor.Vector(math.NaN()), tensor.Vector(math.NaN()), "element [0] is NaN, which differs from itself"},
		{"wide elements", tensor.Vector[int64](1, 256), tensor.Vector[int64](1, 512), "element [1] is 256, other 512"},
		{"late elements", tensor.Must(tensor.Zeros[uint8](10_000)), tensor.Must(last(10_000)), "element [9999] is 0, other 1"},
		{"a shape", x, tensor.Vector[float32](0, 1, 2, 3), "float32 [2 2], other float32 [4]"},
		{"a dtype", tensor.Vector[int8](1), tensor.Vector[uint8](1), "int8 [1], other uint8 [1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.a.Diff(tt.b)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want == "", tt.a.Equal(tt.b))
		})
	}
	gone := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: errors.New("closed")}, 0, 2, 2))
	for _, err := range []error{testkit.Err(x.Diff(gone)), testkit.Err(gone.Diff(x))} {
		require.EqualError(t, err, "closed", "what cannot be read is not unequal")
	}
}

func diffBits(x, y *tensor.Tensor) (string, error) {
	return x.Ops().(plan.BitDiffer[*tensor.Tensor]).DiffBits(y)
}

// DiffBits compares bits: those of NaN are equal to themselves, and those of 0 and -0 differ.
func TestDiffBits(t *testing.T) {
	nan := math.NaN()
	other := math.Float64frombits(math.Float64bits(nan) ^ 1)
	x := tensor.Must(tensor.From([]float32{0, 1, float32(nan), 3}, 2, 2))
	turned := tensor.Must(x.Transpose(0, 1))
	tests := []struct {
		name string
		a, b *tensor.Tensor
		want string
	}{
		{"a copy", turned, tensor.Must(turned.Clone()), ""},
		{"an element", x, turned, "element [0 1] is 1, other NaN"},
		{"NaN", tensor.Vector(1, nan), tensor.Vector(1, nan), ""},
		{"NaN repeated", tensor.Must(tensor.Scalar(nan).Expand(1 << 40)), tensor.Must(tensor.Scalar(nan).Expand(1 << 40)), ""},
		{"another NaN", tensor.Vector(1, nan), tensor.Vector(1, other), "element [1] is NaN, other NaN with other bits"},
		{"0 and -0", tensor.Scalar(0.0), tensor.Scalar(math.Copysign(0, -1)), "element [] is 0, other -0"},
		{"an imaginary part", tensor.Vector(1, 2+1i), tensor.Vector(1, 2+2i), "element [1] is (2+1i), other (2+2i)"},
		{"an integer", tensor.Vector[int64](1, 256), tensor.Vector[int64](1, 512), "element [1] is 256, other 512"},
		{"a shape", x, tensor.Vector[float32](0, 1, 2, 3), "float32 [2 2], other float32 [4]"},
		{"a dtype of the same bits", tensor.Vector[int8](1), tensor.Vector[uint8](1), "int8 [1], other uint8 [1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tensor.Must(diffBits(tt.a, tt.b))) })
	}
	require.ErrorIs(t, testkit.Err(diffBits(x, nil)), tensor.ErrKind)
	gone := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: errors.New("closed")}, 0, 2, 2))
	for _, err := range []error{testkit.Err(diffBits(x, gone)), testkit.Err(diffBits(gone, x))} {
		require.EqualError(t, err, "closed")
	}
}

// last returns n bytes of which the last is 1.
func last(n int) (*tensor.Tensor, error) {
	s := make([]uint8, n)
	s[n-1] = 1
	return tensor.From(s, n)
}
