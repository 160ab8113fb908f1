package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// A Plan is an operation that has been checked against a shape. It applies to every View whose
// shape begins with that shape; the dims after it stay as they are. A Plan owns its numbers:
// changing the sizes or lists that it was made from does not change it. Safe for concurrent use.
type Plan struct {
	from, to shape.Shape
	mid      shape.Shape // the shape before picking; equals to if the plan picks nothing
	steps    []dimStep   // of mid
	starts   []int       // the first position of each dim of from; nil means all 0
	reshape  bool        // the elements of from stay in order; steps is unused
	pick     *Pick       // the rows picked from mid, or nil
	layout   *layout     // the pieces of a result that strides cannot express, or nil
	origins  []int       // of a reshape or layout: the original dim of each dim

	few struct { // memory for a plan with few dims: one allocation for all
		from, mid, starts [3]int
		steps             [3]dimStep
	}
}

// A dimStep says how one dim of a result steps through the dims it came from.
type dimStep struct {
	dim  int // of the shape it came from; noDim for a new or repeated dim
	step int // positions of that dim
}

const noDim = -1

// newPlan starts a plan on s, of which it keeps a copy.
func newPlan(s shape.Shape) *Plan {
	p := &Plan{}
	p.from = append(p.few.from[:0], s...)
	p.mid, p.steps = p.few.mid[:0], p.few.steps[:0]
	return p
}

// keep appends a dim of from as it is.
func (p *Plan) keep(dim int) { p.step(dim, p.from[dim], 1) }

// add appends a new dim that repeats its elements.
func (p *Plan) add(size int) { p.step(noDim, size, 0) }

// step appends a dim of the given size that takes every step-th position of a dim.
func (p *Plan) step(dim, size, step int) {
	p.mid = append(p.mid, size)
	p.steps = append(p.steps, dimStep{dim, step})
}

// start makes i the first position of a dim of from.
func (p *Plan) start(dim, i int) {
	if i == 0 {
		return
	}
	if p.starts == nil && len(p.from) <= len(p.few.starts) {
		p.starts = p.few.starts[:len(p.from)]
	} else if p.starts == nil {
		p.starts = make([]int, len(p.from))
	}
	p.starts[dim] = i
}

// done completes a plan that picks nothing.
func (p *Plan) done() *Plan {
	p.mid = p.mid[:len(p.mid):len(p.mid)] // a caller may append to it
	p.to = p.mid
	return p
}

// From returns the shape that the plan was checked against: the leading dims of its operands. The
// caller must not change it.
func (p *Plan) From() shape.Shape { return p.from }

// Shape returns the shape of the result. The caller must not change it.
func (p *Plan) Shape() shape.Shape { return p.to }

// Pick returns the rows that the plan picks, or nil if it picks none.
func (p *Plan) Pick() *Pick { return p.pick }

// Origin returns the dim of p.From() from which a dim of p.Shape() comes, possibly moved, cut or
// repeated. It returns -1 if the dim is new or joins several dims.
func (p *Plan) Origin(dim int) int {
	switch {
	case p.origins != nil:
		return p.origins[dim]
	case p.layout != nil:
		return dim
	case p.reshape:
		return noDim
	case p.pick != nil:
		return p.pick.origin(p, dim)
	}
	return p.axisOrigin(dim)
}

// axisOrigin is Origin for a dim of mid.
func (p *Plan) axisOrigin(dim int) int {
	at := p.steps[dim].dim
	for _, before := range p.steps[:dim] {
		if before.dim == at {
			return noDim // the dim within windows is new
		}
	}
	return at
}

// Extend returns the shape of the result for an operand of shape s, which begins with p.From(). The
// caller must not change it.
func (p *Plan) Extend(s shape.Shape) shape.Shape { return p.extend(nil, s) }

func (p *Plan) extend(room *room, s shape.Shape) shape.Shape {
	if len(s) == len(p.from) {
		return p.to
	}
	out := shape.Shape(room.take(len(p.to) + len(s) - len(p.from)))
	return append(append(out, p.to...), s[len(p.from):]...)
}

