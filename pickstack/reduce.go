package pickstack

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// reduce sets row i from the entries at w.x[at[k]:].
func (w *worker[E, T, K]) reduce(m *move[E, T], i int, at []int) {
	d := w.begin(m, i)
	m.fold(d, w.x, at)
	if m.rule != nil {
		if m.rule.Reduction == LogSumExp {
			clear(w.sums)
			w.weigh(d, at)
		}
		w.finish(m, d, len(at))
	}
	w.end(m, i, d)
}

// reduceLong sets row i from too many entries for one batch, batch by batch.
func (w *worker[E, T, K]) reduceLong(m *move[E, T], i int) {
	d := w.begin(m, i)
	from, to := m.span(i, i+1)
	for e := from; e < to; e += m.batchSize() {
		w.find(m, e, min(to, e+m.batchSize()))
		m.fold(d, w.x, w.at)
	}
	if m.rule != nil {
		if m.rule.Reduction == LogSumExp {
			clear(w.sums)
			for e := from; e < to; e += m.batchSize() {
				w.find(m, e, min(to, e+m.batchSize()))
				w.weigh(d, w.at)
			}
		}
		w.finish(m, d, to-from)
	}
	w.end(m, i, d)
}

// begin returns memory for row i, initialized for folding.
func (w *worker[E, T, K]) begin(m *move[E, T], i int) []T {
	d, at := w.row, m.place(i)
	if m.dst.direct != nil {
		d = m.dst.direct[at:][:m.channels]
	}
	switch {
	case !m.add:
		fill(d, m.neutral)
	case m.dst.direct == nil:
		m.dst.load(d, at)
	}
	return d
}

// end writes d to row i, unless d is the row itself.
func (w *worker[E, T, K]) end(m *move[E, T], i int, d []T) {
	if m.dst.direct == nil {
		m.dst.store(m.place(i), d)
	}
}

// divide divides each element of d by n.
func divide[T number](d []T, n int) {
	for c := range d {
		d[c] /= T(n)
	}
}

// finish computes the result of a pool from the folded entries d. For Max the fold has begun with
// MinValue.
func (w *worker[E, T, K]) finish(m *move[E, T], d []T, entries int) {
	if entries == 0 {
		fill(d, w.empty)
		return
	}
	switch m.rule.Reduction {
	case Max:
		return
	case Mean:
		divide(d, entries)
	case LogSumExp:
		for c, greatest := range d {
			d[c] = logSum(greatest, w.sums[c])
		}
	}
	if m.rule.MinValue != nil {
		for c := range d {
			d[c] = max(d[c], w.floor)
		}
	}
}

func fill[T any](d []T, v T) {
	for i := range d {
		d[i] = v
	}
}

// weigh adds the weights of entries to w.sums.
func (w *worker[E, T, K]) weigh(greatest []T, at []int) {
	if x, ok := any(w.x).([]float32); ok && len(at) > 1 { // the weight of a single entry is 1
		vector.AddWeightRows(w.sums[:len(greatest)], x, at, any(greatest).([]float32))
		return
	}
	for _, o := range at {
		for c, v := range w.x[o:][:len(greatest)] {
			w.sums[c] += weight(v, greatest[c])
		}
	}
}

// logSum returns the logarithm of a sum of exponentials, given the greatest exponent and the sum of
// the exponentials of x - greatest.
func logSum[T number](greatest T, sum float64) T {
	if math.IsInf(float64(greatest), 0) {
		return greatest
	}
	return T(float64(greatest) + math.Log(sum))
}
