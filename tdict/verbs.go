package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// verbs is a TensorDict with its verbs.
type verbs TensorDict

// Plan returns what package shapeops calls.
func (td *TensorDict) Plan() plan.Verbs[*TensorDict] { return (*verbs)(td) }

// Verbs returns what packages arith and tdict call.
func (td *TensorDict) Verbs() tensor.Verbs[*TensorDict] { return (*verbs)(td) }

// ExecuteInto implements plan.Verbs.
func (v *verbs) ExecuteInto(p *plan.Pass, dst *TensorDict) error {
	return (*TensorDict)(v).passedInto(p.Op, dst, p)
}

// Write implements plan.Verbs.
func (v *verbs) Write(p *plan.Pass, src *TensorDict) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// Texts implements tensor.Verbs.
func (v *verbs) Texts() ([]string, error) { return []string{describeDict((*TensorDict)(v))}, nil }

// Differing implements tensor.Verbs: a dictionary has no elements, but leaves.
func (v *verbs) Differing(*TensorDict, tensor.Tolerance, int) ([]tensor.ElementDiff, int, error) {
	return nil, 0, fmt.Errorf("%w: got %s, want a leaf", ErrKind, describeDict((*TensorDict)(v)))
}

// dataVerbs is Data with its verbs.
type dataVerbs Data

// Plan returns what package shapeops calls.
func (d *Data) Plan() plan.Verbs[*Data] { return (*dataVerbs)(d) }

// ExecuteInto implements plan.Verbs.
func (v *dataVerbs) ExecuteInto(p *plan.Pass, dst *Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Verbs.
func (v *dataVerbs) Write(p *plan.Pass, src *Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// JoinInto implements plan.Verbs.
func (v *dataVerbs) JoinInto(p *plan.Pass, dst *Data, xs []*Data) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// unbatchedVerbs is an Unbatched with its verbs.
type unbatchedVerbs Unbatched

// Plan returns what package shapeops calls.
func (u *Unbatched) Plan() plan.Verbs[*Unbatched] { return (*unbatchedVerbs)(u) }

// ExecuteInto implements plan.Verbs.
func (v *unbatchedVerbs) ExecuteInto(p *plan.Pass, dst *Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements plan.Verbs.
func (v *unbatchedVerbs) Write(p *plan.Pass, src *Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// JoinInto implements plan.Verbs.
func (v *unbatchedVerbs) JoinInto(p *plan.Pass, dst *Unbatched, xs []*Unbatched) error {
	return run(func(tr *tensor.Transfer) error { return v.AddJoin(tr, dst, p, xs) })
}

// run runs a transfer of what add adds.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
