package pickstack

import "math"

// spreadSum gives the gradient of a pool to each of its entries, or a part, if the pool is not
// raised to MinValue.
func (w *worker[E, T, K]) spreadSum() {
	s := &w.strip
	fill(s.pooled, w.neutral)
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
	fill(s.pooled, w.neutral)
	w.fold(s.pooled, s.x, w.at)
	w.weighStrip()
	n := len(s.g)
	for i, o := range w.at {
		for c, weight := range s.weights[i*n:][:n] {
			if sum := w.sums[c]; sum != raised {
				s.got[o+c] += T(float64(s.g[c]) * (weight / sum))
			}
		}
	}
}

// raised stands for the sum of a pool that is raised to MinValue: no entry has a part in that.
const raised = -1

// weighStrip finds the weights of the entries of a pool, and their sums.
func (w *worker[E, T, K]) weighStrip() {
	s, n := &w.strip, len(w.strip.g)
	w.sums, s.weights = grown(w.sums, n), grown(s.weights, n*len(w.at))
	clear(w.sums)
	for i, o := range w.at {
		for c, x := range s.x[o:][:n] {
			v := weight(x, s.pooled[c])
			s.weights[i*n+c] = v
			w.sums[c] += v
		}
	}
	for c, greatest := range s.pooled {
		if w.plan.rule.MinValue != nil && logSum(greatest, w.sums[c]) < w.floor {
			w.sums[c] = raised
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
