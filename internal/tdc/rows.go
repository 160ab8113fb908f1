package tdc

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// The beginnings of names of leaves that make a jagged tensor, in this order; lengths are optional.
const (
	jaggedOld     = "<NJT>" // values, as 0.5 wrote them
	jaggedValues  = "<NJT_VALUES>"
	jaggedLengths = "<NJT_LENGTHS>"
	jaggedOffsets = "<NJT_OFFSETS>"
)

var jaggedParts = [...]string{jaggedOld, jaggedValues, jaggedLengths, jaggedOffsets}

// jaggedDim is the dim of a jagged tensor that is ragged.
const jaggedDim = 1

const valuesName = "values" // of a leaf of ragged rows that are not jagged

// offsetsName is the name of the leaf that has the offsets of a level.
func offsetsName(level int) string { return fmt.Sprint("offsets", level) }

// ragged plans ragged rows: a jagged tensor, or, for what that cannot say, a node with the values
// and the offsets of each level, of which a native field says what it is.
func (p *Plan) ragged(n int, name string, t *ragged.Tensor) error {
	rank := len(t.Shape()) + t.Depth() + len(t.Features())
	if rank > MaxDims {
		return fmt.Errorf("%w: got %d dims, want at most %d", shapeops.ErrShape, rank, MaxDims)
	}
	values, err := t.Values()
	if err != nil {
		return err
	}
	if isJagged(t) {
		return p.jagged(n, name, values, t.Layout())
	}
	return p.inner(n, name, func() (int, error) { return p.levels(name, values, t, p.nodes[n].locked) })
}

// isJagged reports whether t is what Python's jagged layout can say.
func isJagged(t *ragged.Tensor) bool { return t.Depth() == 1 && len(t.Shape()) == 1 }

// jagged plans a jagged tensor.
func (p *Plan) jagged(n int, name string, values *tensor.Tensor, l *ragged.Layout) error {
	if strings.Contains(name, jaggedOffsets) { // which Python takes out, wherever it is
		return fmt.Errorf("%w: the form has leaves whose names contain %q", fileformat.ErrName, jaggedOffsets)
	}
	offsets, err := l.Offsets(1)
	if err == nil {
		err = p.leaf(n, jaggedValues, name, values)
	}
	if err != nil {
		return err
	}
	return p.leaf(n, jaggedOffsets, name, tensor.Vector(offsets...))
}

// levels plans the node of other ragged rows.
func (p *Plan) levels(name string, values *tensor.Tensor, t *ragged.Tensor, locked bool) (int, error) {
	n := p.add(name)
	p.nodes[n].rows, p.nodes[n].locked = t, locked
	if err := p.leaf(n, "", valuesName, values); err != nil {
		return n, err
	}
	for level := 1; level <= t.Depth(); level++ {
		offsets, err := t.Layout().Offsets(level)
		if err != nil {
			return n, err
		}
		if err := p.leaf(n, "", offsetsName(level), tensor.Vector(offsets...)); err != nil {
			return n, err
		}
	}
	return n, nil
}
