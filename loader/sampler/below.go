package sampler

import "math/bits"

// below maps 64 random bits to a number from 0 to n-1.
func below(n int, x uint64) int {
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}
