package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
)

// walkBytes does positions lo to hi of the outermost dim, with the widest item that fits.
func (m *move) walkBytes(to, from []byte, lo, hi int) {
	if m.dims.n > 1 && m.picked == noDim && !m.ordered && m.byPlanes(to, from, lo, hi) {
		return
	}
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
	if !done { // blocks, or bytes not aligned for the item
		walk(m, to, from, m.width, lo, hi)
	}
}

// walkItems does the move by items of type T. It returns false if the bytes are not aligned for T.
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

// walk does positions lo to hi of the outermost dim. An element is unit items of T.
func walk[T any](m *move, to, from []T, unit, lo, hi int) {
	t, f := m.toStart*unit, m.fromAt*unit
	if m.dims.n == 0 {
		copy(to[t+lo*unit:t+hi*unit], from[f+lo*unit:])
		return
	}
	w := walker[T]{move: m, to: to, from: from, unit: unit, n: m.block * unit}
	w.dim(0, lo, hi, t, f)
}

// A walker does a move by items of type T.
type walker[T any] struct {
	*move
	to, from []T
	unit     int // items in an element
	n        int // items in a block

	touched [2]T // the last items read ahead of their copy
}

// dim does positions lo to hi of one dim. t and f are the items at its position 0.
func (w *walker[T]) dim(dim, lo, hi, t, f int) {
	d := *w.dims.at(dim)
	d.to, d.from = d.to*w.unit, d.from*w.unit
	switch {
	case dim == w.picked && w.runs != nil:
		for _, r := range w.runs[lo:hi] {
			w.stretch(dim, d, r.Len, t+r.To*d.to, f+r.From*d.from)
		}
	case dim == w.picked && (w.toRows != nil || w.fromRows != nil):
		w.rows(dim, d, lo, hi, t, f)
	default:
		w.stretch(dim, d, hi-lo, t+lo*d.to, f+lo*d.from)
	}
}

// stretch does count consecutive positions of one dim.
func (w *walker[T]) stretch(dim int, d span, count, t, f int) {
	switch {
	case dim == w.dims.n-2 && w.n == 1 && dim+1 != w.picked && w.interleaves(d, *w.dims.at(dim + 1)):
		times := w.dims.at(dim + 1).n
		interleave(w.to[t:t+count*times], w.from[f:f+count], times)
	case dim < w.dims.n-1:
		inner := w.dims.at(dim + 1).n
		for i := range count {
			w.dim(dim+1, 0, inner, t+i*d.to, f+i*d.from)
		}
	case d.to == w.n && d.from == w.n:
		copy(w.to[t:t+count*w.n], w.from[f:])
	case w.n == 1 && d.from == 0 && d.to == 1:
		fill(w.to[t:t+count], w.from[f])
	case w.n == 1 && d.from == -1 && d.to == 1:
		reverse(w.to[t:t+count], w.from[f-count+1:f+1])
	case w.n == 1:
		line(w.to, w.from, d, count, t, f)
	default:
		for i := range count {
			copy(w.to[t+i*d.to:t+i*d.to+w.n], w.from[f+i*d.from:])
		}
	}
}

// interleaves reports whether a dim and the dim inside it write side by side what repeats each of a
// row of contiguous elements.
func (w *walker[T]) interleaves(d, inner span) bool {
	return inner.from == 0 && inner.to*w.unit == 1 && d.from == 1 && d.to == inner.n
}

// interleave writes each element of from times times.
func interleave[T any](to, from []T, times int) {
	if times == 2 {
		for _, v := range from {
			to[0], to[1] = v, v
			to = to[2:]
		}
		return
	}
	for _, v := range from {
		fill(to[:times], v)
		to = to[times:]
	}
}

// fill sets elements four at a time. A loop over single elements is half as fast where its code
// happens to cross a cache line.
func fill[T any](to []T, v T) {
	for ; len(to) >= 4; to = to[4:] {
		to[0], to[1], to[2], to[3] = v, v, v, v
	}
	for i := range to {
		to[i] = v
	}
}

// reverse copies contiguous elements in reverse order.
func reverse[T any](to, from []T) {
	last := len(from) - 1
	for i := range to {
		to[i] = from[last-i]
	}
}

func line[T any](to, from []T, d span, count, t, f int) {
	for i := range count {
		to[t+i*d.to] = from[f+i*d.from]
	}
}

// rows does positions lo to hi of the dim whose rows are listed.
func (w *walker[T]) rows(dim int, d span, lo, hi, t, f int) {
	if dim == w.dims.n-1 {
		w.pickedLine(d, lo, hi, t, f)
		return
	}
	inner := w.dims.at(dim + 1).n
	for i := lo; i < hi; i++ {
		w.dim(dim+1, 0, inner, t+row(w.toRows, i)*d.to, f+row(w.fromRows, i)*d.from)
	}
}

// row returns the i-th listed row; without a list, row i.
func row(rows []int, i int) int {
	if rows == nil {
		return i
	}
	return rows[i]
}

// pickedLine does listed rows that are blocks or single items.
func (w *walker[T]) pickedLine(d span, lo, hi, t, f int) {
	to, from, n := w.to, w.from, w.n
	switch {
	case w.toRows != nil && w.fromRows != nil:
		for i := lo; i < hi; i++ {
			a, b := t+w.toRows[i]*d.to, f+w.fromRows[i]*d.from
			copy(to[a:a+n], from[b:])
		}
	case w.toRows != nil && n == 1:
		for i, row := range w.toRows[lo:hi] {
			to[t+row*d.to] = from[f+(lo+i)*d.from]
		}
	case w.toRows != nil:
		for i, row := range w.toRows[lo:hi] {
			copy(to[t+row*d.to:t+row*d.to+n], from[f+(lo+i)*d.from:])
		}
	case n == 1:
		for i, row := range w.fromRows[lo:hi] {
			to[t+(lo+i)*d.to] = from[f+row*d.from]
		}
	case n >= touchedBlock:
		w.touching(d, lo, hi, t, f)
	default:
		for i, row := range w.fromRows[lo:hi] {
			copy(to[t+(lo+i)*d.to:t+(lo+i)*d.to+n], from[f+row*d.from:])
		}
	}
}

// touchedBlock is from how many items on a block is worth being touched before it is copied.
const touchedBlock = 1024

// touching is pickedLine for large blocks at random positions. It reads a byte of the next block
// before it copies one, so that the next block is on its way from memory.
func (w *walker[T]) touching(d span, lo, hi, t, f int) {
	to, from, n, rows := w.to, w.from, w.n, w.fromRows[lo:hi]
	for i, row := range rows {
		if i+1 < len(rows) {
			next := f + rows[i+1]*d.from
			w.touched = [2]T{from[next], from[next+n/2]}
		}
		copy(to[t+(lo+i)*d.to:t+(lo+i)*d.to+n], from[f+row*d.from:])
	}
}
