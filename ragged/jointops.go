package ragged

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// mapped returns what fn makes of the fields of j, the rows of which are those of a batch; scalars
// stay. fn is given a pass in which layouts that fields share are found again.
func (j *Joint) mapped(fn func(p *shapeops.Pass, t *Tensor) (*Tensor, error)) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	var p shapeops.Pass
	return rows.each(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return fn(&p, f.Tensor)
	})
}

// each returns the collection of what fn makes of each field.
func (j *Joint) each(fn func(f Field) (*Tensor, error)) (*Joint, error) {
	fields := make([]Field, 0, len(j.base.fields))
	for f := range j.Fields() {
		t, err := fn(f)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		fields = append(fields, Field{f.Name, t, f.Tree})
	}
	return NewJoint(fields...)
}

// Index returns the rows that one part of an index expression selects: a range, with a step too, a
// list, or a mask. Rows are copied for a list and a mask; each layout that fields share is worked
// out once. For a position it is [Joint.Row]. Its errors are those of shapeops.Shape.Index, and
// shapeops.ErrDim if there are no rows.
func (j *Joint) Index(x ix.Index) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	if x.Kind() == ix.KindAt {
		return rows.Row(x.Position())
	}
	plan, err := (shapeops.Shape{rows.at.n}).Index(x)
	if err != nil {
		return nil, err
	}
	if len(plan.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got %v, want what leaves one dim", shapeops.ErrIndex, x)
	}
	return rows.executed(plan)
}

// executed returns what a plan makes of the rows.
func (j *Joint) executed(plan *shapeops.Plan) (*Joint, error) {
	p := shapeops.NewPass(plan)
	return j.mapped(func(_ *shapeops.Pass, t *Tensor) (*Tensor, error) { return t.Execute(p) })
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

// edited returns what an edit makes of the fields of a tree, which has as many levels as it edits at
// least.
func (j *Joint) edited(tree string, e *edit) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	l, err := rows.deepest(tree)
	if err != nil {
		return nil, err
	}
	if e.level, err = l.level(e.level); err != nil {
		return nil, err
	}
	return rows.each(func(f Field) (*Tensor, error) {
		if f.Tree != tree || len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return e.tensor(f.Tensor)
	})
}

// deepest returns the deepest layout of a tree, as it is in j.
func (j *Joint) deepest(name string) (*Layout, error) {
	for _, t := range j.base.trees {
		if t.name == name && t.deepest.depth >= j.at.level {
			return inside(nil, t.deepest, j.at)
		}
	}
	return nil, fmt.Errorf("%w: got tree %q, which has no rows", ErrName, name)
}

// InTree returns j with another tree as the one whose levels Cut, Window, MaskedSelect and Flatten are
// about: by default that is the tree without a name.
func (j *Joint) InTree(name string) *Joint {
	out := *j
	out.tree = name
	return &out
}

// Cut keeps a range of each row of a level, as [Tensor.Cut] does, in all fields of the tree that are
// so deep; of another tree see [Joint.InTree].
func (j *Joint) Cut(level, start, stop int) (*Joint, error) {
	return j.edited(j.tree, cut(level, start, stop))
}

// Window cuts a window out of each row of a level, as [Tensor.Window] does, in all fields of the tree
// that are so deep.
func (j *Joint) Window(level int, starts *tensor.Tensor, size int) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	l, err := rows.deepest(j.tree)
	if err != nil {
		return nil, err
	}
	e, err := l.window(level, starts, size)
	if err != nil {
		return nil, err
	}
	return rows.edited(j.tree, e)
}

// MaskedSelect keeps the rows, or values, for which a bool tensor is true, as [Tensor.MaskedSelect]
// does, in all fields of the tree that are at least as deep as the mask:
//
//	high, err := arith.Greater(labs, 10)    // of the field "labs": [N *]
//	j, err = j.MaskedSelect(high)           // visits with such a lab, in all fields of visits
func (j *Joint) MaskedSelect(mask *Tensor) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	l, err := rows.deepest(j.tree)
	if err != nil {
		return nil, err
	}
	e, err := masked(l, mask)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	if e == nil {
		var out *Joint
		err := mask.withMask(func(x ix.Index) (err error) { out, err = rows.Index(x); return err })
		return out, err
	}
	return rows.edited(j.tree, e)
}

