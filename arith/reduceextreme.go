package arith

import (
	"bytes"
	"fmt"
	"math"
)

// realNumber is the set of types of elements that have an order.
type realNumber interface {
	integers | float32 | float64
}

// An extreme is a fold that keeps the least or the greatest number, or NaN if there is one. -0 is
// less than 0.
type extreme[T realNumber] struct {
	max  bool
	some bool
	best []T
}

func (e *extreme[T]) begin(_, lines int) {
	e.some = false
	e.best = zeros(e.best, lines)
}

func (e *extreme[T]) line(_ int, x []T) {
	if len(x) == 0 {
		return
	}
	if !e.some {
		e.best[0], e.some = x[0], true
	}
	if e.max {
		e.best[0] = maxOf(e.best[0], x)
	} else {
		e.best[0] = minOf(e.best[0], x)
	}
}

// maxOf returns the greatest of m and x.
func maxOf[T realNumber](m T, x []T) T {
	a, b, c, d := m, m, m, m
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, v := range x {
		a = max(a, v)
	}
	return max(a, b, c, d)
}

// minOf returns the least of m and x.
func minOf[T realNumber](m T, x []T) T {
	a, b, c, d := m, m, m, m
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
	}
	for _, v := range x {
		a = min(a, v)
	}
	return min(a, b, c, d)
}

func (e *extreme[T]) rows(x []T, r rowList) {
	for _, off := range r.offs {
		row := x[off:][:len(e.best)]
		switch {
		case !e.some:
			copy(e.best, row)
			e.some = true
		case e.max:
			for i, v := range row {
				e.best[i] = max(e.best[i], v)
			}
		default:
			for i, v := range row {
				e.best[i] = min(e.best[i], v)
			}
		}
	}
}

func (e *extreme[T]) end(dst []T) error {
	if !e.some {
		return ofNone(dst)
	}
	copy(dst, e.best)
	return nil
}

// ofNone sets dst to NaN, if its elements can be that.
func ofNone[T realNumber](dst []T) error {
	nan := math.NaN()
	if v := T(nan); v == v {
		return fmt.Errorf("%w to choose from", ErrEmpty)
	} else {
		repeated(dst, v)
	}
	return nil
}

func (e *extreme[T]) join(other fold[T, T]) {
	next := other.(*extreme[T])
	e.rows(next.best, rowList{offs: []int{0}})
}

// A position is a fold that finds where the first of the least or the greatest numbers is, or the
// first NaN.
type position[T realNumber] struct {
	max  bool
	some bool
	best []T
	at   []int64
}

func (p *position[T]) begin(_, lines int) {
	p.some = false
	p.best, p.at = zeros(p.best, lines), zeros(p.at, lines)
}

func (p *position[T]) line(at int, x []T) {
	if len(x) == 0 {
		return
	}
	if !p.some {
		p.best[0], p.at[0], p.some = x[0], int64(at), true
	}
	best, found := p.best[0], -1
	if best != best {
		return
	}
	for i, v := range x {
		if p.max && v > best || !p.max && v < best || v != v {
			best, found = v, i
			if v != v {
				break
			}
		}
	}
	if found >= 0 {
		p.best[0], p.at[0] = best, int64(at+found)
	}
}

func (p *position[T]) rows(x []T, r rowList) {
	for k, off := range r.offs {
		row, at := x[off:][:len(p.best)], int64(r.at[k])
		if !p.some {
			copy(p.best, row)
			repeated(p.at, at)
			p.some = true
			continue
		}
		for i, v := range row {
			if best := p.best[i]; p.max && v > best || !p.max && v < best || v != v && best == best {
				p.best[i], p.at[i] = v, at
			}
		}
	}
}

func (p *position[T]) end(dst []int64) error {
	if !p.some {
		return fmt.Errorf("%w to choose from", ErrEmpty)
	}
	copy(dst, p.at)
	return nil
}

func (p *position[T]) join(other fold[T, int64]) {
	next := other.(*position[T])
	for i, v := range next.best {
		if best := p.best[i]; p.max && v > best || !p.max && v < best || v != v && best == best {
			p.best[i], p.at[i] = v, next.at[i]
		}
	}
}

// A verdict is a fold of bools that looks for one that decides.
type verdict struct {
	decides byte // the value that decides: 0 for all, 1 for any
	bits    []byte
}

func (v *verdict) begin(_, lines int) { v.bits = repeated(zeros(v.bits, lines), 1-v.decides) }

func (v *verdict) line(_ int, x []uint8) {
	if bytes.IndexByte(x, v.decides) >= 0 {
		v.bits[0] = v.decides
	}
}

func (v *verdict) rows(x []uint8, r rowList) {
	for _, off := range r.offs {
		row := x[off:][:len(v.bits)]
		if v.decides == 0 {
			for i, b := range row {
				v.bits[i] &= b
			}
		} else {
			for i, b := range row {
				v.bits[i] |= b
			}
		}
	}
}

func (v *verdict) end(dst []uint8) error {
	copy(dst, v.bits)
	return nil
}

func (v *verdict) join(other fold[uint8, uint8]) {
	v.rows(other.(*verdict).bits, rowList{offs: []int{0}})
}
