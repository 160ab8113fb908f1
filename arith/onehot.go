package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// OneHot encodes each integer of x as a row of classes elements: 1 (or true) at the position of the
// integer, and 0 elsewhere.
//
//	x [F...], classes C -> [F... C], of the given dtype
//
// Values that are not tensors stay as they are. OneHot returns shapeops.ErrIndex if an element is
// not from 0 to classes-1, shapeops.ErrShape if classes is negative, and tensor.ErrDType if x does
// not hold integers or the dtype is complex.
func OneHot[T Elementwise[T]](x T, classes int, dtype tensor.DType) (T, error) {
	k, err := oneHotKernel(x, classes, dtype)
	return leafwise("one hot", k, err, x)
}

func oneHotKernel[T Elementwise[T]](x T, classes int, dtype tensor.DType) (*tensor.Kernel, error) {
	var none T
	if x == none {
		return nil, errNilX
	}
	if classes < 0 {
		return nil, fmt.Errorf("%w: got %d classes, want 0 or more", shapeops.ErrShape, classes)
	}
	if dtype.IsComplex() {
		return nil, fmt.Errorf("%w: got %v for the result, want bool or real numbers", tensor.ErrDType, dtype)
	}
	hot, err := tensor.ScalarOf(dtype, 1)
	if err == nil {
		hot, err = hot.Reshape(1)
	}
	if err != nil {
		return nil, err
	}
	return &tensor.Kernel{
		Op: "one hot",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			if d := xs[0].DType(); !d.IsInteger() {
				return 0, nil, fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, d, wholes)
			}
			return dtype, append(xs[0].Shape().Clone(), classes), nil
		},
		Whole: func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error { return setOnes(dst, hot, xs[0], classes) },
		Fails: always, Rowwise: true,
	}, nil
}

// setOnes sets dst to zeros, and to hot, a vector of one element, at the class of each element of
// x.
func setOnes(dst, hot, x *tensor.Tensor, classes int) error {
	index, err := x.Cast(tensor.Int64) // a class beyond int64 saturates
	if err != nil {
		return err
	}
	rows, err := tensor.Of[int64](index)
	if err != nil {
		return err
	}
	for i, c := range rows {
		if c < 0 || c >= int64(classes) {
			return fmt.Errorf("%w: got class %d as element %d, want one from 0 to %d", shapeops.ErrIndex, c, i, classes-1)
		}
	}
	if dst, err = dst.Reinterpret(tensor.Uint8); err == nil {
		hot, err = hot.Reinterpret(tensor.Uint8)
	}
	if err != nil {
		return err
	}
	one, err := tensor.Of[uint8](hot)
	if err != nil {
		return err
	}
	return tensor.Write(dst, func(to []uint8) {
		clear(to)
		for i, c := range rows {
			copy(to[(i*classes+int(c))*len(one):], one)
		}
	})
}
