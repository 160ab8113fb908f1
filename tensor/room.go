package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
)

const (
	smallBytes = 64 << 10 // a result of at most so many bytes lies in a block with others
	blockBytes = 1 << 20  // the largest block
	alignBytes = 16       // of each result in a block
)

// NewPass returns a pass of plan that is furnished.
func NewPass(p *plan.Plan) *plan.Pass {
	f := &struct {
		pass plan.Pass
		room room
	}{pass: plan.Pass{Plan: p}}
	f.room.furnish(&f.pass)
	return &f.pass
}

// Furnish gives a pass room for the tensors of a collection, unless it has that; [Expect] says
// which. Their headers come in one block of memory, and so do the elements of copies up to 64 KiB,
// in blocks of at most 1 MiB. Keeping one of these tensors keeps its blocks, and what the views
// among the others are views of.
func Furnish(p *plan.Pass) {
	if !Furnished(p) {
		new(room).furnish(p)
	}
}

// Furnished reports whether a pass has room for tensors.
func Furnished(p *plan.Pass) bool { return roomOf(p) != nil }

func (r *room) furnish(p *plan.Pass) {
	_, _ = plan.Once(p, roomKey{}, func() (*room, error) { return r, nil })
}

// Expect says that p, which is furnished, will make something of t, whose shape begins with that of
// the pass's plan.
func Expect(p *plan.Pass, t *Tensor) {
	p.Expect(1)
	rows, rank := 0, 0 // none of a view, mostly
	switch {
	case p.Join != nil:
		rows, rank = p.Join.Shape().Size(), p.Join.Rank()
	case p.Plan.Pick() != nil:
		rows, rank = p.Plan.Shape().Size(), len(p.Plan.From())
		p.Expect(1) // its frame
	case p.Plan.Laid():
		rows, rank = p.Plan.Shape().Size(), len(p.Plan.From())
		if _, _, _, only := p.Plan.PadsRows(); !only {
			pieces, gaps := p.Plan.Pieces()
			p.Expect(2*pieces + gaps)
		}
	}
	row := t.view.Shape[rank:].Size() * t.dtype.Size()
	roomOf(p).expect(min(rows, smallBytes/max(1, row)+1) * row)
}

// expect says that a result of so many bytes is to come.
func (r *room) expect(bytes int) {
	r.expected++
	if bytes <= smallBytes {
		r.bytes += padded(bytes)
	}
}

// padded returns the bytes that n bytes take in a block.
func padded(n int) int { return (n + alignBytes - 1) &^ (alignBytes - 1) }

// A room is where the tensors of a pass find their headers and, if they are small, their elements.
// The nil room has none.
type room struct {
	headers  []Tensor
	block    []byte
	expected int // tensors that are still to come
	bytes    int // bytes of small copies that are still to come
}

type roomKey struct{}

// workersOf returns how many cores a pass may use; 0 means GOMAXPROCS.
func workersOf(p *plan.Pass) int {
	if p == nil {
		return 0
	}
	return p.Workers
}

// roomOf returns the room of a pass, or nil.
func roomOf(p *plan.Pass) *room {
	r, _ := plan.Made[*room](p, roomKey{})
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
