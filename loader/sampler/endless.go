package sampler

import "fmt"

// Endless returns a sampler whose order never ends: it has the order of s for the epoch, then, as
// pass 1, the order for the next epoch, and so on. A unit u in pass p is a repetition, u + p*N, of
// N units. The unit at position 10^12 is found as fast as s finds one. An order of s that has no
// end is returned unchanged.
//
// The sampler's Order returns [ErrUnits] if the order of s is empty or if pass 1 has another length
// than pass 0, and [ErrNil] if s is nil. For all samplers of this package, if two epochs have
// orders without an error and of the same length, so have all; s must have that property too. A
// later pass that does not is replaced by pass 0.
func Endless(s Sampler) Sampler {
	if s == nil {
		s = absent{}
	}
	return endless{s}
}

type endless struct{ inner Sampler }

// Order implements [Sampler].
func (s endless) Order(e Epoch) (Order, error) {
	next := func(number int) (Order, error) {
		e := e
		e.Number += uint64(number)
		return s.inner.Order(e)
	}
	first, err := next(0)
	if err != nil || first.Len() == NoEnd {
		return first, err
	}
	o := &endlessOrder{n: e.Units, passes: passes{begin: first, next: next}}
	if err := o.check(); err != nil {
		return nil, err
	}
	return o, nil
}

// String implements [Sampler].
func (s endless) String() string { return fmt.Sprintf("endless, of %v", s.inner) }

// An endlessOrder is the [Order] of endless. n is the number of units.
type endlessOrder struct {
	n int
	passes
}

// check returns an error if the first two passes cannot begin an endless order.
func (o *endlessOrder) check() error {
	length := o.begin.Len()
	if length < 1 || o.n < 1 {
		return fmt.Errorf("%w: got none, want one to repeat", ErrUnits)
	}
	second, err := o.next(1)
	if err != nil {
		return err
	}
	if second.Len() != length {
		return fmt.Errorf("%w: got %d in pass 1, want %d as in pass 0", ErrUnits, second.Len(), length)
	}
	o.kept[1].Store(&pass{1, second})
	return nil
}

// Len implements [Order].
func (o *endlessOrder) Len() int { return NoEnd }

// AppendTo implements [Order].
func (o *endlessOrder) AppendTo(dst []int, start, stop int) []int {
	for start < stop {
		number, pass, at := o.at(start)
		take := min(stop-start, pass.Len()-at)
		from := len(dst)
		dst = pass.AppendTo(dst, at, at+take)
		for i, unit := range dst[from:] {
			dst[from+i] = again(unit, number, o.n)
		}
		start += take
	}
	return dst
}

// absent replaces a nil sampler.
type absent struct{}

// Order implements [Sampler].
func (absent) Order(Epoch) (Order, error) { return nil, ErrNil }

// String implements [Sampler].
func (absent) String() string { return "no sampler" }
