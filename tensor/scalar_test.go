package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestScalarOf(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name  string
		dtype tensor.DType
		v     any
		want  string // what String says; "": refused
	}{
		{"the largest uint8", tensor.Uint8, 255, "255"},
		{"one more", tensor.Uint8, 256, ""},
		{"300 in uint8", tensor.Uint8, 300, ""},
		{"one less than none", tensor.Uint8, -1, ""},
		{"-1 in uint64", tensor.Uint64, -1, ""},
		{"the smallest int8", tensor.Int8, int64(-128), "-128"},
		{"one less", tensor.Int8, -129, ""},
		{"the largest uint64", tensor.Uint64, uint64(math.MaxUint64), "18446744073709551615"},
		{"it in int64", tensor.Int64, uint64(math.MaxUint64), ""},
		{"what an int64 just lacks", tensor.Int64, uint64(1 << 63), ""},
		{"the largest int64", tensor.Int64, uint64(math.MaxInt64), "9223372036854775807"},
		{"the smallest int", tensor.Int64, math.MinInt, "-9223372036854775808"},
		{"it in uint64", tensor.Uint64, math.MinInt, ""},
		{"a half in int32", tensor.Int32, 0.5, ""},
		{"a whole number in int32", tensor.Int32, 2.0, "2"},
		{"a whole number that int32 lacks", tensor.Int32, float64(1 << 31), ""},
		{"a float that int64 just lacks", tensor.Int64, float64(1 << 63), ""},
		{"the smallest int64 as a float", tensor.Int64, -float64(1 << 63), "-9223372036854775808"},
		{"a float that uint64 just lacks", tensor.Uint64, float64(1 << 64), ""},
		{"a float that only uint64 holds", tensor.Uint64, float64(1 << 63), "9223372036854775808"},
		{"a negative float in uint64", tensor.Uint64, -1.0, ""},
		{"NaN in int", tensor.Int64, nan, ""},
		{"NaN in uint64", tensor.Uint64, nan, ""},
		{"infinity in int8", tensor.Int8, inf, ""},
		{"NaN in bool", tensor.Bool, nan, ""},
		{"NaN in bfloat16", tensor.BFloat16, nan, "NaN"},
		{"infinity in float16", tensor.Float16, inf, "+Inf"},
		{"what float16 lacks", tensor.Float16, 70000.0, ""},
		{"an int that float16 lacks", tensor.Float16, 70000, ""},
		{"an int that float16 rounds", tensor.Float16, 2049, ""},
		{"a float that float16 rounds", tensor.Float16, 2049.0, "2048"},
		{"an int that float16 holds", tensor.Float16, 2048, "2048"},
		{"an int that bfloat16 rounds", tensor.BFloat16, 257, ""},
		{"1<<53+1 in float64", tensor.Float64, 1<<53 + 1, ""},
		{"1<<53 in float64", tensor.Float64, 1 << 53, "9.007199254740992e+15"},
		{"1<<53+1 in float32", tensor.Float32, 1<<53 + 1, ""},
		{"1<<24+1 in float32", tensor.Float32, 1<<24 + 1, ""},
		{"the largest int in float64", tensor.Float64, math.MaxInt64, ""},
		{"the largest int in float32", tensor.Float32, math.MaxInt64, ""},
		{"the largest uint64 in float64", tensor.Float64, uint64(math.MaxUint64), ""},
		{"the largest uint64 in bfloat16", tensor.BFloat16, uint64(math.MaxUint64), ""},
		{"the smallest int in float32", tensor.Float32, math.MinInt64, "-9.223372e+18"},
		{"1e300 in float32", tensor.Float32, 1e300, ""},
		{"1e300 in complex64", tensor.Complex64, 1e300, ""},
		{"a complex 1e300 in complex64", tensor.Complex64, complex(0, 1e300), ""},
		{"a complex number in complex64", tensor.Complex64, 1 + 2i, "(1+2i)"},
		{"an int in complex64", tensor.Complex64, -3, "(-3+0i)"},
		{"an int that complex64 rounds", tensor.Complex64, 1<<24 + 1, ""},
		{"complex in float", tensor.Float64, complex64(1), ""},
		{"complex in int", tensor.Int8, complex(1, 0), ""},
		{"complex in bool", tensor.Bool, complex(1, 0), ""},
		{"true in bool", tensor.Bool, true, "true"},
		{"true in float32", tensor.Float32, true, ""},
		{"false in uint8", tensor.Uint8, false, ""},
		{"false in complex64", tensor.Complex64, false, ""},
		{"0 in bool", tensor.Bool, 0, "false"},
		{"1 in bool", tensor.Bool, uint8(1), "true"},
		{"2 in bool", tensor.Bool, 2, ""},
		{"-1 in bool", tensor.Bool, int8(-1), ""},
		{"one half in bool", tensor.Bool, 0.5, ""},
		{"1.0 in bool", tensor.Bool, float32(1), "true"},
		{"a half precision number", tensor.Float64, tensor.F16Of(0.5), "0.5"},
		{"a brain float", tensor.Int8, tensor.BF16Of(3), "3"},
		{"a tensor", tensor.Int8, tensor.Scalar[uint64](100), "100"},
		{"a tensor that does not fit", tensor.Int8, tensor.Scalar[uint64](200), ""},
		{"a tensor of dims of size 1", tensor.Float32, tensor.Must(tensor.Full[uint16](7, 1, 1)), "7"},
		{"a tensor that repeats", tensor.Float32, tensor.Must(tensor.Must(tensor.Must(tensor.Scalar[int8](5).Expand(3)).Narrow(0, 1, 1)).Clone()), "5"},
		{"a bool tensor", tensor.Float32, tensor.Scalar(true), ""},
		{"no dtype", 0, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tensor.ScalarOf(tt.dtype, tt.v)
			if tt.want == "" {
				testkit.Fails(t, tensor.ErrDType, err)
				return
			}
			require.NoError(t, err)
			require.Empty(t, got.Shape())
			require.Equal(t, fmt.Sprintf("%v [] %s", tt.dtype, tt.want), got.String())
		})
	}
}

