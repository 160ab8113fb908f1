package ragged

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// InTree returns j with another tree as the one whose levels Cut, Window, MaskedSelect and Flatten
// are about, also for what is made of the result: by default that is the tree without a name, or
// the only one that has levels.
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

// chosenRows returns the rows of j, and the deepest layout of the chosen tree as it is in them.
func (j *Joint) chosenRows() (rows *Joint, l *Layout, err error) {
	if rows, err = j.inner(); err != nil {
		return nil, nil, err
	}
	l, err = rows.deepest(j.chosen())
	return rows, l, err
}

// edited returns what an edit makes of the fields of a tree, which has as many levels as it edits
// at least.
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
	return rows.Map(func(f Field) (*Tensor, error) {
		if f.Tree != tree || len(f.Tensor.Shape()) == 0 {
			return f.Tensor, nil
		}
		return e.tensor(f.Tensor)
	})
}

// Cut keeps a range of each row of a level, as [Tensor.Cut] does, in all fields of the tree that
// are so deep; of another tree see [Joint.InTree].
func (j *Joint) Cut(level, start, stop int) (*Joint, error) {
	return j.edited(j.chosen(), cut(level, start, stop))
}

// CutStep is [Joint.Cut] of every step-th position of the range, as [Tensor.CutStep] is.
func (j *Joint) CutStep(level, start, stop, step int) (*Joint, error) {
	e, err := cutStep(level, start, stop, step)
	if err != nil {
		return nil, err
	}
	return j.edited(j.chosen(), e)
}

// ShuffleLevel puts the rows of a level, each within its row of the level around, in random order:
// the visits of each patient, in all fields of the tree that are so deep alike. The rows of level 0
// are those of [Joint.Shuffle].
func (j *Joint) ShuffleLevel(level int, rng *rand.Rand) (*Joint, error) {
	if rng == nil {
		return nil, errNoRand
	}
	return j.edited(j.chosen(), shuffled(level, rng))
}

// Window cuts a window out of each row of a level, as [Tensor.Window] does, in all fields of the
// tree that are so deep.
func (j *Joint) Window(level int, starts *tensor.Tensor, size int) (*Joint, error) {
	rows, l, err := j.chosenRows()
	if err != nil {
		return nil, err
	}
	e, err := l.window(level, starts, size)
	if err != nil {
		return nil, err
	}
	return rows.edited(j.chosen(), e)
}

// MaskedSelect keeps the rows, or values, for which a bool tensor is true, as [Tensor.MaskedSelect]
// does, in all fields of the tree that are at least as deep as the mask:
//
//	high, err := arith.Greater(labs, 10)    // of the field "labs": [N *]
//	j, err = j.MaskedSelect(high)           // visits with such a lab, in all fields of visits
func (j *Joint) MaskedSelect(mask *Tensor) (*Joint, error) {
	rows, l, err := j.chosenRows()
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
	return rows.edited(j.chosen(), e)
}

// SortBy sorts the rows of each row of the level of a field by its values, in all fields of its
// tree that are so deep: visits of each patient by day. The field must have a level. Its errors are
// those of [Tensor.Argsort], and [ErrName].
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
	return rows.edited(rows.all().fields[rows.all().names[name]].Tree, e)
}
