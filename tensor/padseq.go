package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// joinPadded is Join of tensors whose lengths along a dim differ.
func (t *Tensor) joinPadded(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	shape, err := joinedShape(p.Join, xs)
	if err != nil {
		return nil, err
	}
	fill, err := filler(p, t.dtype)
	if err != nil {
		return nil, err
	}
	out, done, err := blankLike(p, t.dtype, shape, nil, xs...)
	if err != nil || done {
		return out, err
	}
	at, _ := p.Join.PadDim(t.view.Shape, true)
	b := bed{to: out.mem.bytes, fill: fill.mem.bytes, left: p.Join.PadsLeft()}
	b.row = shape[at+2:].Size() * t.dtype.Size()
	b.length, b.times = shape[at+1], shape[1:at+1].Size()
	for i, x := range xs {
		from, ok := x.solid()
		if !ok {
			var m move
			part, _ := p.Join.Place(out.view, i, x.view.Shape, true)
			m.all(t.dtype.Size(), out.mem, x.mem, part, x.view)
			if err := m.run(p.Workers); err != nil {
				return nil, fmt.Errorf("value %d: %w", i, err)
			}
		}
		b.lay(from, x.view.Shape[at])
	}
	return out, nil
}

// A bed is the memory in which sequences are laid one after another, each padded to one length.
type bed struct {
	to     []byte // the rest of the result
	fill   []byte // one element of padding
	row    int    // size of a position of a sequence in bytes
	length int    // length of a padded sequence
	times  int    // number of sequences in a value: the positions of the dims before the padded one
	left   bool
}

// lay copies the sequences of a value, each of n positions, and pads them. A nil value is copied
// already, and only padded.
func (b *bed) lay(from []byte, n int) {
	own, all := n*b.row, b.length*b.row
	if all == 0 {
		return
	}
	for range b.times {
		at, gap := b.to[:own], b.to[own:all]
		if b.left {
			at, gap = b.to[all-own:all], b.to[:all-own]
		}
		if from != nil {
			copy(at, from[:own])
			from = from[own:]
		}
		cast.Repeat(gap, b.fill)
		b.to = b.to[all:]
	}
}

// joinPadded adds the copies and the padding of a padded join to dst.
func (tr *Transfer) joinPadded(p *plan.Pass, dst *Tensor, xs []*Tensor) error {
	fill, err := filler(p, dst.dtype)
	if err != nil {
		return err
	}
	width := dst.dtype.Size()
	for i, x := range xs {
		part, gap := p.Join.Place(dst.view, i, x.view.Shape, true)
		if err := tr.copyView(dst, part, x); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		m := tr.next()
		m.fill(width, dst.mem, gap, fill)
		if err := tr.add(m, nil); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

// JoinMasks returns a mask [N L] that is true where xs, joined as p.Join says, are not padding; t
// is xs[0]. It implements shapeops.PadSequenceMasked. It returns the errors of Join.
func (v *ops) JoinMasks(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	t := (*Tensor)(v)
	if err := checkJoin(p, xs); err != nil {
		return nil, err
	}
	joined, err := joinedShape(p.Join, xs)
	if err != nil {
		return nil, err
	}
	at, _ := p.Join.PadDim(t.view.Shape, true)
	lengths := make([]int, len(xs))
	for i, x := range xs {
		lengths[i] = x.view.Shape[at]
	}
	return LengthMask(lengths, shape.Shape{len(xs), joined[at+1]}, 1, p.Join.PadsLeft())
}

// LengthMask returns a bool tensor of the given sizes that is true where a padded sequence is not
// padding:
//
//	lengths [N], sizes [N ... L ...], L being the size of dim
//
// In row i the first lengths[i] positions of dim are true, or the last ones if left is true: then
// the padding is on the left. It returns shape.ErrDim if sizes has no such dim after its first,
// and shape.ErrShape unless lengths has N elements, each from 0 to L.
func LengthMask(lengths []int, sizes shape.Shape, dim int, left bool) (*Tensor, error) {
	at, err := sizes.Dim(dim)
	if err == nil {
		err = sizes.Check()
	}
	if err == nil && at == 0 {
		err = fmt.Errorf("%w: got dim 0 of mask shape %v, want a dim after dim 0", shape.ErrDim, sizes)
	}
	if err != nil {
		return nil, err
	}
	if len(lengths) != sizes[0] {
		return nil, fmt.Errorf("%w: got %d lengths, want %d for %v", shape.ErrShape, len(lengths), sizes[0], sizes)
	}
	out, err := New(Bool, sizes...)
	if err != nil {
		return nil, err
	}
	// Copying sequences of true into zeros leaves the padding false.
	b := bed{to: out.mem.bytes, fill: []byte{1}, left: !left, row: sizes[at+1:].Size()}
	b.length, b.times = sizes[at], sizes[1:at].Size()
	for i, n := range lengths {
		if n < 0 || n > b.length {
			return nil, fmt.Errorf("%w: row %d: got length %d, want 0 to %d", shape.ErrShape, i, n, b.length)
		}
		b.lay(nil, b.length-n)
	}
	return out, nil
}
