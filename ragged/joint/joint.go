package joint

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Errors about fields. Errors about lengths come from package ragged.
var (
	ErrName    = errors.New("bad field name")
	ErrDiffers = errors.New("values differ") // values that must be equal
)

// A Joint is a collection of named tensors that are cut into rows together, such as patients, their
// visits and the codes of the visits.
//
// All fields have the same rows at level 0. Fields belong to trees: the fields of one tree have the
// same lengths at each level that they share, and different trees are independent below level 0. A
// field of depth 0 has one value for each row; a scalar field has one value for all rows.
//
// A Joint is a small header. [Joint.Row] and [Joint.Range] take constant time and share all memory.
// Row enters a row: the rows of the result are the rows inside it, such as the visits of one
// patient. Fields of depth 0 then become scalars, and the other fields lose one level.
//
// The zero Joint has no fields. A Joint never changes. Safe for concurrent use.
type Joint struct {
	base *joint
	at   plan.Spot
	path path
	tree string // set by InTree
}

// A Field is one tensor of a [Joint].
type Field struct {
	Name   string
	Tensor *ragged.Tensor
	// Tree names the tree of the field. Tensors of one tree have the same lengths at each level
	// that they share. Most collections have one tree, whose name is empty.
	Tree string
}

// A joint is the whole collection of which Joints are parts.
type joint struct {
	fields []Field // compact; the fields of a tree share layouts
	names  map[string]int
	trees  []tree
	root   *ragged.Layout // of depth 0
}

// A tree is the chain of layouts that the fields of one tree share; deepest has all of its levels.
type tree struct {
	name    string
	deepest *ragged.Layout
}

