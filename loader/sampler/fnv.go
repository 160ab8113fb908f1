package sampler

import (
	"cmp"
	"fmt"
	"slices"
)

// The constants of FNV for 32 bits, which the original uses in arithmetic of 64 bits.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// FNV returns the hash of an id that the original orders groups by. It is FNV-1, with the constants
// for 32 bits, in arithmetic of 64 bits, over the 8 bytes of the id, the lowest first; hash/fnv has
// no such hash. It is there for [FNVOrder] and [Groups.FNV].
func FNV(id int64) int64 {
	h, x := uint64(fnvOffset), uint64(id)
	for range 8 {
		h = h*fnvPrime ^ x&0xff
		x >>= 8
	}
	return int64(h)
}

// FNVOrder returns the numbers of rows in the order that the original shuffles them to: by the
// signed [FNV] of id + seed, which wraps around, then by id; rows with equal ids keep their order.
//
//	ids [8 1 8 7 1], seed 2 -> [1 4 0 2 3]
//
// It is a weak order: ids that follow each other come at few distances from each other, and the
// next seed has nearly the same neighbors. [Random] has neither weakness. The result shares no
// memory with ids.
func FNVOrder(ids []int64, seed int64) []int {
	type key struct {
		hash, id int64
		row      int
	}
	keys := make([]key, len(ids))
	for row, id := range ids {
		keys[row] = key{FNV(id + seed), id, row}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id), a.row-b.row)
	})
	order := make([]int, len(keys))
	for i, k := range keys {
		order[i] = k.row
	}
	return order
}

// FNV returns a sampler of the groups that puts them in the order of the original, bit for bit:
// [FNVOrder] of their ids and the seed of the epoch, as an int64. As there, every epoch has the
// same order. It is for repeating what was done with the original: the order is a weak one, see
// [FNVOrder]; otherwise use [Random]. Its Order returns [ErrUnits] for another number of units.
func (g *Groups) FNV() Sampler {
	return fnvSampler{g, fmt.Sprintf("FNV order of %d groups %s", g.Len(), digest(g.ids))}
}

type fnvSampler struct {
	groups *Groups
	text   string
}

// Order implements [Sampler].
func (s fnvSampler) Order(e Epoch) (Order, error) {
	if err := e.checkUnits(s.groups.Len(), "groups"); err != nil {
		return nil, err
	}
	return listed(FNVOrder(s.groups.ids, int64(e.Seed))), nil
}

// String implements [Sampler].
func (s fnvSampler) String() string { return s.text }
