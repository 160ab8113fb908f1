package inspect

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// compareBytes is about the number of bytes of a block, which one goroutine compares at a time.
const compareBytes = 1 << 20

// A tallied has the elements of a block that differ between two leaves.
type tallied struct {
	first []tensor.ElementDiff // the first differences that the Difference has room for
	count int                  // of all
}

// leaf compares the elements of two leaves.
func (c *comparison) leaf(p pair) (d tdict.Difference, differ bool, err error) {
	if err := context.Cause(c.ctx); err != nil {
		return d, false, err
	}
	switch a := p.a.(type) {
	case *tensor.Tensor:
		return c.tensors(p, a, p.b.(*tensor.Tensor), a.Shape().Position)
	case *tdict.Unbatched:
		return c.tensors(p, a.Tensor(), p.b.(*tdict.Unbatched).Tensor(), a.Tensor().Shape().Position)
	case *ragged.Tensor:
		return c.rows(p, a, p.b.(*ragged.Tensor))
	case *tdict.Data:
		return c.data(p, a, p.b.(*tdict.Data))
	case *tdict.Stacked:
		return c.members(p, a, p.b.(*tdict.Stacked))
	}
	return d, false, fmt.Errorf("%w: got %T", tdict.ErrKind, p.a)
}

// tensors compares two tensors. position returns the position of an element, given its index.
func (c *comparison) tensors(p pair, a, b *tensor.Tensor, position func(i int) []int) (d tdict.Difference, differ bool, err error) {
	nanDiffers := !c.opt.Tolerance.EqualNaN && (a.DType().IsFloat() || a.DType().IsComplex())
	if c.opt.TrustSums && !nanDiffers && memmap.SameSums(a, b) {
		return d, false, nil
	}
	xs, err := flattened(a, b)
	if err != nil {
		return d, false, err
	}
	size := max(1, compareBytes/a.DType().Size())
	return c.blocks(p, (a.Size()+size-1)/size, func(block, most int) (t tallied, err error) {
		at := block * size
		err = eachBox(xs, at, min(at+size, a.Size()), func(parts []*tensor.Tensor) error {
			a, err := parts[0].Contiguous() // of elements that are repeated Differing would count one
			if err != nil {
				return err
			}
			first, count, err := a.Ops().Differing(parts[1], c.opt.Tolerance, most-len(t.first))
			for _, e := range first {
				e.Position = position(at + index(parts[0].Shape(), e.Position))
				t.first = append(t.first, e)
			}
			t.count += count
			at += parts[0].Size()
			return err
		})
		return t, err
	})
}

// index returns the row-major number of a position.
func index(s shapeops.Shape, position []int) (i int) {
	for dim, at := range position {
		i = i*s[dim] + at
	}
	return i
}

// blocks compares n blocks by compare, and joins the differences in the order of the blocks. most
// is how many elements the Difference still lists once all blocks joined so far are in it, so that
// few texts are made for nothing.
func (c *comparison) blocks(p pair, n int, compare func(block, most int) (tallied, error)) (tdict.Difference, bool, error) {
	d := tdict.Difference{Kind: tdict.DiffElements, Key: p.key, A: described(p.a), B: described(p.b)}
	var mu sync.Mutex // guards d and what follows
	joined, early := 0, map[int]tallied{}
	err := workers.Do(c.ctx, n, c.opt.Workers, func(block int) error {
		mu.Lock()
		most := c.opt.most() - len(d.Elements)
		mu.Unlock()
		t, err := compare(block, most)
		mu.Lock()
		defer mu.Unlock()
		early[block] = t
		for t, ok := early[joined]; ok; t, ok = early[joined] {
			d.Elements = append(d.Elements, t.first[:min(len(t.first), c.opt.most()-len(d.Elements))]...)
			d.Count += t.count
			delete(early, joined)
			joined++
		}
		return err
	})
	if err != nil {
		return d, false, err
	}
	d.Text = elementsText(d)
	return d, d.Count > 0, nil
}

// elementsText returns the text of a difference of elements.
func elementsText(d tdict.Difference) string {
	text := fmt.Sprintf("%q: %s %s", string(d.Key), grouped(d.Count), plural(d.Count, "element differs", "elements differ"))
	if d.Kind == tdict.DiffShape {
		text = fmt.Sprintf("%q: lengths of %s %s", string(d.Key), grouped(d.Count), plural(d.Count, "row differ", "rows differ"))
	}
	sep := ": "
	for _, e := range d.Elements {
		text += fmt.Sprintf("%s%v is %s, other %s", sep, e.Position, e.A, e.B)
		sep = "; "
	}
	return text
}

// readBoth calls fn with the elements of two tensors, as tensor.Read does.
func readBoth[T tensor.Elem](a, b *tensor.Tensor, fn func(a, b []T)) error {
	var inner error
	err := tensor.Read(a, func(p []T) {
		inner = tensor.Read(b, func(q []T) { fn(p, q) })
	})
	return cmp.Or(err, inner)
}
