package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// ConcatLevel concatenates tensors along a level: each row of the level above it gets its rows in
// xs[0], then its rows in xs[1], and so on.
//
//	[N *] and [N *], level 1 -> [N *], with lengths that are sums
//
// The tensors must have the same depth, and the same rows above the level. Level 0 is the first
// batch dim, as in shapeops.Cat. The result is a copy. ConcatLevel returns shapeops.ErrShape if xs
// is empty, shapeops.ErrDim for a level that xs[0] does not have, [ErrLengths] if depths or the
// layouts above the level differ, and the errors of shapeops.Cat.
func ConcatLevel(xs []*Tensor, level int) (_ *Tensor, err error) {
	defer errtext.Name("concat level", &err)
	if len(xs) == 0 {
		return nil, fmt.Errorf("%w: got nothing to join, want at least one value", shapeops.ErrShape)
	}
	if level == 0 {
		return shapeops.Cat(xs, 0)
	}
	if !xs[0].made() {
		return nil, fmt.Errorf("value 0: %w", errNil)
	}
	at, err := xs[0].layout.level(level)
	if err != nil {
		return nil, err
	}
	var p plan.Pass
	compact, err := alike(&p, xs)
	if err != nil {
		return nil, err
	}
	return concat(&p, compact, at)
}

// alike returns xs made compact. It returns an error unless they have one depth, dtype and
// features.
func alike(p *plan.Pass, xs []*Tensor) ([]*Tensor, error) {
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		err := errNil
		if x.made() {
			err = xs[0].checkLike(x)
		}
		if err == nil {
			out[i], err = x.compact(p)
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// concat is ConcatLevel of compact tensors of one depth, dtype and features. The level may be 0.
func concat(p *plan.Pass, xs []*Tensor, level int) (*Tensor, error) {
	ls := make([]*Layout, len(xs))
	for i, x := range xs {
		ls[i] = x.layout
	}
	at := interleaved
	if level == 0 {
		at = stacked
	}
	m, err := joinedAt(p, ls, level, at)
	if err != nil {
		return nil, err
	}
	return xs[0].copied(p, m, xs...)
}

// interleaved concatenates the innermost rows of compact layouts, row by row of the level above.
func interleaved(ls []*Layout) (*moved, error) {
	for i, l := range ls[1:] {
		if err := ls[0].outer.CheckEqual(l.outer); err != nil {
			return nil, fmt.Errorf("value %d: around level %d: %w", i+1, l.depth, err)
		}
	}
	m := newRows(ls[0])
	for row := range ls[0].offsets[1:] {
		for i, l := range ls {
			from, n := l.within(row, 1)
			m.take(i, from, n-from)
		}
		m.end()
	}
	return m.done(ls[0]), nil
}

// Vstack makes each tensor a row of a new first dim: [Li *], i = 1..N -> [N * *]. It is the inverse
// of taking a tensor apart with [Tensor.Row]. Each tensor has one batch dim; a row of a tensor of
// depth 0 has none, and then the result is [N]. The result is a copy. Vstack returns the errors of
// shapeops.Cat, and shapeops.ErrDim if tensors have more than one batch dim.
func Vstack(xs []*Tensor) (_ *Tensor, err error) {
	defer errtext.Name("vstack", &err)
	if len(xs) > 0 && xs[0].made() && len(xs[0].Shape()) == 0 {
		return shapeops.Stack(xs, 0)
	}
	all, err := shapeops.Cat(xs, 0)
	if err != nil {
		return nil, err
	}
	lengths := make([]int64, len(xs))
	for i, x := range xs {
		lengths[i] = int64(x.Shape()[0])
	}
	return all.Group(lengths...)
}

// stacked concatenates the rows of compact layouts of depth 0 that have one batch dim.
func stacked(ls []*Layout) (*moved, error) {
	m, end := &moved{}, 0
	for i, l := range ls {
		m.add(i, end, 0, l.numbered())
		end += l.numbered()
	}
	rows, err := plan.NewRows(end)
	m.layout = &Layout{rows: rows}
	return m, err
}
