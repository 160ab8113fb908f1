package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// Join joins xs as p.Join says, in a new tensor; t is xs[0]. It implements shapeops.Stack, Cat and
// PadSequence. It returns [ErrDType] if the dtypes differ or do not hold p.Fill, shape.ErrShape
// if the remaining dims differ, and an error if lent memory cannot be read.
func (v *ops) Join(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	t := (*Tensor)(v)
	if err := checkJoin(p, xs); err != nil {
		return nil, err
	}
	if p.Join.Padded() {
		return t.joinPadded(p, xs)
	}
	j := p.Join
	out, done, err := blankLike(p, t.dtype, j.Shape(), t.view.Shape[j.Rank():], xs...)
	if err != nil || done {
		return out, err
	}
	start, at, whole := 0, 0, t.ByteSize() // along the dim joined, and in bytes if that is dim 0
	for i, x := range xs {
		n := whole
		if !x.view.Shape.Equal(t.view.Shape) {
			n = x.ByteSize()
		}
		if j.Dim() == 0 && n < parallelBytes && x.mem.loan == nil && x.view.IsContiguous() {
			copy(out.mem.bytes[at:at+n], x.mem.bytes[x.view.Offset*x.dtype.Size():])
		} else {
			next := xs[i+1:]
			m := move{more: len(next) > 0 && next[0].Size() > 0 && next[0].Lender() == x.Lender()}
			m.all(t.dtype.Size(), out.mem, x.mem, out.part(j, start, x), x.view) // out is new: nothing overlaps
			if err := m.run(p.Workers); err != nil {
				return nil, err
			}
		}
		start, at = start+j.Positions(x.view.Shape), at+n
	}
	return out, nil
}

// part returns the view of the joined tensor t that x fills at position start.
func (t *Tensor) part(j *plan.Join, start int, x *Tensor) shape.View {
	v := shape.View{Shape: x.view.Shape, Offset: t.view.Offset + start*t.view.Strides[j.Dim()]}
	if !j.New() {
		v.Strides = t.view.Strides
		return v
	}
	v.Strides = make([]int, 0, len(v.Shape))
	v.Strides = append(append(v.Strides, t.view.Strides[:j.Dim()]...), t.view.Strides[j.Dim()+1:]...)
	return v
}

// JoinInto is Join into dst. It implements shapeops.StackInto, CatInto and PadSequenceInto. It also
// returns the errors of [Transfer]; on an error nothing has changed.
func (v *ops) JoinInto(p *plan.Pass, dst *Tensor, xs []*Tensor) error {
	t := (*Tensor)(v)
	tr := Transfer{Workers: workersOf(p)}
	if err := t.Ops().AddJoin(&tr, dst, p, xs); err != nil {
		return err
	}
	return tr.Run()
}

// AddJoin adds dst = xs joined as p.Join says. It returns the errors of Join and of [Transfer].
func (v *ops) AddJoin(tr *Transfer, dst *Tensor, p *plan.Pass, xs []*Tensor) error {
	return tr.whole(func() error { return tr.join(dst, p, xs) })
}

func (tr *Transfer) join(dst *Tensor, p *plan.Pass, xs []*Tensor) error {
	if err := checkJoin(p, xs); err != nil {
		return err
	}
	if err := checkInto(dst, xs[0]); err != nil {
		return err
	}
	shape, err := joinedShape(p.Join, xs)
	if err != nil {
		return err
	}
	if err := dst.view.Shape.CheckEqual(shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if p.Join.Padded() {
		return tr.joinPadded(p, dst, xs)
	}
	start := 0
	for i, x := range xs {
		if err := tr.copyView(dst, dst.part(p.Join, start, x), x); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		start += p.Join.Positions(x.view.Shape)
	}
	return nil
}

// checkJoin returns an error unless xs have one dtype and agree in all dims but the joined one.
func checkJoin(p *plan.Pass, xs []*Tensor) error {
	if err := p.CheckJoin(len(xs)); err != nil {
		return err
	}
	first, alike := xs[0], true
	for i, x := range xs {
		if x == nil {
			return fmt.Errorf("value %d: %w", i, errNil)
		}
		if x.dtype != first.dtype {
			return fmt.Errorf("value %d: %w: got %v, want %v", i, ErrDType, x.dtype, first.dtype)
		}
		alike = alike && x.view.Shape.Equal(first.view.Shape)
	}
	if p.Join.Padded() {
		return nil // joinedShape checks more
	}
	if alike {
		return p.Join.CheckAlike(len(xs), first.view.Shape)
	}
	return p.Join.Check(len(xs), func(i int) shape.Shape { return xs[i].view.Shape })
}

// joinedShape returns the shape of xs joined. A scalar cannot be padded.
func joinedShape(j *plan.Join, xs []*Tensor) (shape.Shape, error) {
	return j.Joined(len(xs), true, func(i int) shape.Shape { return xs[i].view.Shape })
}

// solid returns the bytes of t's elements if they are contiguous in Go memory.
func (t *Tensor) solid() ([]byte, bool) {
	if t.mem.loan != nil || !t.view.IsContiguous() {
		return nil, false
	}
	return t.own(t.mem.bytes), true
}

// own returns the bytes of a contiguous tensor's elements; b is the tensor's memory.
func (t *Tensor) own(b []byte) []byte {
	size := t.dtype.Size()
	return b[t.view.Offset*size : (t.view.Offset+t.Size())*size]
}