// SortBy sorts the rows of each row of the level of a field by its values, in all fields of its tree
// that are so deep: visits of each patient by day. The field must have a level. Its errors are those
// of [Tensor.Argsort], and [ErrName].
func (j *Joint) SortBy(name string, opt arith.SortOptions) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	by, err := rows.Tensor(name)
	if err != nil {
		return nil, err
	}
	order, err := by.Argsort(opt)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", name, err)
	}
	e, err := picks(order)
	if err != nil {
		return nil, err
	}
	return rows.edited(rows.base.fields[rows.base.names[name]].Tree, e)
}

// Unsqueeze puts all rows into one: fields become one level deeper, and scalars a value of that row.
// It shares memory. It returns shapeops.ErrDim if there are no rows.
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
	var p shapeops.Pass
	return j.each(func(f Field) (*Tensor, error) {
		if len(f.Tensor.Shape()) == 0 {
			return f.Tensor.rowed()
		}
		return relayout(&p, f.Tensor, func(l *Layout) (*Layout, error) { return under(&p, l, 0, groups), nil })
	})
}

// Squeeze undoes [Joint.Unsqueeze]: it returns what is in the only row. It returns shapeops.ErrShape
// if there are more or none.
func (j *Joint) Squeeze() (*Joint, error) {
	if n, ok := j.Len(); !ok || n != 1 {
		return nil, fmt.Errorf("%w: got %d rows, want one", shapeops.ErrShape, n)
	}
	return j.Row(0)
}

// A FlattenMode says what becomes of a field whose values have, one level deeper, several rows or
// none, when that level is flattened.
type FlattenMode uint8

// The modes of [Joint.Flatten].
const (
	// Drop leaves such fields out.
	Drop FlattenMode = iota
	// First puts each value where the first of its rows is, and 0 where the others are. A value that
	// has no row is an error.
	First
	// Repeat puts each value where each of its rows is. A value that has none is left out.
	Repeat
)

// Flatten ends a level, as [Tensor.Flatten] does, in all fields of the tree that are so deep. What becomes of fields that lie in the level around it, mode says. The rest stays. If
// level 1 ends, fields of depth 0 are those that mode is about. It returns shapeops.ErrDim for a
// level that the tree has not, or for level 1 if there is another tree, and [ErrLengths], with name
// and row, for a value that has no row in mode First.
func (j *Joint) Flatten(level int, mode FlattenMode) (*Joint, error) {
	rows, err := j.inner()
	if err != nil {
		return nil, err
	}
	l, err := rows.deepest(j.tree)
	if err != nil {
		return nil, err
	}
	if level, err = l.level(level); err != nil {
		return nil, err
	}
	var p shapeops.Pass
	var fields []Field
	for f := range rows.Fields() {
		t, err := rows.flatten(&p, l, f, level, mode)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if t != nil {
			fields = append(fields, Field{f.Name, t, f.Tree})
		}
	}
	return NewJoint(fields...)
}

// flatten returns a field of which a level has ended, or nil if it is left out.
func (j *Joint) flatten(p *shapeops.Pass, deepest *Layout, f Field, level int, mode FlattenMode) (*Tensor, error) {
	t := f.Tensor
	other := f.Tree != j.tree && t.Depth() > 0
	switch {
	case len(t.Shape()) == 0 || t.Depth() < level-1 || other && level > 1:
		return t, nil
	case other:
		return nil, fmt.Errorf("%w: its tree %q has rows of its own: Select fields of one", shapeops.ErrDim, f.Tree)
	}
	if t.Depth() >= level {
		return relayout(p, t, func(l *Layout) (*Layout, error) { return flattened(p, l, level) })
	}
	if mode == Drop {
		return nil, nil
	}
	s, err := t.straight(p)
	if err != nil {
		return nil, err
	}
	full := deepest.picked(p).layout.at(level)
	flat, err := flattened(p, full, level)
	if err != nil {
		return nil, err
	}
	return s.spread(full, flat, mode)
}

// spread returns the values of t as those of a layout one level deeper, flat.
func (t *Tensor) spread(full, flat *Layout, mode FlattenMode) (*Tensor, error) {
	if mode == Repeat {
		out, err := t.Broadcast(full)
		if err != nil {
			return nil, err
		}
		return &Tensor{layout: flat, values: out.values}, nil
	}
	runs := make([]shapeops.Run, 0, t.values.Shape()[0])
	for row := range full.offsets[1:] {
		if full.offsets[row] == full.offsets[row+1] {
			return nil, fmt.Errorf("row %d: %w: it has no row at level %d, where its value would be: see Repeat and Drop", row, ErrLengths, full.depth)
		}
		runs = append(runs, shapeops.Run{To: int(full.offsets[row]), From: row, Len: 1})
	}
	values, err := t.room(flat.numbered())
	if err != nil {
		return nil, err
	}
	zero, err := tensor.New(t.DType())
	if err != nil {
		return nil, err
	}
	var tr tensor.Transfer
	if err := tr.FillRuns(values, t.values, zero, runs); err != nil {
		return nil, err
	}
	return &Tensor{layout: flat, values: values}, tr.Run()
}

