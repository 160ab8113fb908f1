package ragged

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Joint is tensors, each under a name, that are cut into rows together: of patients, their
// visits, the codes of these. All have the same rows at level 0, and tensors of one tree the same
// lengths at each level that they share; several trees are independent of one another below level
// 0. A field of depth 0 has a value for each row, and a scalar one for all of them.
//
// A Joint is thin: [Joint.Row] and [Joint.Range] take constant time, whatever lies below, and share
// all memory. They go where the rows are, so that a Joint of one row is that of the rows in it:
// fields of lesser depth become scalars, and others one less deep.
//
// The zero Joint has no field. A Joint never changes. Safe for concurrent use.
type Joint struct {
	base *joint
	at   spot
	path path
	tree string // that InTree set
}

// A Field is one tensor of a [Joint].
type Field struct {
	Name   string
	Tensor *Tensor
	// Tree names the layouts that the tensor shares. Tensors of one tree have the same lengths at
	// each level. Most collections have one tree, whose name is empty.
	Tree string
}

// A joint is what Joints are parts of.
type joint struct {
	fields []Field // straight, and each tree's over the same layouts
	names  map[string]int
	trees  []tree
	root   *Layout // of depth 0
}

// A tree is a chain of layouts.
type tree struct {
	name    string
	deepest *Layout
}

// NewJoint returns the collection of fields, in their order. It shares their tensors, and makes
// those of a tree share layouts. Each has one dim of batch, of one size for all; one with none is a
// scalar, and must have depth 0.
//
// It returns [ErrLengths], with the names, level and row, if two tensors of a tree, or the rows of
// two fields, differ in length; [ErrName] for a name that is empty, taken, has a "/", or is
// "bounds" or "mask", which the file format has for itself; shapeops.ErrDim for more dims of batch;
// and shapeops.ErrKind for a nil tensor.
func NewJoint(fields ...Field) (*Joint, error) {
	b := &joint{names: make(map[string]int, len(fields))}
	var p plan.Pass
	for _, f := range fields {
		if err := b.add(&p, f); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return b.whole(), nil
}

// whole returns all of b.
func (b *joint) whole() *Joint {
	if b.root == nil {
		return &Joint{base: b, at: spot{single: true}}
	}
	return &Joint{base: b, at: spot{n: b.root.numbered()}}
}

// add adds a field.
func (b *joint) add(p *plan.Pass, f Field) error {
	if err := b.checkName(f.Name); err != nil {
		return err
	}
	if !f.Tensor.made() {
		return errNil
	}
	t, err := f.Tensor.straight(p)
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

func (b *joint) checkName(name string) error {
	_, taken := b.names[name]
	switch {
	case taken:
		return fmt.Errorf("%w: it is there twice", ErrName)
	case name == "" || strings.Contains(name, "/"):
		return fmt.Errorf("%w: want one that is not empty and has no \"/\"", ErrName)
	case name == "bounds" || name == "mask":
		return fmt.Errorf("%w: the file format has it for itself", ErrName)
	}
	return nil
}

// fit returns t over the layouts of its tree, which grows if t is deeper.
func (b *joint) fit(t *Tensor, name string) (*Tensor, error) {
	switch rank := len(t.Shape()); {
	case rank == 0 && t.Depth() == 0:
		return t, nil
	case rank != 1:
		return nil, fmt.Errorf("%w: got %v, want one dim of batch, or none at depth 0", shapeops.ErrDim, t.layout)
	}
	if b.root == nil {
		b.root = t.layout.root()
	}
	if got, want := t.Shape()[0], b.root.Shape()[0]; got != want {
		return nil, fmt.Errorf("%w: got %d rows, want %d as in field %q", ErrLengths, got, want, b.other(0, "", true))
	}
	i := slices.IndexFunc(b.trees, func(t tree) bool { return t.name == name })
	if i < 0 {
		i = len(b.trees)
		b.trees = append(b.trees, tree{name, b.root})
	}
	l, deepest, err := meet(t.layout, b.trees[i].deepest)
	if err != nil {
		return nil, fmt.Errorf("%w in field %q", err, b.other(min(t.Depth(), b.trees[i].deepest.depth), name, false))
	}
	b.trees[i].deepest = deepest
	return &Tensor{layout: l, values: t.values}, nil
}

// other returns the name of the first field that is so deep, of a tree or of any.
func (b *joint) other(depth int, tree string, any bool) string {
	i := slices.IndexFunc(b.fields, func(f Field) bool {
		return len(f.Tensor.Shape()) > 0 && f.Tensor.Depth() >= depth && (any || f.Tree == tree)
	})
	return b.fields[i].Name
}

// meet returns l over the layouts of a tree, and the deeper of both.
func meet(l, deepest *Layout) (own, deeper *Layout, err error) {
	known := min(l.depth, deepest.depth)
	if err := deepest.at(known).CheckEqual(l.at(known)); err != nil {
		return nil, nil, err
	}
	if l.depth <= deepest.depth {
		return deepest.at(l.depth), deepest, nil
	}
	own = under(nil, l, known, deepest)
	return own, own, nil
}

// all returns what j is a part of; of the zero Joint and nil, nothing.
func (j *Joint) all() *joint {
	if !j.made() {
		return &nothing
	}
	return j.base
}

var nothing joint

// made reports whether j is neither nil nor the zero Joint.
func (j *Joint) made() bool { return j != nil && j.base != nil }

var errNoJoint = fmt.Errorf("%w: got a nil collection", shapeops.ErrKind)

// Names returns the names of the fields, in their order. They are the caller's.
func (j *Joint) Names() []string {
	names := make([]string, len(j.all().fields))
	for i, f := range j.all().fields {
		names[i] = f.Name
	}
	return names
}

// Len returns the number of rows, and false if there are none to count: after [Joint.Index] of a
// single value, of scalars only, or of one row of several trees.
func (j *Joint) Len() (n int, ok bool) {
	at, err := j.entered()
	if err != nil || at.single || !j.made() {
		return 0, false
	}
	return at.n, true
}

// Tensor returns a field: a batch of rows [N * *], or a scalar with the batch shape []. It shares
// memory and takes constant time; [Joint.Fields] has those of all, sharing layouts. It returns
// [ErrName] if there is no such field.
func (j *Joint) Tensor(name string) (*Tensor, error) {
	i, ok := j.all().names[name]
	if !ok {
		return nil, fmt.Errorf("%w: got %q, want one of %q", ErrName, name, j.Names())
	}
	return j.field(nil, j.all().fields[i].Tensor)
}

// field returns the part of a field of the base that j is.
func (j *Joint) field(p *plan.Pass, t *Tensor) (*Tensor, error) {
	at := j.at
	if len(t.Shape()) == 0 { // a scalar
		return t, nil
	}
	if t.Depth() < at.level { // become one
		at = spot{level: t.Depth(), first: j.path.at(t.Depth()), n: 1, single: true}
	}
	l, err := inside(p, t.layout, at)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, t.values, true}, nil
}

// Fields returns an iterator over the fields, in their order. Those of a tree share layouts.
func (j *Joint) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		var p plan.Pass
		for _, f := range j.all().fields {
			t, err := j.field(&p, f.Tensor)
			if err != nil {
				panic("ragged: impossible: " + err.Error()) // the spot is one of the layout
			}
			if !yield(Field{f.Name, t, f.Tree}) {
				return
			}
		}
	}
}

