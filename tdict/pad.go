package tdict

import (
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// PadOptions say how [TensorDict.Pad] pads. The zero value is the default.
type PadOptions struct {
	// Value is what tensors are padded with: a number or a bool, as tensor.ScalarOf takes it. Nil is
	// zero.
	Value any
	// Values are what some leaves are padded with instead, by key.
	Values map[nestedkey.Key]any
}

// Pad returns a copy of td with positions added before and after each batch dim, the first dim
// first: two sizes for each, or none for dims at the end. A negative size takes positions away.
//
//	[A B], 1, 0, 0, 2 -> [A+1 B+2]
//
// Tensors are padded as opt says, [Data] with nil. Pad returns the errors of shapeops.Shape.Pad,
// tensor.ErrDType if a leaf does not hold its value, [ErrMissing] for a key of opt.Values that td
// lacks, and [ErrKind] if that is no tensor.
func (td *TensorDict) Pad(opt PadOptions, sizes ...int) (*TensorDict, error) {
	plan, err := td.planPad(opt, sizes)
	if err != nil {
		return nil, failed("pad", err)
	}
	p := tensor.NewPass(plan)
	p.Fill = opt.Value
	if len(opt.Values) == 0 {
		return td.passed("pad", p)
	}
	if err := td.expect(p, 0); err != nil {
		return nil, failed("pad", err)
	}
	out, err := fills{values: opt.Values}.execute(td, p)
	if err != nil {
		return nil, failed("pad", err)
	}
	return out, nil
}

// PadInto is [TensorDict.Pad] into a dictionary that the caller owns, as [TensorDict.IndexInto] is;
// on an error nothing has changed.
func (td *TensorDict) PadInto(dst *TensorDict, opt PadOptions, sizes ...int) error {
	plan, err := td.planPad(opt, sizes)
	if err != nil {
		return failed("pad", err)
	}
	p := &shapeops.Pass{Plan: plan, Fill: opt.Value}
	if len(opt.Values) == 0 {
		return td.passedInto("pad", dst, p)
	}
	if dst == nil {
		return failed("pad", errNil)
	}
	var tr tensor.Transfer
	if err := (fills{values: opt.Values}).into(&tr, dst, td, p); err != nil {
		return failed("pad", err)
	}
	return failed("pad", tr.Run())
}

// planPad checks that each of the values has its leaf.
func (td *TensorDict) planPad(opt PadOptions, sizes []int) (*shapeops.Plan, error) {
	for _, key := range slices.SortedFunc(maps.Keys(opt.Values), nestedkey.Compare) {
		if _, err := td.Tensor(key); err != nil {
			return nil, err
		}
	}
	return td.batch.Pad(sizes...)
}

// A fills says which leaves of a dictionary are padded with values of their own. at is the key of
// the dictionary, with a slash after it unless it is empty.
type fills struct {
	values map[nestedkey.Key]any
	at     nestedkey.Key
}

// pass returns the pass of a leaf: p, or one with a value of the leaf's own.
func (f fills) pass(p *shapeops.Pass, name nestedkey.Key) *shapeops.Pass {
	if v, ok := f.values[f.at+name]; ok {
		return &shapeops.Pass{Plan: p.Plan, Fill: v}
	}
	return p
}

func (f fills) within(name nestedkey.Key) fills { return fills{f.values, f.at + name + "/"} }

// execute is [TensorDict.Execute] of each leaf with its own pass.
func (f fills) execute(td *TensorDict, p *shapeops.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(c column, v Value) (Value, error) {
		if d, ok := asDict(v); ok {
			return some(f.within(c.name).execute(d, p))
		}
		return opsOf(v).execute(v, f.pass(p, c.name))
	})
	if err != nil {
		return nil, within("pad", name, err)
	}
	return td.planned(p, entries), nil
}

// into is [TensorDict.ExecuteInto] of each leaf with its own pass.
func (f fills) into(tr *tensor.Transfer, dst, td *TensorDict, p *shapeops.Pass) error {
	return td.eachInto(dst, p, func(name nestedkey.Key, to, v Value) error {
		d, ok := asDict(v)
		e, alsoDict := asDict(to)
		if ok && alsoDict {
			return f.within(name).into(tr, e, d, p)
		}
		return opsOf(v).into(tr, to, v, f.pass(p, name))
	})
}
