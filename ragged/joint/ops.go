package joint

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// An editor applies one operation on a level to the tensors of a tree.
type editor = func(t *ragged.Tensor) (*ragged.Tensor, error)

// partOps are the operations of ragged tensors that share layouts within a pass: see parts.go of
// package ragged.
type partOps interface {
	ShapeText() string
	CompactIn(p *plan.Pass) (*ragged.Tensor, error)
	NestIn(p *plan.Pass, outer *ragged.Layout) (*ragged.Tensor, error)
	InsideIn(p *plan.Pass, at plan.Spot) (*ragged.Tensor, error)
	FlattenIn(p *plan.Pass, level int) (*ragged.Tensor, error)
	ConcatIn(p *plan.Pass, xs []*ragged.Tensor, level int) (*ragged.Tensor, error)
	IndexLevels(level int, x ix.Index) (editor, error)
	Picks(index *ragged.Tensor) (editor, error)
	MaskedSelects(mask *ragged.Tensor) (editor, error)
	DensifyIn(x plan.Parts[*ragged.Tensor], opt ragged.DensifyOptions) ([]*tensor.Tensor, [][]*tensor.Tensor, error)
}

func opsOf(t *ragged.Tensor) partOps { return t.Ops().(partOps) }

// made reports whether t is neither nil nor the zero Tensor.
func made(t *ragged.Tensor) bool { return t != nil && t.Layout() != nil }
