package sampler

import "math"

// NoEnd is the length of an order, and the number of batches of a plan, that go on for ever.
const NoEnd = math.MaxInt

// Sequential returns a sampler that keeps the units in their order: 0, 1, 2 and so on. Batches of
// it may be views of their source.
func Sequential() Sampler { return sequential{} }

type sequential struct{}

// Order implements [Sampler].
func (sequential) Order(e Epoch) (Order, error) { return ascending(e.Units), nil }

// String implements [Sampler].
func (sequential) String() string { return "sequential" }

// An ascending is the order of so many units in which each is at its own position.
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

// A listed is an order that is written out.
type listed []int

// Len implements [Order].
func (l listed) Len() int { return len(l) }

// AppendTo implements [Order].
func (l listed) AppendTo(dst []int, start, stop int) []int { return append(dst, l[start:stop]...) }
