package pickstack_test

import (
	"math"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// A problem is what an operation is given, as lists of numbers, and what should come of it, by
// loops over these.
type problem struct {
	dtype    tensor.DType
	batch    int         // B
	rows     int         // A
	widths   []int       // P_n
	channels []int       // C_n
	xs       [][]float64 // [B P_n C_n] of each input, row-major
	g        []float64   // [B A sum(C_n)]
	pick     bool
	index    [][][]int // of each input A pools, of one entry for a pick; nil for all rows
	opt      pickstack.PoolOptions
}

// width returns sum(C_n).
func (p problem) width() int {
	sum := 0
	for _, c := range p.channels {
		sum += c
	}
	return sum
}

// entries returns the rows of input n that row a of the output is made of, and whether they are
// taken as they are.
func (p problem) entries(n, a int) (pool []int, plain bool) {
	if p.index[n] == nil {
		return []int{a}, true
	}
	return p.index[n][a], p.pick
}

// values returns a channel of the given rows of input n.
func (p problem) values(n, b, c int, rows []int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = p.xs[n][(b*p.widths[n]+row)*p.channels[n]+c]
	}
	return out
}

// each calls fn for each element of the output, input by input, with the entries behind it.
func (p problem) each(fn func(n, b, c, at int, rows []int, plain bool)) {
	offset := 0
	for n, channels := range p.channels {
		for b := range p.batch {
			for a := range p.rows {
				rows, plain := p.entries(n, a)
				for c := range channels {
					fn(n, b, c, (b*p.rows+a)*p.width()+offset+c, rows, plain)
				}
			}
		}
		offset += channels
	}
}

// forward returns the output [B A sum(C_n)], row-major.
func (p problem) forward() []float64 {
	out := make([]float64, p.batch*p.rows*p.width())
	p.each(func(n, b, c, at int, rows []int, plain bool) {
		values := p.values(n, b, c, rows)
		if plain {
			out[at] = values[0]
			return
		}
		out[at] = rounded(p.dtype, p.raised(values))
	})
	return out
}

// floor returns MinValue as an element of the dtype, and whether there is one.
func (p problem) floor() (float64, bool) {
	if p.opt.MinValue == nil {
		return 0, false
	}
	return rounded(p.dtype, *p.opt.MinValue), true
}

// raised returns what becomes of a pool.
func (p problem) raised(values []float64) float64 {
	floor, ok := p.floor()
	switch v := reduced(p.opt.Reduction, values); {
	case len(values) == 0 && p.opt.Empty != nil:
		return *p.opt.Empty
	case !ok || len(values) > 0 && math.IsNaN(v):
		return v
	case len(values) == 0:
		return floor
	default:
		return max(floor, v)
	}
}

// reduced returns what a reduction makes of a pool, without MinValue.
func reduced(r pickstack.Reduction, values []float64) float64 {
	out, sum := math.Inf(-1), 0.0
	for _, v := range values {
		sum += v
	}
	switch r {
	case pickstack.Max:
		for _, v := range values {
			out = max(out, v)
		}
	case pickstack.Min:
		out = math.Inf(1)
		for _, v := range values {
			out = min(out, v)
		}
	case pickstack.Mean:
		out = sum / float64(len(values))
	case pickstack.Sum:
		out = sum
	case pickstack.LogSumExp:
		out = logSumExp(values)
	}
	return out
}

func logSumExp(values []float64) float64 {
	top := reduced(pickstack.Max, values)
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// gradient returns those of the inputs, unrounded.
func (p problem) gradient() [][]float64 {
	return p.sums(func(term float64) float64 { return term })
}

// terms returns the sums of the magnitudes of what gradient adds up.
func (p problem) terms() [][]float64 { return p.sums(math.Abs) }

// sums adds up what fn makes of each share of a gradient.
func (p problem) sums(fn func(term float64) float64) [][]float64 {
	out := make([][]float64, len(p.xs))
	for n := range p.xs {
		out[n] = make([]float64, len(p.xs[n]))
	}
	p.each(func(n, b, c, at int, rows []int, plain bool) {
		for i, share := range p.shares(p.values(n, b, c, rows), p.g[at], plain) {
			if share.some {
				out[n][(b*p.widths[n]+rows[i])*p.channels[n]+c] += fn(share.of)
			}
		}
	})
	return out
}

// A share is what an entry of a pool gets of a gradient, if some.
type share struct {
	of   float64
	some bool
}

// shares returns what each entry of a pool gets of g.
func (p problem) shares(values []float64, g float64, plain bool) []share {
	out := make([]share, len(values))
	v := reduced(p.opt.Reduction, values)
	floor, ok := p.floor()
	if ok && !plain && floor > v {
		return out
	}
	for i := range out {
		switch {
		case plain || p.opt.Reduction == pickstack.Sum:
			out[i] = share{g, true}
		case p.opt.Reduction == pickstack.Mean:
			out[i] = share{g / float64(len(values)), true}
		case p.opt.Reduction == pickstack.LogSumExp && !math.IsInf(v, 0):
			out[i] = share{g * math.Exp(values[i]-v), true}
		default:
			return p.winners(values, g)
		}
	}
	return out
}

// winners returns the shares of a pool whose gradient goes to the entries that attain its maximum
// or minimum, or its infinite LogSumExp.
func (p problem) winners(values []float64, g float64) []share {
	r := pickstack.Max
	if p.opt.Reduction == pickstack.Min {
		r = pickstack.Min
	}
	best := reduced(r, values)
	var list []int
	for i, v := range values {
		if v == best || math.IsNaN(v) && math.IsNaN(best) {
			list = append(list, i)
		}
	}
	out := make([]share, len(values))
	for nth, i := range list {
		switch {
		case p.opt.Ties == pickstack.TieEven || p.opt.Reduction == pickstack.LogSumExp:
			out[i] = share{g / float64(len(list)), true}
		case p.opt.Ties == pickstack.TieFirst:
			out[i] = share{g, nth == 0}
		default:
			out[i] = share{g, true}
		}
	}
	return out
}

// rounded returns v as an element of a dtype.
func rounded(d tensor.DType, v float64) float64 {
	switch d {
	case tensor.Float32:
		return float64(float32(v))
	case tensor.Float16:
		return tensor.F16Of(v).Float64()
	case tensor.BFloat16:
		return tensor.BF16Of(v).Float64()
	}
	return v
}
