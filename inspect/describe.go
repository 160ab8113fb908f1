package inspect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DescribeOptions are the options of [Describe]. The zero value describes every leaf as a whole,
// without quantiles.
type DescribeOptions struct {
	// Keys selects leaves, as tdict.TensorDict.Select does; the key of a dictionary selects all
	// leaves in it. Empty means all.
	Keys []nestedkey.Key
	// Mask is the key of a bool leaf that is false where a value of a selected leaf is missing. If
	// it is "", each leaf KEY has the mask KEY_mask beside it, if there is one that fits.
	Mask nestedkey.Key
	// Schema, if not nil, says which leaves have a mask KEY_mask: the entries that are Optional.
	Schema tdict.Schema
	// ByColumn describes each feature of a tensor separately.
	ByColumn bool
	// Quantiles to compute, each from 0 to 1.
	Quantiles []float64
	// Workers is how many blocks are read at a time; 0 means GOMAXPROCS. It does not change the
	// result.
	Workers int
}

// A Summary describes a leaf, or a column of one.
type Summary struct {
	Key    nestedkey.Key
	Kind   tdict.Kind   // KindText for ragged uint8 without features
	DType  tensor.DType // 0 for Data
	Column []int        // the position among the features; nil for a whole leaf

	Count   int // values that are present: numbers, rows of Data, texts
	Missing int // values that a mask hides, and rows of Data that are nil
	NaN     int
	Inf     int // infinities of either sign
	Zeros   int
	True    int // true elements of a bool leaf

	Min, Max  any       // int64, uint64 or float64; nil if there is no number
	Mean, Std float64   // NaN if there is no number
	Quantiles []float64 // one for each of DescribeOptions.Quantiles; nil if there is no number

	Rows     *Lengths // lengths of ragged rows, in bytes for text; nil for other leaves
	Distinct int      // number of different texts; -1 if there are too many to count, or no texts
}

// Lengths describe the lengths of the rows of the last level of a ragged leaf.
type Lengths struct {
	Count, Min, Max int
	Mean            float64
}

// Describe returns a Summary of each selected leaf, or of each column, in the order of the keys. It
// must not run while td is changed.
//
// The package documentation says what counts, and how sums and quantiles are computed. Results do
// not depend on opt.Workers.
//
// Describe returns the cause of ctx, the error of a read, or one of these, with the key if the
// error is about one:
//
//   - tdict.ErrKind: td is nil, a quantile is not from 0 to 1, or opt.Mask has a kind that cannot
//     be a mask of the leaf
//   - tdict.ErrMissing: td lacks a key or opt.Mask
//   - tensor.ErrDType, shapeops.ErrShape: opt.Mask is not bool, or does not fit a leaf
func Describe(ctx context.Context, td *tdict.TensorDict, opt DescribeOptions) ([]Summary, error) {
	selected, err := newSelection("describe", opt.Keys, td)
	if err == nil {
		err = opt.check(td)
	}
	if err != nil {
		return nil, err
	}
	d := &describer{ctx: ctx, td: td, opt: opt}
	d.takers.New = func() any { return &taker{} }
	for key, v := range td.Leaves() {
		if !selected.has(key) {
			continue
		}
		if err := d.leaf(key, v); err != nil {
			return nil, &tdict.KeyError{Op: "describe", Key: key, Err: err}
		}
	}
	return d.all, nil
}

func (opt *DescribeOptions) check(td *tdict.TensorDict) error {
	for _, q := range opt.Quantiles {
		if !(q >= 0 && q <= 1) {
			return fmt.Errorf("describe: %w: got the quantile %v, want one from 0 to 1", tdict.ErrKind, q)
		}
	}
	if opt.Mask == "" {
		return nil
	}
	_, err := newSelection("describe", []nestedkey.Key{opt.Mask}, td)
	return err
}

// A describer is one call of Describe.
type describer struct {
	ctx context.Context
	td  *tdict.TensorDict
	opt DescribeOptions
	all []Summary

	takers sync.Pool // of *taker
}

// leaf describes a leaf.
func (d *describer) leaf(key nestedkey.Key, v tdict.Leaf) error {
	if err := context.Cause(d.ctx); err != nil {
		return err
	}
	mask, err := d.mask(key, v)
	if err != nil {
		return err
	}
	s := Summary{Key: key, Kind: kindOf(v), DType: dtypeOf(v), Mean: math.NaN(), Std: math.NaN(), Distinct: -1}
	switch v := v.(type) {
	case *tensor.Tensor:
		return d.tensor(s, v, mask)
	case *tdict.Unbatched:
		return d.whole(s, v.Tensor(), nil)
	case *ragged.Tensor:
		return d.rows(s, v, mask)
	case *tdict.Data:
		return d.data(s, v, mask)
	}
	return fmt.Errorf("%w: got %s: Dense it first, or Exclude it", tdict.ErrKind, described(v))
}

// mask returns the mask of a leaf, nil if it has none: opt.Mask, or KEY_mask if it fits.
func (d *describer) mask(key nestedkey.Key, v tdict.Value) (tdict.Value, error) {
	at := d.opt.Mask
	if at == "" {
		at = key + "_mask"
		if s := d.opt.Schema; s != nil && !slices.ContainsFunc(s, func(s tdict.Spec) bool { return s.Key == key && s.Optional }) {
			return nil, nil
		}
	}
	if at == key || kindOf(v) == tdict.KindUnbatched || !d.td.Has(at) {
		return nil, nil
	}
	mask, err := d.td.Get(at)
	if err != nil {
		return nil, err
	}
	if err = fits(mask, v); err != nil && d.opt.Mask == "" {
		return nil, nil
	}
	return mask, err
}

// fits returns an error unless mask can be the mask of v.
func fits(mask, v tdict.Value) error {
	if dtypeOf(mask) != tensor.Bool {
		return fmt.Errorf("mask: %w: got %s, want bool", tensor.ErrDType, described(mask))
	}
	switch m := mask.(type) {
	case *tensor.Tensor:
		if !v.Shape().HasPrefix(m.Shape()) {
			return fmt.Errorf("mask: %w: got %v, want leading dims of %v", shapeops.ErrShape, m.Shape(), v.Shape())
		}
		return nil
	case *ragged.Tensor:
		if r, ok := v.(*ragged.Tensor); ok && kindOf(v) == tdict.KindRagged && len(m.Features()) == 0 {
			return r.Layout().CheckEqual(m.Layout())
		}
	}
	return fmt.Errorf("mask: %w: got %s for %s", tdict.ErrKind, described(mask), described(v))
}