// View applies the plan to v.
//
//	v [from... F...] -> [to... F...]
//
// It returns [shape.ErrShape] if the shape of v does not begin with p.From(), or if int does not
// hold the number of elements. It returns false if strides cannot express the result: if the plan
// picks or composes, or if it reshapes and v must be copied first.
func (p *Plan) View(v shape.View) (result shape.View, ok bool, err error) { return p.view(nil, v) }

func (p *Plan) view(room *room, v shape.View) (result shape.View, ok bool, err error) {
	if err := v.Shape.CheckPrefix(p.from); err != nil || p.pick != nil || p.layout != nil {
		return shape.View{}, false, err
	}
	lead, trailing := v.Strides[:len(p.from)], v.Strides[len(p.from):]
	result = room.view(len(p.mid) + len(trailing))
	result.Offset = v.Offset
	if p.reshape {
		result.Strides, ok = restride(result.Strides, v.Shape[:len(p.from)], lead, p.mid)
		if !ok {
			return shape.View{}, false, nil
		}
	} else {
		result.Strides = p.strides(result.Strides, lead)
		result.Offset += p.offset(lead)
	}
	result.Shape = append(append(result.Shape, p.mid...), v.Shape[len(p.from):]...)
	result.Strides = append(result.Strides, trailing...)
	if len(trailing) > 0 && p.mid.Size() > p.from.Size() { // an expansion, of which only p.mid was checked
		if err := result.Shape.Check(); err != nil {
			return shape.View{}, false, err
		}
	}
	if result.Shape.Size() == 0 {
		result.Offset = v.Offset // without elements any offset does; this one is inside the buffer
	}
	return result, true, nil
}

// strides appends the strides of the plan's steps.
func (p *Plan) strides(to, from []int) []int {
	for _, a := range p.steps {
		to = append(to, a.stride(from))
	}
	return to
}

// stride returns the stride of a dim of the result, given the strides of the original dims.
func (a dimStep) stride(from []int) int {
	if a.dim == noDim {
		return 0
	}
	return from[a.dim] * a.step
}

// offset returns the distance of the first element from the first element of the operand.
func (p *Plan) offset(strides []int) int {
	n := 0
	for dim, start := range p.starts {
		n += start * strides[dim]
	}
	return n
}

// restride appends the strides of shape to for elements of shape sizes with the given strides. It
// returns false if there are none.
func restride(out []int, sizes shape.Shape, strides []int, to shape.Shape) ([]int, bool) {
	if to.Size() == 0 {
		return to.AppendStrides(out), true
	}
	base := len(out)
	out = out[:base+len(to)]
	var few [6]run
	runs := evenRuns(few[:0], sizes, strides)
	last := len(runs) - 1
	for dim := len(to) - 1; dim >= 0; dim-- {
		for to[dim] > 1 && runs[last].size == 1 {
			last--
		}
		run := &runs[last]
		if run.size%to[dim] != 0 {
			return nil, false
		}
		out[base+dim] = run.step
		run.size /= to[dim]
		run.step *= to[dim]
	}
	return out, true
}

// A run is a stretch of elements at even distances.
type run struct{ size, step int }

// evenRuns appends the dims as runs. It joins dims whose elements together are evenly spaced. There
// is at least one run.
func evenRuns(runs []run, sizes shape.Shape, strides []int) []run {
	runs = append(runs, run{size: 1, step: 1})
	for dim, size := range sizes {
		prev := &runs[len(runs)-1]
		switch {
		case size == 1:
		case prev.size == 1 || prev.step == size*strides[dim]:
			*prev = run{prev.size * size, strides[dim]}
		default:
			runs = append(runs, run{size, strides[dim]})
		}
	}
	return runs
}

// String describes the plan: "[4 3] -> [12]".
func (p *Plan) String() string { return fmt.Sprintf("%v -> %v", p.from, p.to) }
