package arith

import (
	"encoding/binary"
	mathbits "math/bits"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fold reduces one line, or several lines side by side, to one result each. It takes the elements
// of a line in order, some at a time. It is reused for one set of lines after another, on one core.
type fold[T, D any] interface {
	// begin starts the given number of lines. Their results begin at number at.
	begin(at, lines int)
	// line takes elements of the only line. The first is at position at of the line. An element
	// counts unless its bit is 0; bits is nil if all count, otherwise x has at most maskChunk
	// elements.
	line(at int, x []T, bits []byte)
	// rows takes rows of x, each with one element for each line.
	rows(x []T, r rowList)
	// end sets dst to the results.
	end(dst []D) error
}

// A rowList lists rows: offs are their offsets in a slice, at their positions in the lines, which
// ascend. Rows at other positions do not count. If bits is not nil, the elements of row i count
// whose bit, from bits[bitOffs[i]] on, is 1, and there are at most maskChunk elements or one row.
type rowList struct {
	offs, at []int
	bits     []byte
	bitOffs  []int
}

// first removes the first n rows and returns them.
func (r *rowList) first(n int) rowList {
	head := *r
	head.offs, head.at, r.offs, r.at = r.offs[:n], r.at[:n], r.offs[n:], r.at[n:]
	if r.bits != nil {
		head.bitOffs, r.bitOffs = r.bitOffs[:n], r.bitOffs[n:]
	}
	return head
}

// counts reports whether an element of a row counts.
func (r *rowList) counts(row, element int) bool {
	return r.bits == nil || r.bits[r.bitOffs[row]+element] != 0
}

// A liner is a fold that takes many short lines of n elements in one call. Their results begin at
// number at. With bits, there are at most maskChunk elements.
type liner[T, D any] interface {
	lines(at int, dst []D, x []T, n int, bits []byte) error
}

// A grouper is a fold that takes many short groups of a line in one call.
type grouper[T, D any] interface {
	groups(at int, dst []D, x []T, splits []int64) error
}

// A joiner is a fold that can be joined with the fold of the elements that follow its own, from
// position at on, which is a multiple of pieceRows.
type joiner[T, D any] interface {
	join(next fold[T, D], at int)
}

// foldLines reduces each line of n elements.
func foldLines[T, D any](f fold[T, D], at int, dst []D, x []T, n int, bits []byte) error {
	if l, ok := f.(liner[T, D]); ok {
		return l.lines(at, dst, x, n, bits)
	}
	for i := range dst {
		f.begin(at+i, 1)
		f.line(0, x[i*n:(i+1)*n], partOf(bits, i*n, n))
		if err := f.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// partOf returns the n bits from position at on, or nil if bits is nil.
func partOf(bits []byte, at, n int) []byte {
	if bits == nil {
		return nil
	}
	return bits[at : at+n]
}

// foldGroups reduces each group of a line. x begins with the first group.
func foldGroups[T, D any](f fold[T, D], at int, dst []D, x []T, splits []int64) error {
	if g, ok := f.(grouper[T, D]); ok {
		return g.groups(at, dst, x, splits)
	}
	for i := range dst {
		f.begin(at+i, 1)
		f.line(0, x[splits[i]-splits[0]:splits[i+1]-splits[0]], nil)
		if err := f.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// A blender replaces the elements that do not count by the neutral element of a fold.
type blender[T cast.Fixed] struct {
	room    []T
	offs    []int
	neutral [1]T
}

// line returns the elements of a line.
func (b *blender[T]) line(x []T, bits []byte, neutral T) []T {
	if bits == nil {
		return x
	}
	b.room = grown(b.room, len(x))
	b.neutral[0] = neutral
	b.blend(b.room[:len(x)], x, bits)
	return b.room[:len(x)]
}

// rows returns rows of n elements.
func (b *blender[T]) rows(x []T, r rowList, n int, neutral T) ([]T, rowList) {
	if r.bits == nil {
		return x, r
	}
	b.room, b.offs = grown(b.room, n*len(r.offs)), b.offs[:0]
	at, bit, last := r.offs[0], r.bitOffs[0], len(r.offs)-1
	together := r.offs[last]-at == last*n && r.bitOffs[last]-bit == last*n // no gap between rows
	if b.neutral[0] = neutral; together {
		b.blend(b.room[:n*len(r.offs)], x[at:], r.bits[bit:][:n*len(r.offs)])
	}
	for i, off := range r.offs {
		if !together {
			b.blend(b.room[i*n:(i+1)*n], x[off:], r.bits[r.bitOffs[i]:][:n])
		}
		b.offs = append(b.offs, i*n)
	}
	return b.room, rowList{offs: b.offs, at: r.at}
}

// blend sets dst to x where a bit is 1, and to the neutral element where it is 0.
func (b *blender[T]) blend(dst, x []T, bits []byte) {
	to, from, neutral := cast.Bytes(dst), cast.Bytes(x[:len(dst)]), cast.Bytes(b.neutral[:])
	switch d := ofWidth[cast.Size[T]()]; d {
	case tensor.Uint32:
		vector.Blend(items[float32](to), items[float32](from), bits, items[float32](neutral)[0])
	case tensor.Uint64:
		vector.Blend(items[float64](to), items[float64](from), bits, items[float64](neutral)[0])
	default:
		chooseElements(to, bits, tensor.Lane{Bytes: from, DType: d}, tensor.Lane{Bytes: neutral, DType: d, Per: tensor.PerBlock})
	}
}

// ofWidth has a dtype for each width in bytes.
var ofWidth = [...]tensor.DType{1: tensor.Uint8, 2: tensor.Uint16, 4: tensor.Uint32, 8: tensor.Uint64, 16: tensor.Complex128}

// A counter counts the elements that count of each line.
type counter struct {
	all int   // of every line
	own []int // of each line besides, or empty
}

func (c *counter) begin() { c.all, c.own = 0, c.own[:0] }

// line counts n elements of the only line.
func (c *counter) line(n int, bits []byte) {
	if bits != nil {
		n = ones(bits)
	}
	c.all += n
}

// rows counts the elements of rows.
func (c *counter) rows(r rowList, lines int) {
	if r.bits == nil {
		c.all += len(r.offs)
		return
	}
	if len(c.own) == 0 {
		c.own = zeros(c.own, lines)
	}
	for _, off := range r.bitOffs {
		for i, b := range r.bits[off:][:len(c.own)] {
			c.own[i] += int(b)
		}
	}
}

// of returns the count of a line.
func (c *counter) of(line int) int {
	if len(c.own) == 0 {
		return c.all
	}
	return c.all + c.own[line]
}

func (c *counter) join(next *counter) {
	c.all += next.all
	if len(c.own) == 0 {
		c.own = append(c.own, next.own...)
		return
	}
	for i, n := range next.own {
		c.own[i] += n
	}
}

// ones returns the number of bits, each a byte, that are 1.
func ones(bits []byte) (n int) {
	for ; len(bits) >= 8; bits = bits[8:] {
		n += mathbits.OnesCount64(binary.NativeEndian.Uint64(bits))
	}
	for _, b := range bits {
		n += int(b)
	}
	return n
}

// wideChunk is the number of elements that are widened at once. It is a multiple of sumBlock.
const wideChunk = 2048

// A wideFold is a fold that widens or changes elements, and gives them to another fold.
type wideFold[S, T, D any] struct {
	fold[T, D]
	// widen sets dst to the elements src, of which the first per are of line number line, the next
	// per of the line after it, and so on.
	widen      func(dst []T, src []S, line, per int)
	at, nlines int
	room       []T
	list       []int
}

// widenRecipe returns the recipe r with elements widened first.
func widenRecipe[S, T, D element](r recipe[T, D], to func(dst []T, src []S)) recipe[S, D] {
	widen := func(dst []T, src []S, _, _ int) { to(dst, src) }
	out := recipe[S, D]{joins: r.joins, tile: r.tile, slow: r.slow}
	out.fold = func(first []D) fold[S, D] { return &wideFold[S, T, D]{fold: r.fold(first), widen: widen} }
	if r.first != nil {
		out.first = func() fold[S, D] { return &wideFold[S, T, D]{fold: r.first(), widen: widen} }
	}
	return out
}

// grown returns room if it has n elements, otherwise new memory of n elements.
func grown[T any](room []T, n int) []T {
	if len(room) < n {
		return make([]T, n)
	}
	return room
}

func (w *wideFold[S, T, D]) begin(at, lines int) {
	w.fold.begin(at, lines)
	w.at, w.nlines = at, lines
}

func (w *wideFold[S, T, D]) line(at int, x []S, bits []byte) {
	for from := 0; from < len(x); from += wideChunk {
		n := min(len(x)-from, wideChunk)
		w.room = grown(w.room, n)
		w.widen(w.room[:n], x[from:from+n], w.at, n)
		w.fold.line(at+from, w.room[:n], partOf(bits, from, n))
	}
}

func (w *wideFold[S, T, D]) rows(x []S, r rowList) {
	w.room = grown(w.room, max(w.nlines, min(wideChunk, w.nlines*len(r.at))))
	for n := w.nlines; len(r.at) > 0; {
		part := r.first(min(len(r.at), max(1, len(w.room)/n)))
		w.list = w.list[:0]
		for i, off := range part.offs {
			w.widen(w.room[i*n:(i+1)*n], x[off:off+n], w.at, 1)
			w.list = append(w.list, i*n)
		}
		part.offs = w.list
		w.fold.rows(w.room, part)
	}
}

func (w *wideFold[S, T, D]) lines(at int, dst []D, x []S, n int, bits []byte) error {
	most := wideChunk / max(1, n)
	w.room = grown(w.room, min(wideChunk, len(x)))
	for from := 0; from < len(dst) && most > 0; from += most {
		k := min(most, len(dst)-from)
		w.widen(w.room[:k*n], x[from*n:(from+k)*n], at+from, n)
		if err := foldLines(w.fold, at+from, dst[from:from+k], w.room[:k*n], n, partOf(bits, from*n, k*n)); err != nil {
			return err
		}
	}
	for i := 0; i < len(dst) && most == 0; i++ {
		w.begin(at+i, 1)
		w.line(0, x[i*n:(i+1)*n], partOf(bits, i*n, n))
		if err := w.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *wideFold[S, T, D]) join(next fold[S, D], at int) {
	w.fold.(joiner[T, D]).join(next.(*wideFold[S, T, D]).fold, at)
}
