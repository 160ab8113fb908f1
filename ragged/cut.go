package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// IndexLevel selects positions within each row of a level, as one part of an index expression does
// in a dim:
//
//	[N * *], IndexLevel(1, ix.Range(0, 3)) -> [N * *]: the first three visits of each patient
//	[N * *], IndexLevel(-1, ix.Range(-3, ix.End)) -> [N * *]: the last three codes of each visit
//	[N * *], IndexLevel(1, ix.At(-1)) -> [N *]: the last visit of each patient; removes the level
//
// Negative bounds and positions count from the end of each row. A range may have a step; positions
// of it outside a row are left out. IndexLevel copies.
//
// It returns shapeops.ErrDim for a level that t does not have, shapeops.ErrIndex for a list or a
// mask, and shapeops.ErrIndex, with the row, for a position that a row does not have. To avoid
// that, select the rows that have the position, or use a range of one position, which leaves rows
// of length one or zero.
func (t *Tensor) IndexLevel(level int, x ix.Index) (_ *Tensor, err error) {
	defer errtext.Name("index level", &err)
	e, err := indexed(level, x)
	if err != nil {
		return nil, err
	}
	return e.on(t)
}

// indexed returns the edit for IndexLevel.
func indexed(level int, x ix.Index) (*edit, error) {
	if err := x.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", shapeops.ErrIndex, err)
	}
	switch x.Kind() {
	case ix.KindAll:
		return cut(level, 0, ix.End), nil
	case ix.KindRange:
		start, stop, step := x.Bounds()
		if step > 1 {
			var list []int
			return rearranged(level, func(_, _, n int) ([]int, error) {
				list = list[:0]
				for i := plan.Clamp(start, n); i < plan.Clamp(stop, n); i += min(step, n) {
					list = append(list, i)
				}
				return list, nil
			}), nil
		}
		return cut(level, start, stop), nil
	case ix.KindAt:
		position := x.Position()
		e := kept(level, func(_, n int) (int, int, error) {
			i := position
			if i < 0 {
				i += n
			}
			if i < 0 || i >= n {
				return 0, 0, fmt.Errorf("%w: got position %d, want one of %d", shapeops.ErrIndex, position, n)
			}
			return i, 1, nil
		})
		e.ends = true
		return e, nil
	}
	return nil, fmt.Errorf("%w: got %v, want a position or a range", shapeops.ErrIndex, x)
}

// cut returns an edit that keeps positions start to stop of each row.
func cut(level, start, stop int) *edit {
	return kept(level, func(_, n int) (int, int, error) {
		lo, hi := plan.Clamp(start, n), plan.Clamp(stop, n)
		return lo, max(0, hi-lo), nil
	})
}

// without removes a level, whose rows all have length one, from a compact layout.
func without(p *plan.Pass, l *Layout, level int) *Layout {
	if l.depth < level {
		return l
	}
	if l.depth == level {
		return l.outer
	}
	return nestIn(p, without(p, l.outer, level), l)
}

// A nestedKey is the key under which a pass keeps the innermost level of l inside outer.
type nestedKey struct{ outer, l *Layout }

// nestIn returns the innermost level of l inside outer, which has as many rows as l.outer.
func nestIn(p *plan.Pass, outer, l *Layout) *Layout {
	out, _ := plan.Once(p, nestedKey{outer, l}, func() (*Layout, error) { return outer.nested(l.offsets), nil })
	return out
}

// WindowLevel cuts a window of at most size rows out of each row of a level. Each row has its own
// start:
//
//	[N * F...], starts integers [N] -> [N * F...]
//
// starts has one number for each row of the level above, row-major; a negative one counts from the
// end of its row. Positions of a window outside its row are left out. WindowLevel copies. It
// returns shapeops.ErrDim for a level that t does not have, shapeops.ErrShape if starts has another
// size or size is negative, and the errors of tensor.Tensor.Ints.
func (t *Tensor) WindowLevel(level int, starts *tensor.Tensor, size int) (_ *Tensor, err error) {
	defer errtext.Name("window level", &err)
	if !t.made() {
		return nil, errNil
	}
	at, err := t.layout.level(level)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, fmt.Errorf("%w: got a window of size %d", shapeops.ErrShape, size)
	}
	list, err := starts.Ints()
	if err != nil {
		return nil, fmt.Errorf("starts: %w", err)
	}
	if n, _ := t.layout.NumRows(at - 1); len(list) != n {
		return nil, fmt.Errorf("starts: %w: got %d, want %d, one for each row", shapeops.ErrShape, len(list), n)
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
	}).on(t)
}
