package plan

import (
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// A Cut is a plan in two parts: the positions that it takes of one dim, and a plan for the other
// dims. It is for values that keep a list along that dim.
type Cut struct {
	Rows []int // the positions of the dim that the plan takes, in order; nil: all of them
	Dim  int   // the dim of the result that they fill, or -1 if it is one position without its dim
	Rest *Plan // what the plan makes of the dims without that one
}

// Along cuts the plan at a dim of the shapes that it applies to, which may come after the dims of
// p.From(). For the plan of x[1:3, :, 0], x [4 3 5]:
//
//	Along(0)  Rows [1 2], Dim 0,  Rest y[:, 0], y [3 5]
//	Along(1)  Rows nil,   Dim 1,  Rest y[1:3, 0], y [4 5]
//	Along(2)  Rows [0],   Dim -1, Rest y[1:3, :], y [4 3]
//	Along(3)  Rows nil,   Dim 2,  Rest the whole plan
//
// It returns false if the plan does more with that dim than to take positions of it: if it picks
// from several dims together, by a list of several dims or in windows, reshapes across the dim, or
// lays pieces.
func (p *Plan) Along(dim int) (c Cut, ok bool) {
	switch {
	case dim >= len(p.from):
		return Cut{Dim: dim + len(p.to) - len(p.from), Rest: p}, true
	case p.layout != nil:
		return c, false
	case p.reshape:
		return p.reshapedAlong(dim)
	}
	at, ok := p.stepOf(dim)
	if !ok {
		return c, false
	}
	c = Cut{Rows: p.rowsAt(dim, at), Dim: at, Rest: p.without(dim, at)}
	if p.pick != nil {
		return p.pick.along(c, dim)
	}
	return c, true
}

// stepOf returns the dim of mid that steps through a dim of from, -1 if none does, or false if
// several do.
func (p *Plan) stepOf(dim int) (at int, ok bool) {
	at = -1
	for i, a := range p.steps {
		if a.dim == dim && at >= 0 {
			return 0, false
		}
		if a.dim == dim {
			at = i
		}
	}
	return at, true
}

// rowsAt returns the positions that dim at of mid, or the one that an index without it, takes of a
// dim of from; nil for all.
func (p *Plan) rowsAt(dim, at int) []int {
	start, n, step := 0, 1, 0
	if p.starts != nil {
		start = p.starts[dim]
	}
	if at >= 0 {
		n, step = p.mid[at], p.steps[at].step
	}
	if at >= 0 && start == 0 && step == 1 && n == p.from[dim] {
		return nil
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = start + i*step
	}
	return rows
}

// without returns the plan, but for what it picks, of the dims without dim and what became of it.
func (p *Plan) without(dim, at int) *Plan {
	out := newPlan(slices.Delete(p.from.Clone(), dim, dim+1))
	for i, a := range p.steps {
		if i != at {
			out.step(before(a.dim, dim), p.mid[i], a.step)
		}
	}
	for d, start := range p.starts {
		if d != dim {
			out.start(before(d, dim), start)
		}
	}
	return out.done()
}

// before returns the number of dim d once the dim gone, unless that is -1, is not there.
func before(d, gone int) int {
	if gone >= 0 && d > gone {
		return d - 1
	}
	return d
}

// along adds to a cut of the plan at a dim, without k, what k picks.
func (k *Pick) along(c Cut, dim int) (Cut, bool) {
	at := c.Dim
	if slices.Contains(k.dims, at) {
		if len(k.dims) > 1 || len(k.shape) != 1 || k.shifts != nil {
			return c, false
		}
		rows := slices.Clone(k.list())
		for i, row := range rows {
			if c.Rows != nil {
				rows[i] = c.Rows[row]
			}
		}
		c.Rows, c.Dim = rows, k.at
		return c, true
	}
	rest := &Pick{rows: k.list(), shape: k.shape, at: k.at, same: k.same}
	for _, d := range k.dims {
		rest.dims = append(rest.dims, before(d, at))
	}
	for _, s := range k.shifts {
		if s.dim == dim {
			return c, false
		}
		rest.shifts = append(rest.shifts, shift{before(s.dim, dim), s.starts})
	}
	if at >= 0 {
		c.Dim = k.resultDim(at)
	}
	if at >= 0 && c.Dim < k.at {
		rest.at--
	}
	kept := slices.Clone(c.Rest.mid)
	for _, d := range slices.Backward(rest.dims) {
		kept = slices.Delete(kept, d, d+1)
	}
	c.Rest.pick, c.Rest.to = rest, slices.Insert(kept, rest.at, k.shape...)
	return c, true
}

// resultDim returns the dim of the result that dim at of mid, from which k does not pick, becomes.
func (k *Pick) resultDim(at int) int {
	to := at
	for _, d := range k.dims {
		if d < at {
			to--
		}
	}
	if to >= k.at {
		to += len(k.shape)
	}
	return to
}

// reshapedAlong is Along of a reshape: of one that keeps the dim, with as many positions before it.
func (p *Plan) reshapedAlong(dim int) (c Cut, ok bool) {
	front := 1 // positions before dim at
	for at, size := range p.to {
		if front == p.from[:dim].Size() && size == p.from[dim] && p.from.Size() > 0 {
			rest, err := Reshape(slices.Delete(p.from.Clone(), dim, dim+1), slices.Delete(p.to.Clone(), at, at+1)...)
			return Cut{Dim: at, Rest: rest}, err == nil
		}
		front *= size
	}
	return c, false
}

// Whole reports whether the plan leaves every value as it is.
func (p *Plan) Whole() bool {
	if p.reshape || p.pick != nil || p.layout != nil || p.starts != nil || !p.mid.Equal(p.from) {
		return false
	}
	for dim, a := range p.steps {
		if a != (dimStep{dim, 1}) {
			return false
		}
	}
	return true
}

// Without returns the plan to join values that lack a dim of the result, which is not the one along
// which they lie.
func (j *Join) Without(dim int) *Join {
	if dim >= len(j.shape) {
		return j
	}
	out := &Join{stack: j.stack, dim: before(j.dim, dim)}
	out.shape = append(shape.Shape(out.few[:0]), slices.Delete(j.shape.Clone(), dim, dim+1)...)
	return out
}
