// Package splitmix mixes numbers into a hash, for random choices that depend on nothing else.
package splitmix

// Mix returns h with x mixed into it: the output of SplitMix64 for the state h + x.
func Mix(h, x uint64) uint64 {
	h += x + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
