package arith

import (
	"context"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// eachLine sets each line of to along a dim from the same line of from, whose shape is the shape of
// t. It calls sorter once on each core, and the function that sorter returns for each line. Lines
// that are not contiguous are gathered, a block of neighbours at a time. from may be to.
func eachLine[D int64 | uints, K uints](to []D, from []K, t *tensor.Tensor, dim int, sorter func() func(to []D, from []K)) error {
	if len(from) == 0 {
		return nil
	}
	s := t.Shape()
	outer, n, inner, block := s[:dim].Size(), s[dim], s[dim+1:].Size(), 1
	if inner > 1 {
		block = max(16, cacheLine/t.DType().Size())
	}
	perOuter := (inner + block - 1) / block
	blocks, cores := outer*perOuter, 1
	if len(from) > minWork {
		cores = workers.Count(0, blocks)
	}
	return workers.Do(context.Background(), cores, cores, func(core int) error {
		sort, step := sorter(), n+cacheLine // the padding keeps lines from sharing a cache set
		var raw []K                         // a block, line by line
		var sorted []D
		for b := core * blocks / cores; b < (core+1)*blocks/cores; b++ {
			first := b % perOuter * block
			at := b/perOuter*n*inner + first
			if inner == 1 {
				sort(to[at:at+n], from[at:at+n])
				continue
			}
			if raw == nil {
				raw, sorted = cast.UninitOf[K](min(block, inner)*step), cast.UninitOf[D](min(block, inner)*step)
			}
			count := min(block, inner-first)
			for j := range n {
				for i, v := range from[at+j*inner:][:count] {
					raw[i*step+j] = v
				}
			}
			for i := range count {
				sort(sorted[i*step:][:n], raw[i*step:][:n])
			}
			for j := range n {
				line := to[at+j*inner:][:count]
				for i := range line {
					line[i] = sorted[i*step+j]
				}
			}
		}
		return nil
	})
}
