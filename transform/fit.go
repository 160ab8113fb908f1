package transform

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FitStandard returns the [Standard] of td: the mean and the standard deviation of each column of
// each floating-point leaf. Select says which, if not all.
//
//	leaves [B... F...] -> mean [F...], deviation [F...]
//
// present says what counts: nil, a bool tensor over leading dims of the leaves, or a dictionary of
// such tensors under their keys, as shapeops.PadSequenceMasked returns. NaN never counts. The
// deviation is that of the rows themselves, with their number as the divisor: what Apply makes of
// them has mean 0 and deviation 1. In a column that is constant it is taken as 1; where nothing
// counts the mean is 0, too.
//
// FitStandard reads td once, part by part, and keeps no copy: td may be mapped, and larger than
// memory. The numbers are the same on any number of cores.
//
// It returns shapeops.ErrDim if td has no batch dim; about what present has for a leaf,
// shapeops.ErrShape, tensor.ErrDType and tdict.ErrMissing; tdict.ErrKind if td is nil or present is
// something else; and [ErrNumber] if a statistic is not finite, because an infinity counts.
func FitStandard(td *tdict.TensorDict, present any) (*Standard, error) {
	f, err := newFit(td, present)
	if err != nil {
		return nil, named("fit standard", err)
	}
	both, err := tdict.Apply(context.Background(), f.tds, f.leaf, tdict.ApplyOptions{Batch: shapeops.Shape{2}})
	if err != nil {
		return nil, named("fit standard", err)
	}
	mean, err := both.Index(ix.At(0))
	if err != nil {
		return nil, err
	}
	std, err := both.Index(ix.At(1))
	if err != nil {
		return nil, err
	}
	return newStandard(mean, std), nil
}

// A fit is what statistics are made of.
type fit struct {
	tds   []*tdict.TensorDict // the floating-point leaves, and the masks if there is one for each
	mask  *tensor.Tensor      // of all leaves, or nil
	batch int                 // dims
}

func newFit(td *tdict.TensorDict, present any) (*fit, error) {
	if td == nil {
		return nil, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	}
	if len(td.Shape()) == 0 {
		return nil, fmt.Errorf("%w: got batch shape [], want rows", shapeops.ErrDim)
	}
	var keys []nestedkey.Key
	for key, x := range td.Tensors() {
		if x.DType().IsFloat() {
			keys = append(keys, key)
		}
	}
	leaves, err := td.Select(keys...)
	if err != nil {
		return nil, err
	}
	f := &fit{tds: []*tdict.TensorDict{leaves}, batch: len(td.Shape())}
	return f, f.count(present, keys)
}

// count says what counts of the leaves under the given keys.
func (f *fit) count(present any, keys []nestedkey.Key) error {
	switch p := present.(type) {
	case nil:
		return nil
	case *tensor.Tensor:
		if f.mask = p; p != nil {
			return nil
		}
	case *tdict.TensorDict:
		if f.tds = append(f.tds, p); p != nil {
			return hasEach(p, keys)
		}
	}
	return fmt.Errorf("%w: present: got %T, want a tensor or a dictionary that is not nil, or nil",
		tdict.ErrKind, present)
}

// hasEach returns an error unless there is a mask under each key.
func hasEach(masks *tdict.TensorDict, keys []nestedkey.Key) error {
	for _, key := range keys {
		_, err := masks.Tensor(key)
		if inner, ok := err.(*tdict.KeyError); ok {
			return &tdict.KeyError{Key: key, Err: fmt.Errorf("present: %w", inner.Err)}
		}
	}
	return nil
}

// leaf returns the statistics of a leaf: float64 [2 F...], means and deviations.
func (f *fit) leaf(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) {
	x, mask := xs[0], f.mask
	if len(xs) == 2 {
		mask = xs[1]
	}
	if err := checkMask(mask, x); err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}
	columns := x.Shape()[f.batch:]
	m := newMoments(columns.Size())
	if err := m.addLeaf(x, mask); err != nil {
		return nil, err
	}
	all, err := m.statistics()
	if err != nil {
		return nil, err
	}
	return tensor.From(all, append(shapeops.Shape{2}, columns...)...)
}

// checkMask returns an error unless mask is nil, or a mask over leading dims of x.
func checkMask(mask, x *tensor.Tensor) error {
	switch {
	case mask == nil:
		return nil
	case mask.DType() != tensor.Bool:
		return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
	case len(mask.Shape()) == 0 || !x.Shape().HasPrefix(mask.Shape()):
		return fmt.Errorf("%w: got %v, want leading dims of %v", shapeops.ErrShape, mask.Shape(), x.Shape())
	}
	return nil
}
