package sampler

import (
	"math"
	"sync/atomic"
)

// again returns the number of the k-th repetition of unit: unit + k*units. unit may be the number
// of a repetition itself. If the result is larger than an int, again uses a smaller k.
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

// pick returns the unit list[x], one of n units. x is an index of list, or the number of a
// repetition of one.
func pick[T int | int64](list []T, x, n int) int {
	if x < len(list) {
		return int(list[x])
	}
	return again(int(list[x%len(list)]), x/len(list), n)
}

// A pass is one traversal of all units.
type pass struct {
	number int
	order  Order
}

// passes are the orders of consecutive passes, all as long as the first one, which is not empty.
// The last few are kept. Safe for concurrent use.
type passes struct {
	begin Order
	next  func(number int) (Order, error) // for pass 1 and later
	kept  [4]atomic.Pointer[pass]
}

// at returns the pass of a position: its number, its order, and the position within that order.
func (p *passes) at(position int) (int, Order, int) {
	length := p.begin.Len()
	if position < length {
		return 0, p.begin, position
	}
	number := position / length
	return number, p.order(number), position % length
}

// order returns the order of a pass from 1 on. If a sampler breaks its contract and its order is an
// error or has another length, order returns the first order.
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
