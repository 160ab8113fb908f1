package arith

import (
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

// extremes returns the recipe of extremes.
func extremes[T realNumber](max bool) recipe[T, T] {
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &extreme[T]{max: max} }, joins: true}
}
