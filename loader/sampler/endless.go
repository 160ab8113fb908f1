package sampler

import "fmt"

// Endless returns a sampler whose order never ends: the order of s for the epoch, then, as pass 1,
// that for the epoch after it, and so on. The units of pass p are repetitions: u + p*N, of N units.
// What is at position 10^12 is found as fast as s finds it. An order of s that has no end itself
// stays as it is.
//
// The sampler's Order returns [ErrUnits] if there is nothing in the order of s, or if pass 1 is not
// as long as pass 0, and [ErrNil] if s is nil. All samplers of this package have orders of the same
// length and no error in all epochs if they have in two; so must s: for a later pass without such
// an order, that of pass 0 is taken.
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

// An endlessOrder is the [Order] of endless, of n units.
type endlessOrder struct {
	n int
	passes
}

// check returns an error if the first passes cannot begin an order without end.
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

// absent is what stands for a sampler that is nil.
type absent struct{}

// Order implements [Sampler].
func (absent) Order(Epoch) (Order, error) { return nil, ErrNil }

// String implements [Sampler].
func (absent) String() string { return "no sampler" }
