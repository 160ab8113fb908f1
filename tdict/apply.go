package tdict

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply calls fn with each tensor among the leaves, one after the other, and returns a dictionary
// of the results under the same keys.
//
//   - If fn returns nil, the key is left out. The dictionary around it stays.
//   - For a ragged tensor, fn gets the values of all rows, [V F...], and returns a tensor with V
//     rows, which become the values of the rows.
//   - Leaves of other kinds are shared.
//
// The result is not locked. A tensor in it shares memory with td only if fn returns such a tensor.
// Apply returns fn's first error, with the key, and shapeops.ErrShape if a result does not begin
// with the batch shape.
func (td *TensorDict) Apply(fn func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error)) (*TensorDict, error) {
	if fn == nil {
		return nil, failed("apply", errNoFunc)
	}
	each := func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return fn(key, xs[0]) }
	return Apply(context.Background(), []*TensorDict{td}, each, ApplyOptions{Workers: 1})
}

// A LeafFunc returns a tensor for a key, given the tensors that several dictionaries have under it.
// If it returns nil, the key is left out. It must not keep xs.
type LeafFunc func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error)

// Apply calls fn for each tensor of the first dictionary, with the tensors that all dictionaries
// have under its key, and returns a dictionary of the results. For ragged tensors, fn gets the
// values; their rows must have the same lengths in all dictionaries (ragged.ErrLengths). For a
// [Stacked] of tensors, fn is called for each member. Keys that the first dictionary lacks are
// ignored. Leaves of other kinds in the first dictionary are shared with the result. fn must be
// safe for concurrent use unless opt.Workers is 1.
//
// Apply stops at the first error: context.Cause(ctx), or an error with a key. Before the first call
// of fn, it returns
//
//   - [ErrMissing] if a dictionary lacks a key and opt has neither Default nor AllowMissing, or
//     if the first dictionary lacks one of opt.Keys,
//   - [ErrKind] if a dictionary is nil or has a different kind of value under a key,
//   - [ErrKind] if one of opt.Keys is the key of [Data], of an [Unbatched], or of a [Stacked]
//     whose members are Data or Unbatched,
//   - [ErrKind] if opt.Batch is set, and a dictionary with another batch shape has such a leaf,
//   - [ErrNotDict] if a key leads through a leaf of a dictionary,
//   - tensor.ErrDType if a leaf's dtype cannot represent opt.Default,
//   - in place, tensor.ErrReadOnly, or tensor.ErrLayout for a leaf in which two elements share
//     memory.
//
// Afterwards it returns fn's error, its panic as a [PanicError], shapeops.ErrShape if a result does
// not begin with the batch shape, and, in place, the errors of tensor.Transfer.
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

// A PanicError is the panic of a function that the caller passed to an operation, such as [Apply]
// or [MapChunks]. Value is the argument of panic; the PanicError wraps it if it is an error. Stack
// is the stack of the goroutine, as debug.Stack formats it. The operation returns the PanicError
// inside a [KeyError] or a [RowsError], which says where the function panicked.
//
//	if p, ok := errors.AsType[*tdict.PanicError](err); ok {
//		log.Printf("%v\n%s", err, p.Stack)
//	}
type PanicError = workers.PanicError

var errNoFunc = fmt.Errorf("%w: got a nil function", ErrKind)
