package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Block is some elements of a result and of what they are made of: Rows rows of Width elements.
// It is valid during a call of [Kernel].Elements.
type Block struct {
	Rows, Width int
	DType       DType  // of the result
	Dst         []byte // the elements of the result, without gaps, to be set
	Src         []Lane // of each operand
}

// A Lane is the elements of one operand in a [Block]. It may be the result's own memory, if an
// operation works in place.
type Lane struct {
	Bytes []byte
	DType DType
	Per   Per
}

// Per says how many elements a [Lane] has.
type Per uint8

// The lengths of a [Lane].
const (
	PerElement Per = iota // one for each element of the block
	PerRow                // one for each row
	PerBlock              // a single one
)

// A blockOf is a block of lanes, with room for what it gathers.
type blockOf struct {
	Block
	*lanes
	scratch    [][]byte
	gathered   []gathered // what scratch has of lanes that repeat
	at         []int      // positions of the outer dims
	row, x     int        // the first
	rows, cols int        // how many
}

// locate makes b the i-th block.
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
		b.Dst = b.room(0)
	}
	err := b.kernel.Elements(&b.Block)
	if err == nil && !direct && !b.dry {
		b.move(to, b.Dst, true)
	}
	return err
}

// whole reports whether the block has whole rows, or a part of one, so that what is contiguous in
// all is so in the block.
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
			return Lane{part, a.dtype, per}
		}
	}
	room := b.room(i)
	if has := (gathered{b.x, b.cols, b.rows}); !a.repeats() || !b.gathered[i].covers(has) {
		b.move(a, room, false)
		b.gathered[i] = has
	}
	return Lane{room, a.dtype, PerElement}
}

// repeats reports whether all rows of a lane are one, as those of a tensor [F] on one of [N F].
func (a *lane) repeats() bool {
	for _, stride := range a.outer {
		if stride != 0 {
			return false
		}
	}
	return a.row == 0
}

// A gathered is a part of a lane that repeats: elements of a row, and how many rows.
type gathered struct{ x, cols, rows int }

// covers reports whether what is there begins with another part.
func (s gathered) covers(other gathered) bool {
	return s.x == other.x && s.cols == other.cols && s.rows >= other.rows
}

// first returns where a lane's first element of the block lies.
func (b *blockOf) first(a *lane) int {
	at := a.start + b.row*a.row + b.x*a.x
	for d, stride := range a.outer {
		at += b.at[d] * stride
	}
	return at
}

// room returns scratch for the block's elements of a lane.
func (b *blockOf) room(i int) []byte {
	n := b.rows * b.cols * b.all[i].size
	if cap(b.scratch[i]) < n {
		b.scratch[i] = make([]byte, max(n, b.step[0]*b.step[1]*b.all[i].size))
	}
	return b.scratch[i][:n]
}

// move copies the block's elements of a lane to room, or back.
func (b *blockOf) move(a *lane, room []byte, back bool) {
	shape := shapeops.Shape{b.rows, b.cols}
	far := shapeops.View{Shape: shape, Strides: []int{a.row, a.x}, Offset: b.first(a)}
	near := shapeops.View{Shape: shape, Strides: []int{b.cols, 1}}
	var m move
	if back {
		m.all(a.size, memory{}, memory{}, far, near)
		m.walkBytes(a.bytes, room, 0, m.outer())
	} else {
		m.all(a.size, memory{}, memory{}, near, far)
		m.walkBytes(room, a.bytes, 0, m.outer())
	}
}
