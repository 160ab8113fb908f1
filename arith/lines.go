package arith

import (
	"context"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// lines are the lines along n of [outer n inner]. If they are not contiguous, block neighbouring
// lines are gathered at a time.
type lines struct{ outer, n, inner, block int }

// linesOf returns the lines of a tensor along a dim, which is not negative.
func linesOf(t *tensor.Tensor, dim int) lines {
	s := t.Shape()
	l := lines{s[:dim].Size(), s[dim], s[dim+1:].Size(), 1}
	if l.inner > 1 {
		l.block = max(16, cacheLine/t.DType().Size())
	}
	return l
}

// eachLine sets each line of to from the same line of from. It calls sorter once on each core, and
// the function that sorter returns for each line. from may be to.
func eachLine[D int64 | uints, K uints](to []D, from []K, l lines, sorter func() func(to []D, from []K)) error {
	if len(from) == 0 {
		return nil
	}
	perOuter := (l.inner + l.block - 1) / l.block
	blocks, cores := l.outer*perOuter, 1
	if len(from) > minWork {
		cores = workers.Count(0, blocks)
	}
	return workers.Do(context.Background(), cores, cores, func(core int) error {
		w := lineWork[D, K]{lines: l, to: to, from: from, sort: sorter()}
		for i := core * blocks / cores; i < (core+1)*blocks/cores; i++ {
			w.do(i/perOuter, i%perOuter*l.block)
		}
		return nil
	})
}

// A lineWork is the work of one core on the lines of a tensor.
type lineWork[D int64 | uints, K uints] struct {
	lines
	to     []D
	from   []K
	sort   func(to []D, from []K)
	sorted []D // a block, line by line
	raw    []K // the block before sorting
}

// do sorts the block that begins with the given line.
func (w *lineWork[D, K]) do(outer, inner int) {
	at := outer*w.n*w.inner + inner
	if w.inner == 1 {
		w.sort(w.to[at:at+w.n], w.from[at:at+w.n])
		return
	}
	count := min(w.block, w.inner-inner)
	step := w.n + cacheLine // the padding keeps lines from sharing a cache set
	if w.raw == nil {
		most := min(w.block, w.inner) // count may be less
		w.raw, w.sorted = uninitialized[K](most*step), uninitialized[D](most*step)
	}
	gather(w.raw, w.from[at:], w.lines, count, step)
	for i := range count {
		w.sort(w.sorted[i*step:][:w.n], w.raw[i*step:][:w.n])
	}
	spread(w.to[at:], w.sorted, w.lines, count, step)
}

// gather copies count neighbouring lines to to, where line i begins at i*step.
func gather[K uints](to, from []K, l lines, count, step int) {
	for j := range l.n {
		for i, v := range from[j*l.inner:][:count] {
			to[i*step+j] = v
		}
	}
}

// spread is the inverse of gather.
func spread[D int64 | uints](to, from []D, l lines, count, step int) {
	for j := range l.n {
		line := to[j*l.inner:][:count]
		for i := range line {
			line[i] = from[i*step+j]
		}
	}
}
