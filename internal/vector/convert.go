package vector

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/half"
)

// WidenF16 is [half.WidenF16].
func WidenF16(dst []float32, src []uint16) {
	n := on(kernels.widenF16, dst, src, nil, 0, 0)
	half.WidenF16(dst[n:], src[n:])
}

// WidenBF16 is [half.WidenBF16].
func WidenBF16(dst []float32, src []uint16) {
	n := on(kernels.widenBF16, dst, src, nil, 0, 0)
	half.WidenBF16(dst[n:], src[n:])
}

// NarrowF16 is [half.NarrowF16] of float32.
func NarrowF16(dst []uint16, src []float32) {
	n := on(kernels.narrowF16, dst, src, nil, 0, 0)
	half.NarrowF16(dst[n:], src[n:])
}

// NarrowBF16 is [half.NarrowBF16] of float32.
func NarrowBF16(dst []uint16, src []float32) {
	n := on(kernels.narrowBF16, dst, src, nil, 0, 0)
	half.NarrowBF16(dst[n:], src[n:])
}

// OfBytes converts bytes to float32.
func OfBytes(dst []float32, src []uint8) {
	n := on(kernels.ofBytes, dst, src, nil, 0, 0)
	ofBytes(dst[n:], src[n:])
}

// ToBytes truncates numbers to bytes. Negative numbers and NaN become 0, and numbers above 255
// become 255.
func ToBytes(dst []uint8, src []float32) {
	n := on(kernels.toBytes, dst, src, nil, 0, 0)
	toBytes(dst[n:], src[n:])
}

// Scale sets dst to src * scale + shift. The product is rounded before shift is added.
func Scale(dst, src []float32, scale, shift float32) {
	n := on(kernels.scale, dst, src, nil, bits(scale), bits(shift))
	scaleNumbers(dst[n:], src[n:], scale, shift)
}

// ScaleBytes is [Scale] for bytes.
func ScaleBytes(dst []float32, src []uint8, scale, shift float32) {
	n := on(kernels.scaleBytes, dst, src, nil, bits(scale), bits(shift))
	scaleNumbers(dst[n:], src[n:], scale, shift)
}

// Keys sets dst to integers that order as the numbers of src do, or in the opposite order. 0 and -0
// have the same key. All NaNs have the largest key, in either order.
func Keys(dst []int32, src []float32, opposite bool) {
	flip := float32(0)
	if opposite {
		flip = float32(math.Copysign(0, -1))
	}
	n := on(kernels.keys, dst, src, nil, bits(flip), 0)
	keys(dst[n:], src[n:], opposite)
}
