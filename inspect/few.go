package inspect

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// A few counts the different finite values, up to mostFloats of them.
type few struct {
	numerals
	counts map[uint64]int // by code, or by the bits of a float64
	many   bool           // there are more, and counts is of no use
}

// single reports whether all values are equal.
func (f *few) single() bool { return !f.many && len(f.counts) == 1 }

// list reports whether the rule for bins gives each value a bar.
func (f *few) list() bool {
	if f.many || f.lengths {
		return false
	}
	return len(f.counts) <= mostValues || !f.integer
}

// bars returns a bar for each value.
func (f *few) bars() []Bar {
	keys := slices.SortedFunc(maps.Keys(f.counts), func(a, b uint64) int {
		if f.integer {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(math.Float64frombits(a), math.Float64frombits(b))
	})
	bars := make([]Bar, len(keys))
	for i, key := range keys {
		number := any(math.Float64frombits(key))
		if f.integer {
			number = f.number(key)
		}
		bars[i] = Bar{From: number, To: number, Count: f.counts[key]}
	}
	return bars
}

// add counts a value n times.
func (f *few) add(key uint64, n int) {
	f.counts[key] += n
	f.many = f.many || len(f.counts) > mostFloats
}

// join adds the values of the next part.
func (f *few) join(next *few) {
	f.many = f.many || next.many
	for key, n := range next.counts {
		if f.many {
			return
		}
		f.add(key, n)
	}
}

// note adds the finite values of x.
func note[N vector.Real](f *few, x []N) {
	for _, v := range x {
		if f.many {
			return
		}
		if f.integer {
			f.add(uint64(int64(v))^f.flip, 1)
		} else if y := float64(v); y-y == 0 {
			f.add(math.Float64bits(y+0), 1) // -0 becomes 0
		}
	}
}
