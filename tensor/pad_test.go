package tensor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A value becomes an element of each dtype that holds it.
func TestPadByDType(t *testing.T) {
	for _, d := range tensor.DTypes() {
		x := tensor.Must(tensor.New(d, 1))
		want := tensor.Must(tensor.Vector[uint8](1, 0).Cast(d))
		got, err := x.Pad(1, 1, 0)
		require.NoError(t, err, d)
		require.True(t, got.Equal(want), d)
		zero := tensor.Must(x.Pad(nil, 1, 0))
		require.True(t, zero.Equal(tensor.Must(tensor.New(d, 2))), d)
	}
}

func TestPadOf(t *testing.T) {
	x := tensor.Must(tensor.From([]uint8{1, 2, 3, 4}, 2, 2))
	tests := []struct {
		name  string
		value any
		sizes []int
		want  string
	}{
		{"rows around", 7, []int{1, 1}, "uint8 [4 2]\n[[7 7]\n [1 2]\n [3 4]\n [7 7]]"},
		{"a column after", 7.0, []int{0, 0, 0, 1}, "uint8 [2 3]\n[[1 2 7]\n [3 4 7]]"},
		{"crop", nil, []int{-1, 0, 0, -1}, "uint8 [1 1]\n[[3]]"},
		{"a tensor as the value", tensor.Scalar(9i * 9i * -1), []int{0, 1}, ""},
		{"another as the value", tensor.Vector[int64](9), []int{0, 1}, "uint8 [3 2]\n[[1 2]\n [3 4]\n [9 9]]"},
		{"nothing", nil, nil, "uint8 [2 2]\n[[1 2]\n [3 4]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := x.Pad(tt.value, tt.sizes...)
			if tt.want == "" {
				require.ErrorIs(t, err, tensor.ErrDType)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
			require.False(t, got.SharesMemory(x))
		})
	}
}

// A value that the dtype does not hold is an error whether or not there is something to pad, so
// that it does not depend on the data.
func TestPadChecksTheValueAlways(t *testing.T) {
	x := tensor.Vector[uint8](1, 2)
	for _, sizes := range [][]int{{1, 0}, {0, 0}, {-1, 0}, nil} {
		require.ErrorIs(t, testkit.Err(x.Pad(300, sizes...)), tensor.ErrDType, sizes)
	}
}

func TestPadRefusals(t *testing.T) {
	type tens = *tensor.Tensor
	gone := errors.New("closed")
	lent := func(l *testkit.Lender, shape ...int) tens {
		return tensor.Must(tensor.FromLender(tensor.Float32, l, 0, shape...))
	}
	dst := tensor.Must(tensor.Zeros[float32](3, 3))
	refuseTensor(t, []testkit.Refusal[tens]{
		{"a value that does not fit", func(x tens) error { return testkit.Err(x.Pad(1e300, 1, 0)) }, tensor.ErrDType},
		{"a value that does not fit, into", func(x tens) error { return x.PadInto(dst, true, 1, 0) }, tensor.ErrDType},
		{"a value of no kind", func(x tens) error { return testkit.Err(x.Pad("0", 1, 0)) }, tensor.ErrKind},
		{"a value of two elements", func(x tens) error { return testkit.Err(x.Pad(tensor.Vector(1.0, 2), 1, 0)) }, shapeops.ErrShape},
		{"more bytes than a machine has", func(x tens) error { return testkit.Err(x.Pad(0, 1<<50, 0)) }, shapeops.ErrShape},
		{"a source that is gone", func(x tens) error { return lent(&testkit.Lender{Fail: gone}, 2, 3).PadInto(dst, 5, 1, 0) }, gone},
		{"a source that is gone, plainly", func(x tens) error { return testkit.Err(lent(&testkit.Lender{Fail: gone}, 2, 3).Pad(5, 1, 0)) }, gone},
		{"a value that is gone", func(x tens) error { return x.PadInto(dst, lent(&testkit.Lender{Fail: gone}), 1, 0) }, gone},
	})
	require.Equal(t, make([]float32, 9), testkit.Elements[float32](t, dst))
}

// What lies already where it goes may be padded around.
func TestPadAroundItself(t *testing.T) {
	x := tensor.Vector[int8](1, 2, 3, 4)
	require.NoError(t, tensor.Must(x.Narrow(0, 1, 2)).PadInto(x, 9, 1, 1))
	require.Equal(t, []int8{9, 2, 3, 9}, testkit.Elements[int8](t, x))
	require.NoError(t, tensor.Must(x.Narrow(0, 0, 2)).PadInto(x, 0, 1, 1), "moved")
	require.Equal(t, []int8{0, 9, 2, 0}, testkit.Elements[int8](t, x))
}
