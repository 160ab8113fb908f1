package tensor_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// The bytes of an expanded tensor may be more than an int counts, its elements not.
func TestByteSizeSaturates(t *testing.T) {
	x := tensor.Scalar(1.0)
	for n, want := range map[int]int{3: 24, 1 << 59: 1 << 62, 1 << 60: math.MaxInt, 1 << 61: math.MaxInt, 1 << 62: math.MaxInt, math.MaxInt: math.MaxInt} {
		require.Equal(t, want, tensor.Must(x.Expand(n)).ByteSize(), n)
	}
	require.Zero(t, tensor.Must(x.Expand(1<<62, 0)).ByteSize())
	require.Equal(t, 1<<62, tensor.Must(tensor.Scalar(true).Expand(1<<62)).ByteSize())
}

// An expanded tensor cannot be written since its elements are one in memory; where it has none,
// there is nothing against it.
func TestWritingEmptyExpandedTensors(t *testing.T) {
	base := tensor.Must(tensor.Zeros[int8](1, 0))
	x := tensor.Must(base.Expand(4, 3, 0))
	row := tensor.Must(tensor.Zeros[int8](3, 0))
	require.NoError(t, x.CopyFrom(row))
	require.NoError(t, x.SetIndex(row, ix.At(1)))
	require.NoError(t, x.SetIndex(row, ix.Take(0, 0)))
	require.NoError(t, x.SetIndex(tensor.Scalar[int8](1), ix.Rest))
	require.NoError(t, tensor.Must(tensor.Zeros[int8](4, 3, 0)).IndexInto(x, ix.Take(3, 2, 1, 0)))
	require.NoError(t, shapeops.StackInto(x, []*tensor.Tensor{row, row, row, row}, 0))
	require.NoError(t, tensor.Write(x, func(s []int8) { require.Empty(t, s) }))
	var tr tensor.Transfer
	require.NoError(t, tr.Fill(x, tensor.Scalar[int8](1)))
	require.NoError(t, tr.Runs(x, x, []shapeops.Run{{To: 0, From: 1, Len: 3}}))
	require.NoError(t, tr.Run())

	full := tensor.Must(tensor.Must(tensor.Zeros[int8](1, 2)).Expand(4, 2))
	require.ErrorIs(t, full.CopyFrom(tensor.Vector[int8](1, 2)), tensor.ErrLayout)
	require.NoError(t, tensor.Must(full.Index(ix.Range(2, 2))).CopyFrom(tensor.Vector[int8](1, 2)), "no row of it")
}

// The errors of what works on several values or gives several say which operation failed.
func TestErrorsNameTheOperation(t *testing.T) {
	type list = []*tensor.Tensor
	x, y := tensor.Vector[int8](1, 2), tensor.Vector[int8](1, 2, 3)
	wide := tensor.Vector(1.0, 2)
	tests := []struct {
		want string
		err  error
	}{
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, y}, 0))},
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, wide}, 0))},
		{"stack: value 1: ", testkit.Err(shapeops.Stack(list{x, nil}, 0))},
		{"stack: ", testkit.Err(shapeops.Stack(list{x, x}, 2))},
		{"stack: ", testkit.Err(shapeops.Stack(list{}, 0))},
		{"stack: destination: ", shapeops.StackInto(y, list{x, x}, 0)},
		{"stack: ", shapeops.StackInto(nil, list{x, x}, 0)},
		{"stack: value 1: ", shapeops.StackInto(tensor.Must(tensor.Zeros[int8](2, 2)), list{x, wide}, 0)},
		{"cat: ", testkit.Err(shapeops.Cat(list{x, x}, 1))},
		{"cat: value 1: ", testkit.Err(shapeops.Cat(list{x, tensor.Scalar[int8](1)}, 0))},
		{"cat: value 1: ", testkit.Err(shapeops.Cat(list{x, wide}, 0))},
		{"cat: destination: ", shapeops.CatInto(y, list{x, x}, 0)},
		{"cat: ", shapeops.CatInto(x, list{tensor.Must(x.Index(ix.Range(1, 2))), tensor.Must(x.Index(ix.Range(0, 1)))}, 0)},
		{"split: ", testkit.Err(shapeops.Split(x, 0, 3))},
		{"split by: ", testkit.Err(shapeops.SplitBy(x, 0, 0))},
		{"chunk: ", testkit.Err(shapeops.Chunk(x, 0, 0))},
		{"chunk: ", testkit.Err(shapeops.Chunk(x, 1, 1))},
		{"unbind: ", testkit.Err(shapeops.Unbind(x, 1))},
	}
	for _, tt := range tests {
		require.Error(t, tt.err, tt.want)
		require.Regexp(t, "^"+tt.want+"[^:]", tt.err.Error())
	}
}