func TestScalarOfRefuses(t *testing.T) {
	gone := errors.New("closed")
	type named float64
	var none *tensor.Tensor
	tests := []struct {
		name string
		v    any
		want error
	}{
		{"two elements", tensor.Vector[int8](1, 2), shapeops.ErrShape},
		{"no element", tensor.Must(tensor.Zeros[int8](0)), shapeops.ErrShape},
		{"a nil tensor", none, tensor.ErrKind},
		{"nil", nil, tensor.ErrKind},
		{"a text", "1", tensor.ErrKind},
		{"a type of one's own", named(1), tensor.ErrKind},
		{"a bool that is 2", tensor.Must(tensor.FromBytes(tensor.Bool, []byte{2})), tensor.ErrDType},
		{"memory that is gone", tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: gone}, 0)), gone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, d := range []tensor.DType{tensor.Float64, tensor.Bool} {
				require.ErrorIs(t, testkit.Err(tensor.ScalarOf(d, tt.v)), tt.want, d)
			}
			testkit.Fails(t, tt.want, testkit.Err(tensor.ScalarOf(tensor.Bool, tt.v)))
		})
	}
}

// Ints are in order whatever the layout, and a caller's own.
func TestInts(t *testing.T) {
	x := tensor.Must(tensor.From([]int16{1, 2, -3, 4}, 2, 2))
	got := tensor.Must(tensor.Must(x.Transpose(0, 1)).Ints())
	require.Equal(t, []int{1, -3, 2, 4}, got)
	got[0] = 9
	require.Equal(t, []int16{1, 2, -3, 4}, testkit.Elements[int16](t, x))
	require.Equal(t, []int{math.MaxInt, 0}, tensor.Must(tensor.Vector[uint64](math.MaxUint64, 0).Ints()))
	require.Equal(t, []int{math.MinInt}, tensor.Must(tensor.Vector[int64](math.MinInt64).Ints()))
	require.Equal(t, []int{}, tensor.Must(tensor.Must(tensor.Zeros[uint8](0, 3)).Ints()))
	wide := tensor.Vector[int64](5)
	list := tensor.Must(wide.Ints())
	list[0] = 1
	require.Equal(t, []int64{5}, testkit.Elements[int64](t, wide))
	for _, x := range []*tensor.Tensor{tensor.Vector(true), tensor.Vector[float32](1), tensor.Vector(1i)} {
		require.ErrorIs(t, testkit.Err(x.Ints()), tensor.ErrDType)
	}
	var none *tensor.Tensor
	require.ErrorIs(t, testkit.Err(none.Ints()), tensor.ErrKind)
	gone := errors.New("closed")
	for _, d := range []tensor.DType{tensor.Int64, tensor.Uint8} {
		require.ErrorIs(t, testkit.Err(tensor.Must(tensor.FromLender(d, &testkit.Lender{Fail: gone}, 0, 2)).Ints()), gone)
	}
}