// New returns the collection of fields, in their order. It shares the memory of their tensors;
// tensors of one tree get shared layouts. Each tensor has one batch dim, of the same size for all
// fields, or none if it is a scalar, which has depth 0. New returns
//
//   - ragged.ErrLengths, with the names, level and row, if two tensors of a tree differ in length
//     at a level, or two fields in the number of rows
//   - [ErrName] for a name that is empty, used before, contains "/", or is "bounds" or "mask",
//     which the file format reserves
//   - shapeops.ErrDim for a tensor with another number of batch dims
//   - shapeops.ErrKind for a nil tensor
func New(fields ...Field) (*Joint, error) {
	b := &joint{names: make(map[string]int, len(fields))}
	var p plan.Pass
	for _, f := range fields {
		if err := b.add(&p, f); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	if b.root == nil {
		return &Joint{base: b, at: plan.Spot{Single: true}}, nil
	}
	return &Joint{base: b, at: plan.Spot{N: b.root.Shape()[0]}}, nil
}

// add adds a field.
func (b *joint) add(p *plan.Pass, f Field) error {
	_, taken := b.names[f.Name]
	switch {
	case taken:
		return fmt.Errorf("%w: got it twice", ErrName)
	case f.Name == "" || strings.Contains(f.Name, "/"):
		return fmt.Errorf("%w: want a name that is not empty and has no \"/\"", ErrName)
	case f.Name == "bounds" || f.Name == "mask":
		return fmt.Errorf("%w: the file format reserves it", ErrName)
	}
	if !made(f.Tensor) {
		return fmt.Errorf("%w: got a nil ragged tensor", shapeops.ErrKind)
	}
	t, err := opsOf(f.Tensor).CompactIn(p)
	if err != nil {
		return err
	}
	if t, err = b.fit(t, f.Tree); err != nil {
		return err
	}
	b.names[f.Name] = len(b.fields)
	b.fields = append(b.fields, Field{f.Name, t, f.Tree})
	return nil
}

// fit returns t over the shared layouts of tree name, to which it adds the deeper levels of t.
func (b *joint) fit(t *ragged.Tensor, name string) (*ragged.Tensor, error) {
	switch rank := len(t.Shape()); {
	case rank == 0 && t.Depth() == 0:
		return t, nil
	case rank != 1:
		return nil, fmt.Errorf("%w: got %v, want one dim of batch, or none at depth 0", shapeops.ErrDim, t.Layout())
	}
	if b.root == nil {
		root, err := t.Layout().At(0)
		if err != nil {
			return nil, err
		}
		b.root = root
	}
	if got, want := t.Shape()[0], b.root.Shape()[0]; got != want {
		return nil, fmt.Errorf("%w: got %d rows, want %d as in field %q", ragged.ErrLengths, got, want, b.other(0, "", true))
	}
	i := slices.IndexFunc(b.trees, func(t tree) bool { return t.name == name })
	if i < 0 {
		i = len(b.trees)
		b.trees = append(b.trees, tree{name, b.root})
	}
	l, deepest := t.Layout(), b.trees[i].deepest
	known := min(l.Depth(), deepest.Depth())
	own, err := deepest.At(known)
	if err != nil {
		return nil, err
	}
	shared, err := l.At(known)
	if err == nil {
		err = own.CheckEqual(shared)
	}
	if err != nil {
		return nil, fmt.Errorf("%w in field %q", err, b.other(known, name, false))
	}
	if l.Depth() > known {
		if own == shared { // l itself continues the levels of the tree
			own = l
		}
		for level := own.Depth() + 1; level <= l.Depth(); level++ {
			offsets, err := l.Offsets(level)
			if err != nil {
				return nil, err
			}
			if own, err = own.Nest(offsets); err != nil {
				return nil, err
			}
		}
		b.trees[i].deepest = own
	}
	values, err := t.Values()
	if err != nil {
		return nil, err
	}
	return ragged.New(values, own)
}

// other returns the name of the first field of depth depth or more, of the given tree, or of any
// tree if any is set.
func (b *joint) other(depth int, tree string, any bool) string {
	i := slices.IndexFunc(b.fields, func(f Field) bool {
		return len(f.Tensor.Shape()) > 0 && f.Tensor.Depth() >= depth && (any || f.Tree == tree)
	})
	return b.fields[i].Name
}

// all returns the collection of which j is a part. It is empty for the zero Joint.
func (j *Joint) all() *joint {
	if !j.made() {
		return &nothing
	}
	return j.base
}

var nothing joint

// made reports whether j is not the zero Joint.
func (j *Joint) made() bool { return j.base != nil }

var errNoJoint = fmt.Errorf("%w: got a nil collection", shapeops.ErrKind)

// Names returns the names of the fields, in order. The caller may change the slice.
func (j *Joint) Names() []string {
	names := make([]string, len(j.all().fields))
	for i, f := range j.all().fields {
		names[i] = f.Name
	}
	return names
}

// Len returns the number of rows. ok is false if j has no rows to count: if it is a single value,
// if all fields are scalars, or if it is one row of a collection in which several trees have a
// further level.
func (j *Joint) Len() (n int, ok bool) {
	at, err := j.entered()
	if err != nil || at.Single || !j.made() {
		return 0, false
	}
	return at.N, true
}

// Tensor returns a field: a batch of rows [N * *], or a scalar with the batch shape []. It shares
// memory and takes constant time; fields from [Joint.Fields] also share layouts. Tensor returns
// [ErrName] if there is no such field.
func (j *Joint) Tensor(name string) (_ *ragged.Tensor, err error) {
	defer errtext.Name("tensor", &err)
	i, ok := j.all().names[name]
	if !ok {
		return nil, fmt.Errorf("%w: got %q, want one of %q", ErrName, name, j.Names())
	}
	return j.field(nil, j.all().fields[i].Tensor)
}

// field returns j's part of t, a field of the base.
func (j *Joint) field(p *plan.Pass, t *ragged.Tensor) (*ragged.Tensor, error) {
	at := j.at
	if len(t.Shape()) == 0 { // a scalar
		return t, nil
	}
	if t.Depth() < at.Level { // a scalar in j
		at = plan.Spot{Level: t.Depth(), First: j.path.at(t.Depth()), N: 1, Single: true}
	}
	return opsOf(t).InsideIn(p, at)
}

// Fields returns an iterator over the fields, in order. Fields of one tree share layouts.
func (j *Joint) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		var p plan.Pass
		for _, f := range j.all().fields {
			t, err := j.field(&p, f.Tensor)
			if err != nil {
				panic("joint: impossible: " + err.Error()) // the spot is within the layout
			}
			if !yield(Field{f.Name, t, f.Tree}) {
				return
			}
		}
	}
}

// Select returns the collection of the named fields, in that order. It returns [ErrName] for a
// field that j does not have.
func (j *Joint) Select(names ...string) (_ *Joint, err error) {
	defer errtext.Name("select", &err)
	all := make(map[string]Field)
	for f := range j.Fields() {
		all[f.Name] = f
	}
	var fields []Field
	for _, name := range names {
		f, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("%w: got %q, want one of %q", ErrName, name, j.Names())
		}
		fields = append(fields, f)
	}
	return j.like(fields)
}

// With returns j with fields added; a field replaces the field of the same name. The rows of the
// new fields are the rows of j; if j is a single row, they are the rows inside it. With returns the
// errors of [New].
func (j *Joint) With(fields ...Field) (_ *Joint, err error) {
	defer errtext.Name("with", &err)
	var all []Field
	for f := range j.Fields() {
		i := slices.IndexFunc(fields, func(x Field) bool { return x.Name == f.Name })
		if i >= 0 {
			f = fields[i]
			fields = slices.Delete(slices.Clone(fields), i, i+1)
		}
		all = append(all, f)
	}
	return j.like(append(all, fields...))
}

