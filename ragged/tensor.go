package ragged

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Tensor has rows that differ in length, at so many levels as its [Layout] has: values, one after
// the other, and the layout that cuts them into rows. Its dims are those of the batch, one for each
// level, and those of the features of a value:
//
//	[B... * * F...]    values [V F...]
//
// With depth 0 it has a value for each row of the batch, like a dense tensor [B... F...].
//
// Operations on the batch share memory where those on a dense tensor do: at an index without lists
// and masks, a reshape or a permutation the values are those of the receiver, and no offset is
// rewritten. Else the rows that are wanted are copied. Operations on levels copy, unless they say
// otherwise.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Tensor struct {
	layout *Layout
	values *tensor.Tensor // rows as layout numbers them, and perhaps more
	fixed  bool           // rows keep their lengths
}

// New returns the tensor of values cut into rows by a layout:
//
//	layout [B... * *], values [V F...], V being the rows of its last level -> [B... * * F...]
//
// It shares values. The layout must be straight. It returns shapeops.ErrKind if an argument is nil
// or the layout a part of another, and [ErrOffsets] if values has no dim, or not so many rows.
func New(values *tensor.Tensor, layout *Layout) (*Tensor, error) {
	if values == nil || values.DType() == 0 {
		return nil, errNoValues
	}
	if !layout.made() {
		return nil, errNoLayout
	}
	if !layout.root().whole() {
		return nil, fmt.Errorf("%w: got a layout that is a part of another: call Straight first", shapeops.ErrKind)
	}
	if len(values.Shape()) == 0 || values.Shape()[0] != layout.numbered() {
		return nil, fmt.Errorf("%w: got values %v, want %d, where the last level ends, as their first dim", ErrOffsets, values.Shape(), layout.numbered())
	}
	return &Tensor{layout: layout, values: values}, nil
}

// Fixed implements plan.Nested: what would change the lengths of rows is [ErrLengths]. So it is for
// a view, which would not be one of t any more, and for a tensor whose values are lent, as by a
// mapped file, which would not have the rows.
func (v *verbs) Fixed() *Tensor { return &Tensor{v.layout, v.values, true} }

// checkFixed returns ErrLengths, with how they differ, if the rows of t must keep their lengths,
// and those of a layout are others; tensor.ErrLayout if a row is at several places.
func (t *Tensor) checkFixed(l *Layout) error {
	if t.fixed && t.layout.root().repeats {
		return fmt.Errorf("%w: expanding repeats rows: Clone it first", tensor.ErrLayout)
	}
	if t.fixed || t.values.Lender() != nil {
		return fmt.Errorf("%w: rows of a view, or in a file, keep theirs: Clone it first: %s", ErrLengths, t.layout.differs(l))
	}
	return nil
}

var (
	errNil      = fmt.Errorf("%w: got a nil ragged tensor", shapeops.ErrKind)
	errNoValues = fmt.Errorf("%w: got nil values", shapeops.ErrKind)
)

