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
