package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// checkIndex returns an error unless index is a vector of int32 or int64.
func checkIndex(index *tensor.Tensor) error {
	if index == nil {
		return errNil
	}
	if d := index.DType(); d != tensor.Int32 && d != tensor.Int64 {
		return fmt.Errorf("%w: got %v, want int32 or int64", tensor.ErrDType, d)
	}
	if len(index.Shape()) != 1 {
		return fmt.Errorf("%w: got shape %v, want one dim", shapeops.ErrDim, index.Shape())
	}
	return nil
}

// readIndex returns the elements of an index.
func readIndex(index *tensor.Tensor) ([]int, error) {
	if err := checkIndex(index); err != nil {
		return nil, err
	}
	return index.Ints()
}

// readRagged returns the elements of a ragged index, which must have one batch dim and the given
// number of levels. want is that shape.
func readRagged(index *ragged.Tensor, levels int, want string) ([]int, error) {
	if index.DType() == 0 {
		return nil, fmt.Errorf("%w: got an empty ragged tensor", tensor.ErrKind)
	}
	if len(index.Shape()) != 1 || index.Depth() != levels || len(index.Features()) > 0 {
		return nil, fmt.Errorf("%w: got %s, want %s", shapeops.ErrDim, index.Text(), want)
	}
	values, err := index.Values()
	if err != nil {
		return nil, err
	}
	return readIndex(values)
}

// readOffsets returns the offsets of a level of a ragged index.
func readOffsets(index *ragged.Tensor, level int) ([]int, error) {
	offsets, err := index.Layout().Offsets(level)
	return toInts(offsets), err
}

func toInts(s []int64) []int {
	ints := make([]int, len(s))
	for i, v := range s {
		ints[i] = int(v)
	}
	return ints
}

// FromSplits returns pools from values and row splits, the form that functions of TensorFlow and
// torch take: pool a is values[splits[a]:splits[a+1]].
//
//	values [V], splits [A+1], int32 or int64 -> [A *]
//
// It is ragged.FromOffsets for tensors, where splits must cover all values. The result shares
// memory with values. FromSplits returns tensor.ErrKind if an argument is nil, shapeops.ErrDim if
// one does not have one dim, tensor.ErrDType for another dtype, and ragged.ErrOffsets if splits do
// not begin with 0, decrease, or do not end with V.
func FromSplits(values, splits *tensor.Tensor) (*ragged.Tensor, error) {
	if err := checkIndex(values); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	offsets, err := readIndex(splits)
	if err != nil {
		return nil, fmt.Errorf("row splits: %w", err)
	}
	switch last, n := len(offsets)-1, values.Shape()[0]; {
	case last < 0:
		return nil, fmt.Errorf("row splits: %w: got none, want 0 and the end of each pool", ragged.ErrOffsets)
	case offsets[0] != 0:
		return nil, fmt.Errorf("row splits: %w: got %d first, want 0", ragged.ErrOffsets, offsets[0])
	case offsets[last] != n:
		return nil, fmt.Errorf("row splits: %w: got %d last, want %d, the number of values", ragged.ErrOffsets, offsets[last], n)
	}
	wide := make([]int64, len(offsets))
	for i, o := range offsets {
		wide[i] = int64(o)
	}
	pools, err := ragged.FromOffsets(values, wide)
	if err != nil {
		return nil, fmt.Errorf("row splits: %w", err)
	}
	return pools, nil
}
