package sampler

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fnv"
)

// FNV returns a sampler that puts the groups in the order of the original program, bit for bit: by
// a hash of id and seed, which is FNV-1 with the constants for 32 bits in arithmetic of 64 bits. As
// there, every epoch has the same order.
//
// Use it only to repeat results of the original: the order is a weak shuffle, in which consecutive
// ids come at few different distances, and the next seed has nearly the same neighbours. Otherwise
// use [Random]. The sampler's Order returns [ErrUnits] for another number of units.
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
	return listed(fnv.Order(s.groups.ids, int64(e.Seed))), nil
}

// String implements [Sampler].
func (s fnvSampler) String() string { return s.text }
