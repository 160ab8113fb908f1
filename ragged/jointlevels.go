package ragged

import (
	"fmt"

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
		if t.deepest.depth <= j.at.level {
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

// deepest returns j's part of the deepest layout of a tree.
func (j *Joint) deepest(name string) (*Layout, error) {
	for _, t := range j.all().trees {
		if t.name == name && t.deepest.depth >= j.at.level {
			return inside(nil, t.deepest, j.at)
		}
	}
	var names []string
	for _, t := range j.all().trees {
		names = append(names, t.name)
	}
	return nil, fmt.Errorf("%w: got tree %q, want one of %q: see InTree", ErrName, name, names)
}

// edited applies an edit of the chosen tree to all fields that have the edited level. editOf
// returns the edit, given the deepest layout of the tree. If it returns nil, edited returns the
// rows unchanged.
func (j *Joint) edited(editOf func(deepest *Layout) (*edit, error)) (*Joint, error) {
	rows, tree, l, err := j.levels()
	if err != nil {
		return nil, err
	}
	e, err := editOf(l)
	if err != nil || e == nil {
		return rows, err
	}
	if e.level, err = l.level(e.level); err != nil {
		return nil, err
	}
	return rows.Map(func(f Field) (*Tensor, error) {
		if f.Tree != tree || len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return e.tensor(f.Tensor)
	})
}

// levels returns j, or the rows inside j if it is a single row, the name of the chosen tree, and l,
// the deepest layout of that tree in rows.
func (j *Joint) levels() (rows *Joint, tree string, l *Layout, err error) {
	if rows, err = j.inner(); err != nil {
		return nil, "", nil, err
	}
	tree = j.chosen()
	l, err = rows.deepest(tree)
	return rows, tree, l, err
}

// IndexLevel selects within each row of a level, as [Tensor.IndexLevel] does, in all fields of the
// tree that have the level. [Joint.InTree] chooses the tree.
func (j *Joint) IndexLevel(level int, x ix.Index) (*Joint, error) {
	return j.edited(func(*Layout) (*edit, error) { return indexed(level, x) })
}

// Pick returns the positions of each row of a level that index lists, as [Tensor.Pick] does, in all
// fields of the tree that have the level. It sorts all fields by one of them, or puts them in
// random order:
//
//	order, err := days.ArgSort(arith.SortOptions{}) // of the field "day": [N *]
//	j, err = j.Pick(order)                          // visits of each patient by day
func (j *Joint) Pick(index *Tensor) (*Joint, error) {
	return j.edited(func(l *Layout) (*edit, error) { return l.picks(index) })
}

// MaskedSelect keeps the rows, or values, for which mask is true, as [Tensor.MaskedSelect] does, in
// all fields of the tree that are at least as deep as mask:
//
//	high, err := arith.Greater(labs, 10)    // of the field "labs": [N *]
//	j, err = j.MaskedSelect(high)           // visits with such a lab, in all fields of visits
func (j *Joint) MaskedSelect(mask *Tensor) (*Joint, error) {
	out, err := j.edited(func(l *Layout) (*edit, error) { return masked(l, mask) })
	if err != nil || mask.Depth() > 0 {
		return out, err
	}
	err = mask.withMask(func(x ix.Index) error {
		out, err = out.Index(x)
		return err
	})
	return out, err
}
