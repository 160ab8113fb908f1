package inspect

import "math/big"

// histograms returns the histogram of each source of a tile, given their tallies. It reads the
// sources with many different values again.
func (d *describer) histograms(tile []source, size int, made []*tally) ([]*Histogram, error) {
	all := make([]*Histogram, len(tile))
	var again []source
	var plans []plan
	var at []int
	for i, t := range made {
		h, a, err := histogramOf(t)
		if err != nil {
			return nil, err
		}
		if all[i] = h; a != nil {
			again, plans, at = append(again, tile[i]), append(plans, plan{scale: a}), append(at, i)
		} else if err := h.exactly(); err != nil {
			return nil, err
		}
	}
	if len(again) == 0 {
		return all, nil
	}
	counted, err := d.read(again, size, plans)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		h, counts := all[i], counted[k].bins
		last := len(counts) - 1
		h.Below, h.Above = counts[0]-h.NegInf, counts[last]-h.PosInf
		h.Bars = plans[k].scale.bars(counts[1:last])
		if err := h.exactly(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// exactly computes the quantiles from the bars, if each value has a bar.
func (h *Histogram) exactly() (err error) {
	if h.Form == NoValue || h.Form == EqualBins {
		return nil
	}
	var all []weighted
	for _, b := range h.Bars {
		all = append(all, weighted{asFloat(b.From), b.Count})
	}
	h.Quantiles, err = quantilesOf(all, h.Count, profiled, asFloat(h.Min), asFloat(h.Max))
	return err
}

// asFloat returns a number of a Summary as float64.
func asFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v.(float64)
}

// mostValues and mostIntegers are bounds of the rule for bins.
const (
	mostValues   = 4  // different numbers that are a list of values
	mostFloats   = 12 // different floats with a bar each
	mostIntegers = 48 // integers with a bar each
)

// histogramOf returns the histogram of the values that t summarizes, by the rule in the package
// documentation. If it returns a scale too, bars and tails are to be counted along it.
func histogramOf(t *tally) (*Histogram, scale, error) {
	h := &Histogram{NaN: t.nan, NegInf: t.negInf, PosInf: t.inf - t.negInf, Missing: t.missing, Count: t.numbers - t.inf}
	if h.Count == 0 {
		return h, nil, nil
	}
	h.Min, h.Max = t.finite()
	var err error
	if h.Quantiles, err = t.sketch.finite(t.least, t.greatest).quantiles(profiled, t.least, t.greatest); err != nil {
		return nil, nil, err
	}
	n := t.few.numerals
	switch {
	case t.few.single():
		h.Form, h.Bars = OneValue, t.few.bars()
		return h, nil, nil
	case t.few.list():
		h.Form, h.Bars = EachValue, t.few.bars()
		return h, nil, nil
	case n.integer:
		a := integerBins(h, n)
		if h.Form = EqualBins; a.each {
			h.Form = EachInteger
		} else {
			h.Width = n.width(a.width)
		}
		return h, a, nil
	}
	a := floatBins(h, n)
	h.Form, h.Width = EqualBins, a.width
	return h, a, nil
}

// finite returns the least and the greatest finite number.
func (t *tally) finite() (low, high any) {
	if t.few.integer {
		return t.extremes(t.few.dtype)
	}
	return t.least + 0, t.greatest + 0 // -0 becomes 0
}

// A scale has the bins of a histogram: an integerScale or a floatScale.
type scale interface {
	size() int               // number of bins
	bars(counts []int) []Bar // the bins with their counts
}

// tails reports whether the bins of h leave out a tail below p1, the first quantile, and a tail
// above p99, the last one: a tail that is longer than half of p99 - p1. It computes exactly.
func (h *Histogram) tails() (below, above bool) {
	p1, p99 := rat(h.Quantiles[0]), rat(h.Quantiles[len(h.Quantiles)-1])
	half := new(big.Rat).Sub(p99, p1)
	half.Quo(half, big.NewRat(2, 1))
	if half.Sign() <= 0 {
		return false, false
	}
	tail := new(big.Rat).Sub(p1, rat(h.Min))
	below = tail.Cmp(half) > 0
	return below, tail.Sub(rat(h.Max), p99).Cmp(half) > 0
}

// rat returns a finite number of a Summary.
func rat(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case uint64:
		return new(big.Rat).SetUint64(v)
	}
	return new(big.Rat).SetFloat64(v.(float64))
}

// fewest returns how many widths of a bin the bins of n values cover, at least. Bins begin at
// multiples of the width, so one bin more can be needed.
func fewest(n int) int {
	if n < 1000 {
		return 10
	}
	return 20
}
