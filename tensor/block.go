package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// A Block is a part of a result and the operands at the same positions: Rows rows of Width
// elements. It is valid during one call of [Kernel].Elements.
type Block struct {
	Rows, Width int
	DType       DType  // of the result
	Dst         []byte // the elements of the result, contiguous; Elements sets them
	Src         []Lane // one for each operand
}

// A Lane is the elements of one operand in a [Block]. It aliases the result if the operation works
// in place.
type Lane struct {
	Bytes []byte
	DType DType
	Per   Per
}

// Per is the number of elements of a [Lane].
type Per uint8

// The lengths of a [Lane].
const (
	PerElement Per = iota // one for each element of the block
	PerRow                // one for each row, which has more than one element
	PerBlock              // a single one
)

// A blockOf is one block of lanes, with scratch memory for operands that are not contiguous.
type blockOf struct {
	Block
	*lanes
	scratch    [][]byte
	gathered   []gathered // the part of each repeating lane that is in scratch
	at         []int      // positions of the outer dims
	row, x     int        // of the first element
	rows, cols int        // size of the block
}

// locate sets b to the i-th block.
func (b *blockOf) locate(i int) {
	across, down := ceilDiv(b.width, b.step[1]), ceilDiv(b.lanes.rows, b.step[0])
	b.x, i = i%across*b.step[1], i/across
	b.row, i = i%down*b.step[0], i/down
	b.cols, b.rows = min(b.step[1], b.width-b.x), min(b.step[0], b.lanes.rows-b.row)
	b.at = b.at[:0]
	for range b.outer {
		b.at = append(b.at, 0)
	}
	for d := len(b.outer) - 1; d >= 0; d-- {
		b.at[d], i = i%b.outer[d], i/b.outer[d]
	}
}

// do runs the kernel on the block.
func (b *blockOf) do() error {
	b.Rows, b.Width = b.rows, b.cols
	for i := range b.Src {
		b.Src[i] = b.lane(i + 1)
	}
	to := &b.all[0]
	per, direct := b.per(to)
	if direct = direct && per == PerElement && b.whole() && !b.dry; direct {
		at := b.first(to) * to.size
		b.Dst = to.bytes[at : at+b.rows*b.cols*to.size]
		direct = cast.Aligned(b.Dst, to.size)
	}
	if !direct {
		b.Dst = b.arena(0)
	}
	err := b.kernel.Elements(&b.Block)
	if err == nil && !direct && !b.dry {
		b.move(to, b.Dst, true)
	}
	return err
}

// whole reports whether the block consists of whole rows, or of a part of one row. Then a
// contiguous operand is contiguous within the block too.
func (b *blockOf) whole() bool { return b.cols == b.width || b.rows == 1 }

// lane returns the elements of an operand.
func (b *blockOf) lane(i int) Lane {
	a := &b.all[i]
	per, direct := b.per(a)
	n := 1
	switch per {
	case PerElement:
		n = b.rows * b.cols
	case PerRow:
		n = b.rows
	}
	if direct && (per != PerElement || b.whole()) {
		at := b.first(a) * a.size
		if part := a.bytes[at : at+n*a.size]; cast.Aligned(part, a.size) {
			if b.cols == 1 && per == PerRow {
				per = PerElement
			}
			return Lane{part, a.dtype, per}
		}
	}
	arena := b.arena(i)
	if has := (gathered{b.x, b.cols, b.rows}); !a.repeats() || !b.gathered[i].covers(has) {
		b.move(a, arena, false)
		b.gathered[i] = has
	}
	return Lane{arena, a.dtype, PerElement}
}

// repeats reports whether all rows of a lane are the same memory, as for a tensor [F] broadcast to
// [N F].
func (a *lane) repeats() bool {
	for _, stride := range a.outer {
		if stride != 0 {
			return false
		}
	}
	return a.row == 0
}

// A gathered is the part of a repeating lane that is in scratch: elements x to x+cols of a row,
// repeated for rows rows.
type gathered struct{ x, cols, rows int }

// covers reports whether s begins with the part other.
func (s gathered) covers(other gathered) bool {
	return s.x == other.x && s.cols == other.cols && s.rows >= other.rows
}

// first returns the index of a lane's first element of the block.
func (b *blockOf) first(a *lane) int {
	at := a.start + b.row*a.row + b.x*a.x
	for d, stride := range a.outer {
		at += b.at[d] * stride
	}
	return at
}

// room returns scratch memory for the i-th operand of the block.
func (b *blockOf) arena(i int) []byte {
	n := b.rows * b.cols * b.all[i].size
	if cap(b.scratch[i]) < n {
		b.scratch[i] = make([]byte, max(n, b.step[0]*b.step[1]*b.all[i].size))
	}
	return b.scratch[i][:n]
}

// move copies the block's elements of a lane to room, or from room if back is true.
func (b *blockOf) move(a *lane, arena []byte, back bool) {
	sizes := shape.Shape{b.rows, b.cols}
	far := shape.View{Shape: sizes, Strides: []int{a.row, a.x}, Offset: b.first(a)}
	near := shape.View{Shape: sizes, Strides: []int{b.cols, 1}}
	var m move
	if back {
		m.all(a.size, memory{}, memory{}, far, near)
		m.walkBytes(a.bytes, arena, 0, m.outer())
	} else {
		m.all(a.size, memory{}, memory{}, near, far)
		m.walkBytes(arena, a.bytes, 0, m.outer())
	}
}
