package sampler

import "math/bits"

// below returns a number from 0 to n-1 that x, of 64 random bits, stands for.
func below(n int, x uint64) int {
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}
