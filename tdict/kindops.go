package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// nested returns the operations of a ragged tensor that only this package uses.
func nested(t *ragged.Tensor) plan.Nested[*ragged.Tensor, *ragged.Layout] {
	return t.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout])
}

// dictOps has the operations of a TensorDict.
type dictOps struct{ *TensorDict }

// Ops returns the operations that packages shapeops and arith call.
func (td *TensorDict) Ops() tensor.Ops[*TensorDict] { return dictOps{td} }

// ExecuteInto implements tensor.Ops.
func (v dictOps) ExecuteInto(p *plan.Pass, dst *TensorDict) error {
	if dst == nil {
		return errNil
	}
	p.Reserve(2 * v.entries.len())
	return run(func(tr *tensor.Transfer) error { return v.AddExecute(tr, dst, p) })
}

// Write implements tensor.Ops.
func (v dictOps) Write(p *plan.Pass, src *TensorDict) error {
	return run(func(tr *tensor.Transfer) error { return v.AddWrite(tr, src, p) })
}

// Texts implements tensor.Ops.
func (v dictOps) Texts() ([]string, error) { return []string{describeDict(v.TensorDict)}, nil }

// Differing implements tensor.Ops. A dictionary has leaves, not elements, so it returns ErrKind.
func (v dictOps) Differing(*TensorDict, tensor.Tolerance, int) ([]tensor.ElementDiff, int, error) {
	return nil, 0, fmt.Errorf("%w: got %s, want a leaf", ErrKind, describeDict(v.TensorDict))
}

// dataOps has the operations of Data.
type dataOps struct{ *Data }

// Ops returns operations that packages which read and write files call.
func (d *Data) Ops() interface {
	Fixed() *Data
	Shared() (any, bool)
} {
	return dataOps{d}
}

// unbatchedOps has the operations of an Unbatched.
type unbatchedOps struct{ *Unbatched }

// run runs a transfer of the copies that add adds.
func run(add func(tr *tensor.Transfer) error) error {
	var tr tensor.Transfer
	if err := add(&tr); err != nil {
		return err
	}
	return tr.Run()
}