// JoinOptions say how collections are joined. The zero value wants them to be alike.
type JoinOptions struct {
	// Promote casts fields whose dtypes differ to the smallest that holds all values of both:
	// integers to integers, floats to floats. By default that is tensor.ErrDType.
	Promote bool
}

// ConcatJoints lays the rows of several collections one after the other. They must have the same
// fields, in any order, of the same depths and trees; scalars must be equal. The result is a copy, in
// which each layout is worked out once. It returns shapeops.ErrShape if there is no collection,
// [ErrName] if names or trees differ, [ErrLengths] if depths do, tensor.ErrDType if dtypes do, and
// shapeops.ErrDim if one has no rows.
func ConcatJoints(js []*Joint, opt JoinOptions) (*Joint, error) {
	parts, err := inners(js)
	if err != nil {
		return nil, err
	}
	return joinJoints(parts, opt)
}

// VstackJoints makes collections the rows of a new first level: what undoes taking them apart by
// [Joint.Row]. A scalar becomes the value of its row. Its errors are those of [ConcatJoints], but
// scalars may differ.
func VstackJoints(js []*Joint, opt JoinOptions) (*Joint, error) {
	parts, err := eachJoint(js, (*Joint).lifted)
	if err != nil {
		return nil, err
	}
	return joinJoints(parts, opt)
}

// lifted returns j as one row, of which scalars are values.
func (j *Joint) lifted() (*Joint, error) {
	if !j.at.single {
		return j.Unsqueeze()
	}
	at := j.at
	one := &Joint{j.base, spot{level: at.level, first: at.first, n: 1}, j.path, j.tree}
	for _, f := range j.base.fields {
		if len(f.Tensor.Shape()) == 0 || f.Tensor.Depth() < at.level {
			return one.each(func(f Field) (*Tensor, error) { return f.Tensor.rowed() })
		}
	}
	return one, nil
}

// rowed returns t, or, if it is a scalar, the batch that has it as its only row.
func (t *Tensor) rowed() (*Tensor, error) {
	if len(t.Shape()) > 0 {
		return t, nil
	}
	plan, err := t.Shape().Unsqueeze(0)
	if err != nil {
		return nil, err
	}
	return t.Execute(shapeops.NewPass(plan))
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
	columns := make([][]*Tensor, len(js[0].base.fields))
	for i, j := range js {
		if err := js[0].collect(j, columns); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	p := &shapeops.Pass{}
	fields := slices.Clone(js[0].base.fields)
	for i := range fields {
		t, err := joinColumn(p, columns[i], opt)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", fields[i].Name, err)
		}
		fields[i].Tensor = t
	}
	return NewJoint(fields...)
}

// collect appends the fields of x to columns, in the order of j.
func (j *Joint) collect(x *Joint, columns [][]*Tensor) error {
	if len(x.base.fields) != len(columns) {
		return fmt.Errorf("%w: got %q, want %q", ErrName, x.Names(), j.Names())
	}
	for f := range x.Fields() {
		at, ok := j.base.names[f.Name]
		if !ok || j.base.fields[at].Tree != f.Tree {
			return fmt.Errorf("%w: got %q of tree %q, want one of %q", ErrName, f.Name, f.Tree, j.Names())
		}
		columns[at] = append(columns[at], f.Tensor)
	}
	return nil
}

// joinColumn joins the fields of one name.
func joinColumn(p *shapeops.Pass, xs []*Tensor, opt JoinOptions) (*Tensor, error) {
	if opt.Promote {
		var err error
		if xs, err = promoted(xs); err != nil {
			return nil, err
		}
	}
	straight, err := alike(p, xs)
	if err != nil {
		return nil, err
	}
	if len(xs[0].Shape()) > 0 {
		return cat(p, straight)
	}
	for i, x := range xs {
		if !x.Equal(xs[0]) {
			return nil, fmt.Errorf("value %d: %w: scalars differ: VstackJoints keeps each", i, ErrLengths)
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
		t, err := x.Map(func(v *tensor.Tensor) (*tensor.Tensor, error) { return v.Cast(dtype) })
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
