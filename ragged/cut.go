package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Cut keeps a range of each row of a level, with the rules of Python's slices: negative bounds
// count from the end of each row, and what is outside of a row is left out.
//
//	[N *], Cut(1, 0, 3): the first three of each row; Cut(-1, -3, ix.End): the last three
//
// It copies. It returns shapeops.ErrDim for a level that t does not have.
func (t *Tensor) Cut(level, start, stop int) (*Tensor, error) { return cut(level, start, stop).on(t) }

func cut(level, start, stop int) *edit {
	return kept(level, func(_, n int) (int, int, error) {
		lo, hi := clip(start, n), clip(stop, n)
		return lo, max(0, hi-lo), nil
	})
}

// clip resolves a bound of a range of n.
func clip(at, n int) int {
	if at < 0 {
		at += n
	}
	return min(max(at, 0), n)
}

// CutStep is [Tensor.Cut] of every step-th position of the range. The step must be positive:
// shapeops.ErrIndex.
func (t *Tensor) CutStep(level, start, stop, step int) (*Tensor, error) {
	e, err := cutStep(level, start, stop, step)
	if err != nil {
		return nil, err
	}
	return e.on(t)
}

func cutStep(level, start, stop, step int) (*edit, error) {
	if step < 1 {
		return nil, fmt.Errorf("%w: got step %d, want a positive one", shapeops.ErrIndex, step)
	}
	var list []int
	return rearranged(level, func(_, _, n int) ([]int, error) {
		list = list[:0]
		for i := clip(start, n); i < clip(stop, n); i += min(step, n) {
			list = append(list, i)
		}
		return list, nil
	}), nil
}

// Nth returns one position of each row of a level, which thereby ends: [N * *], Nth(1, -1) -> [N
// *], the last visit of each patient. A negative one counts from the end of each row. It copies. It
// returns shapeops.ErrIndex, with the row, if a row has no such position: select rows that do, or
// [Tensor.Cut] them, which leaves rows of length one or none.
func (t *Tensor) Nth(level, position int) (*Tensor, error) {
	one := kept(level, func(_, n int) (int, int, error) {
		i := position
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return 0, 0, fmt.Errorf("%w: got position %d, want one of %d", shapeops.ErrIndex, position, n)
		}
		return i, 1, nil
	})
	out, err := one.on(t)
	if err != nil {
		return nil, err
	}
	return relayout(nil, out, func(l *Layout) (*Layout, error) { return without(&one.pass, l, one.level), nil })
}

// without returns a straight layout without a level whose rows all have length one.
func without(p *plan.Pass, l *Layout, level int) *Layout {
	if l.depth < level {
		return l
	}
	if l.depth == level {
		return l.outer
	}
	return nestIn(p, without(p, l.outer, level), l)
}

// A nestedKey is under which a pass keeps a layout whose outer one has changed.
type nestedKey struct{ outer, l *Layout }

// nestIn returns the innermost level of l in another layout, of as many rows.
func nestIn(p *plan.Pass, outer, l *Layout) *Layout {
	out, _ := plan.Once(p, nestedKey{outer, l}, func() (*Layout, error) { return outer.nested(l.offsets), nil })
	return out
}

// Window cuts a window of at most size out of each row of a level, from a start of its own on:
//
//	[N * F...], starts integers [N] -> [N * F...]
//
// starts has a number for each row of the level around, row-major; negative ones count from the end
// of a row. What of a window is outside of its row is left out. It copies. Its errors are
// shapeops.ErrDim, shapeops.ErrShape if starts is of another size, or size negative, and those of
// tensor.Tensor.Ints.
func (t *Tensor) Window(level int, starts *tensor.Tensor, size int) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	e, err := t.layout.window(level, starts, size)
	if err != nil {
		return nil, err
	}
	return e.on(t)
}

func (l *Layout) window(level int, starts *tensor.Tensor, size int) (*edit, error) {
	at, err := l.level(level)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, fmt.Errorf("%w: got a window of size %d", shapeops.ErrShape, size)
	}
	n, _ := l.NumRows(at - 1)
	list, err := ints("starts", starts, n)
	if err != nil {
		return nil, err
	}
	return kept(at, func(row, n int) (int, int, error) {
		start := list[row]
		if start < 0 {
			start += n
		}
		end := n
		if start < n-size {
			end = max(0, start+size)
		}
		start = min(max(start, 0), end)
		return start, end - start, nil
	}), nil
}
