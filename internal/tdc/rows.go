package tdc

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
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
	var sums []uint32
	for _, part := range parts {
		x, sum := values, Summer{}
		if part.Name == pool.Values {
			_, err = bundle.Write(&sum, values)
		} else {
			var b bytes.Buffer
			b.Grow(part.Used)
			sum.W = &b
			if err = pool.Write(&sum, part.Name, t, 0, pool.Tag(sums)); err == nil {
				x, err = tensor.FromBytes(tensor.Int64, b.Bytes(), b.Len()/8)
			}
		}
		if err == nil {
			err = p.part(n, part, x)
		}
		if err != nil {
			return n, err
		}
		sums = append(sums, sum.Sums()...)
	}
	return n, nil
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
