package tdict

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply returns the dictionary of what fn makes of each tensor among the leaves, under the same
// keys, one after the other. A tensor for which fn returns nil is left out; the dictionary around
// it stays. Of a ragged tensor fn is given the values of all rows, [V F...], and returns as many,
// which become those of the rows. Leaves of other kinds pass through. The result is not locked, and
// shares memory with td only where fn does. Apply returns fn's first error, with the key, and
// shapeops.ErrShape if a result does not begin with the batch shape.
func (td *TensorDict) Apply(fn func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	if fn == nil {
		return nil, failed("apply", errNoFunc)
	}
	each := func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return fn(key, xs[0]) }
	return Apply(context.Background(), []*TensorDict{td}, each, ApplyOptions{Workers: 1})
}

// ApplyEntries returns the dictionary of what fn makes of each entry of td itself, in order:
// leaves of every kind and nested dictionaries, which are not entered. An entry for which fn
// returns nil is left out. Leaves that fn returns are shared, dictionaries copied; the result is
// not locked. ApplyEntries returns fn's first error, or its panic, with the key, and the errors of
// [TensorDict.Set] for what it returns. (Python: apply with call_on_nested.)
func ApplyEntries(td *TensorDict, fn func(name nestedkey.Key, v Value) (Value, error)) (*TensorDict, error) {
	if fn == nil {
		return nil, failed("apply entries", errNoFunc)
	}
	if td == nil {
		return nil, failed("apply entries", errNil)
	}
	out := td.emptied()
	for name, v := range td.entries.all() {
		var made Value
		if err := workers.Call(func() (err error) { made, err = fn(name, v); return err }); err != nil {
			return nil, &KeyError{"apply entries", name, err}
		}
		if made == nil {
			continue
		}
		if err := out.adopt(name, made); err != nil {
			return nil, within("apply entries", name, err)
		}
	}
	return out, nil
}

// adopt sets a value of any kind, with a structure of its own, under a name of one part.
func (td *TensorDict) adopt(name nestedkey.Key, v Value) error {
	v, err := fitAt(0, v, td.batch)
	if err == nil {
		v, err = td.inheritNames(v)
	}
	if err == nil {
		td.entries.put(name, v)
	}
	return err
}

// A LeafFunc makes a tensor of those that several dictionaries have under a key, or nil, which
// leaves the key out. It must not keep xs.
type LeafFunc func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error)

// Apply returns the dictionary of what fn makes of the tensors that several dictionaries have under
// each key of the first; of ragged tensors, of the values, whose rows must be as long in all of
// them (ragged.ErrLengths). Keys that only the others have are ignored. Leaves of the first of
// other kinds pass through, and are shared. fn must be safe for concurrent use unless opt.Workers
// is 1.
//
// Apply stops at the first error: that of ctx, or one with its key. Before fn is called for the
// first time, that is
//
//   - [ErrMissing] if a dictionary lacks a key, unless opt says what stands for it, or if the first
//     lacks one of opt.Keys,
//   - [ErrKind] if a dictionary is nil or has no tensor there, if one of opt.Keys names a leaf that
//     is no tensor, or if opt.Batch differs from the batch shape of such a leaf,
//   - [ErrNotDict] if a dictionary has a leaf on the way,
//   - tensor.ErrDType if a leaf's dtype does not hold opt.Default,
//   - in place, tensor.ErrReadOnly, or tensor.ErrLayout for a leaf that has elements which are one
//     in memory.
//
// Later it is fn's error, its panic as a [PanicError], shapeops.ErrShape if a result does not begin
// with the batch shape, and, in place, the errors of tensor.Transfer.
func Apply(ctx context.Context, tds []*TensorDict, fn LeafFunc, opt ApplyOptions) (*TensorDict, error) {
	if len(tds) == 0 || slices.Contains(tds, nil) {
		return nil, failed("apply", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	if fn == nil {
		return nil, failed("apply", errNoFunc)
	}
	if err := opt.check(tds[0]); err != nil {
		return nil, failed("apply", err)
	}
	a := applier{opt: opt, others: tds[1:]}
	out := a.empty(tds[0])
	if err := a.plan(tds[0], out, "", opt.Keys == nil, opt.Keys); err != nil {
		return nil, err
	}
	if err := a.run(ctx, fn); err != nil {
		return nil, failed("apply", err)
	}
	return a.finish(out)
}
