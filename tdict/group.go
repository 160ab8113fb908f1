package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// GroupBy groups the rows of td that are equal in all keys. s describes td, or is nil.
//
//	td [N ...] -> G groups, G at most N
//
// A key is a tensor [N F...] of bools or real numbers, or text. Groups and rows are in the order of
// arith.GroupBy, texts in the order of their bytes. Rows whose value is missing, as the masks of s
// say, are equal in that key and come after all others; what the mask hides does not matter.
//
//	groups, err := schema.GroupBy(td, "sex", "stage")
//	masks, err := schema.Masks(td)
//	means, err := arith.Mean(td, arith.ByGroups(groups).Masked(masks))
//
// GroupBy returns [ErrMissing] for a key that td lacks, [ErrKind] for a key of another kind or with
// a ragged mask, and if td is nil or there is no key, tensor.ErrDType for complex numbers,
// shapeops.ErrDim if td has no batch dim, and the errors of [Schema.MaskOf].
func (s Schema) GroupBy(td Dictionary, keys ...nestedkey.Key) (*arith.Groups, error) {
	d := Of(td)
	switch {
	case d == nil:
		return nil, failed("group by", errNil)
	case len(d.batch) == 0:
		return nil, failed("group by", fmt.Errorf("%w: got batch shape [], want [N ...]", shapeops.ErrDim))
	}
	var columns []*tensor.Tensor
	for _, key := range keys {
		column, err := groupColumn(d, key)
		if err != nil {
			return nil, failed("group by", err)
		}
		absent, column, err := s.masked(d, key, column)
		if err != nil {
			return nil, failed("group by", err)
		}
		if absent != nil {
			columns = append(columns, absent)
		}
		columns = append(columns, column)
	}
	return arith.GroupBy(columns...)
}

// groupColumn returns the values under a key as numbers that have the same order.
func groupColumn(td *TensorDict, key nestedkey.Key) (*tensor.Tensor, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *tensor.Tensor:
		if x.DType().IsComplex() {
			return nil, failedKey("group by", key, fmt.Errorf("%w: got %v, want bools or real numbers", tensor.ErrDType, x.DType()))
		}
		return x, nil
	case *ragged.Tensor:
		if x.DType() == tensor.Uint8 && x.Depth() == 1 && len(x.Features()) == 0 {
			codes, err := ranks(x)
			return codes, failedKey("group by", key, err)
		}
	}
	return nil, failedKey("group by", key, fmt.Errorf("%w: got %s, want a tensor or text", ErrKind, describe(v)))
}

// ranks returns the number of each text among the different texts, in the order of their bytes.
func ranks(text *ragged.Tensor) (*tensor.Tensor, error) {
	codes, texts, err := ragged.Categories(text)
	if err != nil {
		return nil, err
	}
	sorted := slices.Sorted(slices.Values(texts))
	rank := make([]int32, len(texts))
	for code, text := range texts {
		at, _ := slices.BinarySearch(sorted, text)
		rank[code] = int32(at)
	}
	err = tensor.Write(codes, func(c []int32) {
		for i, code := range c {
			c[i] = rank[code]
		}
	})
	return codes, err
}

// masked returns the values of a column with zeros where they are missing, and where that is; nil
// if nothing is.
func (s Schema) masked(td *TensorDict, key nestedkey.Key, column *tensor.Tensor) (absent, values *tensor.Tensor, err error) {
	mask, err := s.MaskOf(td, key)
	if mask == nil || err != nil {
		return nil, column, err
	}
	present, ok := mask.(*tensor.Tensor)
	if !ok {
		return nil, nil, failedKey("mask", key, fmt.Errorf("%w: got a bool for each value, want one for each row", ErrKind))
	}
	if absent, err = arith.Not(present); err != nil {
		return nil, nil, failedKey("mask", key, err)
	}
	zero := any(0)
	if column.DType() == tensor.Bool {
		zero = false
	}
	values, err = arith.MaskedFill(column, absent, zero)
	return absent, values, failedKey("mask", key, err)
}

// Aggregate reduces the rows of td with equal values under the keys by:
//
//	means, err := schema.Aggregate(td, arith.Mean, []nestedkey.Key{"sex"}, "age", "bili")
//	td [N ...] -> [G ...]
//
// The result has a row for each group of [Schema.GroupBy]: the values under by, with their masks,
// and for each of keys what reduce returns for it. reduce gets a dictionary of the keys and an
// arith.ByGroups with the masks of s, so missing values do not count; where nothing counts the
// result is the one for no elements in the table of package arith, such as NaN. Without keys, all
// tensors of integers and floating-point numbers are reduced but masks and by. Rows are in the
// order of the groups, entries in the order of td. It shares no memory with td.
//
// Aggregate returns the errors of GroupBy, Select and reduce, and [ErrKind] for a key in by and in
// keys.
func (s Schema) Aggregate(td Dictionary, reduce func(*TensorDict, arith.Over) (*TensorDict, error), by []nestedkey.Key, keys ...nestedkey.Key) (*TensorDict, error) {
	groups, err := s.GroupBy(td, by...)
	if err != nil {
		return nil, err
	}
	d := Of(td)
	if len(keys) == 0 {
		keys = s.numbers(d, by)
	}
	values, err := d.Select(keys...)
	if err != nil {
		return nil, failed("aggregate", err)
	}
	heads := slices.Clone(by)
	for _, key := range by {
		if values.Has(key) {
			return nil, failedKey("aggregate", key, fmt.Errorf("%w: got it in by and in keys, want it in one of them", ErrKind))
		}
		if spec, _ := s.Find(key); spec.Mask != "" {
			heads = append(heads, spec.Mask)
		}
	}
	masks, err := s.Masks(d)
	if err != nil {
		return nil, err
	}
	if values, err = reduce(values, arith.ByGroups(groups).Masked(masks)); err != nil {
		return nil, err
	}
	out, err := d.SelectPresent(heads...).Take(0, groups.Firsts())
	for key, leaf := range values.Leaves() {
		if err == nil {
			err = out.Set(key, leaf)
		}
	}
	return out, failed("aggregate", err)
}

// numbers returns the keys of the tensors of integers and floating-point numbers that are no masks,
// and not among the given keys.
func (s Schema) numbers(td *TensorDict, but []nestedkey.Key) []nestedkey.Key {
	out := map[nestedkey.Key]bool{}
	for _, key := range but {
		out[key] = true
	}
	for _, spec := range s {
		out[spec.Mask] = true
	}
	var keys []nestedkey.Key
	for key, x := range td.Tensors() {
		if d := x.DType(); (d.IsInteger() || d.IsFloat()) && !out[key] {
			keys = append(keys, key)
		}
	}
	return keys
}
