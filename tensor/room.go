package tensor

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
)

const (
	smallBytes = 64 << 10 // results of up to this size share blocks
	blockBytes = 1 << 20  // the largest block
	alignBytes = 16       // alignment of a result in a block
)

// NewPass returns a furnished pass of plan: see [Furnish].
func NewPass(p *plan.Plan) *plan.Pass {
	f := &struct {
		pass plan.Pass
		room room
	}{pass: plan.Pass{Plan: p}}
	f.room.furnish(&f.pass)
	return &f.pass
}

// Furnish gives p memory for the tensors of a collection, unless it has that already; [Expect]
// announces each tensor. Headers share one allocation. Copies of up to 64 KiB share blocks of at
// most 1 MiB. So a tensor that is kept keeps its blocks, and the memory of views among the other
// tensors, from being freed.
func Furnish(p *plan.Pass) {
	if !Furnished(p) {
		new(room).furnish(p)
	}
}

// Furnished reports whether [Furnish] was called on p.
func Furnished(p *plan.Pass) bool { return roomOf(p) != nil }

func (r *room) furnish(p *plan.Pass) {
	_, _ = plan.Once(p, roomKey{}, func() (*room, error) { return r, nil })
}

// Expect announces that p, which is furnished, will execute its plan on t.
func Expect(p *plan.Pass, t *Tensor) {
	p.Expect(1)
	rows, rank := 0, 0 // stay 0 for most views
	switch {
	case p.Join != nil:
		rows, rank = p.Join.Shape().Size(), p.Join.Rank()
	case p.Plan.Pick() != nil:
		rows, rank = p.Plan.Shape().Size(), len(p.Plan.From())
		p.Expect(1) // the frame of the pick
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

// expect announces a result of bytes bytes.
func (r *room) expect(bytes int) {
	r.expected++
	if bytes <= smallBytes {
		r.bytes += padded(bytes)
	}
}

// padded returns the bytes that a result of n bytes takes in a block.
func padded(n int) int { return (n + alignBytes - 1) &^ (alignBytes - 1) }

// A room allocates the headers of a pass's tensors, and the elements of small ones. The nil room
// allocates each separately.
type room struct {
	headers  []Tensor
	block    []byte
	expected int // number of tensors still announced
	bytes    int // total size of small copies still announced
}

type roomKey struct{}

// workersOf returns the number of cores that a pass may use; 0 means GOMAXPROCS.
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

// header returns a Tensor for a result of bytes bytes. A large result gets a separate header, so
// that keeping another tensor does not keep the large one.
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

// data returns n bytes of undefined content.
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
