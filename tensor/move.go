package tensor

import (
	"context"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shape"
)

// A move copies the elements of one view to another view of the same shape. It looks only at the
// width of elements, never at values. Dims that are laid out alike on both sides are joined;
// elements that are contiguous on both sides are one block. Along one dim, either side may list
// rows.
type move struct {
	to, from memory
	width    int   // size of an element in bytes
	dims     spans // outermost first, without dims inside a block
	block    int   // number of elements that are contiguous on both sides
	toStart  int   // first element
	fromAt   int   // elements

	picked   int // index into dims of the dim whose rows are listed, or noDim
	toRows   []int
	fromRows []int // nil means each row in turn; so for toRows
	runs     []shape.Run

	toBytes, fromBytes []byte // between hold and release
	held               bool
	more               bool // the next move uses the same lenders

	ordered bool  // the sides overlap, so that order matters
	staged  bool  // its source is copied to new memory before the Transfer writes
	later   *move // for a staged move: from the new memory to the destination

	half  half // the side that a kernel uses, if it is not a copy
	group int  // 1 + the place in the order in which sides take effect; 0: the move's own place
}

// A half says which sides a move has: both for a copy, one for an operand or a result of a kernel.
type half uint8

const (
	copies half = iota
	reads
	writes
)

const noDim = -1

// A span is one dim of a move: its size, and the distance between neighbours on both sides in
// elements.
type span struct{ n, to, from int }

// spans is a list that does not allocate while it is short.
type spans struct {
	n    int
	few  [5]span
	more []span
}

func (s *spans) at(i int) *span {
	if i < len(s.few) {
		return &s.few[i]
	}
	return &s.more[i-len(s.few)]
}

func (s *spans) add(x span) {
	if s.n >= len(s.few) {
		s.more = append(s.more[:s.n-len(s.few)], x)
	} else {
		s.few[s.n] = x
	}
	s.n++
}

// start sets m to a move of elements of the given width between two memories.
func (m *move) start(width int, to, from memory) {
	m.width, m.to, m.from = width, to, from
	m.block, m.picked = 1, noDim
}

// all sets m to the move between two views of equal shape.
func (m *move) all(width int, to, from memory, toView, fromView shape.View) {
	m.start(width, to, from)
	m.toStart, m.fromAt = toView.Offset, fromView.Offset
	m.addDims(toView.Shape, toView.Strides, fromView.Strides)
	m.makeBlock(0)
}

// fill sets m to the move of the only element of value to all of a view.
func (m *move) fill(width int, to memory, view shape.View, value *Tensor) {
	m.start(width, to, value.mem)
	m.toStart, m.fromAt = view.Offset, value.view.Offset
	m.addDims(view.Shape, view.Strides, make([]int, len(view.Shape)))
	m.makeBlock(0)
}

// gather sets m to the move from the rows of a frame to a view. The rows are arranged in the n dims
// of the view that follow the frame's outer dims.
func (m *move) gather(width int, to, from memory, view shape.View, f plan.Frame, n int) {
	m.start(width, to, from)
	m.toStart, m.fromAt = view.Offset, f.Kept.Offset
	flat, rows := joinDims(view, f.At, n)
	m.addDims(f.Kept.Shape[:f.At], view.Strides, f.Kept.Strides)
	m.pick(span{len(f.Rows), flat, f.Stride}, rows, f.Rows)
	m.addDims(f.Kept.Shape[f.At:], view.Strides[f.At+n:], f.Kept.Strides[f.At:])
	m.makeBlock(m.picked + 1)
}

// scatter sets m to the move from a view to the rows of a frame, the reverse of gather.
func (m *move) scatter(width int, to, from memory, view shape.View, f plan.Frame, n int) {
	m.start(width, to, from)
	m.toStart, m.fromAt = f.Kept.Offset, view.Offset
	flat, rows := joinDims(view, f.At, n)
	m.addDims(f.Kept.Shape[:f.At], f.Kept.Strides, view.Strides)
	m.pick(span{len(f.Rows), f.Stride, flat}, f.Rows, rows)
	m.addDims(f.Kept.Shape[f.At:], f.Kept.Strides[f.At:], view.Strides[f.At+n:])
	m.makeBlock(m.picked + 1)
}

// listed sets m to the move between two views whose leading dims have the same number of elements,
// row-major, and whose remaining dims are equal.
func (m *move) listed(width int, to, from memory, a shape.View, lead int, b shape.View, other int) {
	m.start(width, to, from)
	m.toStart, m.fromAt = a.Offset, b.Offset
	toStride, toRows := joinDims(a, 0, lead)
	fromStride, fromRows := joinDims(b, 0, other)
	m.pick(span{a.Shape[:lead].Size(), toStride, fromStride}, toRows, fromRows)
	m.addDims(a.Shape[lead:], a.Strides[lead:], b.Strides[other:])
	m.makeBlock(m.picked + 1)
}

// stretches sets m to the move of runs of rows along dim 0 of two views, whose remaining dims are
// equal.
func (m *move) stretches(width int, to, from memory, a, b shape.View, runs []shape.Run) {
	m.start(width, to, from)
	m.toStart, m.fromAt = a.Offset, b.Offset
	m.runs = runs
	m.pick(span{len(runs), a.Strides[0], b.Strides[0]}, nil, nil)
	m.addDims(a.Shape[1:], a.Strides[1:], b.Strides[1:])
	m.makeBlock(m.picked + 1)
}

// pick appends the dim whose rows are listed.
func (m *move) pick(s span, toRows, fromRows []int) {
	m.picked, m.toRows, m.fromRows = m.dims.n, toRows, fromRows
	m.dims.add(s)
}

