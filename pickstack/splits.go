package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

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
	if err := checkSplits(offsets, values.Shape()[0]); err != nil {
		return nil, fmt.Errorf("row splits: %w", err)
	}
	pools, err := ragged.FromOffsets(values, toInt64s(offsets))
	if err != nil {
		return nil, fmt.Errorf("row splits: %w", err)
	}
	return pools, nil
}

// checkSplits returns ErrOffsets unless splits begin with 0 and end with the number of values.
func checkSplits(splits []int, values int) error {
	switch last := len(splits) - 1; {
	case last < 0:
		return fmt.Errorf("%w: got none, want 0 and the end of each pool", ragged.ErrOffsets)
	case splits[0] != 0:
		return fmt.Errorf("%w: got %d first, want 0", ragged.ErrOffsets, splits[0])
	case splits[last] != values:
		return fmt.Errorf("%w: got %d last, want %d, the number of values", ragged.ErrOffsets, splits[last], values)
	}
	return nil
}

func toInt64s(s []int) []int64 {
	wide := make([]int64, len(s))
	for i, v := range s {
		wide[i] = int64(v)
	}
	return wide
}
