package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// JoinOptions say how collections are joined. The zero value wants them to be alike.
type JoinOptions struct {
	// Level is where ConcatJoints joins: at 0, the default, rows of one collection come after those
	// of another; at level 1, the rows of each row, as further visits of the same patients. Fields
	// that are less deep must then be equal. Of several trees it is that level of each.
	Level int
	// Promote casts fields whose dtypes differ to the smallest that holds all values of both:
	// integers to integers, floats to floats. By default that is tensor.ErrDType.
	Promote bool
}

// ConcatJoints lays the rows of several collections one after the other. They must have the same
// fields, in any order, of the same depths and trees. The result is a copy, in which each layout is
// worked out once. It returns shapeops.ErrShape if there is no collection, [ErrName] if names or
// trees differ, [ErrDiffers] if scalars do, or fields less deep than opt.Level, [ErrLengths] if
// depths do, or lengths around that level, tensor.ErrDType if dtypes do, and shapeops.ErrDim if one
// has no rows.
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

// VstackJoints makes collections the rows of a new first level: what undoes taking them apart by
// [Joint.Row]. A scalar becomes the value of its row. Its errors are those of [ConcatJoints], but
// scalars may differ.
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

// lifted returns j as one row, of which scalars are values.
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

// unsqueezed returns all rows of j in one row: fields become one level deeper, and scalars a value
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

func inners(js []*Joint) ([]*Joint, error) { return eachJoint(js, (*Joint).inner) }

// eachJoint returns what fn makes of each collection.
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

// joinJoints lays rows one after the other.
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

// collect appends the fields of x to columns, in the order of j.
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

// join joins the fields of one name.
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
	straight, err := alike(p, xs)
	if err != nil {
		return nil, err
	}
	if len(xs[0].Shape()) > 0 && xs[0].Depth() >= opt.Level {
		return concat(p, straight, opt.Level)
	}
	for i, x := range xs {
		if text, err := x.DiffWith(xs[0], CompareOptions{EqualNaN: true}); text != "" || err != nil {
			return nil, fmt.Errorf("value %d: %w: from those of value 0, and they are not deep enough to be joined at level %d", i, ErrDiffers, opt.Level)
		}
	}
	return xs[0], nil
}

// promoted casts tensors to one dtype.
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

// promote returns the smallest dtype that holds all values of both, which are integers, floats or
// bools together.
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

// bounds returns the least and the greatest integer of a dtype.
func bounds(d tensor.DType) (low int64, high uint64, ok bool) {
	for _, x := range integers {
		if x.dtype == d {
			return x.low, x.high, true
		}
	}
	return 0, 0, false
}
