package pickstack

import "slices"

// A strip is some channels of one input, for one batch element and a range of output rows. A worker
// computes its gradient at a time. Its rows are copied to contiguous memory.
type strip[T number, K key] struct {
	x    []T // rows of the input that pools contain
	keys []K // or the keys of these rows
	dx   []T // the gradient of these rows
	g    []T // the gradient of a row of the output

	won    []winner[K] // of a pool, in each channel
	pooled []T         // the result of the pool, before MinValue

	weights []float64 // for LogSumExp, of the entries of the pool, row by row
}

// stripChannels returns the largest number of channels of a strip with the given number of rows.
// The rows should stay in the cache, but be read in parts that are not too small.
func stripChannels(rows int) int {
	const numbers = 1 << 17
	return max(8, min(32, numbers/max(1, rows)/8*8))
}

// scatterStrip computes job j of a gradient that depends on its input.
func (w *worker[E, T, K]) scatterStrip(j job, b int) {
	t, inv := &w.plan.tables[j.n], w.plan.inverses[j.n]
	x, g, dx := &w.from[j.n+1], &w.from[0], &w.to[j.n]
	used := inv.used[j.lo:j.hi]
	fromX := b*x.batch + j.channel*x.channel
	toX := b*dx.batch + j.channel*dx.channel
	w.beginStrip(used, x, dx, fromX, toX, j.channels)
	fromG := b*g.batch + (w.offsets[j.n]+j.channel)*g.channel
	for i := j.first; i < j.end; i++ {
		from, to := t.span(i, i+1)
		if from == to {
			continue
		}
		w.at = grown(w.at, to-from)
		for e, at := range inv.at[from:to] {
			w.at[e] = (at - j.lo) * j.channels
		}
		g.load(w.strip.g, fromG+i*g.row)
		w.spread(w)
	}
	w.endStrip(j, used, dx, toX)
}

// beginStrip copies the rows of a strip.
func (w *worker[E, T, K]) beginStrip(used []int, x, dx *slab[E, T], fromX, toX, channels int) {
	s := &w.strip
	s.g, s.pooled, s.won = grown(s.g, channels), grown(s.pooled, channels), grown(s.won, channels)
	s.dx = grown(s.dx, len(used)*channels)
	if r := w.plan.rule.Reduction; r == Max || r == Min { // their gradient goes by keys
		w.loadKeys(used, x, fromX, channels)
	} else {
		s.x = grown(s.x, len(used)*channels)
		for i, row := range used {
			x.load(s.x[i*channels:][:channels], fromX+row*x.row)
		}
	}
	if !w.add {
		clear(s.dx)
		return
	}
	for i, row := range used {
		dx.load(s.dx[i*channels:][:channels], toX+row*dx.row)
	}
}

// loadKeys sets the keys of a strip.
func (w *worker[E, T, K]) loadKeys(used []int, x *slab[E, T], from, channels int) {
	const rows = 64
	s := &w.strip
	s.keys, s.x = grown(s.keys, len(used)*channels), grown(s.x, rows*channels)
	keys := s.keys
	for part := range slices.Chunk(used, rows) {
		for i, row := range part {
			x.load(s.x[i*channels:][:channels], from+row*x.row)
		}
		w.order.keys(keys, s.x[:len(part)*channels])
		keys = keys[len(part)*channels:]
	}
}

// endStrip writes the gradient of the rows of a strip, and zeros to the rows between them, which no
// pool contains.
func (w *worker[E, T, K]) endStrip(j job, used []int, dx *slab[E, T], toX int) {
	for i, row := range used {
		dx.store(toX+row*dx.row, w.strip.dx[i*j.channels:][:j.channels])
	}
	if !w.add {
		w.clearUnused(j, dx, toX)
	}
}
