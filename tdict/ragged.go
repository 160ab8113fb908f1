package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
)

// fitRagged returns t, whose batch shape must begin with batch.
func fitRagged(t *ragged.Tensor, batch shapeops.Shape) (*ragged.Tensor, error) {
	return t, t.Shape().CheckPrefix(batch)
}

// zeroRagged returns a ragged tensor like t with empty rows.
func zeroRagged(t *ragged.Tensor, p *plan.Pass, shape shapeops.Shape) (*ragged.Tensor, error) {
	return nested(t).EmptyIn(p, shape...)
}

func validRagged(t *ragged.Tensor) bool { return t.DType() != 0 }

func cloneRagged(t *ragged.Tensor, p *plan.Pass) (*ragged.Tensor, error) { return nested(t).CloneIn(p) }

// nested returns the operations of a ragged tensor that only this package uses.
func nested(t *ragged.Tensor) plan.Nested[*ragged.Tensor, *ragged.Layout] {
	return t.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout])
}

// checkRaggedPad returns ErrDim if p pads along a dim after t's batch shape.
func checkRaggedPad(t *ragged.Tensor, p *plan.Pass) error {
	if _, ok := p.Join.PadDim(t.Shape(), false); ok {
		return nil
	}
	return fmt.Errorf("%w: got %s to pad along a dim after its batch shape: Densify it first",
		shapeops.ErrDim, t.Text())
}

func specRagged(t *ragged.Tensor) Spec {
	return Spec{Kind: KindRagged, DType: t.DType(), Depth: t.Depth(), Shape: t.Features()}
}
