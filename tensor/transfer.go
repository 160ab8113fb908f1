package tensor

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A Transfer is a list of copies between tensors that happen together or not at all: each is checked in full when it
// is added, and [Transfer.Run] does them. It is how an operation on a dictionary stays atomic over its leaves. The zero
// Transfer is ready for use. Not safe for concurrent use.
//
// The methods that add a copy return shapeops.ErrShape or [ErrDType] if the sides do not fit, [ErrReadOnly] if the
// destination must not be written, [ErrLayout] if two of its elements are one in memory (as in an expanded
// tensor), and [ErrOverlap] if the copy would read what it writes. Then nothing has been added.
type Transfer struct {
	moves []*move
}

// Run does the copies. It returns [ErrOverlap], and has done none of them, if one reads what another writes, and likewise
// an error if lent memory is gone, as after Close of a mapped file. Only if memory turns out to be unreadable in the middle
// of a copy, as when another process cut a mapped file, has that copy happened in part, and those added before it in full.
func (tr *Transfer) Run() error {
	if len(tr.moves) > 1 {
		if err := checkCrossing(tr.moves); err != nil {
			return err
		}
	}
	for _, m := range tr.moves { // all memory must be there before any is written
		if m.from.lender == nil && m.to.lender == nil || m.bytes() == 0 {
			continue
		}
		if err := m.hold(); err != nil {
			return err
		}
		defer m.release()
	}
	for _, m := range tr.moves {
		if err := m.run(); err != nil {
			return err
		}
	}
	return nil
}

// Copy adds dst[...] = src. src broadcasts to the shape of dst.
func (tr *Transfer) Copy(dst, src *Tensor) error {
	if err := checkWrite(dst, src); err != nil {
		return err
	}
	view, err := src.broadcast(dst.view.Shape)
	if err != nil {
		return err
	}
	m := new(move)
	m.all(dst.dtype.Size(), dst.mem, src.mem, dst.view, view)
	return tr.add(m)
}

// Index adds dst[...] = src[p].
func (tr *Transfer) Index(dst, src *Tensor, p shapeops.Plan) error {
	moves := len(tr.moves)
	err := tr.index(dst, src, p)
	if err != nil {
		tr.moves = tr.moves[:moves]
	}
	return err
}

func (tr *Transfer) index(dst, src *Tensor, p shapeops.Plan) error {
	if err := checkWrite(dst, src); err != nil {
		return err
	}
	if err := src.view.Shape.CheckPrefix(p.From()); err != nil {
		return err
	}
	if err := dst.view.Shape.CheckEqual(p.Extend(src.view.Shape)); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if p.Pick() != nil {
		return tr.pick(p, dst, src, dst.view, src.view, false)
	}
	part, err := src.viewed(p)
	if errors.Is(err, ErrLayout) { // a reshape that strides do not express
		part, err = tr.copied(src, src.view)
		if err == nil {
			part, err = part.viewed(p)
		}
	}
	if err != nil {
		return err
	}
	return tr.Copy(dst, part)
}

// SetIndex adds dst[p] = src. src broadcasts to the shape of that part of dst. If p picks a position twice, the
// last value written stays.
func (tr *Transfer) SetIndex(dst, src *Tensor, p shapeops.Plan) error {
	moves := len(tr.moves)
	err := tr.setIndex(dst, src, p)
	if err != nil {
		tr.moves = tr.moves[:moves]
	}
	return err
}

func (tr *Transfer) setIndex(dst, src *Tensor, p shapeops.Plan) error {
	if err := checkWrite(dst, src); err != nil {
		return err
	}
	if err := dst.view.Shape.CheckPrefix(p.From()); err != nil {
		return err
	}
	if p.Pick() == nil {
		part, err := dst.viewed(p)
		if err != nil {
			return err
		}
		return tr.Copy(part, src)
	}
	view, err := src.broadcast(p.Extend(dst.view.Shape))
	if err != nil {
		return err
	}
	return tr.pick(p, dst, src, view, dst.view, true)
}

// pick adds the move between the rows that p picks from the view picked and the elements of the view flat: to the
// rows if scatter is set.
func (tr *Transfer) pick(p shapeops.Plan, dst, src *Tensor, flat, picked shapeops.View, scatter bool) error {
	frame, err := p.Frame(nil, picked)
	if err != nil {
		return err
	}
	joined, ok, err := joinDims(flat, frame.At, len(p.Pick().Shape()))
	if err != nil {
		return err
	}
	if !ok { // the rows of the flat side are not evenly spaced
		return tr.pickByCopy(p, dst, src, scatter)
	}
	m := new(move)
	m.pick(dst.dtype.Size(), dst.mem, src.mem, joined, frame, scatter)
	return tr.add(m)
}

// joinDims joins n dims of v, from dim at on, into one.
func joinDims(v shapeops.View, at, n int) (shapeops.View, bool, error) {
	if n == 1 {
		return v, true, nil
	}
	p, err := v.Shape.Flatten(at, at+n-1)
	if err != nil {
		return v, false, err
	}
	return p.View(v)
}

