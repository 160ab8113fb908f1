package ragged

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Tensor has rows that differ in length, at each level of its [Layout]. It consists of values,
// one after the other, and the layout that cuts them into rows. Its shape has the batch dims, a
// star for each level, and the feature dims of one value:
//
//	[B... * * F...]    values [V F...]
//
// At depth 0 it has one value for each row of the batch, like a dense tensor [B... F...].
//
// Operations on the batch share memory as they do for a dense tensor: an index without lists and
// masks, a reshape or a permutation shares the values of the receiver and rewrites no offsets.
// Otherwise the selected rows are copied. Operations on levels copy, unless they say otherwise.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Tensor struct {
	layout *Layout
	values *tensor.Tensor // rows as layout numbers them; a view may have further rows
	fixed  bool           // a view: its rows must keep their lengths
}

// New returns values cut into rows by a layout:
//
//	layout [B... * *], values [V F...], V being the rows of its last level -> [B... * * F...]
//
// It shares values. It returns shapeops.ErrKind if an argument is nil or the layout is not
// compact, and [ErrOffsets] unless the first dim of values is V.
func New(values *tensor.Tensor, layout *Layout) (*Tensor, error) {
	if values == nil || values.DType() == 0 {
		return nil, errNoValues
	}
	if !layout.made() {
		return nil, errNoLayout
	}
	if !layout.root().whole() {
		return nil, fmt.Errorf("%w: got a layout that is a part of another: call Compact first", shapeops.ErrKind)
	}
	if len(values.Shape()) == 0 || values.Shape()[0] != layout.numbered() {
		return nil, fmt.Errorf("%w: got values %v, want first dim %d, the number of rows in the last level", ErrOffsets, values.Shape(), layout.numbered())
	}
	return &Tensor{layout: layout, values: values}, nil
}

// Fixed implements plan.Nested: it returns a view that returns [ErrLengths] for any change of the
// lengths of its rows. Other views do so too, since they would stop being views; and so does a
// tensor in lent memory, such as a mapped file, which has no place for the new rows.
func (v ops) Fixed() *Tensor { return &Tensor{v.layout, v.values, true} }

// checkFixed returns an error if the rows of t must keep their lengths: ErrLengths, with the
// difference between t and l, or tensor.ErrLayout if t has a row at several positions.
func (t *Tensor) checkFixed(l *Layout) error {
	if t.fixed && t.layout.root().repeats {
		return fmt.Errorf("%w: expanding repeats rows: Clone it first", tensor.ErrLayout)
	}
	if t.fixed || t.values.Lender() != nil {
		return fmt.Errorf("%w: a view, or a tensor in a file, cannot change its lengths: Clone it first: %s", ErrLengths, t.layout.differs(l))
	}
	return nil
}

var (
	errNil      = fmt.Errorf("%w: got a nil ragged tensor", shapeops.ErrKind)
	errNoValues = fmt.Errorf("%w: got nil values", shapeops.ErrKind)
)

// finished returns t, or nil if err is not nil.
func finished(t *Tensor, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// made reports whether t is neither nil nor the zero Tensor.
func (t *Tensor) made() bool { return t != nil && t.layout != nil }

// Shape returns the batch shape: the dims before the levels. The caller must not change it.
func (t *Tensor) Shape() shapeops.Shape {
	if t.layout == nil {
		return nil
	}
	return t.layout.Shape()
}

// Layout returns the layout that cuts the values into rows. Tensors that were made from one layout
// share it, and so do the results of an operation on all of them.
func (t *Tensor) Layout() *Layout { return t.layout }

// Depth returns the number of levels.
func (t *Tensor) Depth() int {
	if !t.made() {
		return 0
	}
	return t.layout.depth
}

// DType returns the dtype of the values.
func (t *Tensor) DType() tensor.DType {
	if !t.made() {
		return 0
	}
	return t.values.DType()
}

// Features returns the shape of a value. The caller must not change it.
func (t *Tensor) Features() shapeops.Shape {
	if !t.made() {
		return nil
	}
	return t.values.Shape()[1:]
}

// Values returns the values of all rows, one after the other: [V F...]. They share t's memory,
// unless t was permuted or repeats rows; then they are copied. Values returns an error if lent
// memory cannot be read.
func (t *Tensor) Values() (*tensor.Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if first, n, ok := t.layout.span(); ok {
		return t.valuesFrom(first, n)
	}
	s, err := t.compact(nil)
	if err != nil {
		return nil, err
	}
	return s.values, nil
}

// ValuesView is [Tensor.Values] without a copy, so that writing to the result writes to t. It
// returns tensor.ErrLayout if t was permuted or repeats rows.
func (t *Tensor) ValuesView() (*tensor.Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	first, n, ok := t.layout.span()
	if !ok {
		return nil, fmt.Errorf("%w: rows are not consecutive: use Values", tensor.ErrLayout)
	}
	return t.valuesFrom(first, n)
}

// valuesFrom returns n values, from value first on.
func (t *Tensor) valuesFrom(first, n int) (*tensor.Tensor, error) {
	if n == t.values.Shape()[0] {
		return t.values, nil
	}
	return t.values.Narrow(0, first, n)
}

// NumValues returns the total number of values in all rows, or math.MaxInt if that is larger than
// an int. If an expansion repeats a row, its values count once for each position.
func (t *Tensor) NumValues() int {
	if !t.made() {
		return 0
	}
	n, _ := t.layout.NumRows(t.layout.depth)
	return n
}

// ByteSize returns the size in bytes of the values of all rows, counted as in [Tensor.NumValues],
// or math.MaxInt if that is larger than an int.
func (t *Tensor) ByteSize() int {
	return times(times(t.NumValues(), t.DType().Size()), t.Features().Size())
}

// times returns n*m, or math.MaxInt if that is larger than an int. n and m are not negative.
func times(n, m int) int {
	if m > 0 && n > math.MaxInt/m {
		return math.MaxInt
	}
	return n * m
}

// compact returns a tensor equal to t whose layout is compact and whose values are exactly the
// values of its rows: t itself if it is one; otherwise a view if t's rows are consecutive, or else
// a copy.
func (t *Tensor) compact(p *plan.Pass) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	l := t.layout
	first, n, ok := l.span()
	switch whole := l.root().whole(); {
	case whole && n == t.values.Shape()[0]:
		return t, nil
	case !whole:
		m := l.picked(p)
		if !ok {
			return t.copied(p, m, t)
		}
		l = m.layout
	}
	values, err := t.values.Narrow(0, first, n)
	return finished(&Tensor{l, values, t.fixed}, err)
}

