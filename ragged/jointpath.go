package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A path is the rows of lower levels that a spot is in, level by level, as far as one was picked
// there. The first few need no memory of their own.
type path struct {
	few  [3]int
	more []int
}

// at returns the row of a level.
func (p *path) at(level int) int {
	if level < len(p.few) {
		return p.few[level]
	}
	return p.more[level-len(p.few)]
}

// with returns p and the row of the level that comes next.
func (p path) with(level, row int) path {
	if level < len(p.few) {
		p.few[level] = row
	} else {
		p.more = append(p.more[:level-len(p.few):level-len(p.few)], row)
	}
	return p
}

// Row returns what is in one row: of patients, one patient, whose visits are the rows of the
// result. A negative row counts from the end. It takes constant time. It returns shapeops.ErrIndex
// if there is no such row, and shapeops.ErrDim if there are no rows.
func (j *Joint) Row(i int) (*Joint, error) {
	out, err := j.inner()
	if err != nil {
		return nil, err
	}
	if err := out.at.step(i); err != nil {
		return nil, err
	}
	return out, nil
}

// Range returns the rows from start to before stop, with the rules of Python's slices. It takes
// constant time. It returns shapeops.ErrDim if there are no rows.
func (j *Joint) Range(start, stop int) (*Joint, error) {
	out, err := j.inner()
	if err != nil {
		return nil, err
	}
	out.at.narrow(start, stop)
	return out, nil
}

// Index goes into rows and selects among those there: all parts but the last are positions, as
// [Joint.Row] takes them, and the last is a position, a range, with a step too, a list or a mask.
//
//	j.Index(ix.At(0), ix.Range(1, ix.End)) // visits of the first patient, from the second on
//	j.Index(ix.Take(3, 1))                 // two patients
//
// A range without a step takes constant time, as [Joint.Range] does. Rows are copied for a list and
// a mask; each layout that fields share is worked out once. The empty expression is j. It returns
// shapeops.ErrIndex, and shapeops.ErrDim if there are no rows.
func (j *Joint) Index(expr ...ix.Index) (*Joint, error) {
	if err := checkSteps(expr, j.depth()+1); err != nil {
		return nil, err
	}
	out, err := j, error(nil)
	for _, x := range expr {
		if out, err = out.selected(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// selected is Index of one part.
func (j *Joint) selected(x ix.Index) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	switch start, stop, step := x.Bounds(); {
	case x.Kind() == ix.KindAt:
		return rows.Row(x.Position())
	case x.Kind() == ix.KindRange && step == 1:
		return rows.Range(start, stop)
	}
	planned, err := plan.Index(shapeops.Shape{rows.at.n}, x)
	if err != nil {
		return nil, err
	}
	if len(planned.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got %v, want what leaves one dim", shapeops.ErrIndex, x)
	}
	p := plan.NewPass(planned)
	return rows.Map(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return f.Tensor.Plan().Execute(p)
	})
}

// depth returns how many levels the deepest tree has below the rows.
func (j *Joint) depth() int {
	if !j.made() {
		return -1
	}
	depth := 0
	for _, t := range j.all().trees {
		depth = max(depth, t.deepest.depth)
	}
	if j.at.single {
		return depth - j.at.level - 1
	}
	return depth - j.at.level
}

// inner returns a copy of j that is not a single row, but the rows in it.
func (j *Joint) inner() (*Joint, error) {
	if !j.made() {
		return nil, errNoRows
	}
	out := &Joint{j.base, j.at, j.path, j.tree}
	if !j.at.single {
		return out, nil
	}
	at, err := j.entered()
	if err != nil {
		return nil, err
	}
	if at.single {
		return nil, errNoRows
	}
	out.path = j.path.with(j.at.level, j.at.first)
	out.at = at
	return out, nil
}

var errNoRows = fmt.Errorf("%w: there are no rows in it", shapeops.ErrDim)

// entered returns where the rows of j are; j itself if it is a row that has none.
func (j *Joint) entered() (spot, error) {
	if !j.made() {
		return spot{single: true}, nil
	}
	at := j.at
	if !at.single {
		return at, nil
	}
	l, err := j.all().spine(at.level + 1)
	if err != nil || l == nil {
		return at, err
	}
	at.enter(l)
	return at, nil
}

// spine returns the layout whose innermost level is the given one, or nil if there is none. It
// returns ErrDim if several trees have one.
func (b *joint) spine(level int) (*Layout, error) {
	var found *tree
	for i := range b.trees {
		t := &b.trees[i]
		if t.deepest.depth < level {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: trees %q and %q have rows of their own in one row: Select fields of one", shapeops.ErrDim, found.name, t.name)
		}
		found = t
	}
	if found == nil {
		return nil, nil
	}
	return found.deepest.at(level), nil
}
