package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/memmap"
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
	// Schema says which leaves have masks: see tdict.Schema.MaskOf. nil means the schema of the
	// dataset, if a *memmap.Dataset is described.
	Schema tdict.Schema
	// Mask, if not "", is the key of a bool leaf that is false where a value of a selected leaf is
	// missing. Then masks of Schema do not count.
	Mask nestedkey.Key
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
	Kind   tdict.Kind   // KindText for ragged uint8 without features, unless a mask has a bool for each
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
// The package documentation says which values count, and how sums and quantiles are computed.
// Results do not depend on opt.Workers.
//
// Describe returns the cause of ctx, the error of a read, or one of these, with the key if the
// error is about one:
//
//   - tdict.ErrKind: td is nil, a quantile is not from 0 to 1, or a mask has a kind that cannot be
//     a mask of its leaf
//   - tdict.ErrMissing: td lacks a key or opt.Mask
//   - tensor.ErrDType, shapeops.ErrShape, ragged.ErrLengths: a mask is not bool, or does not fit
//     its leaf
func Describe(ctx context.Context, td tdict.Dictionary, opt DescribeOptions) ([]Summary, error) {
	for _, q := range opt.Quantiles {
		if !(q >= 0 && q <= 1) {
			return nil, fmt.Errorf("describe: %w: got the quantile %v, want one from 0 to 1", tdict.ErrKind, q)
		}
	}
	d := newDescriber(ctx, "describe", td, opt)
	if err := d.run(); err != nil {
		return nil, err
	}
	var all []Summary
	for _, p := range d.all {
		all = append(all, p.Summary)
	}
	return all, nil
}

// A describer is one call of Describe or Profiles.
type describer struct {
	ctx     context.Context
	op      string
	td      *tdict.TensorDict
	opt     DescribeOptions
	profile *ProfileOptions // nil for Describe
	all     []Profile

	takers *sync.Pool // of *taker
	listed specs      // of opt.Schema
}

// newDescriber returns a describer of td. If opt has no Schema, the schema of the dataset is used.
func newDescriber(ctx context.Context, op string, td tdict.Dictionary, opt DescribeOptions) *describer {
	opt.Schema = schemaOf(td, opt.Schema)
	return &describer{ctx: ctx, op: op, td: tdict.Of(td), opt: opt}
}

// schemaOf returns says or, if that is nil, the schema of a dataset.
func schemaOf(td tdict.Dictionary, says tdict.Schema) tdict.Schema {
	if ds, ok := td.(*memmap.Dataset); ok && says == nil {
		return ds.Schema()
	}
	return says
}

// run describes the selected leaves.
func (d *describer) run() error {
	selected, err := newSelection(d.op, d.opt.Keys, d.td)
	if err == nil && d.opt.Mask != "" {
		_, err = newSelection(d.op, []nestedkey.Key{d.opt.Mask}, d.td)
	}
	if err != nil {
		return err
	}
	d.takers = &sync.Pool{New: func() any { return &taker{} }}
	d.listed = specs{}
	for i, spec := range d.opt.Schema {
		if selected.has(spec.Key) { // mostly one of many
			d.listed[spec.Key] = d.opt.Schema[i : i+1]
		}
	}
	var small []keyed
	for key, v := range d.leaves() {
		if !selected.has(key) {
			continue
		}
		if isSmall(v) {
			if small = append(small, keyed{key, v}); len(small) < mostSmall {
				continue
			}
		}
		if err := d.together(small); err != nil {
			return err
		}
		small = small[:0]
		if !isSmall(v) {
			if err := d.leaf(key, v); err != nil {
				return &tdict.KeyError{Op: d.op, Key: key, Err: err}
			}
		}
	}
	return d.together(small)
}

// leaves returns the leaves among which some are selected. If one key is selected and it is a leaf,
// the others are not visited: there may be 100,000.
func (d *describer) leaves() iter.Seq2[nestedkey.Key, tdict.Leaf] {
	if len(d.opt.Keys) != 1 {
		return d.td.Leaves()
	}
	key := d.opt.Keys[0]
	v, err := d.td.Get(key)
	if _, isDict := v.(*tdict.TensorDict); err != nil || isDict {
		return d.td.Leaves()
	}
	return func(yield func(nestedkey.Key, tdict.Leaf) bool) { yield(key, v) }
}

// mostSmall is the number of small leaves that are described at a time.
const mostSmall = 256

// A keyed is a leaf with its key.
type keyed struct {
	key  nestedkey.Key
	leaf tdict.Leaf
}

// isSmall reports whether one goroutine reads a leaf: because it is small, or text or Data.
func isSmall(v tdict.Leaf) bool {
	switch v := v.(type) {
	case *tensor.Tensor:
		return v.Size() <= partSize
	case *tdict.Unbatched:
		return v.Tensor().Size() <= partSize
	case *ragged.Tensor:
		return kindOf(v) == tdict.KindText || v.NumValues() <= partSize/max(1, v.Features().Size())
	}
	return true
}

// together describes small leaves, each on one goroutine.
func (d *describer) together(leaves []keyed) error {
	made := make([]describer, len(leaves))
	err := workers.Do(d.ctx, len(leaves), d.opt.Workers, func(i int) error {
		one := &made[i]
		*one = *d
		one.all, one.opt.Workers = nil, 1
		if err := one.leaf(leaves[i].key, leaves[i].leaf); err != nil {
			return &tdict.KeyError{Op: d.op, Key: leaves[i].key, Err: err}
		}
		return nil
	})
	for i := range made {
		d.all = append(d.all, made[i].all...)
	}
	return err
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
	kind := kindOf(v)
	if m, ok := mask.(*ragged.Tensor); ok && kind == tdict.KindText && m.Depth() == v.(*ragged.Tensor).Depth() {
		kind = tdict.KindRagged // bytes of a text have no masks
	}
	s := Summary{Key: key, Kind: kind, DType: dtypeOf(v), Mean: math.NaN(), Std: math.NaN(), Distinct: -1}
	p := Profile{Summary: s, Different: -1}
	switch v := v.(type) {
	case *tensor.Tensor:
		return d.tensor(p, v, mask)
	case *tdict.Unbatched:
		return d.whole(p, v.Tensor(), nil)
	case *ragged.Tensor:
		return d.rows(p, v, mask)
	case *tdict.Data:
		return d.data(p, v, mask)
	}
	return fmt.Errorf("%w: got %s: Dense it first, or Exclude it", tdict.ErrKind, described(v))
}

// mask returns the mask of a leaf, or nil if it has none.
func (d *describer) mask(key nestedkey.Key, v tdict.Value) (mask tdict.Value, err error) {
	at := d.opt.Mask
	switch {
	case kindOf(v) == tdict.KindUnbatched || at == key:
		return nil, nil
	case at == "":
		leaf, err := d.listed[key].MaskOf(d.td, key)
		if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
			err = fmt.Errorf("mask %q: %w", string(bad.Key), bad.Err)
		}
		if leaf == nil {
			return nil, err
		}
		return leaf, nil
	}
	if mask, err = d.td.Get(at); err != nil {
		return nil, err
	}
	return mask, fits(mask, v)
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
		if r, ok := v.(*ragged.Tensor); ok && len(m.Features()) == 0 {
			return r.Layout().CheckEqual(m.Layout())
		}
	}
	return fmt.Errorf("mask: %w: got %s for %s", tdict.ErrKind, described(mask), described(v))
}
