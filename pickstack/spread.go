package pickstack

import "math"

// spreadSum gives the gradient of a pool to each of its entries, or a part, if the pool is not
// raised to MinValue. There is one: sums without it are linear, and gathered.
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
		weights := s.weights[i%keptRows(n)*n:][:n]
		if len(w.at) > keptRows(n) {
			s.weighRow(weights, o)
		}
		for c, weight := range weights {
			sum := w.sums[c]
			if sum == noSum || weight == 0 && math.IsInf(float64(s.pooled[c]), 0) {
				continue // no part in it, even of an infinite gradient
			}
			s.got[o+c] += T(float64(s.g[c]) * (weight / sum))
		}
	}
}

// noSum stands for the sum of a pool that is raised to MinValue: no entry has a part in that.
const noSum = -1

// weighStrip finds the weights of the entries of a pool, and their sums.
func (w *worker[E, T, K]) weighStrip() {
	s, n := &w.strip, len(w.strip.g)
	w.sums, s.weights = grown(w.sums, n), grown(s.weights, n*min(len(w.at), keptRows(n)))
	clear(w.sums)
	for i, o := range w.at {
		weights := s.weights[i%keptRows(n)*n:][:n]
		s.weighRow(weights, o)
		for c, v := range weights {
			w.sums[c] += v
		}
	}
	for c, greatest := range s.pooled {
		if w.plan.rule.MinValue != nil && logSum(greatest, w.sums[c]) < w.floor {
			w.sums[c] = noSum
		}
	}
}

// keptRows returns of how many entries the weights are kept, of n channels. Those of longer pools
// are computed again.
func keptRows(n int) int { return max(1, 1<<14/max(1, n)) }

// weighRow sets weights to those of the entry that is at o.
func (s *strip[T, K]) weighRow(weights []float64, o int) {
	for c, x := range s.x[o:][:len(weights)] {
		weights[c] = weight(x, s.pooled[c])
	}
}

// weight returns exp(x - greatest), in the limit if that is infinite.
func weight[T number](x, greatest T) float64 {
	if x == greatest {
		return 1
	}
	return math.Exp(float64(x) - float64(greatest))
}
