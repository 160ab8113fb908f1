package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

const (
	smallBytes = 64 << 10 // a result of at most so many bytes lies in a block with others
	blockBytes = 1 << 20  // the largest block
	alignBytes = 16       // of each result in a block
)

// A Need says what the tensors that an operation is about to make will take.
type Need struct {
	tensors int // their number
	views   int // of which numbers are kept
	bytes   int // of the copies among them that are small, all together
}

// Add adds what a pass makes of t, whose shape begins with that of the pass's plan.
func (n *Need) Add(p *shapeops.Pass, t *Tensor) {
	n.tensors++
	n.views++
	to, rank := shapeops.Shape(nil), 0
	switch {
	case p.Join != nil:
		to, rank = p.Join.Shape(), p.Join.Rank()
	case p.Plan.Pick() != nil:
		to, rank = p.Plan.Shape(), len(p.Plan.From())
		n.views++ // its frame
	default:
		return // a view, mostly
	}
	rows, row := to.Size(), t.view.Shape[rank:].Size()*t.dtype.Size()
	if row > 0 && rows <= smallBytes/row {
		n.bytes += padded(rows * row)
	}
}

// padded returns the bytes that n bytes take in a block.
func padded(n int) int { return (n + alignBytes - 1) &^ (alignBytes - 1) }

// NewPass returns a pass of plan that is furnished for n.
func NewPass(plan *shapeops.Plan, n Need) *shapeops.Pass {
	f := &struct {
		pass shapeops.Pass
		room room
	}{pass: shapeops.Pass{Plan: plan}}
	f.room.furnish(&f.pass, n)
	return &f.pass
}

// Furnish gives a pass room for the tensors of a collection, unless it has that: their headers come
// in one block of memory, and so do the elements of copies up to 64 KiB, in blocks of at most 1
// MiB. Keeping one of these tensors keeps its blocks, and what the views among the others are views
// of.
func Furnish(p *shapeops.Pass, n Need) {
	if !Furnished(p) {
		new(room).furnish(p, n)
	}
}

// Furnished reports whether a pass has room for tensors.
func Furnished(p *shapeops.Pass) bool { return roomOf(p) != nil }

func (r *room) furnish(p *shapeops.Pass, n Need) {
	r.expected, r.bytes = n.tensors, n.bytes
	p.Expect(n.views)
	_, _ = shapeops.Once(p, roomKey{}, func() (*room, error) { return r, nil })
}

// A room is where the tensors of a pass find their headers and, if they are small, their elements.
// The nil room has none.
type room struct {
	headers  []Tensor
	block    []byte
	expected int // tensors that are still to come
	bytes    int // bytes of small copies that are still to come
}

type roomKey struct{}

// roomOf returns the room of a pass, or nil.
func roomOf(p *shapeops.Pass) *room {
	r, _ := shapeops.Made[*room](p, roomKey{})
	return r
}

// header returns a Tensor for elements of which it will hold so many bytes itself. One that holds
// many gets a header of its own, so that keeping another does not keep it.
func (r *room) header(bytes int) *Tensor {
	if r == nil || bytes > smallBytes {
		return new(Tensor)
	}
	if len(r.headers) == 0 {
		r.headers = make([]Tensor, max(1, r.expected))
	}
	t := &r.headers[0]
	r.headers = r.headers[1:]
	r.expected--
	return t
}

// data returns n bytes whose content is undefined.
func (r *room) data(n int) []byte {
	if r == nil || n > smallBytes {
		return cast.Uninit(n)
	}
	size := padded(n)
	if len(r.block) < size {
		r.block = cast.Uninit(max(size, min(r.bytes, blockBytes)))
	}
	b := r.block[:n:n]
	r.block = r.block[size:]
	r.bytes -= size
	return b
}
