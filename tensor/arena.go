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

// NewPass returns a pass of plan with an arena: see [UseArena].
func NewPass(p *plan.Plan) *plan.Pass {
	f := &struct {
		pass  plan.Pass
		arena arena
	}{pass: plan.Pass{Plan: p}}
	f.arena.attach(&f.pass)
	return &f.pass
}

// UseArena gives p an arena, unless it has one. An arena is memory in which the results for all
// tensors of a collection are allocated together. Call [Reserve] for each tensor before p executes
// its plan.
//
// Headers share one allocation, and copies of up to 64 KiB share blocks of at most 1 MiB. As long
// as one result is in use, the memory of the others that share its blocks is not freed.
func UseArena(p *plan.Pass) {
	if !HasArena(p) {
		new(arena).attach(p)
	}
}

// HasArena reports whether [UseArena] was called on p.
func HasArena(p *plan.Pass) bool { return arenaOf(p) != nil }

// attach makes r the arena of p.
func (r *arena) attach(p *plan.Pass) {
	_, _ = plan.Once(p, arenaKey{}, func() (*arena, error) { return r, nil })
}

// Reserve makes room in the arena of p for the result of applying p.Plan or p.Join to t. Call
// [UseArena] first.
func Reserve(p *plan.Pass, t *Tensor) {
	p.Reserve(1)
	rows, rank := 0, 0 // stay 0 for most views
	switch {
	case p.Join != nil:
		rows, rank = p.Join.Shape().Size(), p.Join.Rank()
	case p.Plan.Pick() != nil:
		rows, rank = p.Plan.Shape().Size(), len(p.Plan.From())
		p.Reserve(1) // the frame of the pick
	case p.Plan.Laid():
		rows, rank = p.Plan.Shape().Size(), len(p.Plan.From())
		if _, _, _, only := p.Plan.PadsRows(); !only {
			pieces, gaps := p.Plan.Pieces()
			p.Reserve(2*pieces + gaps)
		}
	}
	row := t.view.Shape[rank:].Size() * t.dtype.Size()
	arenaOf(p).expect(min(rows, smallBytes/max(1, row)+1) * row)
}

// expect announces a result of bytes bytes.
func (r *arena) expect(bytes int) {
	r.expected++
	if bytes <= smallBytes {
		r.bytes += padded(bytes)
	}
}

// padded returns the bytes that a result of n bytes takes in a block.
func padded(n int) int { return (n + alignBytes - 1) &^ (alignBytes - 1) }

// A room allocates the headers of a pass's tensors, and the elements of small ones. The nil room
// allocates each separately.
type arena struct {
	headers  []Tensor
	block    []byte
	expected int // number of tensors still announced
	bytes    int // total size of small copies still announced
}

type arenaKey struct{}

// workersOf returns the number of cores that a pass may use; 0 means GOMAXPROCS.
func workersOf(p *plan.Pass) int {
	if p == nil {
		return 0
	}
	return p.Workers
}

// roomOf returns the room of a pass, or nil.
func arenaOf(p *plan.Pass) *arena {
	r, _ := plan.Made[*arena](p, arenaKey{})
	return r
}

// header returns a Tensor for a result of bytes bytes. A large result gets a separate header, so
// that keeping another tensor does not keep the large one.
func (r *arena) header(bytes int) *Tensor {
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
func (r *arena) data(n int) []byte {
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
