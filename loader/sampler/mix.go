package sampler

import "math/bits"

// mix returns h with x mixed into it: what SplitMix64 makes of the state h + x.
func mix(h, x uint64) uint64 {
	h += x + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// below returns a number from 0 to n-1 that x, of 64 random bits, stands for.
func below(n int, x uint64) int {
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}
