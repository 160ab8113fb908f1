package sampler

import (
	"fmt"
	"slices"
)

// Among returns a sampler of some of the units: s orders the positions in the list, and the units
// at these positions are the result. A unit that is listed twice is in the order twice. The list is
// copied.
//
//	train, err := sampler.Among([]int{4, 8, 15}, sampler.Random()) // 15, 4, 8
//
// It returns [ErrUnits] if a number is negative and [ErrNil] if s is nil. The sampler's Order
// returns ErrUnits if a number is not less than the number of units.
func Among(units []int, s Sampler) (Sampler, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: got nil, to order %d units", ErrNil, len(units))
	}
	largest := 0
	for i, unit := range units {
		if unit < 0 {
			return nil, fmt.Errorf("%w: got %d at position %d, want at least 0", ErrUnits, unit, i)
		}
		if unit > units[largest] {
			largest = i
		}
	}
	return &among{slices.Clone(units), largest, s, digest(units)}, nil
}

type among struct {
	units   []int
	largest int // position of the largest unit, if units is not empty
	inner   Sampler
	digest  string
}

// Order implements [Sampler].
func (a *among) Order(e Epoch) (Order, error) {
	if len(a.units) > 0 && a.units[a.largest] >= e.Units {
		return nil, fmt.Errorf("%w: got %d at position %d, want less than %d", ErrUnits, a.units[a.largest], a.largest, e.Units)
	}
	n := e.Units
	e.Units = len(a.units)
	inner, err := a.inner.Order(e)
	if err != nil {
		return nil, fmt.Errorf("among %d: %w", len(a.units), err)
	}
	return &amongOrder{inner, a.units, n}, nil
}

// String implements [Sampler].
func (a *among) String() string {
	return fmt.Sprintf("among %d units (sum %s), %v", len(a.units), a.digest, a.inner)
}

// An amongOrder is the [Order] of among. n is the number of all units.
type amongOrder struct {
	Order
	units []int
	n     int
}

// AppendTo implements [Order].
func (o *amongOrder) AppendTo(dst []int, start, stop int) []int {
	from := len(dst)
	dst = o.Order.AppendTo(dst, start, stop)
	for i, x := range dst[from:] {
		dst[from+i] = pick(o.units, x, o.n)
	}
	return dst
}
