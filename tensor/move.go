package tensor

import (
	"errors"
	"runtime"
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A move copies the elements of one view to those of another of the same shape. It looks at no value, only at how
// wide an element is. Dims that lie alike on both sides are one; what lies without gaps on both is one block.
type move struct {
	to, from memory
	width    int   // bytes of an element
	dims     spans // outermost first; not those within a block
	block    int   // elements that lie side by side in to and from
	toStart  int   // elements
	fromAt   int   // elements

	rows    []int // if not nil, positions along dim picked on one side
	picked  int   // index into dims
	scatter bool  // rows are positions of to, not of from

	private bool // to is memory that only the Transfer of the move knows

	toBytes, fromBytes []byte // between hold and release
	held               bool
}

// A span is one dim of a move: its size, and the elements between neighbours on either side.
type span struct{ n, to, from int }

// spans is a list that needs no memory of its own while it is short, so that a move can live on the stack.
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

// all makes m the move between two views of equal shape.
func (m *move) all(width int, to, from memory, toView, fromView shapeops.View) {
	m.width, m.to, m.from = width, to, from
	m.toStart, m.fromAt = toView.Offset, fromView.Offset
	m.block = 1
	m.addDims(toView.Shape, toView.Strides, fromView.Strides)
	m.makeBlock(0)
}

// pick makes m the move between a view and the rows of a frame: from the rows, or to them.
func (m *move) pick(width int, to, from memory, view shapeops.View, f shapeops.Frame, scatter bool) {
	m.width, m.to, m.from = width, to, from
	m.block, m.rows, m.scatter = 1, f.Rows, scatter
	m.toStart, m.fromAt = view.Offset, f.Kept.Offset
	row := span{len(f.Rows), view.Strides[f.At], f.Stride}
	if scatter {
		m.toStart, m.fromAt = m.fromAt, m.toStart
		row.to, row.from = row.from, row.to
	}
	m.addKept(f.Kept.Shape[:f.At], view.Strides, f.Kept.Strides)
	m.picked = m.dims.n
	m.dims.add(row)
	m.addKept(f.Kept.Shape[f.At:], view.Strides[f.At+1:], f.Kept.Strides[f.At:])
	m.makeBlock(m.picked + 1)
}

// addKept appends dims that are not picked from, given their strides in the view and in the frame.
func (m *move) addKept(shape shapeops.Shape, view, kept []int) {
	if m.scatter {
		view, kept = kept, view
	}
	m.addDims(shape, view, kept)
}

// addDims appends dims, joining each with the one before it if that is not picked and both lie alike.
func (m *move) addDims(shape shapeops.Shape, to, from []int) {
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

// makeBlock turns the last dim into the block, if it lies without gaps and is not before dim first.
func (m *move) makeBlock(first int) {
	if m.dims.n <= first {
		return
	}
	if last := m.dims.at(m.dims.n - 1); last.to == 1 && last.from == 1 {
		m.block = last.n
		m.dims.n--
	}
}

// bytes returns how much the move writes.
func (m *move) bytes() int {
	n := m.block * m.width
	for i := range m.dims.n {
		n *= m.dims.at(i).n
	}
	return n
}

// run does the move. The caller has checked that the sides do not overlap.
func (m *move) run() error {
	if m.bytes() == 0 {
		return nil
	}
	if !m.held {
		if err := m.hold(); err != nil {
			return err
		}
		defer m.release()
	}
	if n := m.workers(); n > 1 {
		return m.fault(m.parallel(m.toBytes, m.fromBytes, n))
	}
	return m.fault(m.part(m.toBytes, m.fromBytes, 0, m.outer()))
}

// part does positions lo to hi of the outermost dim. A fault in lent memory is an error.
func (m *move) part(to, from []byte, lo, hi int) error {
	if m.from.lender == nil && m.to.lender == nil {
		m.walkBytes(to, from, lo, hi)
		return nil
	}
	c := *m // m stays off the heap
	return mapping.Guard(func() { c.walkBytes(to, from, lo, hi) })
}

// fault adds to the error of a fault whose memory it may have been.
func (m *move) fault(err error) error {
	if err != nil && m.from.lender != nil {
		return m.from.fault(err)
	}
	return m.to.fault(err)
}

// hold borrows the memory of both sides until release. A lender that is closed meanwhile waits.
func (m *move) hold() (err error) {
	if m.fromBytes, err = m.from.borrow(); err != nil {
		return err
	}
	if m.toBytes, err = m.to.borrow(); err != nil {
		m.from.giveBack()
		return err
	}
	m.held = true
	return nil
}

func (m *move) release() {
	m.from.giveBack()
	m.to.giveBack()
	m.toBytes, m.fromBytes, m.held = nil, nil, false
}

// parallelBytes is where a second core begins to pay for a move.
const parallelBytes = 4 << 20

// workers returns on how many cores the move is done: one, unless it is large, its outermost dim can be cut, and the order
// of what it writes does not matter.
func (m *move) workers() int {
	n := m.bytes()/parallelBytes + 1
	if n == 1 || m.scatter {
		return 1
	}
	return min(n, m.outer(), runtime.GOMAXPROCS(0))
}

func (m *move) parallel(to, from []byte, workers int) error {
	var wg sync.WaitGroup
	c, n := *m, m.outer() // m stays off the heap
	failed := make([]error, workers)
	for w := range workers {
		wg.Go(func() { failed[w] = c.part(to, from, n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
	return errors.Join(failed...)
}

// outer returns the size of the outermost dim: that of the block if there is no other.
func (m *move) outer() int {
	if m.dims.n == 0 {
		return m.block
	}
	return m.dims.at(0).n
}

// walkBytes does positions lo to hi of the outermost dim, with the widest kernel that fits.
func (m *move) walkBytes(to, from []byte, lo, hi int) {
	done := false
	if m.block == 1 {
		switch m.width {
		case 1:
			done = walkItems[uint8](m, to, from, lo, hi)
		case 2:
			done = walkItems[uint16](m, to, from, lo, hi)
		case 4:
			done = walkItems[uint32](m, to, from, lo, hi)
		case 8:
			done = walkItems[uint64](m, to, from, lo, hi)
		case 16:
			done = walkItems[[2]uint64](m, to, from, lo, hi)
		}
	}
	if !done { // blocks, or bytes that are not aligned for an item
		walk(m, to, from, m.width, lo, hi)
	}
}

// walkItems does the move by items of type T, or returns false if the bytes are not aligned for them.
func walkItems[T cast.Fixed](m *move, to, from []byte, lo, hi int) bool {
	size := cast.Size[T]()
	a, aligned := cast.Slice[T](to[:len(to)/size*size])
	b, alsoAligned := cast.Slice[T](from[:len(from)/size*size])
	if !aligned || !alsoAligned {
		return false
	}
	walk(m, a, b, 1, lo, hi)
	return true
}

// walk does positions lo to hi of the outermost dim. unit is how many T an element is.
func walk[T any](m *move, to, from []T, unit, lo, hi int) {
	t, f := m.toStart*unit, m.fromAt*unit
	if m.dims.n == 0 {
		copy(to[t+lo*unit:t+hi*unit], from[f+lo*unit:])
		return
	}
	walkDim(m, to, from, unit, 0, lo, hi, t, f)
}

// walkDim does positions lo to hi of one dim; t and f are where its position 0 begins.
func walkDim[T any](m *move, to, from []T, unit, dim, lo, hi, t, f int) {
	d := *m.dims.at(dim)
	d.to, d.from = d.to*unit, d.from*unit
	rows := []int(nil)
	if m.rows != nil && dim == m.picked {
		rows = m.rows
	}
	if dim == m.dims.n-1 {
		line(to, from, d, rows, m.scatter, m.block*unit, lo, hi, t, f)
		return
	}
	for i := lo; i < hi; i++ {
		ti, fi := i, i
		if rows != nil && m.scatter {
			ti = rows[i]
		} else if rows != nil {
			fi = rows[i]
		}
		walkDim(m, to, from, unit, dim+1, 0, m.dims.at(dim+1).n, t+ti*d.to, f+fi*d.from)
	}
}

// line does the innermost dim: blocks of n items, or single items.
func line[T any](to, from []T, d span, rows []int, scatter bool, n, lo, hi, t, f int) {
	switch {
	case rows == nil && n == 1:
		for i := lo; i < hi; i++ {
			to[t+i*d.to] = from[f+i*d.from]
		}
	case rows == nil:
		for i := lo; i < hi; i++ {
			copy(to[t+i*d.to:t+i*d.to+n], from[f+i*d.from:])
		}
	case scatter && n == 1:
		for i, row := range rows[lo:hi] {
			to[t+row*d.to] = from[f+(lo+i)*d.from]
		}
	case scatter:
		for i, row := range rows[lo:hi] {
			copy(to[t+row*d.to:t+row*d.to+n], from[f+(lo+i)*d.from:])
		}
	case n == 1:
		for i, row := range rows[lo:hi] {
			to[t+(lo+i)*d.to] = from[f+row*d.from]
		}
	default:
		for i, row := range rows[lo:hi] {
			copy(to[t+(lo+i)*d.to:t+(lo+i)*d.to+n], from[f+row*d.from:])
		}
	}
}
