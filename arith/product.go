package arith

import (
	"fmt"
	"math/bits"

	"github.com/go-tensordict/tensordict/tensor"
)

// A product is a fold that multiplies numbers one after the other.
type product[T floats] struct {
	blend    blender[T]
	products []T
}

func newProduct[T floats]([]T) fold[T, T] { return new(product[T]) }

// A complexProduct is a product that leaves out what does not count, because an infinity times 1 is
// NaN.
type complexProduct[T complex64 | complex128] struct{ product[T] }

func (p *complexProduct[T]) line(_ int, x []T, bits []byte) {
	for i, v := range x {
		if bits == nil || bits[i] != 0 {
			p.products[0] *= v
		}
	}
}

func (p *complexProduct[T]) rows(x []T, r rowList) {
	for k, off := range r.offs {
		for i, v := range x[off:][:len(p.products)] {
			if r.counts(k, i) {
				p.products[i] *= v
			}
		}
	}
}

func (p *product[T]) begin(_, lines int) {
	p.products = repeated(zeros(p.products, lines), 1)
}

func (p *product[T]) line(_ int, x []T, bits []byte) {
	all := p.products[0]
	for _, v := range p.blend.line(x, bits, 1) {
		all *= v
	}
	p.products[0] = all
}

func (p *product[T]) rows(x []T, r rowList) {
	x, r = p.blend.rows(x, r, len(p.products), 1)
	for _, off := range r.offs {
		for i, v := range x[off:][:len(p.products)] {
			p.products[i] *= v
		}
	}
}

func (p *product[T]) end(dst []T) error {
	copy(dst, p.products)
	return nil
}

// An intProduct is a fold that multiplies integers. It keeps magnitudes and signs apart.
type intProduct[T integers, D int64 | uint64] struct {
	blend    blender[T]
	products []factors
}

// A factors is the product of the factors so far.
type factors struct {
	size        uint64 // magnitude
	minus, over bool   // minus: negative; over: size exceeds 64 bits, and no factor is 0
}

func newIntProduct[T integers, D int64 | uint64]([]D) fold[T, D] { return new(intProduct[T, D]) }

func (p *intProduct[T, D]) begin(_, lines int) {
	p.products = repeated(zeros(p.products, lines), factors{size: 1})
}

// multiply multiplies p by v.
func multiply[T integers](p *factors, v T) {
	size := uint64(v)
	if v < 0 {
		size, p.minus = -size, !p.minus
	}
	var hi uint64
	hi, p.size = bits.Mul64(p.size, size)
	switch {
	case size == 0:
		p.over, p.size = false, 0
	case hi > 0 && p.size == 0:
		p.size, p.over = 1, true // 0 would stay 0
	case hi > 0:
		p.over = true
	}
}

func (p *intProduct[T, D]) line(_ int, x []T, bits []byte) {
	for _, v := range p.blend.line(x, bits, 1) {
		multiply(&p.products[0], v)
	}
}

func (p *intProduct[T, D]) rows(x []T, r rowList) {
	x, r = p.blend.rows(x, r, len(p.products), 1)
	for _, off := range r.offs {
		for i, v := range x[off:][:len(p.products)] {
			multiply(&p.products[i], v)
		}
	}
}

func (p *intProduct[T, D]) end(dst []D) error {
	for i, f := range p.products[:len(dst)] {
		signed := D(0)-1 < 0
		limit := ^uint64(0)
		if signed {
			limit >>= 1
		}
		if signed && f.minus {
			limit++
		}
		if f.over || f.size > limit {
			return fmt.Errorf("%w: a product overflows %v", tensor.ErrDType, tensor.DTypeOf[D]())
		}
		if dst[i] = D(f.size); f.minus {
			dst[i] = -dst[i]
		}
	}
	return nil
}
