package tdc

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/pool"
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

// ragged plans a ragged tensor as a jagged tensor, or otherwise as the dictionary of package pool.
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
	return p.inner(n, name, func() (int, error) { return p.pool(name, values, t, p.nodes[n].locked) })
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

// pool plans the dictionary of a ragged tensor, as a node.
func (p *Plan) pool(name string, values *tensor.Tensor, t *ragged.Tensor, locked bool) (int, error) {
	n := p.add(name)
	p.nodes[n].rows, p.nodes[n].locked = t, locked
	parts, err := pool.PartsOf(t)
	if err != nil {
		return n, err
	}
	for _, part := range parts {
		x := values
		switch {
		case part.Name == pool.Row:
			x, err = tensor.Scalar(int64(0)).Expand(part.Used / 8) // until WriteData knows the sums of the others
		case part.Name != pool.Values:
			x, err = numbers(part.Name, part.Used, t, 0)
		}
		if err == nil {
			err = p.part(n, part, x)
		}
		if err != nil {
			return n, err
		}
		if l := &p.leaves[len(p.leaves)-1]; part.Name == pool.Row {
			l.numbered = t
		} else {
			l.summed = true
		}
	}
	return n, nil
}

// numbers returns the lengths or row numbers of t, size bytes in all.
func numbers(part string, size int, t *ragged.Tensor, tag uint32) (*tensor.Tensor, error) {
	var b bytes.Buffer
	b.Grow(size)
	if err := pool.Write(&b, part, t, 0, tag); err != nil {
		return nil, err
	}
	return tensor.FromBytes(tensor.Int64, b.Bytes(), b.Len()/8)
}

// part plans a part of a ragged tensor, whose first elements t has.
func (p *Plan) part(n int, part pool.Part, t *tensor.Tensor) error {
	if err := p.leaf(n, "", part.Name, t); err != nil {
		return err
	}
	l := &p.leaves[len(p.leaves)-1]
	if l.shape, l.size = part.Shape, part.Size(); l.size > math.MaxInt-l.start-align {
		return tooLarge(part.DType, part.Shape)
	}
	p.size = l.end()
	return nil
}
