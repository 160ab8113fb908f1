// Package arena allocates the results of one pass over a collection of values together: their
// headers in one slice, and the bytes of small ones in shared blocks.
package arena

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

const (
	smallBytes = 64 << 10 // results of up to this size share blocks
	blockBytes = 1 << 20  // the largest block
	alignBytes = 16       // alignment of a result in a block
)

// An Arena has memory for results with headers of type H. As long as one result is in use, the
// memory of the others that share its blocks is not freed. The nil Arena allocates each result
// separately. Not safe for concurrent use.
type Arena[H any] struct {
	headers  []H
	block    []byte
	expected int // number of results still announced
	bytes    int // total size of small results still announced
}

type key struct{}

// NewPass returns a pass of plan with an arena.
func NewPass[H any](p *plan.Plan) *plan.Pass {
	f := &struct {
		pass  plan.Pass
		arena Arena[H]
	}{pass: plan.Pass{Plan: p}}
	f.arena.attach(&f.pass)
	return &f.pass
}

// Use gives p an arena, unless it has one. Call [Arena.Reserve] for each value before p executes
// its plan.
func Use[H any](p *plan.Pass) *Arena[H] {
	if r := Of[H](p); r != nil {
		return r
	}
	r := new(Arena[H])
	r.attach(p)
	return r
}

// Of returns the arena of p, or nil.
func Of[H any](p *plan.Pass) *Arena[H] {
	r, _ := plan.Made[*Arena[H]](p, key{})
	return r
}

// attach makes r the arena of p.
func (r *Arena[H]) attach(p *plan.Pass) {
	_, _ = plan.Once(p, key{}, func() (*Arena[H], error) { return r, nil })
}

// Reserve makes room for the result of applying p.Plan or p.Join to a value of the given sizes,
// whose elements take elem bytes.
func (r *Arena[H]) Reserve(p *plan.Pass, sizes shape.Shape, elem int) {
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
	row := sizes[rank:].Size() * elem
	r.Expect(min(rows, smallBytes/max(1, row)+1) * row)
}

// Expect announces a result of n bytes.
func (r *Arena[H]) Expect(n int) {
	r.expected++
	if n <= smallBytes {
		r.bytes += padded(n)
	}
}

// padded returns the bytes that a result of n bytes takes in a block.
func padded(n int) int { return (n + alignBytes - 1) &^ (alignBytes - 1) }

// Header returns a header for a result of n bytes. A large result gets a separate header, so that
// keeping another result does not keep the large one.
func (r *Arena[H]) Header(n int) *H {
	if r == nil || n > smallBytes {
		return new(H)
	}
	if len(r.headers) == 0 {
		r.headers = make([]H, max(1, r.expected))
	}
	h := &r.headers[0]
	r.headers = r.headers[1:]
	r.expected--
	return h
}

// Data returns n bytes of undefined content.
func (r *Arena[H]) Data(n int) []byte {
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
