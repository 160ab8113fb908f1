package joint

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// InTree returns j with a chosen tree: IndexLevel, Pick, MaskedSelect and FlattenLevel of the
// result, and of collections derived from it, apply to the levels of that tree. Without InTree they
// apply to the tree without a name, or to the only tree that has levels.
func (j *Joint) InTree(name string) *Joint {
	if !j.made() {
		return j
	}
	out := *j
	out.tree = name
	return &out
}

// chosen returns the name of the tree that operations on levels apply to, as [Joint.InTree] says.
func (j *Joint) chosen() string {
	if !j.made() {
		return ""
	}
	if j.tree != "" {
		return j.tree
	}
	name, n := "", 0
	for _, t := range j.all().trees {
		if t.deepest.Depth() <= j.at.Level {
			continue
		}
		if t.name == "" {
			return ""
		}
		name, n = t.name, n+1
	}
	if n > 1 {
		return ""
	}
	return name
}

// levels returns j, or the rows inside j if it is a single row, the name of the chosen tree, and
// the deepest tensor of that tree in rows.
func (j *Joint) levels() (rows *Joint, tree string, deepest *ragged.Tensor, err error) {
	if rows, err = j.inner(); err != nil {
		return nil, "", nil, err
	}
	tree = j.chosen()
	for _, f := range rows.base.fields {
		if f.Tree == tree && !rows.isScalar(f.Tensor) && (deepest == nil || f.Tensor.Depth() > deepest.Depth()) {
			deepest = f.Tensor
		}
	}
	if deepest == nil {
		var names []string
		for _, t := range rows.base.trees {
			names = append(names, t.name)
		}
		return nil, "", nil, fmt.Errorf("%w: got tree %q, want one of %q: see InTree", ErrName, tree, names)
	}
	deepest, err = rows.field(nil, deepest)
	return rows, tree, deepest, err
}

// edited applies an operation on a level of the chosen tree to all fields that have the level.
// editorOf returns it, given the deepest tensor of the tree. If it returns nil, edited returns the
// rows unchanged.
func (j *Joint) edited(editorOf func(deepest partOps) (editor, error)) (*Joint, error) {
	rows, tree, deepest, err := j.levels()
	if err != nil {
		return nil, err
	}
	edit, err := editorOf(opsOf(deepest))
	if err != nil {
		return nil, err
	}
	if edit == nil {
		return rows, nil
	}
	return rows.mapped(func(f Field) (*ragged.Tensor, error) {
		if f.Tree != tree || len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return edit(f.Tensor)
	})
}

// IndexLevel selects within each row of a level, as ragged.Tensor.IndexLevel does, in all fields of
// the tree that have the level. [Joint.InTree] chooses the tree.
func (j *Joint) IndexLevel(level int, x ix.Index) (_ *Joint, err error) {
	defer errtext.Name("index level", &err)
	return j.edited(func(deepest partOps) (editor, error) { return deepest.IndexLevels(level, x) })
}

// Pick returns the positions of each row of a level that index lists, as ragged.Tensor.Pick does,
// in all fields of the tree that have the level. It sorts all fields by one of them, or puts them
// in random order:
//
//	order, err := days.ArgSort(arith.SortOptions{}) // of the field "day": [N *]
//	j, err = j.Pick(order)                          // visits of each patient by day
func (j *Joint) Pick(index *ragged.Tensor) (_ *Joint, err error) {
	defer errtext.Name("pick", &err)
	return j.edited(func(deepest partOps) (editor, error) { return deepest.Picks(index) })
}

// MaskedSelect keeps the rows, or values, for which mask is true, as ragged.Tensor.MaskedSelect
// does, in all fields of the tree that are at least as deep as mask:
//
//	high, err := arith.Greater(labs, 10)    // of the field "labs": [N *]
//	j, err = j.MaskedSelect(high)           // visits with such a lab, in all fields of visits
func (j *Joint) MaskedSelect(mask *ragged.Tensor) (_ *Joint, err error) {
	defer errtext.Name("masked select", &err)
	out, err := j.edited(func(deepest partOps) (editor, error) { return deepest.MaskedSelects(mask) })
	if err != nil || mask.Depth() > 0 {
		return out, err
	}
	bits, err := mask.Values()
	if err != nil {
		return nil, err
	}
	x, err := bits.AsMask()
	if err != nil {
		return nil, err
	}
	rows, err := out.inner()
	if err != nil {
		return nil, err
	}
	return rows.picked(x)
}
