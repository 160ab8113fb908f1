package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// Splits returns the pools that values and row splits say, as TensorFlow's and torch's functions
// take them: pool a is values[splits[a]:splits[a+1]].
//
//	values [V], splits [A+1], int32 or int64 -> [A *]
//
// It shares values. It returns tensor.ErrKind if an argument is nil, shapeops.ErrDim for one that
// does not have one dim, tensor.ErrDType for another dtype, and ragged.ErrOffsets, with the row, if
// splits do not begin with 0, decrease, or do not end with V.
func Splits(values, splits *tensor.Tensor) (*ragged.Tensor, error) {
	pools, err := newSplits(values, splits)
	if err != nil {
		return nil, fmt.Errorf("row splits: %w", err)
	}
	return pools, nil
}

func newSplits(values, splits *tensor.Tensor) (*ragged.Tensor, error) {
	switch {
	case values == nil:
		return nil, fmt.Errorf("values: %w", errNil)
	case splits == nil:
		return nil, fmt.Errorf("splits: %w", errNil)
	}
	if err := checkIndex(values); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if err := checkIndex(splits); err != nil {
		return nil, fmt.Errorf("splits: %w", err)
	}
	wide, err := splits.Cast(tensor.Int64)
	if err != nil {
		return nil, err
	}
	offsets, err := tensor.Of[int64](wide)
	if err != nil {
		return nil, err
	}
	layout, err := ragged.NewLayout([]int{max(0, len(offsets)-1)}, offsets)
	if err != nil {
		return nil, err
	}
	if last, v := offsets[len(offsets)-1], values.Shape()[0]; int(last) != v {
		return nil, fmt.Errorf("%w: the last split is %d, want %d, the number of values", ragged.ErrOffsets, last, v)
	}
	return ragged.New(values, layout)
}
