package shapeops

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A Pick is the part of a plan that lists and masks make: which rows of a view are read or written. It is worked
// out once, with its bounds checked, and located in each View by [Pick.Frame]. Safe for concurrent use.
type Pick struct {
	dims  []int // of the view it picks from, ascending: those that it replaces
	rows  []int // row-major positions within the dims taken together
	shape Shape // the arrangement of rows
	at    int   // the dim of the result where shape stands
}

// A Frame is a Pick located in one buffer: rows that are len(Rows) copies of the View Kept, the i-th of them
// starting Rows[i]*Stride elements further.
type Frame struct {
	Kept   View  // the dims that are not picked from
	At     int   // before which dim of Kept the picked dims stand
	Rows   []int // read-only
	Stride int   // elements
}

// Shape returns the arrangement of the rows: the dims that stand in the result for the dims picked from.
func (k *Pick) Shape() Shape { return k.shape }

// Frame locates the pick in v, a View that the plan returned.
func (k *Pick) Frame(v View) Frame {
	f := Frame{At: k.at, Kept: View{Offset: v.Offset}}
	f.Rows, f.Stride = k.locate(v)
	n := len(v.Shape) - len(k.dims)
	numbers := make([]int, 0, 2*n)
	next := 0
	for dim, size := range v.Shape {
		if next < len(k.dims) && k.dims[next] == dim {
			next++
			continue
		}
		numbers = append(numbers, size)
	}
	next = 0
	for dim, stride := range v.Strides {
		if next < len(k.dims) && k.dims[next] == dim {
			next++
			continue
		}
		numbers = append(numbers, stride)
	}
	f.Kept.Shape, f.Kept.Strides = numbers[:n:n], numbers[n:]
	return f
}

// locate returns where the rows start in v: numbers and the elements between two consecutive ones.
func (k *Pick) locate(v View) (rows []int, stride int) {
	if len(k.dims) == 1 {
		return k.rows, v.Strides[k.dims[0]]
	}
	shape, strides := make(Shape, 0, 4), make([]int, 0, 4)
	for _, dim := range k.dims {
		shape, strides = append(shape, v.Shape[dim]), append(strides, v.Strides[dim])
	}
	if runs := evenRuns(shape, strides); len(runs) == 1 {
		return k.rows, runs[0].step
	}
	rows = make([]int, len(k.rows))
	for i, row := range k.rows {
		for d := len(shape) - 1; d >= 0; d-- {
			rows[i] += row % shape[d] * strides[d]
			row /= shape[d]
		}
	}
	return rows, 1
}

// pick is one list or mask of an expression.
type pick struct {
	dim   int   // of mid: the first it picks from
	over  Shape // the sizes of the dims it picks from
	rows  []int // positions within over
	shape Shape // of rows
}

func (b *indexer) take(x ix.Index) error {
	size := b.plan.from[b.dim]
	rows, err := positions(x.List(), b.dim, size)
	if err != nil {
		return err
	}
	b.picks = append(b.picks, pick{len(b.plan.mid), Shape{size}, rows, x.Shape()})
	b.plan.keep(b.dim)
	b.dim++
	return nil
}

// positions resolves a list of positions; without a negative one, the result is list itself.
func positions(list []int, dim, size int) ([]int, error) {
	resolved := list
	for i, at := range list {
		if uint(at) < uint(size) {
			continue
		}
		at, err := position(at, dim, size)
		if err != nil {
			return nil, err
		}
		if &resolved[0] == &list[0] {
			resolved = slices.Clone(list)
		}
		resolved[i] = at
	}
	return resolved, nil
}

func (b *indexer) mask(x ix.Index) error {
	shape := Shape(x.Shape())
	over := b.plan.from[b.dim : b.dim+len(shape)]
	if !shape.Equal(over) {
		return fmt.Errorf("%w: got a mask of shape %v, want %v as the dims from %d", ErrIndex, shape, over, b.dim)
	}
	rows, n := x.List(), len(x.List())
	if len(shape) == 0 { // a mask over no dim picks from a new one
		b.picks = append(b.picks, pick{len(b.plan.mid), Shape{1}, rows, Shape{n}})
		b.plan.add(1)
		return nil
	}
	b.picks = append(b.picks, pick{len(b.plan.mid), over, rows, Shape{n}})
	b.wide += len(shape) - 1
	for range shape {
		b.plan.keep(b.dim)
		b.dim++
	}
	return nil
}

// picked ends a plan whose expression has lists or masks.
func (b *indexer) picked() (Plan, error) {
	k, err := b.combine()
	if err != nil {
		return Plan{}, err
	}
	b.plan.pick = k
	kept := len(b.plan.mid) - len(k.dims)
	b.plan.to = make(Shape, 0, kept+len(k.shape))
	next := 0
	for dim, size := range b.plan.mid {
		if len(b.plan.to) == k.at {
			b.plan.to = append(b.plan.to, k.shape...)
		}
		if next < len(k.dims) && k.dims[next] == dim {
			next++
			continue
		}
		b.plan.to = append(b.plan.to, size)
	}
	return *b.plan, nil
}

// combine broadcasts the picks together.
func (b *indexer) combine() (*Pick, error) {
	k := &Pick{rows: b.picks[0].rows, shape: b.picks[0].shape}
	shapes := make([]Shape, len(b.picks))
	for i, p := range b.picks {
		shapes[i] = p.shape
		for d := range p.over {
			k.dims = append(k.dims, p.dim+d)
		}
	}
	if last := len(k.dims) - 1; k.dims[last]-k.dims[0] == last { // neighbours: the result stands in their place
		k.at = k.dims[0]
	}
	if len(b.picks) == 1 {
		return k, nil
	}
	var err error
	if k.shape, err = Broadcast(shapes...); err != nil {
		return nil, fmt.Errorf("%w: lists of %w", ErrIndex, err)
	}
	if err := k.shape.Check(); err != nil {
		return nil, err
	}
	k.rows = make([]int, k.shape.Size())
	for _, p := range b.picks {
		p.addTo(k)
	}
	return k, nil
}

// addTo makes the positions of p the last digits of each row number.
func (p pick) addTo(k *Pick) {
	plan, _ := p.shape.Expand(k.shape...)
	v, _ := Contiguous(p.shape)
	v, _, _ = plan.View(v)
	base, i := p.over.Size(), 0
	for at := range v.Offsets() {
		k.rows[i] = k.rows[i]*base + p.rows[at]
		i++
	}
}
