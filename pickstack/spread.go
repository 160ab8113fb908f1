package pickstack

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
)

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
	kept := keptRows(n)
	for at := range slices.Chunk(w.at, kept) {
		if len(w.at) > kept {
			s.weighRows(at)
		}
		for i, o := range at {
			w.giveParts(s.weights[i*n:][:n], o)
		}
	}
}

// giveParts gives the entry that is at o its parts of the gradient, by its weights.
func (w *worker[E, T, K]) giveParts(weights []float64, o int) {
	s := &w.strip
	for c, weight := range weights {
		sum := w.sums[c]
		if sum == noSum || weight == 0 && math.IsInf(float64(s.pooled[c]), 0) {
			continue // no part in it, even of an infinite gradient
		}
		s.got[o+c] += T(float64(s.g[c]) * (weight / sum))
	}
}

// noSum stands for the sum of a pool that is raised to MinValue: no entry has a part in that.
const noSum = -1

// weighStrip finds the weights of the entries of a pool, and their sums.
func (w *worker[E, T, K]) weighStrip() {
	s, n := &w.strip, len(w.strip.g)
	kept := keptRows(n)
	w.sums, s.weights = grown(w.sums, n), grown(s.weights, n*min(len(w.at), kept))
	clear(w.sums)
	for at := range slices.Chunk(w.at, kept) {
		s.weighRows(at)
		for i := range at {
			for c, v := range s.weights[i*n:][:n] {
				w.sums[c] += v
			}
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

// weighRows sets weights to those of the entries that are at the given elements.
func (s *strip[T, K]) weighRows(at []int) {
	n := len(s.pooled)
	if x, ok := any(s.x).([]float32); ok && len(at) > 1 { // one alone is 1, without a function
		vector.WeightRows(s.weights, x, at, any(s.pooled).([]float32))
		return
	}
	for i, o := range at {
		for c, v := range s.x[o:][:n] {
			s.weights[i*n+c] = weight(v, s.pooled[c])
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
