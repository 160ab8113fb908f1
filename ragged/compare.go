package ragged

import (
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/tensor"
)

// CompareOptions say what [Tensor.DiffWith] and [Joint.DiffWith] overlook. The zero value is
// nothing.
type CompareOptions struct {
	// AnyDType compares values of different dtypes: as int64, if both are integers or bools, where
	// a uint64 beyond that is refused; else as complex numbers, which rounds integers beyond 2^53.
	AnyDType bool
	// EqualNaN takes NaN to equal NaN.
	EqualNaN bool
}

// Equal reports whether t and x have the same dtype, batch shape, depth, lengths, features and
// values, however these are arranged. As everywhere in floating point, NaN differs from itself and
// 0 equals -0. It is false if memory of either was lent and is gone; [Tensor.Diff] tells that
// apart.
func (t *Tensor) Equal(x *Tensor) bool {
	text, err := t.Diff(x)
	return text == "" && err == nil
}

// Diff describes the first difference between t and x, by the rules of [Tensor.Equal], with level
// and row or the position of an element, or returns "" if they are equal. An error means that
// values cannot be read, or that a tensor is nil (shapeops.ErrKind).
func (t *Tensor) Diff(x *Tensor) (string, error) { return t.DiffWith(x, CompareOptions{}) }

// DiffWith is [Tensor.Diff] with options.
func (t *Tensor) DiffWith(x *Tensor, opt CompareOptions) (string, error) {
	if !t.made() || !x.made() {
		return "", errNil
	}
	if text := t.shapeDiff(x, opt); text != "" {
		return text, nil
	}
	a, b, err := opt.values(t, x)
	if err != nil {
		return "", err
	}
	return t.valueDiff(a, b, opt)
}

// shapeDiff says how x differs from t, values left out.
func (t *Tensor) shapeDiff(x *Tensor, opt CompareOptions) string {
	same := t.Depth() == x.Depth() && t.Shape().Equal(x.Shape()) && t.Features().Equal(x.Features())
	if !same || t.DType() != x.DType() && !opt.AnyDType {
		return fmt.Sprintf("%s, other %s", t.Text(), x.Text())
	}
	return t.layout.differs(x.layout)
}

// values returns the values of tensors as far as they are compared.
func (opt CompareOptions) values(t, x *Tensor) (a, b *tensor.Tensor, err error) {
	if a, err = t.Values(); err != nil {
		return nil, nil, err
	}
	if b, err = x.Values(); err != nil {
		return nil, nil, err
	}
	if to := common(a.DType(), b.DType()); a.DType() != b.DType() {
		if a, err = a.Cast(to); err != nil {
			return nil, nil, err
		}
		if b, err = b.Cast(to); err != nil {
			return nil, nil, err
		}
	}
	return a, b, nil
}

// common returns a dtype that values of both are compared as.
func common(a, b tensor.DType) tensor.DType {
	whole := func(d tensor.DType) bool { return d.IsInteger() || d == tensor.Bool }
	if whole(a) && whole(b) {
		return tensor.Int64
	}
	return tensor.Complex128
}

// valueDiff describes the first difference between values of t's rows.
func (t *Tensor) valueDiff(a, b *tensor.Tensor, opt CompareOptions) (string, error) {
	text, err := a.Diff(b)
	if text == "" || err != nil {
		return "", err
	}
	first, _, err := a.Verbs().Differing(b, tensor.Tolerance{EqualNaN: opt.EqualNaN}, 1)
	if len(first) == 0 || err != nil {
		return "", err
	}
	d := first[0]
	at := t.position(d.Position)
	if d.A == "NaN" && d.B == "NaN" {
		return fmt.Sprintf("element %v is NaN, which differs from itself", at), nil
	}
	return fmt.Sprintf("element %v is %s, other %s", at, d.A, d.B), nil
}

// position returns where an element of all values, which has a position [V F...] among them, is in
// t: one number for each dim.
func (t *Tensor) position(value []int) []int {
	row, pos := value[0], value[1:]
	for l := t.layout.Straight(); l.depth > 0; l = l.outer {
		outer := sort.Search(l.outer.numbered(), func(i int) bool { return int(l.offsets[i+1]) > row })
		pos = append([]int{row - int(l.offsets[outer])}, pos...)
		row = outer
	}
	return append(t.Shape().Position(row), pos...)
}
