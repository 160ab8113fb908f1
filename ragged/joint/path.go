package joint

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A path lists, for each level above a spot, the row that contains the spot. The first few entries
// need no allocation.
type path struct {
	few  [3]int
	more []int
}

// at returns the row at a level.
func (p *path) at(level int) int {
	if level < len(p.few) {
		return p.few[level]
	}
	return p.more[level-len(p.few)]
}

// Row returns the content of one row: for a patient, the collection whose rows are the visits of
// that patient. A negative i counts from the end. Row takes constant time. It returns
// shapeops.ErrIndex if there is no such row, and shapeops.ErrDim if j has no rows.
func (j *Joint) Row(i int) (_ *Joint, err error) {
	defer errtext.Name("row", &err)
	out, err := j.inner()
	if err != nil {
		return nil, err
	}
	if err := out.at.Step(i); err != nil {
		return nil, err
	}
	return out, nil
}

// Range returns the rows from start up to, not including, stop, with the rules of Python's slices.
// It takes constant time. It returns shapeops.ErrDim if j has no rows.
func (j *Joint) Range(start, stop int) (_ *Joint, err error) {
	defer errtext.Name("range", &err)
	out, err := j.inner()
	if err != nil {
		return nil, err
	}
	out.at.Narrow(start, stop)
	return out, nil
}

// Index enters rows and selects among the rows there. All parts of expr but the last are positions,
// as in [Joint.Row]. The last is a position, a range, which may have a step, a list or a mask.
//
//	j.Index(ix.At(0), ix.Range(1, ix.End)) // visits of the first patient, from the second on
//	j.Index(ix.Take(3, 1))                 // two patients
//
// A range without a step takes constant time, as in [Joint.Range]. For a range with a step, a list
// or a mask, rows are copied; each layout that fields share is computed once. The empty expression
// returns j. Index returns shapeops.ErrIndex, and shapeops.ErrDim if there are no rows.
func (j *Joint) Index(expr ...ix.Index) (_ *Joint, err error) {
	defer errtext.Name("index", &err)
	if dims := j.depth() + 1; len(expr) > max(dims, 1) {
		return nil, fmt.Errorf("%w: got %d parts, want at most %d: one for the batch and one for each level", shapeops.ErrIndex, len(expr), dims)
	}
	for i, x := range expr[:max(len(expr)-1, 0)] {
		if x.Kind() != ix.KindAt {
			return nil, fmt.Errorf("%w: part %d: got %v, want positions, and at most a range as the last part", shapeops.ErrIndex, i, x)
		}
	}
	out := j
	for _, x := range expr {
		rows, err := out.inner()
		if err != nil {
			return nil, err
		}
		switch start, stop, step := x.Bounds(); {
		case x.Kind() == ix.KindAt:
			out, err = rows, rows.at.Step(x.Position())
		case x.Kind() == ix.KindRange && step == 1:
			out = rows
			out.at.Narrow(start, stop)
		default:
			out, err = rows.picked(x)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// picked returns the rows of j that x, which leaves one dim, selects.
func (j *Joint) picked(x ix.Index) (*Joint, error) {
	planned, err := plan.Index(shapeops.Shape{j.at.N}, x)
	if err != nil {
		return nil, err
	}
	if len(planned.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got %v, want an index that leaves one dim", shapeops.ErrIndex, x)
	}
	p := plan.NewPass(planned)
	return j.mapped(func(f Field) (*ragged.Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return f.Tensor.Ops().Execute(p)
	})
}

// depth returns the number of levels of the deepest tree below the rows of j.
func (j *Joint) depth() int {
	if !j.made() {
		return -1
	}
	depth := 0
	for _, t := range j.all().trees {
		depth = max(depth, t.deepest.Depth())
	}
	if j.at.Single {
		return depth - j.at.Level - 1
	}
	return depth - j.at.Level
}

// inner returns a copy of j; if j is a single row, it returns the rows inside instead.
func (j *Joint) inner() (*Joint, error) {
	if !j.made() {
		return nil, errNoRows
	}
	out := &Joint{j.base, j.at, j.path, j.tree}
	if !j.at.Single {
		return out, nil
	}
	at, err := j.entered()
	if err != nil {
		return nil, err
	}
	if at.Single {
		return nil, errNoRows
	}
	if level := j.at.Level; level < len(out.path.few) {
		out.path.few[level] = j.at.First
	} else {
		n := level - len(out.path.few)
		out.path.more = append(out.path.more[:n:n], j.at.First)
	}
	out.at = at
	return out, nil
}

var errNoRows = fmt.Errorf("%w: got a value that has no rows", shapeops.ErrDim)

// entered returns the spot of j's rows: if j is a single row, of the rows inside it, or of j itself
// if there are none.
func (j *Joint) entered() (plan.Spot, error) {
	if !j.made() {
		return plan.Spot{Single: true}, nil
	}
	at := j.at
	if !at.Single {
		return at, nil
	}
	var inside *tree // the only tree with rows inside the row
	for i := range j.base.trees {
		t := &j.base.trees[i]
		if t.deepest.Depth() <= at.Level {
			continue
		}
		if inside != nil {
			return at, fmt.Errorf("%w: trees %q and %q both have rows inside one row: Select the fields of one tree", shapeops.ErrDim, inside.name, t.name)
		}
		inside = t
	}
	if inside == nil {
		return at, nil
	}
	offsets, err := inside.deepest.Offsets(at.Level + 1)
	if err != nil {
		return at, err
	}
	at.Enter(offsets)
	return at, nil
}
