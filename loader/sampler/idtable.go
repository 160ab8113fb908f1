package sampler

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// An idTable numbers ids in the order in which they are first seen. It takes half the time of a Go
// map, or less.
type idTable struct {
	n int

	// For ids in a small range: the number of id low+i plus 1, or 0.
	low   int64
	dense []int32

	// For other ids: a hash table. Only the slots of ids depend on the seed.
	seed  uint64
	slots []idSlot // a power of two, less than three quarters of them used
}

// An idSlot is free if number is 0. Otherwise number is the number of id plus 1.
type idSlot struct {
	id     int64
	number int
}

// newIDTable returns a table for ids, of which there is at least one.
func newIDTable(ids []int64) *idTable {
	low, high := slices.Min(ids), slices.Max(ids)
	if spread := uint64(high) - uint64(low); len(ids) < math.MaxInt32 && spread < uint64(2*len(ids)) {
		return &idTable{low: low, dense: make([]int32, spread+1)}
	}
	return &idTable{seed: rand.Uint64(), slots: make([]idSlot, 8<<bits.Len(uint(len(ids)/32)))}
}

// number returns the number of id.
func (t *idTable) number(id int64) int {
	if t.dense == nil {
		return t.hashed(id)
	}
	number := &t.dense[id-t.low]
	if *number == 0 {
		t.n++
		*number = int32(t.n)
	}
	return int(*number) - 1
}

// hashed is number with the hash table.
func (t *idTable) hashed(id int64) int {
	s := t.slot(id)
	if s.number > 0 {
		return s.number - 1
	}
	t.n++
	*s = idSlot{id, t.n}
	if t.n >= len(t.slots)/4*3 {
		t.grow()
	}
	return t.n - 1
}

// slot returns the slot of id, or the free slot for it.
func (t *idTable) slot(id int64) *idSlot {
	last := uint64(len(t.slots) - 1)
	at := splitmix.Mix(t.seed, uint64(id)) & last
	for t.slots[at].number > 0 && t.slots[at].id != id {
		at = (at + 1) & last
	}
	return &t.slots[at]
}

// grow doubles the number of slots.
func (t *idTable) grow() {
	old := t.slots
	t.slots = make([]idSlot, 2*len(old))
	for _, s := range old {
		if s.number > 0 {
			*t.slot(s.id) = s
		}
	}
}
