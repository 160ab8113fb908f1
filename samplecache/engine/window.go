package engine

import "math/bits"

// WindowSize bounds the numbers that a producer may reserve: they are less than WindowSize above
// the first number that is not committed.
const WindowSize = 64

// A Window is the set of numbers that a producer has committed: all below Floor, and Floor+i for
// each bit i of Above. The zero Window is empty.
//
// Invariant: bit 0 of Above is not set, since Floor is not committed.
type Window struct {
	Floor uint64 `json:"floor"`
	Above uint64 `json:"above"`
}

// Has reports whether a number is committed.
func (w Window) Has(n uint64) bool {
	return n < w.Floor || n-w.Floor < WindowSize && w.Above>>(n-w.Floor)&1 == 1
}

// Reaches reports whether a number may be reserved: it is less than [WindowSize] from Floor.
func (w Window) Reaches(n uint64) bool { return n < w.Floor || n-w.Floor < WindowSize }

// With returns w with one more number. If w does not reach the number, With returns w.
func (w Window) With(n uint64) Window {
	if w.Has(n) || !w.Reaches(n) {
		return w
	}
	w.Above |= 1 << (n - w.Floor)
	passed := bits.TrailingZeros64(^w.Above)
	return Window{w.Floor + uint64(passed), w.Above >> passed}
}
