package inspect

import (
	"math"
	"math/big"

	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// A floatScale has bins of floats. Bin i has the numbers x with edges[i] <= x < edges[i+1].
type floatScale struct {
	edges []float64
	last  float64 // the end of the last bar: less than the last edge if the bin has its end too
	width float64
}

// floatBins returns the scale for a histogram whose numbers and quantiles are known.
func floatBins(h *Histogram, n numerals) *floatScale {
	low, high := h.Min.(float64), h.Max.(float64)
	begin, end := low, high
	below, above := h.tails()
	if below {
		begin = h.Quantiles[0]
	}
	if above {
		end = h.Quantiles[len(h.Quantiles)-1]
	}
	gap := formatOf(n.dtype).gap(max(math.Abs(begin), math.Abs(end)))
	want := int64(fewest(h.Count))
	span := new(big.Rat).Sub(rat(end), rat(begin))
	s := stepAbove(max(end/float64(want)-begin/float64(want), gap))
	for s.times(want).Cmp(span) > 0 && (s-1).float() >= gap {
		s--
	}
	first, last := bins(n.dtype, s, begin, end, !above)
	a := &floatScale{width: s.float()}
	for i := first; i <= last+1; i++ {
		a.edges = append(a.edges, edge(n.dtype, s, i))
	}
	a.last = a.edges[len(a.edges)-1]
	if a.last == high && !above {
		a.edges[len(a.edges)-1] = math.Nextafter(high, math.Inf(1))
	}
	return a
}

// bins returns the first and the last bin of a scale from begin to end. closed says that the last
// bin has its end too.
func bins(dtype tensor.DType, s step, begin, end float64, closed bool) (first, last int64) {
	first, last = bin(dtype, s, begin), bin(dtype, s, end)
	if closed && nearest(dtype, s.text(last)) == end {
		last--
	}
	return first, last
}

// bin returns the greatest i whose edge is not above x.
func bin(dtype tensor.DType, s step, x float64) int64 {
	i := s.floor(x)
	for nearest(dtype, s.text(i+1)) <= x { // the edge is rounded down to x
		i++
	}
	for nearest(dtype, s.text(i)) > x { // x is a quantile between two numbers of the dtype
		i--
	}
	return i
}

// edge returns i times a step as a number of the dtype, or the number closest to it if it is beyond
// the range.
func edge(dtype tensor.DType, s step, i int64) float64 {
	greatest := formatOf(dtype).greatest
	return min(max(nearest(dtype, s.text(i)), -greatest), greatest)
}

func (a *floatScale) size() int { return len(a.edges) - 1 }

func (a *floatScale) bars(counts []int) []Bar {
	bars := make([]Bar, len(counts))
	for i, n := range counts {
		bars[i] = Bar{From: a.edges[i], To: a.edges[i+1], Count: n}
	}
	bars[len(bars)-1].To = a.last
	return bars
}

// placeFloats counts the numbers of x, as placeIntegers does. NaN is not counted. It guesses the
// bin, at half scale since a difference can overflow, and compares with the edges.
func placeFloats[N vector.Real](a *floatScale, counts []int, x []N) {
	edges, n := a.edges, len(a.edges)-1
	low, factor := edges[0]/2, 2/a.width
	for _, number := range x {
		v := float64(number)
		i := 0
		if guess := (v/2 - low) * factor; guess >= float64(n) {
			i = n - 1
		} else if guess > 0 {
			i = int(guess)
		}
		for i < n && v >= edges[i+1] {
			i++
		}
		for i >= 0 && v < edges[i] {
			i--
		}
		if v == v {
			counts[i+1]++
		}
	}
}

// place counts the numbers of x along a scale.
func place[N vector.Real](to scale, counts []int, x []N) {
	switch a := to.(type) {
	case *integerScale:
		placeIntegers(a, counts, x)
	case *floatScale:
		placeFloats(a, counts, x)
	}
}
