package pool

import (
	"hash/crc32"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// colliding returns lists of n offsets that all differ, only near their ends, and all have one
// CRC-32C.
func colliding(t *testing.T, lists, n int) [][]int64 {
	t.Helper()
	list := func(last uint64) []int64 { // bit i adds 1 to an offset
		offsets := make([]int64, n)
		for i := range offsets {
			offsets[i] = int64(2 * i)
			if i >= n-60 {
				offsets[i] += int64(last >> (n - 1 - i) & 1)
			}
		}
		return offsets
	}
	sum := func(last uint64) uint32 { return crc32.Checksum(cast.Bytes(list(last)), castagnoli) }
	zero := sum(0)
	var rows [32]struct{ sum, last uint64 } // by their highest bit
	var kernel []uint64
	for i := range 60 { // the sum is linear in the bits
		s, last := uint64(sum(1<<i)^zero), uint64(1)<<i
		for s != 0 {
			r := &rows[bits.Len64(s)-1]
			if r.sum == 0 {
				r.sum, r.last = s, last
				break
			}
			s, last = s^r.sum, last^r.last
		}
		if s == 0 {
			kernel = append(kernel, last)
		}
	}
	var all [][]int64
	for i := range lists {
		last := uint64(0)
		for k, bit := range kernel {
			if i>>k&1 == 1 {
				last ^= bit
			}
		}
		require.Equal(t, zero, sum(last))
		all = append(all, list(last))
	}
	return all
}

// TestLayoutsWithEqualSums: of lengths that were made to have one checksum, each is compared with
// few others, not with all.
func TestLayoutsWithEqualSums(t *testing.T) {
	const lists, n = 300, 200
	all := colliding(t, lists, n)
	var s Layouts
	for _, offsets := range all {
		_, err := s.Layout(shapeops.Shape{n - 1}, offsets)
		require.NoError(t, err)
	}
	require.Equal(t, 1+lists, len(s.known), "and the batch")
}
