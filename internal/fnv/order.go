// Package fnv has the hash and the order that the original shuffles groups by, to repeat old runs.
package fnv

import (
	"cmp"
	"slices"
)

// The constants of FNV for 32 bits, which the original uses in arithmetic of 64 bits.
const (
	offset = 2166136261
	prime  = 16777619
)

// Hash returns the hash of an id that the original orders groups by. It is FNV-1, with the
// constants for 32 bits, in arithmetic of 64 bits, over the 8 bytes of the id, the lowest first;
// hash/fnv has no such hash.
func Hash(id int64) int64 {
	h, x := uint64(offset), uint64(id)
	for range 8 {
		h = h*prime ^ x&0xff
		x >>= 8
	}
	return int64(h)
}

// Order returns the numbers of rows in the order that the original shuffles them to: by the signed
// [Hash] of id + seed, which wraps around, then by id; rows with equal ids keep their order.
//
//	ids [8 1 8 7 1], seed 2 -> [1 4 0 2 3]
//
// It is a weak order: ids that follow each other come at few distances from each other, and the
// next seed has nearly the same neighbors. The result shares no memory with ids.
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
