package pickstack

import "slices"

// A strip is some channels of one input, in some rows of the output and one batch element: what a
// worker scatters the gradient of at a time. Its rows are copied to where they lie side by side.
type strip[T number, K key] struct {
	x    []T // rows of the input that pools have,
	keys []K // or their keys
	got  []T // what each gets of the gradient
	g    []T // the gradient of a row of the output

	won    []winner[K] // of a pool, in each channel
	pooled []T         // what the pool is, before MinValue

	weights []float64 // of its entries in a LogSumExp, row by row
}

// stripChannels returns how many channels a strip of so many rows has at most: its rows are to stay
// in a cache, but not to be read in too small parts.
func stripChannels(rows int) int {
	const numbers = 1 << 17
	return max(8, min(32, numbers/max(1, rows)/8*8))
}

// scatterStrip makes the part of an input's gradient that a job says, of one that depends on the
// input.
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
	s.got = grown(s.got, len(used)*channels)
	if w.extreme() {
		w.loadKeys(used, x, fromX, channels)
	} else {
		s.x = grown(s.x, len(used)*channels)
		for i, row := range used {
			x.load(s.x[i*channels:][:channels], fromX+row*x.row)
		}
	}
	if !w.add {
		clear(s.got)
		return
	}
	for i, row := range used {
		dx.load(s.got[i*channels:][:channels], toX+row*dx.row)
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

// endStrip writes what the rows of a strip got, and zeros to the rows between them that no pool
// has.
func (w *worker[E, T, K]) endStrip(j job, used []int, dx *slab[E, T], toX int) {
	for i, row := range used {
		dx.store(toX+row*dx.row, w.strip.got[i*j.channels:][:j.channels])
	}
	if !w.add {
		w.clearUnused(j, dx, toX)
	}
}
