package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReinterpretIsBytes compares with the bytes, for all pairs of dtypes, shapes, layouts and
// memories: what it returns shows them, row-major, in the same memory, and back again.
func TestReinterpretIsBytes(t *testing.T) {
	shapes := [][]int{{}, {0}, {1}, {16}, {3, 16}, {3, 0, 2}, {2, 1, 32}, {16, 1}, {2, 3, 4}}
	done := 0
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			for _, d := range tensor.DTypes() {
				for _, shape := range shapes {
					for _, to := range tensor.DTypes() {
						if checkReinterpret(t, testkit.Make(t, d, shape, l, m, 0), to) {
							done++
						}
					}
				}
			}
		}
	}
	require.Greater(t, done, 5000)
}

// checkReinterpret reports whether the bytes of s can be of another dtype.
func checkReinterpret(t *testing.T, s testkit.Specimen, to tensor.DType) bool {
	t.Helper()
	shape, last := slices.Clone(s.Array.Shape), len(s.Array.Shape)-1
	from, width := s.DType().Size(), to.Size()
	got, err := s.Reinterpret(to)
	if from != width {
		switch {
		case last < 0, shape[last]*from%width != 0:
			require.True(t, errors.Is(err, shapeops.ErrShape) || errors.Is(err, tensor.ErrLayout), "%v as %v: %v", s, to, err)
			return false
		case err != nil:
			require.ErrorIs(t, err, tensor.ErrLayout, "%v as %v", s, to)
			dense := tensor.Must(tensor.Must(s.Clone()).Reinterpret(to))
			require.Equal(t, s.Want(s.Array), testkit.Content(t, dense))
			return false
		}
		shape[last] = shape[last] * from / width
	}
	require.NoError(t, err, "%v as %v", s, to)
	require.Equal(t, to, got.DType())
	require.Equal(t, shape, []int(got.Shape().Clone()))
	require.Equal(t, s.Want(s.Array), testkit.Content(t, got), "%v as %v", s, to)
	require.Equal(t, s.Size() > 0, got.SharesMemory(s.Tensor) && s.Size() > 0)
	back := tensor.Must(got.Reinterpret(s.DType()))
	require.Equal(t, s.Array.Shape, []int(back.Shape().Clone()))
	require.Equal(t, s.Want(s.Array), testkit.Content(t, back))
	return true
}

// TestCloneMends: what ErrLayout says to do helps.
func TestCloneMends(t *testing.T) {
	odd := tensor.Must(tensor.Zeros[uint8](3, 9))
	for name, x := range map[string]*tensor.Tensor{
		"elements with gaps":                          tensor.Must(odd.Index(ix.All, ix.Range(0, 8).Step(2))),
		"rows that begin within an element":           tensor.Must(odd.Index(ix.All, ix.Range(1, 9))),
		"a row that begins within an element":         tensor.Must(odd.Index(ix.At(0), ix.Range(1, 9))),
		"elements with gaps, of which there are none": tensor.Must(odd.Index(ix.Range(0, 0), ix.Range(0, 8).Step(2))),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := x.Reinterpret(tensor.Uint16); err == nil {
				return
			}
			got, err := tensor.Must(x.Clone()).Reinterpret(tensor.Uint16)
			require.NoError(t, err)
			require.Equal(t, testkit.Content(t, x), testkit.Content(t, got))
		})
	}
}

// TestReinterpretShares writes through the view, of a part that begins in the middle.
func TestReinterpretShares(t *testing.T) {
	x := tensor.Must(tensor.Zeros[uint32](3, 2))
	part := tensor.Must(tensor.Must(x.Index(ix.Range(1, 3))).Reinterpret(tensor.Uint8))
	require.Equal(t, shapeops.Shape{2, 8}, part.Shape().Clone())
	require.NoError(t, part.SetIndex(tensor.Scalar[uint8](1), ix.At(0), ix.Range(4, 8)))
	require.Equal(t, []uint32{0, 0, 0, 0x01010101, 0, 0}, testkit.Elements[uint32](t, x))
}

// TestReinterpretAsBool: bytes that are no bools are told when they are wanted.
func TestReinterpretAsBool(t *testing.T) {
	for _, lent := range []bool{false, true} {
		x := tensor.Vector[uint8](1, 0, 2)
		if lent {
			x = tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: []byte{1, 0, 2}}, 0, 3))
		}
		bits := tensor.Must(x.Reinterpret(tensor.Bool))
		require.ErrorIs(t, tensor.Read(bits, func([]bool) {}), tensor.ErrDType)
		require.ErrorIs(t, testkit.Err(bits.AsMask()), tensor.ErrDType)
		require.ErrorIs(t, testkit.Err(tensor.Of[bool](bits)), tensor.ErrDType)
		require.ErrorIs(t, testkit.Err(tensor.Elements[bool](bits)), tensor.ErrDType)
		require.ErrorIs(t, testkit.Err(bits.MaskedSelect(bits)), tensor.ErrDType)
		require.Equal(t, []bool{true, false}, testkit.Elements[bool](t, tensor.Must(bits.Index(ix.Range(0, 2)))))
	}
}

func TestReinterpretRefuses(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float32](3, 4))
	odd := tensor.Must(tensor.Zeros[uint8](3, 9))
	big := 1 << 61
	tests := []struct {
		name string
		op   func() (*tensor.Tensor, error)
		is   error
	}{
		{"no dtype", func() (*tensor.Tensor, error) { return x.Reinterpret(0) }, tensor.ErrDType},
		{"a dtype beyond the last", func() (*tensor.Tensor, error) { return x.Reinterpret(200) }, tensor.ErrDType},
		{"a tensor of no dtype", func() (*tensor.Tensor, error) { return new(tensor.Tensor).Reinterpret(tensor.Int8) }, shapeops.ErrShape},
		{"a scalar of another width", func() (*tensor.Tensor, error) { return tensor.Scalar(1.5).Reinterpret(tensor.Uint8) }, shapeops.ErrShape},
		{"no whole elements", func() (*tensor.Tensor, error) { return odd.Reinterpret(tensor.Uint16) }, shapeops.ErrShape},
		{"elements with gaps", func() (*tensor.Tensor, error) {
			return tensor.Must(x.Index(ix.All, ix.Range(0, 4).Step(2))).Reinterpret(tensor.Uint8)
		}, tensor.ErrLayout},
		{"turned", func() (*tensor.Tensor, error) { return tensor.Must(x.Permute(1, 0)).Reinterpret(tensor.Uint8) }, tensor.ErrLayout},
		{"repeated", func() (*tensor.Tensor, error) {
			return tensor.Must(tensor.Scalar(1.5).Expand(4)).Reinterpret(tensor.Uint8)
		}, tensor.ErrLayout},
		{"a part that begins within an element", func() (*tensor.Tensor, error) {
			return tensor.Must(odd.Index(ix.At(0), ix.Range(1, 9))).Reinterpret(tensor.Uint16)
		}, tensor.ErrLayout},
		{"rows that begin within an element", func() (*tensor.Tensor, error) {
			return tensor.Must(odd.Index(ix.All, ix.Range(0, 8))).Reinterpret(tensor.Float64)
		}, tensor.ErrLayout},
		{"a dim that cannot be counted", func() (*tensor.Tensor, error) {
			return tensor.Must(tensor.New(tensor.Float64, 0, big)).Reinterpret(tensor.Uint8)
		}, shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, testkit.Err(tt.op())) })
	}
}
