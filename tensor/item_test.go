package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Items at all positions, from the beginning and from the end, are the elements, whatever the
// layout and the memory.
func TestItemAtAPosition(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		var content []byte
		switch s.DType() {
		case tensor.Uint8:
			content = items[uint8](t, s)
		case tensor.BFloat16:
			content = items[tensor.BF16](t, s)
		case tensor.Float32:
			content = items[float32](t, s)
		case tensor.Int64:
			content = items[int64](t, s)
		case tensor.Complex128:
			content = items[complex128](t, s)
		}
		require.Equal(t, testkit.Content(t, s.Tensor), content, "%v", s)
	})
}

// items returns the bytes of the items of s at all positions, row-major.
func items[T tensor.Elem](t *testing.T, s testkit.Specimen) []byte {
	var first, last []T
	naive.Each(s.Array.Shape, func(pos []int) {
		first = append(first, tensor.Must(tensor.Item[T](s.Tensor, pos...)))
		fromEnd := make([]int, len(pos))
		for dim, i := range pos {
			fromEnd[dim] = i - s.Array.Shape[dim]
		}
		last = append(last, tensor.Must(tensor.Item[T](s.Tensor, fromEnd...)))
	})
	content := testkit.Content(t, tensor.Vector(first...))
	require.Equal(t, content, testkit.Content(t, tensor.Vector(last...)), "%v", s)
	return content
}

func TestItemRefuses(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float32](2, 3))
	bad, err := tensor.FromBytes(tensor.Bool, []byte{1, 2}, 2)
	require.NoError(t, err)
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"too few numbers", testkit.Err(tensor.Item[float32](x, 1)), shapeops.ErrIndex},
		{"too many numbers", testkit.Err(tensor.Item[float32](x, 1, 1, 1)), shapeops.ErrIndex},
		{"a position of a scalar", testkit.Err(tensor.Item[float32](tensor.Scalar[float32](1), 0)), shapeops.ErrIndex},
		{"beyond the end", testkit.Err(tensor.Item[float32](x, 1, 3)), shapeops.ErrIndex},
		{"before the beginning", testkit.Err(tensor.Item[float32](x, -3, 0)), shapeops.ErrIndex},
		{"another type", testkit.Err(tensor.Item[float64](x, 1, 1)), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
	require.True(t, tensor.Must(tensor.Item[bool](bad, 0)), "the byte beside it is not looked at")
}

func TestItemAllocatesNothing(t *testing.T) {
	for _, m := range []testkit.Memory{testkit.Go, testkit.Lent} {
		x := testkit.Make(t, tensor.Float32, []int{2, 3}, testkit.Contiguous, m, 0).Tensor
		i := 0
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_ = tensor.Must(tensor.Item[float32](x, i%2, -1))
			i++
		}), m.Name)
	}
}
