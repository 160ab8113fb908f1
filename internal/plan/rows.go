package plan

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/shape"
)

// Rows arranges numbered rows in a shape: each position has a row number. A value with a batch
// shape that is not a dense array, such as data or a ragged layout, keeps its rows in a list and
// uses Rows for their arrangement. Operations return new Rows, which share memory with the old
// where possible. Only [Rows.Write] and [Rows.Renumber] change their receiver.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Rows struct {
	view   shape.View  // of list; if list is nil, its offsets are the row numbers
	list   []int       // row numbers, or nil
	count  int         // all row numbers are less than count
	shared atomic.Bool // other Rows may use list too
}

var errLaid = fmt.Errorf("%w: what a plan lays together cannot be written through it", shape.ErrShape)

var errNoRows = fmt.Errorf("%w: got nil rows", shape.ErrKind)

// NewRows returns the rows 0, 1, 2 ... in row-major order. It returns [shape.ErrShape] if shape
// fails its Check.
func NewRows(sizes ...int) (*Rows, error) {
	v, err := shape.Contiguous(sizes)
	if err != nil {
		return nil, err
	}
	return &Rows{view: v, count: v.Shape.Size()}, nil
}

// OneRow returns Rows with row 0 at every position. It returns [shape.ErrShape] if shape fails its
// Check.
func OneRow(sizes ...int) (*Rows, error) {
	v, err := shape.Contiguous(sizes)
	if err != nil {
		return nil, err
	}
	clear(v.Strides)
	return &Rows{view: v, count: 1}, nil
}

// Shape returns the shape. The caller must not change it.
func (r *Rows) Shape() shape.Shape { return r.view.Shape }

// Count returns an upper bound: all row numbers are less than it.
func (r *Rows) Count() int { return r.count }

// All returns an iterator over the row numbers, in row-major order.
func (r *Rows) All() iter.Seq[int] {
	if r.list == nil {
		return r.view.Offsets()
	}
	return func(yield func(int) bool) {
		for at := range r.view.Offsets() {
			if !yield(r.list[at]) {
				return
			}
		}
	}
}

// One returns the row number that all positions share, if strides show that: if there is one
// position, or an expansion repeats it. It does not compare numbers.
func (r *Rows) One() (row int, ok bool) {
	if !r.uniform() || r.view.Shape.Size() == 0 {
		return 0, false
	}
	return r.at(r.view.Offset), true
}

// uniform reports whether strides show that all positions share one row number.
func (r *Rows) uniform() bool {
	low, high := r.view.Bounds()
	return high-low <= 1
}

// numbers returns the row numbers in row-major order, in new memory.
func (r *Rows) numbers() []int {
	return slices.AppendSeq(make([]int, 0, r.view.Shape.Size()), r.All())
}

// Execute returns the result of p.Plan on r. Padding positions get the new row number r.Count().
// Execute returns [shape.ErrShape] if the shape of r does not begin with the shape of the plan.
func (r *Rows) Execute(p *Pass) (*Rows, error) {
	if err := p.CheckPlan(r.view.Shape); err != nil {
		return nil, err
	}
	if p.Plan.layout != nil {
		return r.lay(p)
	}
	if p.Plan.pick == nil {
		v, ok, err := p.View(r.view)
		if err != nil {
			return nil, err
		}
		if ok {
			return r.with(v), nil
		}
		if err := checkListed(r.view.Shape); err != nil {
			return nil, err
		}
		v, _ = shape.Contiguous(r.view.Shape) // a reshape that strides do not express
		return (&Rows{view: v, list: r.numbers(), count: r.count}).Execute(p)
	}
	return r.pick(p)
}

// mostListed is the largest number of rows that are listed: 16 GiB of numbers.
const mostListed = 1 << 31

// checkListed returns ErrShape if a shape has more positions than can be listed.
func checkListed(s shape.Shape) error {
	if s.Size() > mostListed {
		return fmt.Errorf("%w: got rows of %v, want at most %d that differ", shape.ErrShape, s, mostListed)
	}
	return nil
}

// with returns Rows like r with another view of the same numbers. If the view has few of many
// numbers, they are copied, so that the next write to r need not copy all.
func (r *Rows) with(v shape.View) *Rows {
	out := &Rows{view: v, list: r.list, count: r.count}
	if len(r.list)/8 > v.Shape.Size() {
		out.list = out.numbers()
		out.view, _ = shape.Contiguous(v.Shape)
	} else if r.list != nil {
		out.shared.Store(true)
		if !r.shared.Load() {
			r.shared.Store(true)
		}
	}
	return out
}

// repeated returns Rows of v's shape in which all positions have the row of r, which is uniform.
func (r *Rows) repeated(v shape.View) *Rows {
	clear(v.Strides)
	v.Offset = r.view.Offset
	return r.with(v)
}

