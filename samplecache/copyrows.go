package samplecache

import (
	"context"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// copyRows has the engine copy rows to dst, or to another dictionary if they do not fit there, and
// compares their sums.
func (g *Generation) copyRows(ctx context.Context, rows []int, dst *tdict.TensorDict) (_ *tdict.TensorDict, err error) {
	if !g.cache.fits(dst, len(rows)) {
		if dst, err = g.cache.about.Schema.NewZeros(len(rows)); err == nil {
			dst, err = dst.Materialize()
		}
		if err != nil {
			return nil, err
		}
	}
	sums := make([]uint32, len(rows)*len(g.cache.leaves)) // row after row
	for i := range g.cache.leaves {
		if err := g.copyLeaf(ctx, rows, i, dst, sums); err != nil {
			return nil, err
		}
	}
	for n, row := range rows {
		of := sums[n*len(g.cache.leaves):]
		if err := g.compare(row, func(leaf int) (uint32, error) { return of[leaf], nil }); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// copyLeaf has the engine copy rows of a leaf, and computes their sums.
func (g *Generation) copyLeaf(ctx context.Context, rows []int, i int, dst *tdict.TensorDict, sums []uint32) error {
	l := g.cache.leaves[i]
	if l.bytes == 0 {
		return nil
	}
	x, err := dst.Tensor(l.key)
	if err == nil {
		x, err = x.Reinterpret(tensor.Uint8)
	}
	if err != nil {
		return err
	}
	failed := tensor.Write(x, func(b []uint8) {
		if err = g.rows.Read(ctx, rows, i, b); err != nil {
			return
		}
		for n := range rows {
			sums[n*len(g.cache.leaves)+i] = checksum(b[n*l.bytes:][:l.bytes])
		}
	})
	if err == nil {
		err = failed
	}
	return err
}

// fits reports whether n samples can be copied to dst.
func (c *Cache) fits(dst *tdict.TensorDict, n int) bool {
	if c.check(dst, n) != nil {
		return false
	}
	for _, x := range dst.Tensors() {
		if _, err := x.Reinterpret(tensor.Uint8); err != nil {
			return false
		}
	}
	return true
}
