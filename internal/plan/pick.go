package plan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A Pick is the set of rows of a view that a plan reads or writes: rows that lists and masks name,
// that an index gathers, or windows. Its bounds are checked once, and [Plan.Frame] locates it in
// each View. Safe for concurrent use.
type Pick struct {
	dims  []int       // the dims of the view that it picks from and replaces, ascending
	rows  []int       // row-major positions within these dims
	shape shape.Shape // the arrangement of rows
	at    int         // the dim of the result at which shape begins

	mask ix.Index  // a single mask instead of rows, until these are needed; or the zero Index
	once sync.Once // computes rows from mask

	shifts []shift // of each row, along dims that it is not picked from
	same   bool    // each dim of shape stands for one of dims

	few struct{ dims, shape [3]int } // memory for the numbers
}

// A shift is the start of each row of a pick along another dim of the plan's shape.
type shift struct {
	dim    int
	starts []int
}

// A Frame is a Pick located in one buffer: len(Rows) copies of the View Kept, of which copy i
// begins Rows[i]*Stride elements further.
type Frame struct {
	Kept   shape.View // the dims that are not picked from
	At     int        // the dim of Kept before which the picked dims are inserted
	Rows   []int      // read-only
	Stride int        // elements
}

// Shape returns the arrangement of the rows: the dims of the result that replace the dims picked
// from.
func (k *Pick) Shape() shape.Shape { return k.shape }

// Mask returns the mask of a plan that picks by one mask and does nothing else. The mask covers the
// first dims dims of p.From(). The caller must not change it.
func (p *Plan) Mask() (bits []bool, dims int, ok bool) {
	k := p.pick
	if k == nil || k.mask.Kind() != ix.KindMask || k.at != 0 || len(p.mid) != len(p.from) || p.starts != nil {
		return nil, 0, false
	}
	for dim, a := range p.steps {
		if a != (dimStep{dim, 1}) || p.mid[dim] != p.from[dim] {
			return nil, 0, false
		}
	}
	bits, _ = k.mask.Bits()
	return bits, len(k.dims), true
}

// list returns the rows.
func (k *Pick) list() []int {
	if k.mask.Kind() == ix.KindMask {
		k.once.Do(func() { k.rows = k.mask.List() })
	}
	return k.rows
}

// Frame locates the rows that the plan picks in v.
//
//	v [from... F...]: Kept has the dims of the result other than p.Pick().Shape()
//
// Frame returns [shape.ErrShape] if the shape of v does not begin with p.From(), and
// [shape.ErrIndex] if the plan does not pick.
func (p *Plan) Frame(v shape.View) (Frame, error) { return p.frame(nil, v) }

func (p *Plan) frame(room *room, v shape.View) (Frame, error) {
	if err := v.Shape.CheckPrefix(p.from); err != nil {
		return Frame{}, err
	}
	if p.pick == nil {
		return Frame{}, fmt.Errorf("%w: the plan %v picks nothing", shape.ErrIndex, p)
	}
	k, trailing := p.pick, v.Shape[len(p.from):]
	f := Frame{At: k.at, Kept: room.view(len(p.mid) - len(k.dims) + len(trailing))}
	f.Kept.Offset = v.Offset + p.offset(v.Strides)
	var few [4]run
	picked := few[:0]
	for dim, size := range p.mid {
		step := p.steps[dim].stride(v.Strides)
		if len(picked) < len(k.dims) && k.dims[len(picked)] == dim {
			picked = append(picked, run{size, step})
			continue
		}
		f.Kept.Shape, f.Kept.Strides = append(f.Kept.Shape, size), append(f.Kept.Strides, step)
	}
	f.Kept.Shape = append(f.Kept.Shape, trailing...)
	f.Kept.Strides = append(f.Kept.Strides, v.Strides[len(p.from):]...)
	f.Rows, f.Stride = k.locate(picked)
	if k.shifts != nil {
		f.Rows, f.Stride = k.shifted(f.Rows, f.Stride, v.Strides)
	}
	return f, nil
}

// locate returns the start of each row, given the sizes and strides of the dims picked from: row i
// begins at element rows[i]*stride.
func (k *Pick) locate(dims []run) (rows []int, stride int) {
	even := true
	for d := range len(dims) - 1 {
		even = even && dims[d].step == dims[d+1].step*dims[d+1].size
	}
	if even {
		return k.list(), dims[len(dims)-1].step
	}
	rows = make([]int, len(k.list()))
	for i, row := range k.list() {
		for d := len(dims) - 1; d >= 0; d-- {
			rows[i] += row % dims[d].size * dims[d].step
			row /= dims[d].size
		}
	}
	return rows, 1
}

