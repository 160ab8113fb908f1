package tensor

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A KernelPass applies a kernel to several tensors, the leaves of a dictionary. If an operand is a
// number, it is converted once to each dtype among the tensors. The pass allocates results in
// blocks, as dictionaries do for copies. It serves one operation. Not safe for concurrent use.
type KernelPass struct {
	kernel  *Kernel
	pass    *plan.Pass // or nil, for one tensor
	scalars []scalarAs
	xs      []*Tensor // room for the operands of a tensor
	block   straightBlock
}

// A scalarAs identifies a number converted to a dtype, by its position among the operands.
type scalarAs struct {
	operand int
	dtype   DType
	element *Tensor
}

// NewKernelPass returns a pass of k. k.Valid() must return nil.
func NewKernelPass(k *Kernel) *KernelPass {
	return &KernelPass{kernel: k, pass: arena.NewPass[Tensor](nil)}
}

// Reserve announces one call of [KernelPass.Make]; size is the size in bytes of the tensor t that
// Make will get. Call it for each t before the first call of Make. The pass must come from
// [NewKernelPass].
func (p *KernelPass) Reserve(size int) {
	p.pass.Reserve(1)
	arena.Of[Tensor](p.pass).Expect(size)
}

// Make is Leafwise on t, a leaf of a dictionary with lead batch dims.
func (p *KernelPass) Make(t *Tensor, lead int, others []any) (*Tensor, error) {
	xs, err := p.operands(p.xs[:0], t, others)
	if err != nil {
		return nil, err
	}
	p.xs = xs
	d, shape, err := p.kernel.checked(xs, lead)
	if err != nil {
		return nil, err
	}
	out, done, err := p.blank(d, shape, xs)
	if err != nil || done {
		return out, err
	}
	if p.kernel.Elements == nil {
		err = p.kernel.Whole(out, xs, lead)
	} else {
		err = p.kernel.run(&p.block, out, xs, lead, 0)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// blank returns a new result; done is true if it is on device [Meta] and complete. It shares the
// shape and strides of the first operand where they are the same, since they never change.
func (p *KernelPass) blank(d DType, shape shape.Shape, xs []*Tensor) (out *Tensor, done bool, err error) {
	x := xs[0]
	n := x.Size() * d.Size()
	if !identical(shape, x.view.Shape) || d.Size() > x.dtype.Size() || !x.view.IsContiguous() || x.mem.loan != nil {
		return blankLike(p.pass, d, shape, nil, xs...)
	}
	for _, other := range xs[1:] {
		if other.mem.loan != nil {
			return blankLike(p.pass, d, shape, nil, xs...)
		}
	}
	r := arena.Of[Tensor](p.pass)
	out = r.Header(n)
	*out = Tensor{d, x.view, memory{bytes: r.Data(n)}}
	out.view.Offset = 0
	return out, false, nil
}

// identical reports whether two shapes are the same slice.
func identical(a, b shape.Shape) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// To adds dst = the kernel applied to t and others, as LeafwiseInto of [Ops] does.
func (p *KernelPass) To(tr *Transfer, dst, t *Tensor, lead int, others []any) error {
	xs, err := p.operands(make([]*Tensor, 0, 1+len(others)), t, others)
	if err != nil {
		return err
	}
	d, shape, err := p.kernel.checked(xs, lead)
	if err != nil {
		return err
	}
	if dst == nil {
		return errNil
	}
	if dst.dtype != d {
		return fmt.Errorf("destination: %w: got %v, want %v", ErrDType, dst.dtype, d)
	}
	if err := dst.view.Shape.CheckEqual(shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.checkWritable(); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return tr.kernel(p.kernel, dst, xs, lead)
}

// operands appends t and others to xs, broadcast to t's shape unless the kernel is Free.
func (p *KernelPass) operands(xs []*Tensor, t *Tensor, others []any) ([]*Tensor, error) {
	if err := p.kernel.Valid(); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errNil
	}
	if !t.dtype.valid() {
		return nil, errZero
	}
	xs = append(xs, t)
	for i, other := range others {
		x, err := p.operand(t, i, other)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.kernel.Other(i), err)
		}
		xs = append(xs, x)
	}
	return xs, nil
}

// operand returns the i-th operand after t.
func (p *KernelPass) operand(t *Tensor, i int, other any) (*Tensor, error) {
	x, ok := other.(*Tensor)
	switch {
	case !ok:
		return p.scalar(i, t.dtype, other)
	case x == nil:
		return nil, errNil
	case p.kernel.Free || x.view.Shape.Equal(t.view.Shape):
		return x, nil
	}
	view, err := x.broadcast(t.view.Shape)
	if err != nil {
		return nil, err
	}
	return &Tensor{dtype: x.dtype, view: view, mem: x.mem}, nil
}

// scalar returns operand i, the number v, as an element of dtype d.
func (p *KernelPass) scalar(i int, d DType, v any) (*Tensor, error) {
	for _, s := range p.scalars {
		if s.operand == i && s.dtype == d {
			return s.element, nil
		}
	}
	x, err := ScalarOf(d, v)
	switch {
	case err == nil:
		p.scalars = append(p.scalars, scalarAs{i, d, x})
	case errors.Is(err, ErrKind):
		err = fmt.Errorf("%w: got %T, want a tensor, a number or a bool", ErrKind, v)
	}
	return x, err
}

// A straightBlock is a block of all elements, with memory for its lanes.
type straightBlock struct {
	Block
	arena [4]Lane
}

// lineUp sets b to the block of all elements. It reports whether they are contiguous in Go memory.
func (b *straightBlock) lineUp(dst *Tensor, xs []*Tensor) bool {
	n := dst.Size()
	to, ok := dst.straight(n)
	b.Rows, b.Width, b.DType, b.Dst, b.Src = n, 1, dst.dtype, to.Bytes, b.arena[:0]
	for _, x := range xs {
		l, straight := x.straight(n)
		ok = ok && straight
		b.Src = append(b.Src, l)
	}
	return ok
}

// straight returns the n elements of t, or its only one, as a lane that aliases t, or false if they
// are not contiguous.
func (t *Tensor) straight(n int) (Lane, bool) {
	l := Lane{DType: t.dtype}
	size := t.Size()
	if t.mem.loan != nil || size != n && len(t.view.Shape) > 0 || !t.view.IsContiguous() {
		return l, false
	}
	if size != n {
		l.Per = PerBlock
	}
	l.Bytes = t.own(t.mem.bytes)
	return l, cast.Aligned(l.Bytes, t.dtype.Size())
}