// joinDims joins n dims of v, from dim at on, into one. It returns the distance between neighbours;
// if they are not evenly spaced, 1 and the position of each.
func joinDims(v shape.View, at, n int) (stride int, rows []int) {
	dims := shape.View{Shape: v.Shape[at : at+n], Strides: v.Strides[at : at+n]}
	stride, even := 0, true // of the dims joined so far, beginning with the last
	size := 1
	for i := n - 1; i >= 0; i-- {
		if dims.Shape[i] == 1 {
			continue
		}
		if size == 1 {
			stride = dims.Strides[i]
		}
		even = even && dims.Strides[i] == stride*size
		size *= dims.Shape[i]
	}
	if even {
		return stride, nil
	}
	rows = make([]int, 0, size)
	for i := range dims.Offsets() {
		rows = append(rows, i)
	}
	return 1, rows
}

// addDims appends dims. It joins each with the one before it if both are laid out alike and that
// one is not picked.
func (m *move) addDims(shape shape.Shape, to, from []int) {
	first := m.dims.n
	for i, n := range shape {
		if n == 1 {
			continue
		}
		if m.dims.n > first {
			if last := m.dims.at(m.dims.n - 1); last.to == n*to[i] && last.from == n*from[i] {
				*last = span{last.n * n, to[i], from[i]}
				continue
			}
		}
		m.dims.add(span{n, to[i], from[i]})
	}
}

// makeBlock makes the last dim the block if it is contiguous on both sides and its index is at
// least first.
func (m *move) makeBlock(first int) {
	if m.dims.n <= first {
		return
	}
	if last := m.dims.at(m.dims.n - 1); last.to == 1 && last.from == 1 {
		m.block = last.n
		m.dims.n--
	}
}

// bytes returns the number of bytes that the move writes.
func (m *move) bytes() int {
	n := m.block * m.width
	for i := range m.dims.n {
		if i == m.picked && m.runs != nil {
			n *= runRows(m.runs)
			continue
		}
		n *= m.dims.at(i).n
	}
	return n
}

func runRows(runs []shape.Run) int {
	n := 0
	for _, r := range runs {
		n += r.Len
	}
	return n
}

// run does the move on at most workers cores. Its sides do not overlap.
func (m *move) run(workers int) error {
	if m.bytes() == 0 {
		return nil
	}
	if err := m.hold(); err != nil {
		return err
	}
	defer m.release()
	if err := m.runHeld(workers); err != nil || m.more {
		return err
	}
	return new(inquiry).intact(m.from, m.to)
}

// runHeld is run of a move whose memory is held. The caller calls Intact.
func (m *move) runHeld(workers int) error {
	if n := m.workers(workers); n > 1 {
		return m.parallel(n)
	}
	return m.part(0, m.outer())
}

// part does positions lo to hi of the outermost dim. A fault in lent memory is an error with the
// lender's name.
func (m *move) part(lo, hi int) error {
	if m.from.loan == nil && m.to.loan == nil {
		m.walkBytes(m.toBytes, m.fromBytes, lo, hi)
		return nil
	}
	c := *m // m stays off the heap
	err := mapping.Guard(func() { c.walkBytes(c.toBytes, c.fromBytes, lo, hi) })
	return nameFault(err, m.toBytes, m.to, m.fromBytes, m.from)
}

// hold borrows the memory of both sides until release is called.
func (m *move) hold() (err error) {
	if m.from.checking() {
		low, high := 0, 0 // of the bytes that m reads
		if m.bytes() > 0 {
			f := m.footprint(false, 0, new(footprints))
			low, high = f.bounds(0)
		}
		m.fromBytes, err = m.from.borrowPart(low, high)
	} else {
		m.fromBytes, err = m.from.borrowUnchecked()
	}
	if err != nil {
		return err
	}
	borrow := memory.borrowToWrite
	if m.half == reads {
		borrow = memory.borrow
	}
	if m.toBytes, err = borrow(m.to); err != nil {
		m.from.giveBack()
		return err
	}
	m.held = true
	return nil
}

func (m *move) release() {
	m.from.giveBack()
	m.to.giveBack()
	m.toBytes, m.fromBytes, m.held, m.later = nil, nil, false, nil
}

// parallelBytes is where a second core begins to pay for a move. To hand over to a goroutine takes
// 0.3 to 0.45 us, and to wake a thread after a pause 1.2 to 5.5 us. From memory beyond the cache a
// free second core gave 1.4 to 1.9 from 64 KiB on, and a busy one 0.92 to 0.98; from the cache it
// lost below 1 MiB, and gave 1.5 at 3 MiB. An epoch of batches took longer with 128 KiB, and as
// long with 1 MiB. (AMD EPYC, 2 virtual cores)
const parallelBytes = 4 << 20

// workers returns the number of cores for the move: 1, unless it is large, its outermost dim can be
// divided, and the order of its writes does not matter.
func (m *move) workers(most int) int {
	n := m.bytes()/parallelBytes + 1
	if n == 1 || m.ordered || m.picked == 0 && (m.toRows != nil || !ascending(m.runs)) {
		return 1
	}
	return workers.Count(most, min(n, m.outer()))
}

// ascending reports whether each run writes rows after the rows of the run before it.
func ascending(runs []shape.Run) bool {
	for i := 1; i < len(runs); i++ {
		if runs[i].To < runs[i-1].To+runs[i-1].Len {
			return false
		}
	}
	return true
}

func (m *move) parallel(n int) error {
	c, outer := *m, m.outer() // m stays off the heap
	return workers.Do(context.Background(), n, n, func(w int) error {
		return c.part(outer*w/n, outer*(w+1)/n)
	})
}

// outer returns the size of the outermost dim, or of the block if there is no dim.
func (m *move) outer() int {
	if m.dims.n == 0 {
		return m.block
	}
	return m.dims.at(0).n
}
