package picture

import (
	"errors"
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// levels says which values are black and white. Both are finite.
type levels struct{ black, white float64 }

// of returns the grey of a value: 0 at black, 255 at white.
func (l levels) of(v float64) uint8 {
	switch {
	case math.IsNaN(v):
		return 0
	case l.black != l.white:
		return uint8(min(max(l.fraction(v), 0), 1)*255 + 0.5)
	case v > l.black:
		return 255
	}
	return 0
}

// fraction returns where v lies between black and white.
func (l levels) fraction(v float64) float64 {
	if d := l.white - l.black; !math.IsInf(d, 0) {
		return (v - l.black) / d
	}
	return (v/2 - l.black/2) / (l.white/2 - l.black/2)
}

// ascending returns levels that do not invert.
func (l levels) ascending() levels {
	return levels{min(l.black, l.white), max(l.black, l.white)}
}

// readers has a function for each dtype of real numbers that fills pixels with the elements of x.
var readers = map[tensor.DType]func(p *pixels, x *tensor.Tensor) error{
	tensor.Uint8:    readBytes,
	tensor.Uint16:   reading(number[uint16]),
	tensor.Uint32:   reading(number[uint32]),
	tensor.Uint64:   reading(number[uint64]),
	tensor.Int8:     reading(number[int8]),
	tensor.Int16:    reading(number[int16]),
	tensor.Int32:    reading(number[int32]),
	tensor.Int64:    reading(number[int64]),
	tensor.Float32:  reading(number[float32]),
	tensor.Float64:  reading(number[float64]),
	tensor.Float16:  reading(tensor.F16.Float64),
	tensor.BFloat16: reading(tensor.BF16.Float64),
}

func number[T tensor.Number](v T) float64 { return float64(v) }

// reading returns a reader of elements of type T.
func reading[T tensor.Real](number func(T) float64) func(*pixels, *tensor.Tensor) error {
	return func(p *pixels, x *tensor.Tensor) error {
		colour, alpha := p.levels, p.levels.ascending()
		return fill(p, x,
			func(v T) uint8 { return colour.of(number(v)) },
			func(v T) uint8 { return alpha.of(number(v)) })
	}
}

// readBytes is the reader of uint8. It looks values up in tables.
func readBytes(p *pixels, x *tensor.Tensor) error {
	var colour, alpha [256]uint8
	for v := range colour {
		colour[v] = p.levels.of(float64(v))
		alpha[v] = p.levels.ascending().of(float64(v))
	}
	return fill(p, x,
		func(v uint8) uint8 { return colour[v] },
		func(v uint8) uint8 { return alpha[v] })
}

// fill sets the pixels to the elements of x.
func fill[T tensor.Real](p *pixels, x *tensor.Tensor, colour, alpha func(T) uint8) error {
	draw := func(s []T, strides []int) error {
		p.eachPixel(strides, func(at, step, pixel int) {
			if p.channels == 1 {
				p.pix[pixel] = colour(s[at])
				return
			}
			rgba := p.pix[pixel : pixel+4]
			rgba[0], rgba[1], rgba[2], rgba[3] = colour(s[at]), colour(s[at+step]), colour(s[at+2*step]), 255
			if p.channels == 4 {
				rgba[3] = alpha(s[at+3*step])
			}
		})
		return nil
	}
	err := tensor.ReadStrided(x, draw)
	if !errors.Is(err, tensor.ErrLayout) {
		return err
	}
	aligned, err := x.Clone()
	if err != nil {
		return err
	}
	return tensor.ReadStrided(aligned, draw)
}

// eachPixel calls fn for each pixel, with the position of its first channel, the step to the next
// channel, and its place in pix.
func (p *pixels) eachPixel(strides []int, fn func(at, step, pixel int)) {
	y, x, c := p.layout.dims()
	step, each := 0, p.each()
	if c >= 0 {
		step = strides[c]
	}
	for i := range p.height {
		for j := range p.width {
			fn(i*strides[y]+j*strides[x], step, (i*p.width+j)*each)
		}
	}
}
