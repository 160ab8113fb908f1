package arith

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// CastScale returns x * scale + shift as a floating-point dtype, in one pass. For example,
// CastScale(x, tensor.Float32, 2./255, -1) maps pixels of bytes to the range from -1 to 1.
//
//	x [F...] -> [F...]
//
// It computes in float32 if dtype is float32, float16 or bfloat16, and if float32 exactly
// represents all values of x's dtype; otherwise in float64. It rounds the product before it adds
// shift. Values that are not tensors stay as they are. CastScale returns tensor.ErrDType if dtype
// is not a floating-point dtype, or if x holds bools or complex numbers.
func CastScale[T Elementwise[T]](x T, dtype tensor.DType, scale, shift float64) (T, error) {
	k, err := scaleKernel(x, dtype, scale, shift)
	return leafwise("cast scale", k, err, x)
}

// CastScaleInto is [CastScale] into dst, whose leaves have the dtype.
func CastScaleInto[T Elementwise[T]](dst, x T, dtype tensor.DType, scale, shift float64) error {
	k, err := scaleKernel(x, dtype, scale, shift)
	return leafwiseInto("cast scale", k, err, dst, x)
}

// An affine holds the coefficients of x * scale + shift.
type affine struct{ scale, shift float64 }

func scaleKernel[T Elementwise[T]](x T, dtype tensor.DType, scale, shift float64) (*tensor.Kernel, error) {
	var none T
	if x == none {
		return nil, errNilX
	}
	return &tensor.Kernel{
		Op: "cast scale",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			if d := xs[0].DType(); kindOf(d)&reals == 0 {
				return 0, nil, fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, d, reals)
			}
			return dtype, xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error { return affine{scale, shift}.run(b) },
	}, checkFraction(dtype)
}

// checkFraction returns an error unless d is a floating-point dtype.
func checkFraction(d tensor.DType) error {
	if !d.IsFloat() {
		return fmt.Errorf("%w: got %v for the result, want %v", tensor.ErrDType, d, fractions)
	}
	return nil
}

// run computes one block.
func (l affine) run(b *tensor.Block) error {
	switch b.Src[0].DType {
	case tensor.Uint8:
		return scaleFrom[uint8, uint8](b, l, nil)
	case tensor.Uint16:
		return scaleFrom[uint16, uint16](b, l, nil)
	case tensor.Uint32:
		return scaleFrom[uint32, uint32](b, l, nil)
	case tensor.Uint64:
		return scaleFrom[uint64, uint64](b, l, nil)
	case tensor.Int8:
		return scaleFrom[int8, int8](b, l, nil)
	case tensor.Int16:
		return scaleFrom[int16, int16](b, l, nil)
	case tensor.Int32:
		return scaleFrom[int32, int32](b, l, nil)
	case tensor.Int64:
		return scaleFrom[int64, int64](b, l, nil)
	case tensor.Float16:
		return scaleFrom(b, l, vector.WidenF16)
	case tensor.BFloat16:
		return scaleFrom(b, l, vector.WidenBF16)
	case tensor.Float32:
		return scaleFrom[float32, float32](b, l, nil)
	}
	return scaleFrom[float64, float64](b, l, nil)
}

// scaleFrom is run for elements of type S, which widen converts to V; it is nil if S is V.
func scaleFrom[S, V integers | ordinary](b *tensor.Block, l affine, widen func([]V, []S)) error {
	wide := !short[V]()
	switch d := b.DType; {
	case d == tensor.Float16 && wide:
		return scaleTo(b, l, widen, half.NarrowF16[float64])
	case d == tensor.Float16:
		return scaleTo(b, l, widen, vector.NarrowF16)
	case d == tensor.BFloat16 && wide:
		return scaleTo(b, l, widen, half.NarrowBF16[float64])
	case d == tensor.BFloat16:
		return scaleTo(b, l, widen, vector.NarrowBF16)
	case d == tensor.Float32:
		return scaleTo[S, V, float32, float32](b, l, widen, nil)
	}
	return scaleTo[S, V, float64, float64](b, l, widen, nil)
}

// scaleTo is scaleFrom for results that are computed as W, which narrow converts to D; it is nil if
// W is D.
func scaleTo[S, V integers | ordinary, W ordinary, D cast.Fixed](b *tensor.Block, l affine, widen func([]V, []S),
	narrow func([]D, []W)) error {
	room := scratches.Get().(*scratch)
	defer scratches.Put(room)
	return byChunk(b, 0, chunk, func(_ op, dst []D, x [3][]S) error {
		var src []V
		if widen == nil {
			src = any(x[0]).([]V)
		} else {
			src, _ = cast.Slice[V](room[0][:cast.Size[V]()*len(dst)])
			widen(src, x[0])
		}
		if narrow == nil {
			scale(any(dst).([]W), src, l)
			return nil
		}
		to, _ := cast.Slice[W](room[1][:cast.Size[W]()*len(dst)])
		scale(to, src, l)
		narrow(dst, to)
		return nil
	})
}

// scale computes in D if float32 holds all values of V, otherwise in float64.
func scale[D ordinary, V integers | ordinary](dst []D, src []V, l affine) {
	src = src[:len(dst)]
	if !short[V]() {
		for i, v := range src {
			dst[i] = D(float64(float64(v)*l.scale) + l.shift)
		}
		return
	}
	scale, shift := D(l.scale), D(l.shift)
	if to, ok := any(dst).([]float32); ok {
		switch src := any(src).(type) {
		case []uint8:
			vector.ScaleBytes(to, src, float32(scale), float32(shift))
			return
		case []float32:
			vector.Scale(to, src, float32(scale), float32(shift))
			return
		}
	}
	for i, v := range src {
		dst[i] = D(D(v)*scale) + shift
	}
}

// short reports whether float32 holds all values of V.
func short[V integers | ordinary]() bool {
	var v V
	_, single := any(v).(float32)
	return single || cast.Size[V]() <= 2
}
