package arith

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// realNumber is the set of element types that have an order.
type realNumber interface {
	integers | float32 | float64
}

// An extreme is a fold that keeps the least or the greatest number, or NaN if any is NaN. -0 is
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
	e.best[0] = e.of(e.best[0], x)
}

// of returns the extreme of m and x.
func (e *extreme[T]) of(m T, x []T) T {
	if e.max {
		return vector.Greatest(m, x)
	}
	return vector.Least(m, x)
}

// lines sets dst to the extremes of lines of n elements.
func (e *extreme[T]) lines(_ int, dst []T, x []T, n int) error {
	if n == 0 && len(dst) > 0 {
		return ofNone(dst)
	}
	for i := range dst {
		line := x[i*n:][:n]
		dst[i] = e.of(line[0], line)
	}
	return nil
}

func (e *extreme[T]) rows(x []T, r rowList) {
	offs := r.offs
	if len(offs) > 0 && !e.some {
		copy(e.best, x[offs[0]:])
		offs, e.some = offs[1:], true
	}
	if e.max {
		vector.MaximumRows(e.best, x, offs)
	} else {
		vector.MinimumRows(e.best, x, offs)
	}
}

func (e *extreme[T]) end(dst []T) error {
	if !e.some {
		return ofNone(dst)
	}
	copy(dst, e.best)
	return nil
}

// ofNone sets dst to NaN. It returns ErrEmpty for integers.
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
