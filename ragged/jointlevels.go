package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// InTree returns j with another tree as the one whose levels IndexLevel, Pick, MaskedSelect and
// FlattenLevel are about, also for what is made of the result: by default that is the tree without
// a name, or the only one that has levels.
func (j *Joint) InTree(name string) *Joint {
	if !j.made() {
		return j
	}
	out := *j
	out.tree = name
	return &out
}

// chosen returns the name of the tree whose levels operations are about: what InTree said, or else
// the only tree that has levels.
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

// deepest returns the deepest layout of a tree, as it is in j.
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

// edited returns what an edit of the levels of the chosen tree makes of the fields that have the
// level. If it is of no level, it returns the rows that the fields have.
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

// levels returns the rows of j, and the chosen tree with its deepest layout as it is in them.
func (j *Joint) levels() (rows *Joint, tree string, l *Layout, err error) {
	if rows, err = j.inner(); err != nil {
		return nil, "", nil, err
	}
	tree = j.chosen()
	l, err = rows.deepest(tree)
	return rows, tree, l, err
}

// IndexLevel selects within each row of a level, as [Tensor.IndexLevel] does, in all fields of the
// tree that are so deep; of another tree see [Joint.InTree].
func (j *Joint) IndexLevel(level int, x ix.Index) (*Joint, error) {
	return j.edited(func(*Layout) (*edit, error) { return indexed(level, x) })
}

// Pick returns the positions of each row of a level that index lists, as [Tensor.Pick] does, in all
// fields of the tree that are so deep. With it they are sorted by one of them, or put in random
// order:
//
//	order, err := days.ArgSort(arith.SortOptions{}) // of the field "day": [N *]
//	j, err = j.Pick(order)                          // visits of each patient by day
func (j *Joint) Pick(index *Tensor) (*Joint, error) {
	return j.edited(func(l *Layout) (*edit, error) { return l.picks(index) })
}

// MaskedSelect keeps the rows, or values, for which a bool tensor is true, as [Tensor.MaskedSelect]
// does, in all fields of the tree that are at least as deep as the mask:
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
