package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
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

// concat is ConcatLevel of straight tensors that are alike.
func concat(p *plan.Pass, xs []*Tensor, level int) (*Tensor, error) {
	return brought(p, xs, func(ls []*Layout) (*moved, error) { return sideBySide(p, ls, level) })
}

// brought returns the tensor of straight ones that are alike with rows where move brings them.
func brought(p *plan.Pass, xs []*Tensor, move func(ls []*Layout) (*moved, error)) (*Tensor, error) {
	ls := make([]*Layout, len(xs))
	for i, x := range xs {
		ls[i] = x.layout
	}
	m, err := move(ls)
	if err != nil {
		return nil, err
	}
	var tr tensor.Transfer
	out, err := xs[0].arrive(&tr, nil, p, m, xs...)
	if err != nil {
		return nil, err
	}
	return finished(out, tr.Run())
}

// sideBySide returns what becomes of straight layouts whose rows of a level are laid side by side.
// What it has made of some layouts, it makes for all that share them.
func sideBySide(p *plan.Pass, ls []*Layout, level int) (*moved, error) {
	return joinedOnce(p, ls, func() (*moved, error) {
		if ls[0].depth > level {
			up, err := sideBySide(p, outers(ls), level)
			if err != nil {
				return nil, err
			}
			return up.below(ls...), nil
		}
		return interleaved(ls)
	})
}

// interleaved is sideBySide of the innermost level.
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
			m.add(i, m.end, from, n-from)
			m.end += n - from
		}
		m.offsets = append(m.offsets, int64(m.end))
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

// cat lays straight tensors that are alike one after the other along the first dim of the batch.
func cat(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	return brought(p, xs, func(ls []*Layout) (*moved, error) { return stacked(p, ls) })
}

// stacked returns the rows of straight layouts one after the other.
func stacked(p *plan.Pass, ls []*Layout) (*moved, error) {
	return joinedOnce(p, ls, func() (*moved, error) {
		if ls[0].outer != nil {
			up, err := stacked(p, outers(ls))
			if err != nil {
				return nil, err
			}
			return up.below(ls...), nil
		}
		m, end := &moved{}, 0
		for i, l := range ls {
			m.add(i, end, 0, l.numbered())
			end += l.numbered()
		}
		rows, err := plan.NewRows(end)
		m.layout = &Layout{rows: rows}
		return m, err
	})
}
