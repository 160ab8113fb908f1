package tdict

import (
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// PadOptions are the options of [TensorDict.Pad]. The zero value is the default.
type PadOptions struct {
	// Value is the padding of tensors: a number or a bool, as tensor.ScalarOf takes it. Nil is
	// zero.
	Value any
	// Values maps the keys of leaves to the padding that replaces Value for them.
	Values map[nestedkey.Key]any
}

// Pad returns a copy of td with positions added before and after each batch dim. sizes has two
// numbers for each dim, the first dim first; dims at the end may be left out. A negative size
// removes positions.
//
//	[A B], 1, 0, 0, 2 -> [A+1 B+2]
//
// The padding of tensors is set by opt. Rows added to ragged tensors are empty, and rows added to
// [Data] have the value nil. Pad returns shapeops.ErrShape if there are more than two sizes for
// each dim, if their number is odd, or if a dim would get a negative size; tensor.ErrDType if the
// dtype of a leaf cannot represent its padding; [ErrMissing] for a key of opt.Values that td lacks,
// and [ErrKind] if the value under such a key is not a tensor.
func (td *TensorDict) Pad(opt PadOptions, sizes ...int) (*TensorDict, error) {
	planned, err := td.planPad(opt, sizes)
	if err != nil {
		return nil, failed("pad", err)
	}
	p := arena.NewPass[tensor.Tensor](planned)
	p.Fill, p.Fills = opt.Value, opt.Values
	return td.passed("pad", p)
}

// PadInto is [TensorDict.Pad] into a dictionary that the caller owns, with the rules of
// [TensorDict.IndexInto]. On an error nothing has changed.
func (td *TensorDict) PadInto(dst *TensorDict, opt PadOptions, sizes ...int) error {
	p, err := td.planPad(opt, sizes)
	if err != nil {
		return failed("pad", err)
	}
	return td.passedInto("pad", dst, &plan.Pass{Plan: p, Fill: opt.Value, Fills: opt.Values})
}

func (td *TensorDict) planPad(opt PadOptions, sizes []int) (*plan.Plan, error) {
	if err := td.checkFills(opt.Values); err != nil {
		return nil, err
	}
	return plan.Pad(td.batch, sizes...)
}

// checkFills returns an error unless td has a tensor under each key of values.
func (td *TensorDict) checkFills(values map[nestedkey.Key]any) error {
	for _, key := range slices.SortedFunc(maps.Keys(values), nestedkey.Compare) {
		if _, err := td.Tensor(key); err != nil {
			return err
		}
	}
	return nil
}
