package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shape"
)

// A Pass carries one operation over a collection of values: the plan, room for the numbers of the
// results, and what several values share. The operation makes a Pass and hands it to each value;
// results may lie in one block of memory, so that keeping one of them keeps the block. A Pass
// serves one operation. Not safe for concurrent use.
type Pass struct {
	Op   string // names the operation in errors about entries
	Plan *Plan  // of an operation on one value; nil if the operation joins
	Join *Join  // of an operation that joins several values, or nil

	// Fill is what padding is filled with: a number, a bool, or what else a value can hold. Nil is
	// zero, and nil for values that are no numbers.
	Fill any
	// Fills are what some values of a collection are filled with instead, by key.
	Fills map[nestedkey.Key]any

	// Workers is how many cores a large move may use; 0 means GOMAXPROCS.
	Workers int

	at     nestedkey.Key // of the value that the pass is at, if there are Fills
	room   room
	shared []shared
	last   map[any]int // the number of the last of shared for a key, plus one; nil of a few
	few    [2]shared   // room for shared
}

// NewPass returns a Pass that carries plan.
func NewPass(plan *Plan) *Pass { return &Pass{Plan: plan} }

// Enter says that the pass goes to the entry with a name of the collection that it is at, and
// returns where it was, for Leave. Only a pass with Fills needs to know.
func (p *Pass) Enter(name nestedkey.Key) (was nestedkey.Key) {
	was = p.at
	if p.Fills != nil {
		p.at = name
		if was != "" {
			p.at = nestedkey.Join(was, name)
		}
	}
	return was
}

// Leave undoes an Enter, which returned where the pass was.
func (p *Pass) Leave(was nestedkey.Key) { p.at = was }

// FillHere returns what the value that the pass is at is filled with, and whether that is one of
// Fills.
func (p *Pass) FillHere() (fill any, own bool) {
	if fill, own = p.Fills[p.at]; own {
		return fill, true
	}
	return p.Fill, false
}

// Expect says that n more views and shapes are to come, for which the pass then makes room at once.
func (p *Pass) Expect(n int) { p.room.expected += n }

// CheckPlan returns [shape.ErrKind] if the pass has no plan, and [shape.ErrShape] unless s begins
// with the shape that its plan was made for.
func (p *Pass) CheckPlan(s shape.Shape) error {
	if p == nil || p.Plan == nil {
		return fmt.Errorf("%w: got a pass without a plan", shape.ErrKind)
	}
	return s.CheckPrefix(p.Plan.from)
}

var errNoJoin = fmt.Errorf("%w: got a pass without a plan to join", shape.ErrKind)

// CheckJoin returns [shape.ErrKind] if the pass has no plan to join, or if there is no value.
func (p *Pass) CheckJoin(values int) error {
	if p == nil || p.Join == nil || len(p.Join.shape) == 0 {
		return errNoJoin
	}
	if values == 0 {
		return fmt.Errorf("%w: got nothing to join, want at least one value", shape.ErrKind)
	}
	return nil
}

// View is [Plan.View] with the result's numbers in the pass's room.
func (p *Pass) View(v shape.View) (result shape.View, ok bool, err error) {
	if err := p.CheckPlan(v.Shape); err != nil {
		return shape.View{}, false, err
	}
	return p.Plan.view(&p.room, v)
}

// Frame is [Plan.Frame] with the result's numbers in the pass's room.
func (p *Pass) Frame(v shape.View) (Frame, error) {
	if err := p.CheckPlan(v.Shape); err != nil {
		return Frame{}, err
	}
	return p.Plan.frame(&p.room, v)
}

// Extend is [Plan.Extend] with the result in the pass's room. The pass must have a plan, and s pass
// [Pass.CheckPlan].
func (p *Pass) Extend(s shape.Shape) shape.Shape { return p.Plan.extend(&p.room, s) }

// Contiguous is [shape.Contiguous] for the shape [lead... trailing...], with the result's numbers
// in the pass's room. A nil Pass has none.
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

// A shared value is what Once made for a key.
type shared struct {
	key, value any
	before     int // the number of the one before for that key, plus one, if there is an index
}

// fewShared is up to how many shared values are looked through.
const fewShared = 16

// Once returns what make makes for a key, which is compared by ==: the first time by calling it,
// and from then on as it was. It is how values that share something, such as a ragged layout,
// transform it once in an operation. An error is returned and not kept. A nil Pass keeps nothing.
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

// share keeps a value for a key.
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

// index enters shared value i in the index.
func (p *Pass) index(i int) {
	s := &p.shared[i]
	s.before = p.last[s.key]
	p.last[s.key] = i + 1
}

// Made returns what [Once] made for a key, and false if it has made nothing.
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

// A room is memory for the numbers of views, from few blocks. The nil room has none.
type room struct {
	free     []int
	expected int // views and shapes that are still to come
}

// maxRoom is the size of a block, in numbers: 32 KiB.
const maxRoom = 4096

// take returns an empty slice with the capacity for exactly n numbers.
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

// view returns a View without dims that has the capacity for n.
func (r *room) view(n int) shape.View {
	numbers := r.take(2 * n)[:2*n]
	return shape.View{Shape: shape.Shape(numbers[:0:n]), Strides: numbers[n:n]}
}
