package ragged

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// mapped returns what fn makes of the fields of j, the rows of which are those of a batch; scalars
// stay. fn is given a pass in which layouts that fields share are found again.
func (j *Joint) mapped(fn func(p *plan.Pass, t *Tensor) (*Tensor, error)) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	var p plan.Pass
	return rows.Map(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return fn(&p, f.Tensor)
	})
}

// Map returns the collection of what fn makes of each field, under the same names; a field of which
// it makes nil is left out. It is how what tensors can do is done to all of a collection:
//
//	perVisit, err := j.Map(func(f ragged.Field) (*ragged.Tensor, error) {
//		if f.Tensor.Depth() < 2 {
//			return f.Tensor, nil
//		}
//		return f.Tensor.Reduce(1, arith.Max)
//	})
//
// Map returns shapeops.ErrKind if fn is nil, fn's error, with the name, and those of [NewJoint].
func (j *Joint) Map(fn func(f Field) (*Tensor, error)) (*Joint, error) {
	if fn == nil {
		return nil, errNoFunc
	}
	var fields []Field
	for f := range j.Fields() {
		t, err := fn(f)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if t != nil {
			fields = append(fields, Field{f.Name, t, f.Tree})
		}
	}
	return j.like(fields)
}

// Index returns the rows that one part of an index expression selects: a range, with a step too, a
// list, or a mask. Rows are copied for a list and a mask; each layout that fields share is worked
// out once. For a position it is [Joint.Row]. It returns shapeops.ErrIndex, and shapeops.ErrDim
// if there are no rows.
func (j *Joint) Index(x ix.Index) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	if x.Kind() == ix.KindAt {
		return rows.Row(x.Position())
	}
	p, err := plan.Index((shapeops.Shape{rows.at.n}), x)
	if err != nil {
		return nil, err
	}
	if len(p.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got %v, want what leaves one dim", shapeops.ErrIndex, x)
	}
	return rows.executed(p)
}

// executed returns what a plan makes of the rows.
func (j *Joint) executed(planned *plan.Plan) (*Joint, error) {
	p := plan.NewPass(planned)
	return j.mapped(func(_ *plan.Pass, t *Tensor) (*Tensor, error) { return t.Plan().Execute(p) })
}

// Take returns the rows that positions name, copied; negative ones count from the end. Its errors
// are those of [Joint.Index].
func (j *Joint) Take(positions ...int) (*Joint, error) { return j.Index(ix.Take(positions...)) }

// Shuffle returns the rows in random order, copied.
func (j *Joint) Shuffle(rng *rand.Rand) (*Joint, error) {
	if rng == nil {
		return nil, errNoRand
	}
	n, _ := j.Len()
	return j.Take(rng.Perm(n)...)
}

// Unsqueeze puts all rows into one: fields become one level deeper, and scalars a value of that
// row. It shares memory. It returns shapeops.ErrDim if there are no rows.
func (j *Joint) Unsqueeze() (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	groups, err := grouped(shapeops.Shape{rows.at.n}, []int64{int64(rows.at.n)})
	if err != nil {
		return nil, err
	}
	return rows.regrouped(groups)
}

// regrouped returns j with its rows as level 1 of groups.
func (j *Joint) regrouped(groups *Layout) (*Joint, error) {
	var p plan.Pass
	return j.Map(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor.rowed()
		}
		return relayout(&p, f.Tensor, func(l *Layout) (*Layout, error) { return under(&p, l, 0, groups), nil })
	})
}

// rowed returns t, or, if it is a scalar, the batch that has it as its only row.
func (t *Tensor) rowed() (*Tensor, error) {
	if len(t.Shape()) > 0 {
		return t, nil
	}
	p, err := plan.Unsqueeze(t.Shape(), 0)
	if err != nil {
		return nil, err
	}
	return t.Plan().Execute(plan.NewPass(p))
}

// Squeeze undoes [Joint.Unsqueeze]: it returns what is in the only row. It returns
// shapeops.ErrShape if there are more or none, and [ErrLengths] if trees have other numbers of rows
// in it.
func (j *Joint) Squeeze() (*Joint, error) {
	if n, ok := j.Len(); !ok || n != 1 {
		return nil, fmt.Errorf("%w: got %d rows, want one", shapeops.ErrShape, n)
	}
	return j.mapped(func(_ *plan.Pass, t *Tensor) (*Tensor, error) {
		if t.Depth() == 0 {
			return t.Row(0)
		}
		return t.Flatten(1)
	})
}
