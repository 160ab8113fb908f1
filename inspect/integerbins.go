package inspect

import (
	"github.com/go-tensordict/tensordict/internal/vector"
)

// An integerScale has bins of integers. All fields but width are codes, or differences of codes.
type integerScale struct {
	numerals
	low   uint64 // the least number of the first bin
	first uint64 // width of the first bin, less than width if the dtype has no lesser numbers
	width uint64
	n     int
	each  bool // a bin for each integer
}

// integerBins returns the scale for a histogram whose numbers and quantiles are known.
func integerBins(h *Histogram, n numerals) *integerScale {
	low, high := n.code(h.Min), n.code(h.Max)
	if high-low < mostIntegers {
		return &integerScale{numerals: n, low: low, first: 1, width: 1, n: int(high-low) + 1, each: true}
	}
	begin, end := low, high
	below, above := h.tails()
	if below { // quantiles of large integers are rounded
		begin = min(max(n.floor(h.Quantiles[0]), low), high)
	}
	if above {
		end = min(max(n.floor(h.Quantiles[len(h.Quantiles)-1]), begin), high)
	}
	want := uint64(fewest(h.Count))
	s := lastStep
	for s > 0 && (end-begin)/s.integer() < want {
		s--
	}
	return n.aligned(begin, end, s.integer())
}

// binsAt returns the number of bins from begin to end.
func (n numerals) binsAt(begin, end, width uint64) uint64 {
	span := end - begin
	return span/width + (span%width+n.above(begin, width))/width + 1
}

// above returns the distance of a number from the greatest multiple of width that is not above it.
func (n numerals) above(code, width uint64) uint64 {
	if n.flip == 0 {
		return code % width
	}
	rest := int64(code^n.flip) % int64(width)
	if rest < 0 {
		rest += int64(width)
	}
	return uint64(rest)
}

// aligned returns the scale of bins from begin to end.
func (n numerals) aligned(begin, end, width uint64) *integerScale {
	least, _ := n.bounds()
	down := n.above(begin, width)
	a := &integerScale{numerals: n, first: width, width: width, n: int(n.binsAt(begin, end, width))}
	if room := begin - least; room < down {
		a.low, a.first = least, width-(down-room)
	} else {
		a.low = begin - down
	}
	return a
}

func (a *integerScale) size() int { return a.n }

func (a *integerScale) bars(counts []int) []Bar {
	_, greatest := a.bounds()
	bars := make([]Bar, a.n)
	from, width := a.low, a.first
	for i, n := range counts {
		bars[i] = Bar{From: a.number(from), To: a.number(from + min(width-1, greatest-from)), Count: n}
		from, width = from+width, a.width
	}
	return bars
}

// placeIntegers counts the numbers of x: in counts[0] the numbers below the first bin, then the
// numbers of each bin, last the numbers above.
func placeIntegers[N vector.Real](a *integerScale, counts []int, x []N) {
	more := uint64(a.n - 1)
	for _, v := range x {
		code := uint64(int64(v)) ^ a.flip
		far := code - a.low
		switch {
		case code < a.low:
			counts[0]++
		case far < a.first:
			counts[1]++
		default:
			counts[2+min((far-a.first)/a.width, more)]++
		}
	}
}
