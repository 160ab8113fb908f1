package chart

import "math"

// A Scale maps values to positions in a box. Lo is less than Hi, and both are finite. Ticks are
// round numbers from Lo to Hi, ascending; there are few or none if float64 has none in between.
type Scale struct {
	Lo, Hi float64
	Ticks  []float64
}

// NewScale returns a scale from lo to hi, widened to ticks at both ends: three to seven ticks.
func NewScale(lo, hi float64) Scale {
	s := ScaleOf(lo, hi, 2)
	step, ok := stepWithin(s.Lo, s.Hi, 2)
	if !ok {
		return s
	}
	first := step.above(s.Lo)
	if step.times(first) > s.Lo {
		first--
	}
	last := step.above(s.Hi)
	if v := step.times(first); !math.IsInf(v, 0) {
		s.Lo = v
	}
	if v := step.times(last); !math.IsInf(v, 0) {
		s.Hi = v
	}
	s.Ticks = step.between(s.Lo, s.Hi)
	return s
}

// ScaleOf returns a scale from lo to hi, as they are, or exchanged if hi is less. NaN becomes 0,
// and infinities the nearest finite numbers. Equal ends move apart. The step of ticks is the
// largest that fits at least steps times: 2 as in NewScale, or 3 for a wide box.
func ScaleOf(lo, hi float64, steps int) Scale {
	lo, hi = finite(lo), finite(hi)
	if lo > hi {
		lo, hi = hi, lo
	}
	if lo == hi {
		apart := max(1, math.Abs(lo)/8)
		lo, hi = finite(lo-apart), finite(hi+apart)
	}
	s := Scale{Lo: lo, Hi: hi}
	if step, ok := stepWithin(lo, hi, max(1, min(steps, 100))); ok {
		s.Ticks = step.between(lo, hi)
	}
	return s
}

// finite returns v, 0 for NaN, and the largest numbers for infinities.
func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}

// X returns the position of v in a box of width w; a value beyond the scale stands at its border.
func (s Scale) X(v, w float64) float64 {
	return round(min(max(fraction(v, s.Lo, s.Hi), 0), 1) * w)
}

// Y returns the position of v in a box of height h, 0 at the top; a value beyond the scale stands
// at its border.
func (s Scale) Y(v, h float64) float64 {
	return round(h - min(max(fraction(v, s.Lo, s.Hi), 0), 1)*h)
}
