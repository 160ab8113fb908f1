package pickstack

import "math"

// spreadSum gives the gradient of a pool to each of its entries, or a part, if the pool is not
// raised to MinValue.
func (w *worker[E, T, K]) spreadSum() {
	s := &w.strip
	fill(s.pooled, w.call.begin)
	w.fold(s.pooled, s.x, w.at)
	n := T(1)
	if w.plan.rule.Reduction == Mean {
		n = T(len(w.at))
	}
	for c, pooled := range s.pooled {
		if pooled/n < w.floor {
			continue
		}
		for _, o := range w.at {
			s.got[o+c] += s.g[c] / n
		}
	}
}

// spreadLogSumExp gives each entry of a pool the part of the gradient that it has in the sum. Of an
// infinite result those entries that are as infinite share it.
func (w *worker[E, T, K]) spreadLogSumExp() {
	s := &w.strip
	fill(s.pooled, w.call.begin)
	w.fold(s.pooled, s.x, w.at)
	for c, greatest := range s.pooled {
		sum := 0.0
		for _, o := range w.at {
			sum += weight(s.x[o+c], greatest)
		}
		if w.plan.rule.MinValue != nil && logSum(greatest, sum) < w.floor {
			continue
		}
		for _, o := range w.at {
			s.got[o+c] += T(float64(s.g[c]) * (weight(s.x[o+c], greatest) / sum))
		}
	}
}

// weight returns exp(x - greatest), in the limit if that is infinite.
func weight[T number](x, greatest T) float64 {
	if x == greatest {
		return 1
	}
	return math.Exp(float64(x) - float64(greatest))
}
