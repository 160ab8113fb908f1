package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// ConcatLevel lays tensors side by side along a level: each row of the level around gets the rows
// that it has in the first of them, then those in the second, and so on.
//
//	[N *] and [N *], level 1 -> [N *], with lengths that are sums
//
// They must have the same rows around the level, and be equally deep; level 0 is the first dim of
// the batch, as in shapeops.Cat. The result is a copy. ConcatLevel returns shapeops.ErrShape if
// there is none, shapeops.ErrDim for a level that they do not have, [ErrLengths] if their layouts
// around the level or their depths differ, and those of shapeops.Cat.
func ConcatLevel(xs []*Tensor, level int) (*Tensor, error) {
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
	straight, err := alike(&p, xs)
	if err != nil {
		return nil, err
	}
	return concat(&p, straight, at)
}

// alike returns tensors, straight, if they have one depth, dtype and features.
func alike(p *plan.Pass, xs []*Tensor) ([]*Tensor, error) {
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		err := errNil
		if x.made() {
			err = xs[0].checkLike(x)
		}
		if err == nil {
			out[i], err = x.straight(p)
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// concat is ConcatLevel of straight tensors that are alike, at level 0 too.
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
	return xs[0].arrived(p, m, xs...)
}

// interleaved lays the rows of the innermost level of straight layouts side by side.
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

// Vstack makes tensors the rows of a new first dim: [Li *], i = 1..N -> [N * *]. Each has one dim
// of batch, or, as a row of depth 0, none, and then the result is [N]. It is what undoes taking
// tensors apart by [Tensor.Row]. The result is a copy. Its errors are those of shapeops.Cat, and
// shapeops.ErrDim for a batch of more dims.
func Vstack(xs []*Tensor) (*Tensor, error) {
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

// stacked lays the rows of straight batches of one dim one after the other.
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
