package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// JoinOptions say how collections are joined. The zero value joins at level 0 and requires equal
// dtypes.
type JoinOptions struct {
	// Level is the level at which ConcatJoints joins. At level 0, the default, the rows of each
	// collection come after the rows of the one before. At level 1, each row gets the rows that it
	// has in each collection, such as further visits of the same patients. Fields of smaller depth
	// than Level must then be equal. In a collection of several trees, each tree is joined at that
	// level.
	Level int
	// Promote casts fields whose dtypes differ to the smallest dtype that holds all values of both:
	// integers to integers, floats to floats. By default a difference is tensor.ErrDType.
	Promote bool
}

// ConcatJoints concatenates the rows of several collections. They must have the same fields, in any
// order, with the same depths and trees. The result is a copy, in which each layout is computed
// once. ConcatJoints returns
//
//   - shapeops.ErrShape if js is empty
//   - [ErrName] if names or trees differ
//   - [ErrDiffers] if scalars differ, or fields of smaller depth than opt.Level
//   - [ErrLengths] if depths differ, or lengths above opt.Level
//   - tensor.ErrDType if dtypes differ
//   - shapeops.ErrDim if a collection has no rows, or for a level that the first does not have
func ConcatJoints(js []*Joint, opt JoinOptions) (*Joint, error) {
	if opt.Level < 0 {
		return nil, fmt.Errorf("%w: got level %d", shapeops.ErrDim, opt.Level)
	}
	parts, err := inners(js)
	if err != nil {
		return nil, err
	}
	if len(parts) > 0 && opt.Level > parts[0].depth() {
		return nil, fmt.Errorf("%w: got level %d, want at most %d", shapeops.ErrDim, opt.Level, parts[0].depth())
	}
	return joinJoints(parts, opt)
}

// VstackJoints makes each collection a row of a new first level. It is the inverse of taking a
// collection apart with [Joint.Row]. A scalar becomes the value of its row, so scalars may differ.
// VstackJoints otherwise returns the errors of [ConcatJoints]; opt.Level must be 0.
func VstackJoints(js []*Joint, opt JoinOptions) (*Joint, error) {
	if opt.Level != 0 {
		return nil, fmt.Errorf("%w: got level %d, want 0", shapeops.ErrDim, opt.Level)
	}
	parts, err := eachJoint(js, (*Joint).lifted)
	if err != nil {
		return nil, err
	}
	return joinJoints(parts, opt)
}

// lifted returns j as a collection of one row. Scalars become values of that row.
func (j *Joint) lifted() (*Joint, error) {
	if !j.at.single {
		return j.unsqueezed()
	}
	at := j.at
	one := &Joint{j.base, spot{level: at.level, first: at.first, n: 1}, j.path, j.tree}
	for _, f := range j.all().fields {
		if len(f.Tensor.Shape()) == 0 || f.Tensor.Depth() < at.level {
			return one.Map(func(f Field) (*Tensor, error) { return f.Tensor.rowed() })
		}
	}
	return one, nil
}

// unsqueezed returns all rows of j inside one row: fields gain a level, and scalars become a value
// of that row.
func (j *Joint) unsqueezed() (*Joint, error) {
	groups, err := grouped(shapeops.Shape{j.at.n}, []int64{int64(j.at.n)})
	if err != nil {
		return nil, err
	}
	var p plan.Pass
	return j.Map(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor.rowed()
		}
		return relayout(&p, f.Tensor, func(l *Layout) (*Layout, error) { return under(&p, l, 0, groups), nil })
	})
}

// rowed returns a scalar as a batch of one row, and any other tensor unchanged.
func (t *Tensor) rowed() (*Tensor, error) {
	if len(t.Shape()) > 0 {
		return t, nil
	}
	p, err := plan.Unsqueeze(t.Shape(), 0)
	if err != nil {
		return nil, err
	}
	return t.Ops().Execute(plan.NewPass(p))
}

func inners(js []*Joint) ([]*Joint, error) { return eachJoint(js, (*Joint).inner) }