// Select returns the fields with the given names, in that order. It returns [ErrName] for one that
// is not there.
func (j *Joint) Select(names ...string) (*Joint, error) {
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

// With returns j with fields added, or put in the place of those with their names. Their rows are
// those of j: of one row, those in it. Its errors are those of [NewJoint].
func (j *Joint) With(fields ...Field) (*Joint, error) {
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

// like returns the collection of fields, with the levels of the tree that InTree chose.
func (j *Joint) like(fields []Field) (*Joint, error) {
	if j == nil {
		return nil, errNoJoint
	}
	if err := j.checkRows(fields); err != nil {
		return nil, err
	}
	out, err := NewJoint(fields...)
	if err != nil {
		return nil, err
	}
	out.tree = j.tree
	return out, nil
}

// checkRows returns shapeops.ErrDim if j is a row of several trees, and fields have rows of more
// than one, which are not those of one collection, though there may be as many.
func (j *Joint) checkRows(fields []Field) error {
	_, several := j.entered()
	tree := ""
	for _, f := range fields {
		if several == nil || !f.Tensor.made() || len(f.Tensor.Shape()) == 0 {
			continue
		}
		if tree != "" && f.Tree+"/" != tree {
			return several
		}
		tree = f.Tree + "/"
	}
	return nil
}

// Equal reports whether j and x have the same fields, in any order, of the same trees, each equal
// as [Tensor.Equal] says.
func (j *Joint) Equal(x *Joint) bool {
	text, err := j.DiffWith(x, CompareOptions{})
	return text == "" && err == nil
}

// DiffWith describes the first difference between j and x, as [Tensor.DiffWith] does, with the name
// of the field, or returns "" if they are equal.
func (j *Joint) DiffWith(x *Joint, opt CompareOptions) (string, error) {
	if len(x.Names()) != len(j.Names()) {
		return fmt.Sprintf("fields %q, other %q", j.Names(), x.Names()), nil
	}
	for f := range j.Fields() {
		other, err := x.Tensor(f.Name)
		if err != nil {
			return fmt.Sprintf("fields %q, other %q", j.Names(), x.Names()), nil
		}
		if tree := x.treeOf(f.Name); tree != f.Tree {
			return fmt.Sprintf("field %q is of tree %q, other of %q", f.Name, f.Tree, tree), nil
		}
		if text, err := f.Tensor.DiffWith(other, opt); text != "" || err != nil {
			return fmt.Sprintf("field %q: %s", f.Name, text), err
		}
	}
	return "", nil
}

// treeOf returns the tree of a field that is there.
func (j *Joint) treeOf(name string) string { return j.base.fields[j.base.names[name]].Tree }

// String describes the fields, one a line.
func (j *Joint) String() string {
	var b strings.Builder
	b.WriteString("joint {")
	for f := range j.Fields() {
		fmt.Fprintf(&b, "\n  %s: %v %s", f.Name, f.Tensor.DType(), f.Tensor.layout.text(f.Tensor.Features()))
		if f.Tree != "" {
			fmt.Fprintf(&b, " of %s", f.Tree)
		}
	}
	if len(j.all().fields) > 0 {
		b.WriteString("\n")
	}
	return b.String() + "}"
}
