package transform

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// OneHot returns a transform that replaces each integer by one element for each class: 1 at the
// position of the integer, 0 elsewhere:
//
//	leaves [N F...], classes C -> [N F... C], of the given dtype
//
// Apply returns the errors of arith.OneHot.
func OneHot(classes int, dtype tensor.DType) Transform {
	name := fmt.Sprintf("one hot: %d classes, %v", classes, dtype)
	return Func(name, func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return arith.OneHot(td, classes, dtype)
	})
}

// CastScale returns a transform that replaces each x by x * scale + shift, as a floating-point
// dtype: CastScale(tensor.Float32, 2./255, -1) maps uint8 pixels to -1 up to 1. Apply returns the
// errors of arith.CastScale.
func CastScale(dtype tensor.DType, scale, shift float64) Transform {
	name := fmt.Sprintf("cast scale: %v(x*%.6g%+.6g)", dtype, scale, shift)
	return Func(name, func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return arith.CastScale(td, dtype, scale, shift)
	})
}

// FillNaN returns a transform that replaces each NaN by value; after [FitStandard], 0 is the mean.
// Leaves that are not floating-point do not change. Apply returns tensor.ErrDType if the dtype of a
// leaf does not hold value, as tensor.ScalarOf says, and the errors of arith.MaskedFill.
func FillNaN(value any) Transform {
	return Func(fmt.Sprintf("fill NaN with %v", value), func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		out, err := td.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
			if !x.DType().IsFloat() {
				return x, nil
			}
			missing, err := arith.IsNaN(x)
			if err != nil {
				return nil, err
			}
			return arith.MaskedFill(x, missing, value)
		})
		return out, errtext.Named("fill NaN", err)
	})
}

// checkDense returns tdict.ErrKind, with the key, if td has a stacked leaf: its members lack dims
// of the batch shape.
func checkDense(td *tdict.TensorDict) error {
	for key, leaf := range td.Leaves() {
		if s, ok := leaf.(*tdict.Stacked); ok {
			return &tdict.KeyError{Key: key, Err: errStacked(s)}
		}
	}
	return nil
}

func errStacked(s *tdict.Stacked) error {
	return fmt.Errorf("%w: got %s, want a tensor: Dense or Exclude it first", tdict.ErrKind, s.Text())
}