// uninit returns new memory for n values. Its content is undefined.
func (t *Tensor) uninit(n int) (*tensor.Tensor, error) {
	shape := append(shapeops.Shape{n}, t.Features()...)
	if t.values.Device() == tensor.Meta {
		return tensor.NewMeta(t.DType(), shape...)
	}
	bytes, err := byteSize(t.DType(), shape)
	if err != nil {
		return nil, err
	}
	return tensor.FromBytes(t.DType(), cast.Uninit(bytes), shape...)
}

// Index returns the part of t that an index expression over the batch selects. The values are
// copied if the expression has a list or a mask; otherwise the result shares t's. [Tensor.Path] and
// [Tensor.IndexLevel] index within rows. Index returns shapeops.ErrIndex.
func (t *Tensor) Index(expr ...ix.Index) (_ *Tensor, err error) {
	defer errtext.Name("index", &err)
	return t.selected(expr...)
}

// selected is Index without its name in errors.
func (t *Tensor) selected(expr ...ix.Index) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	p, err := plan.Index(t.Shape(), expr...)
	if err != nil {
		return nil, err
	}
	return t.Ops().Execute(plan.NewPass(p))
}

// TakeRows returns a copy of the rows at the given positions of the first batch dim:
//
//	[N * *], n positions -> [n * *]
//
// A negative position counts from the end. TakeRows returns shapeops.ErrIndex.
func (t *Tensor) TakeRows(positions ...int) (_ *Tensor, err error) {
	defer errtext.Name("take rows", &err)
	return t.selected(ix.Take(positions...))
}

// SetIndex writes src, broadcast, to the rows of t that an index expression over the batch selects.
// If a list names a row twice, the last value written wins.
//
// If the rows keep their lengths, they are written in place, in memory that other tensors may
// share. Otherwise all rows of t move to new memory, and earlier views of t keep the old rows. If t
// is a view, or in a mapped file, and a length would change, SetIndex returns [ErrLengths].
//
// It returns shapeops.ErrShape if the shapes do not fit, and the errors of tensor.Transfer. On an
// error nothing has changed.
func (t *Tensor) SetIndex(src *Tensor, expr ...ix.Index) error {
	return t.indexed("set index", expr, func(tr *tensor.Transfer, p *plan.Pass) error { return t.Ops().AddWrite(tr, src, p) })
}

// IndexInto is [Tensor.Index] into dst, which has the batch shape, depth, features and dtype of the
// result; its lengths become the lengths of the result.
//
// If dst's memory is large enough, it is reused, and other tensors that share it change too;
// otherwise dst gets new memory. If dst is a view, or in a mapped file, and a length would change,
// IndexInto returns [ErrLengths]. It also returns the errors of tensor.Transfer. On an error
// nothing has changed.
func (t *Tensor) IndexInto(dst *Tensor, expr ...ix.Index) error {
	return t.indexed("index", expr, func(tr *tensor.Transfer, p *plan.Pass) error { return t.Ops().AddExecute(tr, dst, p) })
}

// indexed runs a transfer to which add adds, given a pass of expr's plan for t. Errors begin with
// op.
func (t *Tensor) indexed(op string, expr []ix.Index, add func(tr *tensor.Transfer, p *plan.Pass) error) (err error) {
	defer errtext.Name(op, &err)
	if !t.made() {
		return errNil
	}
	planned, err := plan.Index(t.Shape(), expr...)
	if err != nil {
		return err
	}
	return run(func(tr *tensor.Transfer) error { return add(tr, plan.NewPass(planned)) })
}

// ops implements the methods that other packages of this library call. They are not in the method
// set of Tensor.
type ops struct{ *Tensor }

var _ plan.Nested[*Tensor, *Layout] = ops{}

// Ops returns t's implementation of the operations of packages shapeops, arith and tdict.
func (t *Tensor) Ops() tensor.Ops[*Tensor] { return ops{t} }

// ExecuteInto implements tensor.Ops.
func (v ops) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements tensor.Ops.
func (v ops) Write(p *plan.Pass, src *Tensor) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// run runs a transfer, to which add adds.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
