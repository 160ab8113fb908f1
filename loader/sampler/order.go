package sampler

import "math"

// NoEnd is the length of an endless order, and the number of batches of an endless plan.
const NoEnd = math.MaxInt

// Sequential returns a sampler that keeps the units in order: 0, 1, 2 and so on. Its batches may be
// views of the source.
func Sequential() Sampler { return sequential{} }

type sequential struct{}

// Order implements [Sampler].
func (sequential) Order(e Epoch) (Order, error) { return ascending(e.Units), nil }

// String implements [Sampler].
func (sequential) String() string { return "sequential" }

// An ascending is the order 0, 1, 2 ... of n units.
type ascending int

// Len implements [Order].
func (n ascending) Len() int { return int(n) }

// AppendTo implements [Order].
func (n ascending) AppendTo(dst []int, start, stop int) []int {
	for unit := start; unit < stop; unit++ {
		dst = append(dst, unit)
	}
	return dst
}

// A listed is an order that is kept as a list.
type listed []int

// Len implements [Order].
func (l listed) Len() int { return len(l) }

// AppendTo implements [Order].
func (l listed) AppendTo(dst []int, start, stop int) []int { return append(dst, l[start:stop]...) }
