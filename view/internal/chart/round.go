package chart

import (
	"math"
	"strconv"
)

// A step is digit * 10^exp, where digit is 1, 2 or 5.
type step struct{ digit, exp int }

// times returns the float64 nearest to i steps.
func (s step) times(i int) float64 {
	v, _ := strconv.ParseFloat(strconv.Itoa(i*s.digit)+"e"+strconv.Itoa(s.exp), 64) // or infinite
	return v
}

// stepWithin returns the largest step that fits at least n times between lo and hi. It reports
// false if there is no such float64, or if lo or hi is not finite.
func stepWithin(lo, hi float64, n int) (step, bool) {
	most := (hi - lo) / float64(n)
	if math.IsInf(most, 0) { // the range is larger than the largest float64
		most = hi/float64(n) - lo/float64(n)
	}
	if !(most > 0) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return step{}, false
	}
	exp := int(math.Floor(math.Log10(most)))
	for _, s := range []step{{1, exp + 1}, {5, exp}, {2, exp}, {1, exp}, {5, exp - 1}} {
		if size := s.times(1); size > 0 && size <= most {
			return s, true
		}
	}
	return step{}, false
}

// between returns the multiples of s from lo to hi, each float64 once.
func (s step) between(lo, hi float64) []float64 {
	var all []float64
	for i := s.above(lo); ; i++ {
		v := s.times(i)
		if !(v <= hi) || math.IsInf(v, 0) {
			return all
		}
		if len(all) == 0 || all[len(all)-1] != v {
			all = append(all, v)
		}
	}
}

// above returns the smallest i such that i steps are at least v.
func (s step) above(v float64) int {
	i := int(math.Ceil(v / s.times(1)))
	for s.times(i) < v {
		i++
	}
	for s.times(i-1) >= v {
		i--
	}
	return i
}

// fraction returns where v lies between lo and hi: 0 at lo, 1 at hi, at most 1e6 on either side. It
// is 0.5 if there is no answer: lo and hi are equal, or one of all is NaN.
func fraction(v, lo, hi float64) float64 {
	f := (v - lo) / (hi - lo)
	if math.IsInf(hi-lo, 0) {
		f = (v/2 - lo/2) / (hi/2 - lo/2)
	}
	if math.IsNaN(f) {
		return 0.5
	}
	return min(max(f, -1e6), 1e6)
}

// round returns v with two decimals, and 0 for -0.
func round(v float64) float64 {
	return math.Round(v*100)/100 + 0
}

// tenths returns v with one decimal, and 0 for -0.
func tenths(v float64) float64 {
	return math.Round(v*10)/10 + 0
}
