package tensor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestStridedSeesEveryElement: of any layout, in aligned memory, the elements are where the strides
// say, and writing there writes the tensor.
func TestStridedSeesEveryElement(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		if s.Tensor.DType() != tensor.Float32 {
			return
		}
		x := s.Tensor
		if x.Size() > 0 && strings.Contains(t.Name(), testkit.Unaligned.Name) {
			require.ErrorIs(t, tensor.ReadStrided(x, func([]float32, []int) error { return nil }), tensor.ErrLayout)
			return
		}
		want := testkit.Elements[float32](t, x)
		require.NoError(t, tensor.ReadStrided(x, func(e []float32, strides []int) error {
			require.Len(t, strides, len(x.Shape()))
			for i, v := range want {
				require.Equal(t, v, e[place(i, x.Shape(), strides)])
			}
			return nil
		}))
	})
}

// place returns where the i-th element, row-major, lies.
func place(i int, shape, strides []int) (at int) {
	for dim := len(shape) - 1; dim >= 0; dim-- {
		at += i % shape[dim] * strides[dim]
		i /= shape[dim]
	}
	return at
}

// TestStrided: what comes of calls that nest, and of what cannot be.
func TestStrided(t *testing.T) {
	mine := errors.New("mine")
	nothing := func([]float32, []int) error { return nil }
	x := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	expanded := tensor.Must(tensor.Vector[float32](7).Expand(3))
	unaligned := testkit.Make(t, tensor.Float32, []int{2}, testkit.Contiguous, testkit.Unaligned, 1).Tensor
	meta := tensor.Must(tensor.NewMeta(tensor.Float32, 2))
	reads := func(x *tensor.Tensor) error { return tensor.ReadStrided(x, nothing) }
	writes := func(x *tensor.Tensor) error { return tensor.WriteStrided(x, nothing) }
	tests := []struct {
		name string
		run  func() error
		want error // nil means success
	}{
		{"an expanded tensor is read", func() error { return reads(expanded) }, nil},
		{"an expanded tensor is not written", func() error { return writes(expanded) }, tensor.ErrLayout},
		{"memory that is not aligned is not read", func() error { return reads(unaligned) }, tensor.ErrLayout},
		{"memory that is not aligned is not written", func() error { return writes(unaligned) }, tensor.ErrLayout},
		{"another type", func() error { return reads(tensor.Vector(1.0)) }, tensor.ErrDType},
		{"written as another type", func() error { return writes(tensor.Vector(1.0)) }, tensor.ErrDType},
		{"nil", func() error { return reads(nil) }, tensor.ErrKind},
		{"no elements to read", func() error { return reads(meta) }, tensor.ErrMeta},
		{"no elements to write", func() error { return writes(meta) }, tensor.ErrMeta},
		{"none at all", func() error {
			return errors.Join(reads(tensor.Must(x.Narrow(0, 1, 0))), writes(tensor.Must(x.Narrow(0, 1, 0))))
		}, nil},
		{"the error of the function", func() error {
			return tensor.ReadStrided(x, func([]float32, []int) error { return mine })
		}, mine},
		{"an error of layout within is not taken for one of one's own", func() error {
			calls := 0
			err := tensor.ReadStrided(x, func([]float32, []int) error { calls++; return writes(expanded) })
			require.Equal(t, 1, calls)
			return err
		}, tensor.ErrLayout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.True(t, errors.Is(tt.run(), tt.want)) })
	}
}

// TestStridedAllocatesNothing: two tensors, one read and one written.
func TestStridedAllocatesNothing(t *testing.T) {
	x, y := tensor.Must(tensor.Zeros[float32](4, 5)), tensor.Must(tensor.Zeros[float32](5, 4))
	columns := tensor.Must(y.Transpose(0, 1))
	var from []float32
	write := func(to []float32, _ []int) error { to[0] = from[0]; return nil }
	read := func(s []float32, _ []int) error { from = s; return tensor.WriteStrided(columns, write) }
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = tensor.ReadStrided(x, read) }))
}

// TestCheckApart: what is written must lie apart from all else; what is only read may be one.
func TestCheckApart(t *testing.T) {
	whole := tensor.Must(tensor.Zeros[float32](6))
	part := func(start, n int) *tensor.Tensor { return tensor.Must(whole.Narrow(0, start, n)) }
	even, odd := tensor.Must(whole.Index(ix.Range(0, 6).Step(2))), tensor.Must(whole.Index(ix.Range(1, 6).Step(2)))
	many := make([]*tensor.Tensor, 2000)
	for i := range many {
		many[i] = tensor.Scalar(float32(i))
	}
	tests := []struct {
		name     string
		dst, src []*tensor.Tensor
		want     error
	}{
		{"memories of their own", []*tensor.Tensor{tensor.Scalar[float32](1)}, []*tensor.Tensor{whole, whole}, nil},
		{"halves of one", []*tensor.Tensor{part(0, 3)}, []*tensor.Tensor{part(3, 3)}, nil},
		{"elements in turn", []*tensor.Tensor{even}, []*tensor.Tensor{odd}, nil},
		{"the same", []*tensor.Tensor{whole}, []*tensor.Tensor{whole}, tensor.ErrOverlap},
		{"one element of both", []*tensor.Tensor{part(0, 4)}, []*tensor.Tensor{part(3, 3)}, tensor.ErrOverlap},
		{"both written", []*tensor.Tensor{part(0, 4), part(3, 3)}, nil, tensor.ErrOverlap},
		{"both read", nil, []*tensor.Tensor{part(0, 4), part(3, 3)}, nil},
		{"many", many[:1000], many[1000:], nil},
		{"one of many", many[:1001], many[1000:], tensor.ErrOverlap},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.True(t, errors.Is(tensor.CheckApart(tt.dst, tt.src), tt.want)) })
	}
}