// shifted adds the shifts to rows, which are stride elements apart. It returns the new rows and
// their stride.
func (k *Pick) shifted(rows []int, stride int, strides []int) (out []int, by int) {
	out = make([]int, len(rows))
	for i, row := range rows {
		out[i] = row * stride
	}
	for _, s := range k.shifts {
		step := strides[s.dim]
		for i, start := range s.starts {
			out[i] += start * step
		}
	}
	for _, row := range out {
		by = gcd(row, by)
	}
	if by > 1 {
		for i := range out {
			out[i] /= by
		}
	}
	return out, max(by, 1)
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// origin is [Plan.Origin] for a plan that picks.
func (k *Pick) origin(p *Plan, dim int) int {
	kept := dim
	switch {
	case dim >= k.at+len(k.shape):
		kept -= len(k.shape)
	case dim >= k.at && k.same:
		return p.axisOrigin(k.dims[dim-k.at])
	case dim >= k.at:
		return noDim
	}
	for mid := range p.mid {
		if slices.Contains(k.dims, mid) {
			continue
		}
		if kept == 0 {
			return p.axisOrigin(mid)
		}
		kept--
	}
	return noDim
}

// pick is one list or mask of an expression.
type pick struct {
	dim   int         // the first dim of mid that it picks from
	over  shape.Shape // the sizes of the dims it picks from
	rows  []int       // positions within over
	shape shape.Shape // of rows; nil means one dim
	mask  ix.Index    // instead of rows, or the zero Index
}

// list returns the rows.
func (p *pick) list() []int {
	if p.rows == nil && p.mask.Kind() == ix.KindMask {
		p.rows = p.mask.List()
	}
	return p.rows
}

// len returns the number of rows.
func (p *pick) len() int {
	if p.mask.Kind() == ix.KindMask {
		_, n := p.mask.Bits()
		return n
	}
	return len(p.rows)
}

// add appends a pick. It allocates nothing for the first.
func (b *indexer) add(p pick) {
	if b.picks++; b.picks == 1 {
		b.first = p
		return
	}
	b.more = append(b.more, p)
}

func (b *indexer) take(x *ix.Index) error {
	rows, err := positions(b.plan.from, b.dim, x.List())
	if err != nil {
		return err
	}
	p := pick{dim: len(b.plan.mid), over: b.plan.from[b.dim : b.dim+1], rows: rows}
	if x.Rank() > 1 {
		p.shape = x.Shape()
	}
	b.add(p)
	b.plan.keep(b.dim)
	b.dim++
	return nil
}

// positions returns a copy of a list of positions of a dim of s, with negative ones resolved.
func positions(s shape.Shape, dim int, list []int) ([]int, error) {
	rows := make([]int, len(list))
	for i, at := range list {
		if uint(at) < uint(s[dim]) {
			rows[i] = at
			continue
		}
		row, err := element(s, dim, at, i)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}

func (b *indexer) mask(x *ix.Index) error {
	of := shape.Shape(x.Shape())
	over := b.plan.from[b.dim : b.dim+len(of)]
	if !of.Equal(over) {
		return fmt.Errorf("%w: got a mask of shape %v at dim %d of %v, want shape %v",
			shape.ErrIndex, of, b.dim, b.plan.from, over)
	}
	p := pick{dim: len(b.plan.mid), over: over, mask: *x}
	if len(of) == 0 { // a mask over no dim picks from a new one
		p.over = shape.Shape{1}
		b.add(p)
		b.plan.add(1)
		return nil
	}
	b.add(p)
	b.wide += len(of) - 1
	for range of {
		b.plan.keep(b.dim)
		b.dim++
	}
	return nil
}

// picked completes a plan whose expression has lists or masks.
func (b *indexer) picked() (*Plan, error) {
	k, err := b.combine()
	if err != nil {
		return nil, err
	}
	p := b.plan
	// p.to is not in the memory of k: a dictionary that keeps the shape must not keep k's rows.
	p.pick, p.to = k, make(shape.Shape, 0, len(p.mid)-len(k.dims)+len(k.shape))
	next := 0
	for dim, size := range p.mid {
		if len(p.to) == k.at {
			p.to = append(p.to, k.shape...)
		}
		if next < len(k.dims) && k.dims[next] == dim {
			next++
			continue
		}
		p.to = append(p.to, size)
	}
	if err := p.to.Check(); err != nil {
		return nil, err
	}
	return p, nil
}

// combine broadcasts the picks together.
func (b *indexer) combine() (*Pick, error) {
	k := &Pick{}
	k.dims = b.first.appendDims(k.few.dims[:0])
	for i := range b.more {
		k.dims = b.more[i].appendDims(k.dims)
	}
	if last := len(k.dims) - 1; k.dims[last]-k.dims[0] == last { // adjacent dims are replaced in place
		k.at = k.dims[0]
	}
	if b.picks == 1 {
		k.rows, k.shape = b.first.rows, append(k.few.shape[:0], b.first.len())
		k.mask = b.first.mask
		if b.first.shape != nil {
			k.shape = append(k.shape[:0], b.first.shape...)
		}
		k.same = len(k.shape) == 1 && len(k.dims) == 1
		return k, nil
	}
	shapes := []shape.Shape{b.first.arranged()}
	for _, p := range b.more {
		shapes = append(shapes, p.arranged())
	}
	var err error
	if k.shape, err = shape.Broadcast(shapes...); err != nil {
		return nil, fmt.Errorf("%w: lists: %w", shape.ErrIndex, err)
	}
	if err := k.shape.Check(); err != nil {
		return nil, err
	}
	k.rows = make([]int, k.shape.Size())
	b.first.addTo(k)
	for i := range b.more {
		b.more[i].addTo(k)
	}
	return k, nil
}

// arranged returns the shape of p's rows.
func (p *pick) arranged() shape.Shape {
	if p.shape == nil {
		return shape.Shape{p.len()}
	}
	return p.shape
}

// appendDims appends the dims that p picks from.
func (p *pick) appendDims(dims []int) []int {
	for d := range p.over {
		dims = append(dims, p.dim+d)
	}
	return dims
}

// addTo appends the positions of p as the last digit of each row number.
func (p *pick) addTo(k *Pick) {
	plan, _ := Expand(p.arranged(), k.shape...)
	v, _ := shape.Contiguous(p.arranged())
	v, _, _ = plan.View(v)
	base, rows, i := p.over.Size(), p.list(), 0
	for at := range v.Offsets() {
		k.rows[i] = k.rows[i]*base + rows[at]
		i++
	}
}