// finished returns t, or nothing beside an error.
func finished(t *Tensor, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// made reports whether t is neither nil nor the zero Tensor.
func (t *Tensor) made() bool { return t != nil && t.layout != nil }

// Shape returns the batch shape, the dims of even size before the levels. The caller must not
// change it.
func (t *Tensor) Shape() shapeops.Shape {
	if t.layout == nil {
		return nil
	}
	return t.layout.Shape()
}

// Layout returns how the values are cut into rows. Tensors of one depth that were made from one
// layout keep having one.
func (t *Tensor) Layout() *Layout { return t.layout }

// Depth returns the number of levels.
func (t *Tensor) Depth() int {
	if !t.made() {
		return 0
	}
	return t.layout.depth
}

// DType returns the type of the values.
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
// unless t was permuted or repeats rows; then they are copied. An error means that lent memory is
// gone.
func (t *Tensor) Values() (*tensor.Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	if first, n, ok := t.layout.span(); ok {
		return t.valuesFrom(first, n)
	}
	s, err := t.straight(nil)
	if err != nil {
		return nil, err
	}
	return s.values, nil
}

// ValuesView is [Tensor.Values] that never copies, so that writing to the result writes t. It
// returns tensor.ErrLayout if t was permuted or repeats rows.
func (t *Tensor) ValuesView() (*tensor.Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	first, n, ok := t.layout.span()
	if !ok {
		return nil, fmt.Errorf("%w: rows do not follow one another", tensor.ErrLayout)
	}
	return t.valuesFrom(first, n)
}

// valuesFrom returns n values from the first on.
func (t *Tensor) valuesFrom(first, n int) (*tensor.Tensor, error) {
	if n == t.values.Shape()[0] {
		return t.values, nil
	}
	return t.values.Narrow(0, first, n)
}

// NumValues returns how many values the rows have, all together, or math.MaxInt if that is more
// than an int holds. The values of a row that an expansion repeats count once for each place that
// it has.
func (t *Tensor) NumValues() int {
	if !t.made() {
		return 0
	}
	n, _ := t.layout.NumRows(t.layout.depth)
	return n
}

// ByteSize returns how many bytes the values of t's rows take, counted as [Tensor.NumValues] does,
// or math.MaxInt if that is more than an int holds.
func (t *Tensor) ByteSize() int {
	return times(times(t.NumValues(), t.DType().Size()), t.Features().Size())
}

// times returns n*m, neither of them negative, or math.MaxInt if that is more than an int holds.
func times(n, m int) int {
	if m > 0 && n > math.MaxInt/m {
		return math.MaxInt
	}
	return n * m
}

// straight returns t if its rows stand in their order and are all that its values hold, or a tensor
// for which that is so: over the same values, if its rows follow one another, or copied.
func (t *Tensor) straight(p *plan.Pass) (*Tensor, error) {
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
			return t.arrived(p, m, t)
		}
		l = m.layout
	}
	values, err := t.values.Narrow(0, first, n)
	return finished(&Tensor{l, values, t.fixed}, err)
}

// room returns memory for so many values, whose content is undefined.
func (t *Tensor) room(n int) (*tensor.Tensor, error) {
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

// Index returns the part of t that an index expression over the batch selects. The values are t's
// own if the expression has neither a list nor a mask, and copied if it has. [Tensor.Path] and
// [Tensor.IndexLevel] go into rows. It returns shapeops.ErrIndex.
func (t *Tensor) Index(expr ...ix.Index) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	p, err := plan.Index(t.Shape(), expr...)
	if err != nil {
		return nil, err
	}
	return t.Plan().Execute(plan.NewPass(p))
}

// TakeRows returns the rows of the first batch dim that positions name, copied:
//
//	[N * *], positions of n -> [n * *]
//
// Negative ones count from the end. It returns shapeops.ErrIndex.
func (t *Tensor) TakeRows(positions ...int) (*Tensor, error) { return t.Index(ix.Take(positions...)) }

// SetIndex writes src, broadcast, to the rows of t that an index expression over the batch selects.
// Rows that keep their lengths are written in place, in memory that other tensors may share; else t
// gets memory of its own, in which all rows lie anew, and what was a view of it stays as it was. If
// t is a view, or on a mapped file, its rows keep their lengths: [ErrLengths]. Where a list names a
// row twice, the last value stays. It returns shapeops.ErrShape if the shapes do not fit, and the
// errors of tensor.Transfer. On an error nothing has changed.
func (t *Tensor) SetIndex(src *Tensor, expr ...ix.Index) error {
	return t.indexed(expr, func(tr *tensor.Transfer, p *plan.Pass) error { return t.Verbs().AddWrite(tr, src, p) })
}

// IndexInto is [Tensor.Index] into a tensor that the caller owns, which must have the batch shape,
// depth, features and dtype of the result; its lengths become those of the result. Its memory is
// used again if it is large enough, so that what else is over that memory changes too; if it is
// not, dst gets memory of its own. If dst is a view, or on a mapped file, its rows keep their
// lengths: [ErrLengths]. Its errors are also those of tensor.Transfer. On an error nothing has
// changed.
func (t *Tensor) IndexInto(dst *Tensor, expr ...ix.Index) error {
	return t.indexed(expr, func(tr *tensor.Transfer, p *plan.Pass) error { return t.Verbs().AddExecute(tr, dst, p) })
}

// indexed runs what add adds, with a pass of what an index expression selects of t.
func (t *Tensor) indexed(expr []ix.Index, add func(tr *tensor.Transfer, p *plan.Pass) error) error {
	if !t.made() {
		return errNil
	}
	planned, err := plan.Index(t.Shape(), expr...)
	if err != nil {
		return err
	}
	return run(func(tr *tensor.Transfer) error { return add(tr, plan.NewPass(planned)) })
}