// Map returns the collection of the results of fn, under the names of the fields. If fn returns
// nil, the field is left out. Map applies an operation of ragged.Tensor to a whole collection:
//
//	perVisit, err := j.Map(func(f Field) (*ragged.Tensor, error) {
//		if f.Tensor.Depth() < 2 {
//			return f.Tensor, nil
//		}
//		return f.Tensor.Reduce(2, arith.Max)
//	})
//
// Map returns shapeops.ErrKind if fn is nil, the error of fn, with the name of the field, and the
// errors of [New].
func (j *Joint) Map(fn func(f Field) (*ragged.Tensor, error)) (_ *Joint, err error) {
	defer errtext.Name("map", &err)
	return j.mapped(fn)
}

// mapped is Map without its name in errors.
func (j *Joint) mapped(fn func(f Field) (*ragged.Tensor, error)) (*Joint, error) {
	if fn == nil {
		return nil, fmt.Errorf("%w: got a nil function", shapeops.ErrKind)
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

// like returns the collection of fields, with the tree that InTree set in j.
func (j *Joint) like(fields []Field) (*Joint, error) {
	_, several := j.entered()
	tree := ""
	for _, f := range fields { // of a row of several trees: only fields of one
		if several == nil || !made(f.Tensor) || len(f.Tensor.Shape()) == 0 {
			continue
		}
		if tree != "" && f.Tree+"/" != tree {
			return nil, several
		}
		tree = f.Tree + "/"
	}
	out, err := New(fields...)
	if err != nil {
		return nil, err
	}
	out.tree = j.tree
	return out, nil
}

// Equal reports whether j and x have the same fields, in any order, with the same trees, each equal
// as ragged.Tensor.Equal says.
func (j *Joint) Equal(x *Joint) bool {
	text, err := j.DiffWithin(x, tensor.Tolerance{})
	return text == "" && err == nil
}

// DiffWithin describes the first difference between j and x, as ragged.Tensor.DiffWithin does, with
// the name of the field. It returns "" if they are equal, and shapeops.ErrKind if x is nil.
func (j *Joint) DiffWithin(x *Joint, tol tensor.Tolerance) (string, error) {
	if x == nil {
		return "", errNoJoint
	}
	if len(x.Names()) != len(j.Names()) {
		return fmt.Sprintf("fields %q, other %q", j.Names(), x.Names()), nil
	}
	for f := range j.Fields() {
		other, err := x.Tensor(f.Name)
		if err != nil {
			return fmt.Sprintf("fields %q, other %q", j.Names(), x.Names()), nil
		}
		if tree := x.base.fields[x.base.names[f.Name]].Tree; tree != f.Tree {
			return fmt.Sprintf("field %q is of tree %q, other of %q", f.Name, f.Tree, tree), nil
		}
		if text, err := f.Tensor.DiffWithin(other, tol); text != "" || err != nil {
			return fmt.Sprintf("field %q: %s", f.Name, text), err
		}
	}
	return "", nil
}

// String describes the fields, one on each line.
func (j *Joint) String() string {
	var b strings.Builder
	b.WriteString("joint {")
	for f := range j.Fields() {
		fmt.Fprintf(&b, "\n  %s: %v %s", f.Name, f.Tensor.DType(), opsOf(f.Tensor).ShapeText())
		if f.Tree != "" {
			fmt.Fprintf(&b, " of %s", f.Tree)
		}
	}
	if len(j.all().fields) > 0 {
		b.WriteString("\n")
	}
	return b.String() + "}"
}

// An editor applies one operation on a level to the tensors of a tree.
type editor = func(t *ragged.Tensor) (*ragged.Tensor, error)

// partOps are the operations of ragged tensors that share layouts within a pass: see parts.go of
// package ragged.
type partOps interface {
	ShapeText() string
	CompactIn(p *plan.Pass) (*ragged.Tensor, error)
	NestIn(p *plan.Pass, outer *ragged.Layout) (*ragged.Tensor, error)
	InsideIn(p *plan.Pass, at plan.Spot) (*ragged.Tensor, error)
	FlattenIn(p *plan.Pass, level int) (*ragged.Tensor, error)
	CheckLike(x *ragged.Tensor) error
	ConcatIn(p *plan.Pass, xs []*ragged.Tensor, level int) (*ragged.Tensor, error)
	IndexLevels(level int, x ix.Index) (editor, error)
	Picks(index *ragged.Tensor) (editor, error)
	MaskedSelects(mask *ragged.Tensor) (editor, error)
	DensifyIn(x plan.Parts[*ragged.Tensor], opt ragged.DensifyOptions) ([]*tensor.Tensor, [][]*tensor.Tensor, error)
}

func opsOf(t *ragged.Tensor) partOps { return t.Ops().(partOps) }

// made reports whether t is neither nil nor the zero Tensor.
func made(t *ragged.Tensor) bool { return t != nil && t.Layout() != nil }
