package arith

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// Quantile returns the q-quantile of x, where q is from 0 to 1; shapes are as for [Sum]. The result
// is the number at position q*(n-1) of the n elements that count, in ascending order from position
// 0. Between two elements it is interpolated linearly.
//
// The result is NaN for no elements, if any element is NaN, and between two opposite infinities. If
// one of the two neighbours is infinite, so is the result. Elements are converted to float64, and
// the result is rounded once. The result for integers is float64; other dtypes stay. Quantile
// computes a few results at a time. For these it needs memory: a copy, as float64, of all elements
// that they combine.
//
// Quantile returns tensor.ErrDType for complex numbers and bool, and tensor.ErrKind if q is not
// from 0 to 1. (Python: quantile, median for an odd number of elements.)
func Quantile[T Reducible[T]](x T, over Over, q float64) (T, error) {
	if !(q >= 0 && q <= 1) {
		var none T
		return none, fmt.Errorf("quantile: %w: got the quantile %v, want one from 0 to 1", tensor.ErrKind, q)
	}
	r := recipe[float64, float64]{fold: func([]float64) fold[float64, float64] { return &quantile{q: q} }, tile: 16, slow: true}
	return reduce(&reduction{name: "quantile", makes: realDType, wants: "real numbers", of: inFloat64.with(r)}, x, over)
}

// A quantile is a fold that keeps all elements, and selects from them at the end.
type quantile struct {
	q      float64
	nlines int
	kept   [][]float64 // the elements of each line
}

func (k *quantile) begin(_, lines int) {
	k.nlines = lines
	for len(k.kept) < lines {
		k.kept = append(k.kept, nil)
	}
	for i := range k.kept {
		k.kept[i] = k.kept[i][:0]
	}
}

func (k *quantile) line(_ int, x []float64, bits []byte) {
	if bits == nil {
		k.kept[0] = append(k.kept[0], x...)
		return
	}
	n := len(k.kept[0])
	line := slices.Grow(k.kept[0], len(x))[:n+len(x)]
	for i, v := range x { // without a branch, which a random mask would have mispredicted
		line[n] = v
		n += int(bits[i])
	}
	k.kept[0] = line[:n]
}

func (k *quantile) rows(x []float64, r rowList) {
	for i := range k.kept[:k.nlines] {
		line := slices.Grow(k.kept[i], len(r.offs))
		for row, off := range r.offs {
			if r.counts(row, i) {
				line = append(line, x[off+i])
			}
		}
		k.kept[i] = line
	}
}

func (k *quantile) end(dst []float64) error {
	for i := range dst {
		dst[i] = quantileAt(k.kept[i], k.q)
	}
	return nil
}

// quantileAt returns the q-quantile of s. It reorders s.
func quantileAt(s []float64, q float64) float64 {
	if len(s) == 0 || slices.ContainsFunc(s, math.IsNaN) {
		return math.NaN()
	}
	whole, part := math.Modf(q * float64(len(s)-1))
	at := int(whole)
	nth(s, at)
	if part == 0 {
		return s[at]
	}
	return between(s[at], slices.Min(s[at+1:]), part)
}

// between interpolates from a to b, which is not less than a. part is less than 1.
func between(a, b, part float64) float64 {
	switch {
	case a == b:
		return a
	case math.IsInf(b-a, 0): // a or b is infinite, or the difference overflows
		return float64(a*(1-part)) + float64(b*part)
	case part < 0.5:
		return a + float64((b-a)*part)
	}
	return b - float64((b-a)*(1-part))
}

// nth puts at position n of s the number that would be there if s were sorted, with no greater
// number before it and no lesser number after it. s has no NaN.
func nth(s []float64, n int) {
	for tries := 2 * bits.Len(uint(len(s))); len(s) > 16; tries-- {
		if tries == 0 {
			break
		}
		lo, hi := partition(s)
		switch {
		case n < lo:
			s = s[:lo]
		case n >= hi:
			s, n = s[hi:], n-hi
		default:
			return
		}
	}
	slices.Sort(s)
}

// partition puts the numbers less than a pivot first, then those equal to it, then the rest. The
// equal ones are s[lo:hi].
func partition(s []float64) (lo, hi int) {
	a, b, c := s[0], s[len(s)/2], s[len(s)-1]
	pivot := max(min(a, b), min(max(a, b), c))
	i := 0
	for hi = len(s); i < hi; {
		switch v := s[i]; {
		case v < pivot:
			s[lo], s[i] = v, s[lo]
			lo++
			i++
		case v > pivot:
			hi--
			s[i], s[hi] = s[hi], v
		default:
			i++
		}
	}
	return lo, hi
}
