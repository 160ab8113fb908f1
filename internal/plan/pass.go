package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// A Pass carries one operation over a collection of values. It holds the plan, memory for the
// numbers of the results, and results that several values share. The operation makes a Pass and
// passes it to each value. Results may share a block of memory, so keeping one of them keeps the
// block. Not safe for concurrent use.
type Pass struct {
	Plan *Plan // of an operation on one value, or nil
	Join *Join // of an operation that joins values, or nil

	// Fill is the value of padding: a number, a bool, or another value that an element can hold.
	// Nil means zero, or nil for values that are not numbers.
	Fill any

	// Workers is the largest number of cores for a large move; 0 means GOMAXPROCS.
	Workers int

	room   room
	shared []shared
	last   map[any]int // for each key, one plus its last index in shared; nil if there are few
	few    [2]shared   // memory for shared
}

// NewPass returns a Pass that carries plan.
func NewPass(plan *Plan) *Pass { return &Pass{Plan: plan} }

// Reserve announces n more views and shapes, so that the pass allocates memory for them at once.
func (p *Pass) Reserve(n int) { p.room.expected += n }

// CheckPlan returns [shape.ErrKind] if the pass has no plan, and [shape.ErrShape] unless s begins
// with the shape of the plan.
func (p *Pass) CheckPlan(s shape.Shape) error {
	if p == nil || p.Plan == nil {
		return fmt.Errorf("%w: got a pass without a plan", shape.ErrKind)
	}
	return s.CheckPrefix(p.Plan.from)
}

var errNoJoin = fmt.Errorf("%w: got a pass without a plan to join", shape.ErrKind)

// CheckJoin returns [shape.ErrKind] if the pass has no Join, or if there is no value.
func (p *Pass) CheckJoin(values int) error {
	if p == nil || p.Join == nil || len(p.Join.shape) == 0 {
		return errNoJoin
	}
	if values == 0 {
		return fmt.Errorf("%w: got nothing to join, want at least one value", shape.ErrKind)
	}
	return nil
}

// View is [Plan.View] with the result's numbers in the pass's memory.
func (p *Pass) View(v shape.View) (result shape.View, ok bool, err error) {
	if err := p.CheckPlan(v.Shape); err != nil {
		return shape.View{}, false, err
	}
	return p.Plan.view(&p.room, v)
}

// Frame is [Plan.Frame] with the result's numbers in the pass's memory.
func (p *Pass) Frame(v shape.View) (Frame, error) {
	if err := p.CheckPlan(v.Shape); err != nil {
		return Frame{}, err
	}
	return p.Plan.frame(&p.room, v)
}

// Extend is [Plan.Extend] with the result in the pass's memory. The pass must have a plan, and
// [Pass.CheckPlan] of s must succeed.
func (p *Pass) Extend(s shape.Shape) shape.Shape { return p.Plan.extend(&p.room, s) }

// Contiguous is [shape.Contiguous] for the shape [lead... trailing...], with the result's numbers
// in the pass's memory. A nil Pass allocates them.
func (p *Pass) Contiguous(lead, trailing shape.Shape) (shape.View, error) {
	if p == nil {
		return contiguous(nil, lead, trailing)
	}
	return contiguous(&p.room, lead, trailing)
}

// contiguous returns the View of a row-major buffer of shape [lead... trailing...].
func contiguous(room *room, lead, trailing shape.Shape) (shape.View, error) {
	v := room.view(len(lead) + len(trailing))
	v.Shape = append(append(v.Shape, lead...), trailing...)
	if err := v.Shape.Check(); err != nil {
		return shape.View{}, err
	}
	v.Strides = v.Shape.AppendStrides(v.Strides)
	return v, nil
}

// A shared value is the result that Once keeps for a key.
type shared struct {
	key, value any
	before     int // one plus the index of the previous value for the key; used with Pass.last
}

// fewShared is the largest number of shared values that are searched without an index.
const fewShared = 16

// Once returns the value cached under key, calling make on first use. Keys are compared by ==. With
// it, values that share something, such as a ragged layout, transform it once in an operation. An
// error is returned and not cached. A nil Pass caches nothing.
func Once[V any](p *Pass, key any, make func() (V, error)) (V, error) {
	if v, ok := Made[V](p, key); ok {
		return v, nil
	}
	v, err := make()
	if p == nil || err != nil {
		return v, err
	}
	p.share(key, v)
	return v, nil
}

// share caches a value under a key.
func (p *Pass) share(key, value any) {
	if p.shared == nil {
		p.shared = p.few[:0]
	}
	p.shared = append(p.shared, shared{key: key, value: value})
	switch n := len(p.shared); {
	case p.last != nil:
		p.index(n - 1)
	case n > fewShared:
		p.last = make(map[any]int, 2*n)
		for i := range p.shared {
			p.index(i)
		}
	}
}

// index adds shared value i to the index.
func (p *Pass) index(i int) {
	s := &p.shared[i]
	s.before = p.last[s.key]
	p.last[s.key] = i + 1
}

// Made returns the value that [Once] has cached under key, and false if there is none.
func Made[V any](p *Pass, key any) (V, bool) {
	var none V
	if p == nil {
		return none, false
	}
	if p.last != nil {
		for i := p.last[key]; i > 0; i = p.shared[i-1].before {
			if v, ok := p.shared[i-1].value.(V); ok {
				return v, true
			}
		}
		return none, false
	}
	for i := range p.shared {
		if p.shared[i].key != key {
			continue
		}
		if v, ok := p.shared[i].value.(V); ok {
			return v, true
		}
	}
	return none, false
}

// A room is memory for the numbers of views, allocated in few blocks. The nil room allocates each
// separately.
type room struct {
	free     []int
	expected int // views and shapes that are still to come
}

// maxRoom is the size of a block, in numbers: 32 KiB.
const maxRoom = 4096

// take returns an empty slice with capacity for exactly n numbers.
func (r *room) take(n int) []int {
	if r == nil || n == 0 {
		return make([]int, 0, n)
	}
	if len(r.free) < n {
		r.free = make([]int, max(n, min(n*r.expected, maxRoom)))
	}
	r.expected = max(0, r.expected-1)
	out := r.free[:0:n]
	r.free = r.free[n:]
	return out
}

// view returns a View without dims, with capacity for n dims.
func (r *room) view(n int) shape.View {
	numbers := r.take(2 * n)[:2*n]
	return shape.View{Shape: shape.Shape(numbers[:0:n]), Strides: numbers[n:n]}
}
