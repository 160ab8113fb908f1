package joint

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Concat concatenates several collections at a level. At level 0 the rows of each collection come
// after the rows of the one before. At level 1 each row gets the rows that it has in each
// collection, such as further visits of the same patients; fields of smaller depth must then be
// equal. In a collection of several trees, each tree is joined at that level.
//
// The collections must have the same fields, in any order, with the same depths, dtypes and trees;
// ragged.Tensor.Cast, in [Joint.Map], changes dtypes. The result is a copy, in which each layout is
// computed once. Concat returns
//
//   - shapeops.ErrShape if js is empty
//   - [ErrName] if names or trees differ
//   - [ErrDiffers] if scalars differ, or fields of smaller depth than level
//   - ragged.ErrLengths if depths differ, or lengths above the level
//   - tensor.ErrDType if dtypes differ
//   - shapeops.ErrDim if a collection has no rows, or for a level that the first does not have
func Concat(js []*Joint, level int) (_ *Joint, err error) {
	defer errtext.Name("concat", &err)
	if level < 0 {
		return nil, fmt.Errorf("%w: got level %d", shapeops.ErrDim, level)
	}
	parts, err := inners(js)
	if err != nil {
		return nil, err
	}
	if len(parts) > 0 && level > parts[0].depth() {
		return nil, fmt.Errorf("%w: got level %d, want at most %d", shapeops.ErrDim, level, parts[0].depth())
	}
	return joined(parts, level)
}

// Vstack makes each collection a row of a new first level. It is the inverse of taking a collection
// apart with [Joint.Row]. A scalar becomes the value of its row, so scalars may differ. Vstack
// otherwise returns the errors of [Concat].
func Vstack(js []*Joint) (_ *Joint, err error) {
	defer errtext.Name("vstack", &err)
	parts, err := each(js, (*Joint).lifted)
	if err != nil {
		return nil, err
	}
	return joined(parts, 0)
}

// lifted returns j as a collection of one row. Scalars become values of that row, and rows get one
// more level around them.
func (j *Joint) lifted() (*Joint, error) {
	if j.at.Single {
		one := &Joint{j.base, plan.Spot{Level: j.at.Level, First: j.at.First, N: 1}, j.path, j.tree}
		if !slices.ContainsFunc(j.base.fields, func(f Field) bool { return j.isScalar(f.Tensor) }) {
			return one, nil
		}
		return one.mapped(func(f Field) (*ragged.Tensor, error) { return rowed(f.Tensor) })
	}
	groups, err := ragged.LayoutOf(shapeops.Shape{1}, []int64{int64(j.at.N)})
	if err != nil {
		return nil, err
	}
	var p plan.Pass
	return j.mapped(func(f Field) (*ragged.Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return rowed(f.Tensor)
		}
		return opsOf(f.Tensor).NestIn(&p, groups)
	})
}

// rowed returns a scalar as a batch of one row, and any other tensor unchanged.
func rowed(t *ragged.Tensor) (*ragged.Tensor, error) {
	if len(t.Shape()) > 0 {
		return t, nil
	}
	return t.Index(ix.New)
}

func inners(js []*Joint) ([]*Joint, error) { return each(js, (*Joint).inner) }

// each returns the results of fn for each collection.
func each(js []*Joint, fn func(j *Joint) (*Joint, error)) ([]*Joint, error) {
	out := make([]*Joint, len(js))
	for i, j := range js {
		err := errNoJoint
		if j != nil && j.made() {
			out[i], err = fn(j)
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// joined concatenates js, none of which is a single row, at a level.
func joined(js []*Joint, level int) (*Joint, error) {
	if len(js) == 0 {
		return nil, fmt.Errorf("%w: got nothing to join, want at least one collection", shapeops.ErrShape)
	}
	first := js[0]
	columns := make([][]*ragged.Tensor, len(first.base.fields))
	for i, j := range js {
		if len(j.base.fields) != len(columns) {
			return nil, fmt.Errorf("value %d: %w: got %q, want %q", i, ErrName, j.Names(), first.Names())
		}
		for f := range j.Fields() {
			at, ok := first.base.names[f.Name]
			if !ok || first.base.fields[at].Tree != f.Tree {
				return nil, fmt.Errorf("value %d: %w: got %q of tree %q, want one of %q", i, ErrName, f.Name, f.Tree, first.Names())
			}
			columns[at] = append(columns[at], f.Tensor)
		}
	}
	p := &plan.Pass{}
	fields := slices.Clone(first.base.fields)
	for i := range fields {
		t, err := join(p, columns[i], level)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", fields[i].Name, err)
		}
		fields[i].Tensor = t
	}
	return first.like(fields)
}

// join joins xs, the tensors of one field.
func join(p *plan.Pass, xs []*ragged.Tensor, level int) (*ragged.Tensor, error) {
	for i, x := range xs {
		if len(x.Shape()) != len(xs[0].Shape()) {
			return nil, fmt.Errorf("value %d: %w: got %v, want %v: one is a scalar", i, ragged.ErrLengths, x.Layout(), xs[0].Layout())
		}
		if err := opsOf(xs[0]).CheckLike(x); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	if len(xs[0].Shape()) > 0 && xs[0].Depth() >= level {
		return opsOf(xs[0]).ConcatIn(p, xs, level)
	}
	for i, x := range xs {
		if text, err := x.DiffWithin(xs[0], tensor.Tolerance{EqualNaN: true}); text != "" || err != nil {
			return nil, fmt.Errorf("value %d: %w from value 0: want equal fields above level %d", i, ErrDiffers, level)
		}
	}
	return xs[0], nil
}