// pickByCopy does what pick does by way of a contiguous copy of the side that is not picked from.
func (tr *Transfer) pickByCopy(p shapeops.Plan, dst, src *Tensor, scatter bool) error {
	if scatter {
		view, err := src.broadcast(p.Extend(dst.view.Shape))
		if err != nil {
			return err
		}
		full, err := tr.copied(src, view)
		if err != nil {
			return err
		}
		return tr.pick(p, dst, full, full.view, dst.view, true)
	}
	part, err := blank(src.dtype, p.Extend(src.view.Shape), nil)
	if err != nil {
		return err
	}
	if err := tr.pick(p, part, src, part.view, src.view, false); err != nil {
		return err
	}
	tr.moves[len(tr.moves)-1].private = true
	return tr.Copy(dst, part)
}

// copied returns a contiguous tensor that will, once Run comes to it, have the elements of a view of src.
func (tr *Transfer) copied(src *Tensor, view shapeops.View) (*Tensor, error) {
	out, err := blank(src.dtype, view.Shape, nil)
	if err != nil {
		return nil, err
	}
	m := &move{private: true}
	m.all(src.dtype.Size(), out.mem, src.mem, out.view, view)
	tr.moves = append(tr.moves, m)
	return out, nil
}

func (tr *Transfer) add(m *move) error {
	if err := m.checkOverlap(); err != nil {
		return err
	}
	tr.moves = append(tr.moves, m)
	return nil
}

// checkWrite returns an error unless elements of src can be stored in dst.
func checkWrite(dst, src *Tensor) error {
	if src.dtype != dst.dtype {
		return fmt.Errorf("%w: got %v, want %v", ErrDType, src.dtype, dst.dtype)
	}
	return dst.checkWritable()
}

// checkWritable returns an error unless each element of t can be stored by itself.
func (t *Tensor) checkWritable() error {
	if t.mem.readOnly() {
		return ErrReadOnly
	}
	for dim, stride := range t.view.Strides {
		if stride == 0 && t.view.Shape[dim] > 1 {
			return fmt.Errorf("%w: the elements of an expanded dim %d are one in memory", ErrLayout, dim)
		}
	}
	return nil
}

// broadcast returns the view of t's elements repeated to the given shape.
func (t *Tensor) broadcast(shape shapeops.Shape) (shapeops.View, error) {
	if t.view.Shape.Equal(shape) {
		return t.view, nil
	}
	p, err := t.view.Shape.Expand(shape...)
	if err != nil {
		return shapeops.View{}, err
	}
	v, _, err := p.View(t.view)
	return v, err
}

// Join adds dst = xs side by side, as j says.
func (tr *Transfer) Join(dst *Tensor, j shapeops.JoinPlan, xs []*Tensor) error {
	if err := checkJoin(j, xs); err != nil {
		return err
	}
	if err := checkWrite(dst, xs[0]); err != nil {
		return err
	}
	if err := dst.view.Shape.CheckEqual(joinShape(j, xs[0])); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	moves, start := len(tr.moves), 0
	for i, x := range xs {
		m := new(move)
		m.all(x.dtype.Size(), dst.mem, x.mem, dst.part(j, start, x), x.view)
		start += j.Positions(x.view.Shape)
		if err := tr.add(m); err != nil {
			tr.moves = tr.moves[:moves]
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

// part returns the view of the joined tensor t that x fills, from position start on.
func (t *Tensor) part(j shapeops.JoinPlan, start int, x *Tensor) shapeops.View {
	v := shapeops.View{Shape: x.view.Shape, Offset: t.view.Offset + start*t.view.Strides[j.Dim]}
	if !j.New {
		v.Strides = t.view.Strides
		return v
	}
	v.Strides = make([]int, 0, len(v.Shape))
	v.Strides = append(append(v.Strides, t.view.Strides[:j.Dim]...), t.view.Strides[j.Dim+1:]...)
	return v
}

// checkJoin returns an error unless xs have one dtype and agree in the dims that j says nothing about.
func checkJoin(j shapeops.JoinPlan, xs []*Tensor) error {
	want := xs[0].view.Shape[j.Rank():]
	for i, x := range xs {
		if x.dtype != xs[0].dtype {
			return fmt.Errorf("value %d: %w: got %v, want %v", i, ErrDType, x.dtype, xs[0].dtype)
		}
		if got := x.view.Shape[j.Rank():]; !got.Equal(want) {
			return fmt.Errorf("value %d: %w: got %v, want %v behind the dims joined", i, shapeops.ErrShape, got, want)
		}
	}
	return nil
}

// joinShape returns the shape that values like x are joined to.
func joinShape(j shapeops.JoinPlan, x *Tensor) shapeops.Shape {
	behind := x.view.Shape[j.Rank():]
	return append(append(make(shapeops.Shape, 0, len(j.Shape)+len(behind)), j.Shape...), behind...)
}

// solid returns the bytes of t's elements if they are in Go memory, in order, without gaps.
func (t *Tensor) solid() ([]byte, bool) {
	if t.mem.lender != nil || !t.view.IsContiguous() {
		return nil, false
	}
	return t.own(t.mem.bytes), true
}

// own returns the bytes of a contiguous tensor's elements, given those of its memory.
func (t *Tensor) own(b []byte) []byte {
	size := t.dtype.Size()
	return b[t.view.Offset*size : (t.view.Offset+t.Size())*size]
}
