package sampler

import (
	"math"
	"sync/atomic"
)

// again returns the number of what is unit, itself one of a repetition perhaps, for the k-th time
// again: unit + k*units, or, if that is beyond the largest int, one of a smaller k.
func again(unit, k, units int) int {
	if unit >= units {
		k = (k + unit/units) & math.MaxInt
		unit %= units
	}
	if k == 0 {
		return unit
	}
	return unit + k%(math.MaxInt/units)*units
}

// pick returns the number that x, a position in a list or again one, has among n units.
func pick[T int | int64](list []T, x, n int) int {
	if x < len(list) {
		return int(list[x])
	}
	return again(int(list[x%len(list)]), x/len(list), n)
}

// A pass is one time through all units.
type pass struct {
	number int
	order  Order
}

// passes are the orders of one pass after another, all as long as the first, which has at least one
// position. The last few are kept. Safe for concurrent use.
type passes struct {
	begin Order
	next  func(number int) (Order, error) // pass 1 and those after it
	kept  [4]atomic.Pointer[pass]
}

// at returns the number of the pass that a position is in, its order, and which of its positions it
// is.
func (p *passes) at(position int) (int, Order, int) {
	length := p.begin.Len()
	if position < length {
		return 0, p.begin, position
	}
	number := position / length
	return number, p.order(number), position % length
}

// order returns the order of a pass from 1 on, which is the first one's if a sampler breaks its
// word and has none as long as that.
func (p *passes) order(number int) Order {
	kept := &p.kept[number%len(p.kept)]
	if old := kept.Load(); old != nil && old.number == number {
		return old.order
	}
	o, err := p.next(number)
	if err != nil || o.Len() != p.begin.Len() {
		o = p.begin
	}
	kept.Store(&pass{number, o})
	return o
}
