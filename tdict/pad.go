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
	// Fill is the value of padding in tensors: a number or a bool, as tensor.ScalarOf takes it. Nil
	// is zero.
	Fill any
	// Fills maps the keys of leaves to the values that replace Fill for them.
	Fills map[nestedkey.Key]any
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
// dtype of a leaf cannot represent its padding; [ErrMissing] for a key of opt.Fills that td lacks,
// and [ErrKind] if the value under such a key is not a tensor.
func (td *TensorDict) Pad(opt PadOptions, sizes ...int) (*TensorDict, error) {
	p, err := td.planPad(opt, sizes)
	if err != nil {
		return nil, failed("pad", err)
	}
	if len(opt.Fills) == 0 {
		return td.passed("pad", p)
	}
	if err := td.reserve(p, 0); err != nil {
		return nil, failed("pad", err)
	}
	out, err := td.padded(p, opt.Fills, "")
	return out, failed("pad", err)
}

// padded is Pad of a dictionary under a key, whose leaves have padding by their full keys. A leaf
// with padding in values has a separate pass.
func (td *TensorDict) padded(p *plan.Pass, values map[nestedkey.Key]any, at nestedkey.Key) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(c column, v Value) (Value, error) {
		key := c.name
		if at != "" {
			key = nestedkey.Join(at, c.name)
		}
		if d, ok := v.(*TensorDict); ok {
			return asValue(d.padded(p, values, key))
		}
		if fill, own := values[key]; own {
			return opsOf(v).execute(v, &plan.Pass{Plan: p.Plan, Fill: fill})
		}
		return opsOf(v).execute(v, p)
	})
	if err != nil {
		return nil, within("", name, err)
	}
	return td.planned(p, entries)
}

// PadInto is [TensorDict.Pad] into a dictionary that the caller owns, with the rules of
// [TensorDict.IndexInto]. On an error nothing has changed. With opt.Fills it pads in new memory
// first.
func (td *TensorDict) PadInto(dst *TensorDict, opt PadOptions, sizes ...int) error {
	p, err := td.planPad(opt, sizes)
	if err != nil {
		return failed("pad", err)
	}
	if len(opt.Fills) == 0 {
		return td.passedInto("pad", dst, p)
	}
	padded, err := td.Pad(opt, sizes...)
	if err != nil {
		return err
	}
	all, err := plan.Index(padded.batch)
	if err != nil {
		return failed("pad", err)
	}
	return padded.passedInto("pad", dst, arena.NewPass[tensor.Tensor](all))
}

// planPad returns a pass that pads with opt.Fill. It returns an error unless td has a tensor under
// each key of opt.Fills.
func (td *TensorDict) planPad(opt PadOptions, sizes []int) (*plan.Pass, error) {
	for _, key := range slices.SortedFunc(maps.Keys(opt.Fills), nestedkey.Compare) {
		if _, err := td.Tensor(key); err != nil {
			return nil, err
		}
	}
	planned, err := plan.Pad(td.batch, sizes...)
	if err != nil {
		return nil, err
	}
	p := arena.NewPass[tensor.Tensor](planned)
	p.Fill = opt.Fill
	return p, nil
}
