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
		return scaleFrom(b, l, asIs[uint8])
	case tensor.Uint16:
		return scaleFrom(b, l, asIs[uint16])
	case tensor.Uint32:
		return scaleFrom(b, l, asIs[uint32])
	case tensor.Uint64:
		return scaleFrom(b, l, asIs[uint64])
	case tensor.Int8:
		return scaleFrom(b, l, asIs[int8])
	case tensor.Int16:
		return scaleFrom(b, l, asIs[int16])
	case tensor.Int32:
		return scaleFrom(b, l, asIs[int32])
	case tensor.Int64:
		return scaleFrom(b, l, asIs[int64])
	case tensor.Float16:
		return scaleFrom(b, l, widened(vector.WidenF16))
	case tensor.BFloat16:
		return scaleFrom(b, l, widened(vector.WidenBF16))
	case tensor.Float32:
		return scaleFrom(b, l, asIs[float32])
	}
	return scaleFrom(b, l, asIs[float64])
}

// asIs returns elements that need no conversion.
func asIs[S cast.Fixed](s []S, _ *scratch) []S { return s }

// widened returns a function that converts 16-bit floats to float32.
func widened(widen func([]float32, []uint16)) func(s []uint16, room *scratch) []float32 {
	return func(s []uint16, room *scratch) []float32 {
		wide, _ := cast.Slice[float32](room[0][:4*len(s)])
		widen(wide, s)
		return wide
	}
}

// scaleFrom is run for elements of type S, which load converts to V.
func scaleFrom[S cast.Fixed, V integers | ordinary](b *tensor.Block, l affine, load func([]S, *scratch) []V) error {
	room := scratches.Get().(*scratch)
	defer scratches.Put(room)
	wide := !short[V]()
	switch d := b.DType; {
	case d == tensor.Float16 && wide:
		return byChunk(b, 0, narrowed(l, load, room, half.NarrowF16[float64]))
	case d == tensor.Float16:
		return byChunk(b, 0, narrowed(l, load, room, vector.NarrowF16))
	case d == tensor.BFloat16 && wide:
		return byChunk(b, 0, narrowed(l, load, room, half.NarrowBF16[float64]))
	case d == tensor.BFloat16:
		return byChunk(b, 0, narrowed(l, load, room, vector.NarrowBF16))
	case d == tensor.Float32:
		return byChunk(b, 0, scaled[S, V, float32](l, load, room))
	}
	return byChunk(b, 0, scaled[S, V, float64](l, load, room))
}

func scaled[S cast.Fixed, V integers | ordinary, D ordinary](l affine, load func([]S, *scratch) []V, room *scratch) slicer[S, D] {
	return func(_ op, dst []D, x [3][]S) error {
		scale(dst, load(x[0], room), l)
		return nil
	}
}

// narrowed computes in W, and rounds to 16 bits.
func narrowed[S cast.Fixed, V integers | ordinary, W ordinary](l affine, load func([]S, *scratch) []V, room *scratch,
	narrow func([]uint16, []W)) slicer[S, uint16] {
	return func(_ op, dst []uint16, x [3][]S) error {
		wide, _ := cast.Slice[W](room[1][:cast.Size[W]()*len(dst)])
		scale(wide, load(x[0], room), l)
		narrow(dst, wide)
		return nil
	}
}

// scale computes in D if float32 holds all values of V, otherwise in float64.
func scale[D ordinary, V integers | ordinary](dst []D, src []V, l affine) {
	switch {
	case !short[V]():
		scaleWide(dst, src[:len(dst)], l.scale, l.shift)
	case !scaleByVectors(dst, src, l):
		scaleShort(dst, src[:len(dst)], D(l.scale), D(l.shift))
	}
}

func scaleWide[D ordinary, V integers | ordinary](dst []D, src []V, scale, shift float64) {
	for i, v := range src {
		dst[i] = D(float64(float64(v)*scale) + shift)
	}
}

func scaleShort[D ordinary, V integers | ordinary](dst []D, src []V, scale, shift D) {
	for i, v := range src {
		dst[i] = D(D(v)*scale) + shift
	}
}

// scaleByVectors is scale for the types that package vector has. It returns false for others.
func scaleByVectors[D ordinary, V integers | ordinary](dst []D, src []V, l affine) bool {
	to, ok := any(dst).([]float32)
	if !ok {
		return false
	}
	switch src := any(src).(type) {
	case []uint8:
		vector.ScaleBytes(to, src, float32(l.scale), float32(l.shift))
		return true
	case []float32:
		vector.Scale(to, src, float32(l.scale), float32(l.shift))
		return true
	}
	return false
}

// short reports whether float32 holds all values of V.
func short[V integers | ordinary]() bool {
	var v V
	_, single := any(v).(float32)
	return single || cast.Size[V]() <= 2
}
