package tensor

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// stagedBytes is the most that a Transfer copies to new memory because it is going to be
// overwritten before it is read.
const stagedBytes = 64 << 20

var (
	errOverlap  = fmt.Errorf("%w by more than %d MiB: clone the source first", ErrOverlap, stagedBytes>>20)
	errCrossing = fmt.Errorf("%w: one copy reads what another writes: clone the source first", ErrOverlap)
)

// resolve decides how to do a move whose sides may overlap: as it is if they do not, in memmove's
// order if that suffices, otherwise through new memory. It returns ErrOverlap if the copy would be
// too large.
func (m *move) resolve(arena *footprints) error {
	distance, shared := shift(m.to, m.from)
	if !shared || m.bytes() == 0 {
		return nil
	}
	arena.dims, arena.rows = arena.dims[:0], arena.rows[:0]
	if m.footprint(true, 0, arena).apart(m.footprint(false, distance, arena)) {
		return nil
	}
	by := m.toStart*m.width - m.fromAt*m.width - distance
	if m.staged = !m.order(by); m.staged && m.source() > stagedBytes {
		return errOverlap
	}
	return nil
}

// order tries to order m so that it reads every element before it overwrites it, as memmove does.
// by is the distance in bytes from source to destination. It reports whether that is possible: both
// sides have equal strides, and rows do not overlap and are not listed; or each element is copied
// onto itself.
func (m *move) order(by int) bool {
	if (m.toRows != nil || m.fromRows != nil || m.runs != nil) && (by != 0 || m.reorders()) {
		return false
	}
	if max(by, -by) < m.block*m.width && by != 0 && !m.oneAddress() {
		return false // memmove compares addresses, which differ here
	}
	extent := m.block // of a row, in elements
	for i := m.dims.n - 1; i >= 0; i-- {
		d := m.dims.at(i)
		if d.to != d.from || by != 0 && max(d.to, -d.to) < extent {
			return false
		}
		extent += (d.n - 1) * max(d.to, -d.to)
		if d.to > 0 == (by > 0) { // the destination comes after the source: the last row first
			m.toStart, m.fromAt = m.toStart+(d.n-1)*d.to, m.fromAt+(d.n-1)*d.to
			d.to, d.from = -d.to, -d.to
		}
	}
	m.ordered = by != 0
	return true
}

// oneAddress reports whether the bytes that both sides share have one address. Two mappings of one
// file have two.
func (m *move) oneAddress() bool {
	to, from := m.to.loan, m.from.loan
	return to == nil && from == nil || to != nil && from != nil && to.lender == from.lender
}

// reorders reports whether some listed row is written to a row other than the one it is read from.
func (m *move) reorders() bool {
	for _, r := range m.runs {
		if r.To != r.From {
			return true
		}
	}
	for i := range max(len(m.toRows), len(m.fromRows)) {
		if row(m.toRows, i) != row(m.fromRows, i) {
			return true
		}
	}
	return false
}

// source returns the number of distinct bytes that m reads.
func (m *move) source() int {
	in, _ := m.parted(nil)
	return in.bytes()
}

// parted splits m into a move from its source to b, side by side, and a move from b to its
// destination.
func (m *move) parted(b []byte) (in, out move) {
	in, out = *m, *m
	in.dims.more, out.dims.more = slices.Clone(m.dims.more), slices.Clone(m.dims.more)
	in.to, in.toBytes, in.toStart, in.toRows = memory{bytes: b}, b, 0, nil
	out.from, out.fromBytes, out.fromAt, out.fromRows = in.to, b, 0, nil
	in.runs, out.runs = sideBySide(m.runs)
	size := m.block
	for i := m.dims.n - 1; i >= 0; i-- {
		d := *m.dims.at(i)
		in.dims.at(i).to, out.dims.at(i).from = size, size
		switch {
		case i == m.picked && m.runs != nil:
			size *= runRows(m.runs)
		case d.from == 0:
			in.dims.at(i).n, out.dims.at(i).from = 1, 0
			if i == m.picked {
				in.fromRows = nil // they are all one row
			}
		default:
			size *= d.n
		}
	}
	return in, out
}

// sideBySide splits runs into runs to consecutive rows, and runs from these rows.
func sideBySide(runs []shape.Run) (in, out []shape.Run) {
	in, out = slices.Clone(runs), slices.Clone(runs)
	at := 0
	for i := range runs {
		in[i].To, out[i].From = at, at
		at += runs[i].Len
	}
	return in, out
}

// stage copies the sources that would be overwritten before they are read.
func (tr *Transfer) stage() error {
	total := 0
	for i := range tr.moves {
		if m := &tr.moves[i]; m.staged {
			total += m.source()
		}
	}
	if total > stagedBytes {
		return errOverlap
	}
	for i := range tr.moves {
		m := &tr.moves[i]
		if !m.staged || !m.held {
			continue
		}
		in, out := m.parted(cast.Uninit(m.source()))
		if err := in.runHeld(tr.Workers); err != nil {
			return err
		}
		m.later = &out
	}
	return nil
}

// inPlaceOf reports whether each element of t lies where the element of u at the same position
// lies.
func (t *Tensor) inPlaceOf(u *Tensor) bool {
	distance, shared := shift(t.mem, u.mem)
	width := t.dtype.Size()
	return shared && width == u.dtype.Size() && t.view.Offset*width == distance+u.view.Offset*width &&
		sameView(t.view, u.view)
}
