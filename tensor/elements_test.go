package tensor_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Read gives the elements that nested loops give, and Write changes these and nothing else of the
// memory, whatever the layout and the memory.
func TestReadAndWrite(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		switch s.DType() {
		case tensor.Uint8:
			readAndWrite[uint8](t, s)
		case tensor.BFloat16:
			readAndWrite[tensor.BF16](t, s)
		case tensor.Float32:
			readAndWrite[float32](t, s)
		case tensor.Int64:
			readAndWrite[int64](t, s)
		case tensor.Complex128:
			readAndWrite[complex128](t, s)
		}
	})
}

func readAndWrite[T tensor.Elem](t *testing.T, s testkit.Specimen) {
	decode := func(b []byte) []T {
		out := make([]T, s.Size())
		_, err := binary.Decode(b, binary.NativeEndian, out)
		require.NoError(t, err)
		return out
	}
	calls, want := 0, decode(s.Want(s.Array))
	require.NoError(t, tensor.Read(s.Tensor, func(got []T) {
		require.Equal(t, want, append([]T{}, got...), "%v", s)
		calls++
	}))
	bytes := slices.Repeat([]byte{1, 2, 3, 5, 7, 11, 13}, s.ByteSize()/7+1)[:s.ByteSize()]
	after, before := slices.Clone(s.Mem), slices.Clone(s.Mem)
	if !s.Expanded { // where the order of what is written twice would matter
		after = s.Written(s.Array, bytes)
	}
	err := tensor.Write(s.Tensor, func(got []T) {
		require.Equal(t, want, append([]T{}, got...), "%v", s)
		copy(got, decode(bytes))
		calls++
	})
	if refusesWrites(t, s, err) {
		require.Equal(t, before, s.Mem)
		require.Equal(t, 1, calls)
		return
	}
	require.Equal(t, after, s.Mem, "%v", s)
	require.Equal(t, 2, calls)
}

// What cannot be lent, or is no T, is not given to the function.
func TestReadAndWriteRefuse(t *testing.T) {
	gone := errors.New("gone")
	lend := func(d tensor.DType, l *testkit.Lender) *tensor.Tensor {
		return tensor.Must(tensor.FromLender(d, l, 0, 2, 2))
	}
	turned := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(x.Transpose(0, 1)) }
	bad := []byte{1, 0, 1, 2}
	tests := []struct {
		name string
		x    *tensor.Tensor
		read error // nil: can be read
		want error // of Write
	}{
		{"another type", tensor.Must(tensor.Zeros[uint8](2, 2)), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool", tensor.Must(tensor.FromBytes(tensor.Bool, bad, 2, 2)), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, strided", turned(tensor.Must(tensor.FromBytes(tensor.Bool, bad, 2, 2))), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, lent", lend(tensor.Bool, &testkit.Lender{Bytes: bad}), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, lent and strided", turned(lend(tensor.Bool, &testkit.Lender{Bytes: bad})), tensor.ErrDType, tensor.ErrDType},
		{"memory that is gone", lend(tensor.Bool, &testkit.Lender{Fail: gone}), gone, gone},
		{"memory that is gone, strided", turned(lend(tensor.Bool, &testkit.Lender{Fail: gone})), gone, gone},
		{"too little memory", lend(tensor.Bool, &testkit.Lender{Bytes: bad[:3]}), tensor.ErrLayout, tensor.ErrLayout},
		{"read-only memory", lend(tensor.Bool, &testkit.Lender{Bytes: make([]byte, 4), Locked: true}), nil, tensor.ErrReadOnly},
		{"repeated elements", tensor.Must(tensor.Vector(true, false).Expand(2, 2)), nil, tensor.ErrLayout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called := 0
			err := tensor.Read(tt.x, func([]bool) { called++ })
			require.ErrorIs(t, err, tt.read)
			require.Equal(t, err == nil, called == 1)
			called = 0
			testkit.Fails(t, tt.want, tensor.Write(tt.x, func([]bool) { called++ }))
			require.Zero(t, called)
			if l, ok := tt.x.Lender().(*testkit.Lender); ok {
				require.Zero(t, l.Borrowed())
				require.Zero(t, l.Pinned(), "nothing escapes")
			}
		})
	}
}

// A panic of the function is the caller's, and what was borrowed is returned.
func TestReadAndWritePanic(t *testing.T) {
	l := &testkit.Lender{Bytes: make([]byte, 4)}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, l, 0, 4))
	require.PanicsWithValue(t, "mine", func() { _ = tensor.Read(x, func([]uint8) { panic("mine") }) })
	require.PanicsWithValue(t, "mine", func() { _ = tensor.Write(x, func(s []uint8) { s[0] = 1; panic("mine") }) })
	require.Panics(t, func() { _ = tensor.Read(x, func(s []uint8) { s[len(s)]++ }) }, "an index is no fault of the memory")
	require.Zero(t, l.Borrowed())
}

// Elements can be kept; a slice of Go memory is the tensor's own.
func TestWriteReachesTheTensor(t *testing.T) {
	x := tensor.Must(tensor.Zeros[int16](3, 2))
	require.NoError(t, tensor.Write(tensor.Must(x.Index(ix.All, ix.At(1))), func(s []int16) { copy(s, []int16{1, 2, 3}) }))
	require.NoError(t, tensor.Write(tensor.Must(x.Index(ix.At(0))), func(s []int16) { s[0] = 9 }))
	require.Equal(t, []int16{9, 1, 0, 2, 0, 3}, testkit.Elements[int16](t, x))
	var own []int16
	require.NoError(t, tensor.Read(x, func(s []int16) { own = s }))
	require.Same(t, &tensor.Must(tensor.Of[int16](x))[0], &own[0], "no copy")
	require.NoError(t, tensor.Write(tensor.Must(tensor.Zeros[int16](0, 3)), func(s []int16) { require.Empty(t, s) }))
}
