package tdc

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// The prefixes of the leaves of a jagged tensor, in this order; lengths are optional.
const (
	jaggedOld     = "<NJT>" // values, in 0.5
	jaggedValues  = "<NJT_VALUES>"
	jaggedLengths = "<NJT_LENGTHS>"
	jaggedOffsets = "<NJT_OFFSETS>"
)

var jaggedParts = [...]string{jaggedOld, jaggedValues, jaggedLengths, jaggedOffsets}

// jaggedDim is the ragged dim of a jagged tensor.
const jaggedDim = 1

const valuesName = "values" // of the leaf in the node of a ragged tensor

// offsetsName returns the name of the leaf with the offsets of a level.
func offsetsName(level int) string { return fmt.Sprint("offsets", level) }

// ragged plans a ragged tensor as a jagged tensor, or otherwise as a node with the values and the
// offsets of each level, which a native fact marks.
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

// isJagged reports whether Python's jagged layout can hold t.
func isJagged(t *ragged.Tensor) bool { return t.Depth() == 1 && len(t.Shape()) == 1 }

// jagged plans a jagged tensor.
func (p *Plan) jagged(n int, name string, values *tensor.Tensor, l *ragged.Layout) error {
	if strings.Contains(name, jaggedOffsets) { // Python removes it anywhere in a name
		return fmt.Errorf("%w: the format uses %q in names for the parts of jagged tensors", fileformat.ErrName, jaggedOffsets)
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

// levels plans the node of a ragged tensor.
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
