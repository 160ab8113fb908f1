package samplecache

import (
	"context"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// copyRows has the engine copy rows, and compares their sums.
func (g *Generation) copyRows(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if !g.cache.fits(dst, len(rows)) {
		var err error
		if dst, err = g.cache.blank(len(rows)); err != nil {
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
		if err := g.hold.compare(row, func(leaf int) (uint32, error) { return of[leaf], nil }); err != nil {
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
		if err = g.hold.rows.Read(ctx, rows, i, b); err != nil {
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

// blank returns a dictionary for n samples.
func (c *Cache) blank(n int) (*tdict.TensorDict, error) {
	td := tdict.New(n)
	for _, l := range c.leaves {
		x, err := tensor.New(l.dtype, slices.Concat(shapeops.Shape{n}, l.shape)...)
		if err == nil {
			err = td.Set(l.key, x)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, nil
}

// fits reports whether n samples can be copied to a dictionary.
func (c *Cache) fits(dst *tdict.TensorDict, n int) bool {
	if dst == nil || !slices.Equal(dst.Shape(), shapeops.Shape{n}) {
		return false
	}
	for key := range dst.NestedKeys() {
		if !c.about.Schema.Has(key) {
			return false
		}
	}
	return !slices.ContainsFunc(c.leaves, func(l leaf) bool {
		x, err := dst.Tensor(l.key)
		if err != nil || x.DType() != l.dtype || !slices.Equal(x.Shape()[1:], l.shape) {
			return true
		}
		_, err = x.Reinterpret(tensor.Uint8)
		return err != nil
	})
}
