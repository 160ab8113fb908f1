package pickstack

import "github.com/go-tensordict/tensordict/tensor"

// stored is the set of element types of tensors, and number the set of types to compute with.
type (
	stored interface {
		float32 | float64 | tensor.F16 | tensor.BF16
	}
	number interface{ float32 | float64 }
)

// A slab is the memory of a tensor [B P C] while it is borrowed.
type slab[E stored, T number] struct {
	s                   []E
	direct              []T // s, if it holds T and channels are contiguous
	batch, row, channel int // strides
}

func newSlab[E stored, T number](s []E, shape, strides []int) slab[E, T] {
	b := slab[E, T]{s: s, batch: strides[0], row: strides[1], channel: strides[2]}
	if shape[2] == 1 {
		b.channel = 1
	}
	if direct, ok := any(s).([]T); ok && b.channel == 1 {
		b.direct = direct
	}
	return b
}

// load sets dst to the row that begins at element at.
func (b *slab[E, T]) load(dst []T, at int) {
	if b.direct != nil {
		copy(dst, b.direct[at:at+len(dst)])
		return
	}
	if len(dst) == 0 {
		return
	}
	switch s := any(b.s[at:]).(type) {
	case []tensor.F16:
		for i := range dst {
			dst[i] = T(s[i*b.channel].Float32())
		}
	case []tensor.BF16:
		for i := range dst {
			dst[i] = T(s[i*b.channel].Float32())
		}
	case []T:
		for i := range dst {
			dst[i] = s[i*b.channel]
		}
	}
}

// store sets the row that begins at element at to src.
func (b *slab[E, T]) store(at int, src []T) {
	if b.direct != nil {
		copy(b.direct[at:at+len(src)], src)
		return
	}
	if len(src) == 0 {
		return
	}
	switch s := any(b.s[at:]).(type) {
	case []tensor.F16:
		for i, v := range src {
			s[i*b.channel] = tensor.F16Of(float64(v))
		}
	case []tensor.BF16:
		for i, v := range src {
			s[i*b.channel] = tensor.BF16Of(float64(v))
		}
	case []T:
		for i, v := range src {
			s[i*b.channel] = v
		}
	}
}

// clearRow sets a row of b to zeros.
func (b *slab[E, T]) clearRow(at, channels int) {
	if b.channel == 1 {
		clear(b.s[at : at+channels])
		return
	}
	for c := range channels {
		b.s[at+c*b.channel] = 0
	}
}
