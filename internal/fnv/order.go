// Package fnv has the hash by which the original shuffles groups, and the order that follows, to
// repeat old runs.
package fnv

import (
	"cmp"
	"slices"
)

// The 32-bit constants of FNV, which the original uses in 64-bit arithmetic.
const (
	offset = 2166136261
	prime  = 16777619
)

// Hash returns the hash by which the original orders groups: FNV-1 over the 8 bytes of id, the
// lowest first, with the 32-bit constants in 64-bit arithmetic. Package hash/fnv has no such hash.
func Hash(id int64) int64 {
	h, x := uint64(offset), uint64(id)
	for range 8 {
		h = h*prime ^ x&0xff
		x >>= 8
	}
	return int64(h)
}

// Order returns the rows in the order in which the original shuffles them: by the signed [Hash] of
// id + seed, which wraps around, then by id. Rows with equal ids keep their order.
//
//	ids [8 1 8 7 1], seed 2 -> [1 4 0 2 3]
//
// The order is not very random: consecutive ids keep nearly constant distances, and neighbors under
// one seed are mostly neighbors under the next. The result shares no memory with ids.
func Order(ids []int64, seed int64) []int {
	type key struct {
		hash, id int64
		row      int
	}
	keys := make([]key, len(ids))
	for row, id := range ids {
		keys[row] = key{Hash(id + seed), id, row}
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