// lay is Execute for a plan that composes its result.
func (r *Rows) lay(p *Pass) (*Rows, error) {
	v, err := p.Contiguous(p.Plan.to, r.view.Shape[len(p.Plan.from):])
	if err != nil {
		return nil, err
	}
	pieces, gaps := p.Plan.Pieces()
	if gaps == 0 && r.uniform() && v.Shape.Size() > 0 {
		return r.repeated(v), nil
	}
	if err := checkListed(v.Shape); err != nil {
		return nil, err
	}
	out := &Rows{view: v, list: make([]int, v.Shape.Size()), count: r.count}
	if gaps > 0 {
		out.count++
		for i := range out.list {
			out.list[i] = r.count
		}
	}
	for i := range pieces {
		piece, err := p.Piece(i, v, r.view)
		if err != nil {
			return nil, err
		}
		from := slices.Collect(piece.From.Offsets())
		for to := range piece.To.Offsets() {
			out.list[to] = r.at(from[0])
			from = from[1:]
		}
	}
	return out, nil
}

func (r *Rows) pick(p *Pass) (*Rows, error) {
	v, err := p.Contiguous(p.Plan.to, r.view.Shape[len(p.Plan.from):])
	if err != nil {
		return nil, err
	}
	if r.uniform() && v.Shape.Size() > 0 {
		return r.repeated(v), nil
	}
	if err := checkListed(v.Shape); err != nil {
		return nil, err
	}
	out := &Rows{view: v, list: make([]int, 0, v.Shape.Size()), count: r.count}
	frame, err := p.Frame(r.view)
	if err != nil {
		return nil, err
	}
	for at := range frame.offsets() {
		out.list = append(out.list, r.at(at))
	}
	return out, nil
}

// at returns the row number at offset at of the view.
func (r *Rows) at(at int) int {
	if r.list == nil {
		return at
	}
	return r.list[at]
}

// offsets yields the offset of each element of a frame, in row-major order of the result.
func (f Frame) offsets() iter.Seq[int] {
	outer := shape.View{Shape: f.Kept.Shape[:f.At], Strides: f.Kept.Strides[:f.At], Offset: f.Kept.Offset}
	inner := shape.View{Shape: f.Kept.Shape[f.At:], Strides: f.Kept.Strides[f.At:]}
	return func(yield func(int) bool) {
		if inner.Shape.Size() == 0 || len(f.Rows) == 0 {
			return // however large the other dims are
		}
		within := []int{0}
		if len(inner.Shape) > 0 {
			within = slices.Collect(inner.Offsets())
		}
		for a := range outer.Offsets() {
			for _, row := range f.Rows {
				for _, b := range within {
					if !yield(a + row*f.Stride + b) {
						return
					}
				}
			}
		}
	}
}

// Clone returns a copy of r that shares no memory with it. It returns no error.
func (r *Rows) Clone() (*Rows, error) {
	out := &Rows{view: r.view, list: slices.Clone(r.list), count: r.count}
	out.view.Shape, out.view.Strides = r.view.Shape.Clone(), slices.Clone(r.view.Strides)
	return out, nil
}

// Equal reports whether r and x have the same shape and the same row at every position.
func (r *Rows) Equal(x *Rows) bool {
	return x != nil && r.view.Shape.Equal(x.view.Shape) && slices.Equal(r.numbers(), x.numbers())
}

// String describes r: its shape and the numbers of its rows.
func (r *Rows) String() string { return fmt.Sprintf("%v %v", r.view.Shape, r.numbers()) }

// At returns the row number at a position: one number for each dim, negative from the end. It
// returns [shape.ErrIndex] if the position is out of range.
func (r *Rows) At(pos ...int) (int, error) {
	at, err := r.view.At(pos...)
	if err != nil {
		return 0, err
	}
	return r.at(at), nil
}

// RowsFrom returns the rows first, first+1, first+2 ... in row-major order, out of count rows. It
// returns [shape.ErrShape] if shape fails its Check, and [shape.ErrIndex] if a row is not less than
// count.
func RowsFrom(first, count int, sizes ...int) (*Rows, error) {
	r, err := NewRows(sizes...)
	if err != nil {
		return nil, err
	}
	if first < 0 || first > count-r.count {
		return nil, fmt.Errorf("%w: got %d rows from row %d on, want rows within %d", shape.ErrIndex, r.count, first, count)
	}
	r.view.Offset, r.count = first, count
	return r, nil
}

// Repeats reports whether strides show that two positions share a row: because a dim repeats it, or
// windows overlap.
func (r *Rows) Repeats() bool { return r.view.Shape.Size() > 0 && r.view.Overlaps() }

// Span returns the first row and the number of rows, if the rows are consecutive in row-major order
// and strides show that.
func (r *Rows) Span() (first, n int, ok bool) {
	if r.list != nil || !r.view.IsContiguous() {
		return 0, 0, false
	}
	return r.view.Offset, r.view.Shape.Size(), true
}
