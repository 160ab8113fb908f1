package pickstack

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// spreadSum distributes the gradient of a Sum or Mean to the entries of a pool, unless MinValue
// replaces its result. There is a MinValue: without it the gradient is linear, and gathered.
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
			s.dx[o+c] += s.g[c] / n
		}
	}
}

// spreadLogSumExp distributes the gradient of a LogSumExp to the entries of a pool, by their share
// of the sum. If the result is infinite, the entries equal to it share the gradient.
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
			w.addShares(s.weights[i*n:][:n], o)
		}
	}
}

// addShares adds to the entry at element o its share of the gradient in each channel.
func (w *worker[E, T, K]) addShares(weights []float64, o int) {
	s := &w.strip
	for c, weight := range weights {
		sum := w.sums[c]
		if sum == noSum || weight == 0 && math.IsInf(float64(s.pooled[c]), 0) {
			continue // no share, even of an infinite gradient
		}
		s.dx[o+c] += T(float64(s.g[c]) * (weight / sum))
	}
}

// noSum marks a sum whose result MinValue replaces. No entry has a share in it.
const noSum = -1

// weighStrip computes the weights of the entries of a pool, and their sums.
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

// keptRows returns the number of entries whose weights are kept, for n channels. In longer pools
// the weights are computed twice.
func keptRows(n int) int { return max(1, 1<<14/max(1, n)) }

// weighRows sets weights to the weights of the entries at elements at.
func (s *strip[T, K]) weighRows(at []int) {
	n := len(s.pooled)
	if x, ok := any(s.x).([]float32); ok && len(at) > 1 { // the weight of a single entry is 1
		vector.WeightRows(s.weights, x, at, any(s.pooled).([]float32))
		return
	}
	for i, o := range at {
		for c, v := range s.x[o:][:n] {
			s.weights[i*n+c] = weight(v, s.pooled[c])
		}
	}
}

// weight returns exp(x - greatest). It is 1 if the two are equal, even if infinite.
func weight[T number](x, greatest T) float64 {
	if x == greatest {
		return 1
	}
	return math.Exp(float64(x) - float64(greatest))
}