// eachJoint returns the results of fn for each collection.
func eachJoint(js []*Joint, fn func(j *Joint) (*Joint, error)) ([]*Joint, error) {
	out := make([]*Joint, len(js))
	for i, j := range js {
		err := errNoJoint
		if j.made() {
			out[i], err = fn(j)
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// joinJoints concatenates js, none of which is a single row, at opt.Level.
func joinJoints(js []*Joint, opt JoinOptions) (*Joint, error) {
	if len(js) == 0 {
		return nil, fmt.Errorf("%w: got nothing to join, want at least one collection", shapeops.ErrShape)
	}
	columns := make([][]*Tensor, len(js[0].all().fields))
	for i, j := range js {
		if err := js[0].collect(j, columns); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	p := &plan.Pass{}
	fields := slices.Clone(js[0].all().fields)
	for i := range fields {
		t, err := opt.join(p, columns[i])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", fields[i].Name, err)
		}
		fields[i].Tensor = t
	}
	return js[0].like(fields)
}

// collect appends the fields of x to columns, in the order of j's fields.
func (j *Joint) collect(x *Joint, columns [][]*Tensor) error {
	if len(x.all().fields) != len(columns) {
		return fmt.Errorf("%w: got %q, want %q", ErrName, x.Names(), j.Names())
	}
	for f := range x.Fields() {
		at, ok := j.all().names[f.Name]
		if !ok || j.all().fields[at].Tree != f.Tree {
			return fmt.Errorf("%w: got %q of tree %q, want one of %q", ErrName, f.Name, f.Tree, j.Names())
		}
		columns[at] = append(columns[at], f.Tensor)
	}
	return nil
}

// join joins xs, the tensors of one field.
func (opt JoinOptions) join(p *plan.Pass, xs []*Tensor) (*Tensor, error) {
	if opt.Promote {
		var err error
		if xs, err = promoted(xs); err != nil {
			return nil, err
		}
	}
	for i, x := range xs {
		if len(x.Shape()) != len(xs[0].Shape()) {
			return nil, fmt.Errorf("value %d: %w: got %v, want %v: one is a scalar", i, ErrLengths, x.layout, xs[0].layout)
		}
	}
	compact, err := alike(p, xs)
	if err != nil {
		return nil, err
	}
	if len(xs[0].Shape()) > 0 && xs[0].Depth() >= opt.Level {
		return concat(p, compact, opt.Level)
	}
	for i, x := range xs {
		if text, err := x.DiffWith(xs[0], CompareOptions{EqualNaN: true}); text != "" || err != nil {
			return nil, fmt.Errorf("value %d: %w from value 0: want equal fields above level %d", i, ErrDiffers, opt.Level)
		}
	}
	return xs[0], nil
}

// promoted casts xs to the smallest dtype that holds all their values.
func promoted(xs []*Tensor) ([]*Tensor, error) {
	dtype := xs[0].DType()
	for _, x := range xs[1:] {
		var ok bool
		if dtype, ok = promote(dtype, x.DType()); !ok {
			return nil, fmt.Errorf("%w: got %v, which no dtype holds together with %v", tensor.ErrDType, x.DType(), xs[0].DType())
		}
	}
	out := slices.Clone(xs)
	for i, x := range xs {
		if x.DType() == dtype {
			continue
		}
		t, err := x.Cast(dtype)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// promote returns the smallest dtype that holds all values of both, and false if there is none.
// Integers, floats and bools have no common dtype.
func promote(a, b tensor.DType) (tensor.DType, bool) {
	if a == b {
		return a, true
	}
	lowA, highA, intA := bounds(a)
	lowB, highB, intB := bounds(b)
	switch {
	case intA && intB:
		d, err := smallestInteger(min(lowA, lowB), max(highA, highB))
		return d, err == nil
	case !a.IsFloat() || !b.IsFloat():
		return 0, false
	case a.Size() == b.Size(): // float16 and bfloat16
		return tensor.Float32, true
	case a.Size() > b.Size():
		return a, true
	}
	return b, true
}

// bounds returns the least and the greatest value of an integer dtype.
func bounds(d tensor.DType) (low int64, high uint64, ok bool) {
	for _, x := range integers {
		if x.dtype == d {
			return x.low, x.high, true
		}
	}
	return 0, 0, false
}
