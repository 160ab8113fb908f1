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
	counter
	blend   blender[T]
	max     bool
	neutral T // the number that never decides
	best    []T
}

func (e *extreme[T]) begin(_, lines int) {
	e.counter.begin()
	e.best = repeated(zeros(e.best, lines), e.neutral)
}

func (e *extreme[T]) line(_ int, x []T, bits []byte) {
	e.counter.line(len(x), bits)
	e.best[0] = e.with(e.best[0], e.blend.line(x, bits, e.neutral))
}

// with returns the extreme of m and x.
func (e *extreme[T]) with(m T, x []T) T {
	if e.max {
		return vector.Greatest(m, x)
	}
	return vector.Least(m, x)
}

// lines sets dst to the extremes of lines of n elements.
func (e *extreme[T]) lines(at int, dst []T, x []T, n int, bits []byte) error {
	for i := range dst {
		e.begin(at+i, 1)
		e.line(0, x[i*n:][:n], partOf(bits, i*n, n))
		if err := e.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// groups sets dst to the extremes of groups.
func (e *extreme[T]) groups(at int, dst []T, x []T, splits []int64) error {
	for i := range dst {
		group := x[splits[i]-splits[0] : splits[i+1]-splits[0]]
		if dst[i] = e.with(e.neutral, group); len(group) > 0 {
			continue
		}
		e.begin(at+i, 1)
		if err := e.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (e *extreme[T]) rows(x []T, r rowList) {
	e.counter.rows(r, len(e.best))
	x, r = e.blend.rows(x, r, len(e.best), e.neutral)
	if e.max {
		vector.MaximumRows(e.best, x, r.offs)
	} else {
		vector.MinimumRows(e.best, x, r.offs)
	}
}

// end sets the results of lines without an element to NaN. It returns ErrEmpty for integers.
func (e *extreme[T]) end(dst []T) error {
	copy(dst, e.best)
	if e.all > 0 {
		return nil
	}
	nan := math.NaN()
	for i := range dst {
		if e.of(i) > 0 {
			continue
		}
		if dst[i] = T(nan); dst[i] == dst[i] {
			return fmt.Errorf("%w to choose from", ErrEmpty)
		}
	}
	return nil
}

func (e *extreme[T]) join(other fold[T, T], _ int) {
	next := other.(*extreme[T])
	e.counter.join(&next.counter)
	if e.max {
		vector.MaximumRows(e.best, next.best, []int{0})
	} else {
		vector.MinimumRows(e.best, next.best, []int{0})
	}
}

// extremes returns the recipe of extremes.
func extremes[T realNumber](max bool) recipe[T, T] {
	neutral := largest[T]()
	switch {
	case max && T(1)/2 != 0:
		neutral = -neutral
	case max:
		neutral++ // wraps around to the least integer
	}
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &extreme[T]{max: max, neutral: neutral} }, joins: true}
}

// largest returns the greatest number: infinity for floating-point types.
func largest[T realNumber]() T {
	v, inf := T(1), math.Inf(1)
	if v/2 != 0 {
		return T(inf)
	}
	for 2*v+1 > v {
		v = 2*v + 1
	}
	return v
}
