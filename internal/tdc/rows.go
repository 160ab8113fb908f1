package tdc

import (
	"fmt"
	"io"
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
	pieces, err := pool.PiecesOf(t)
	if err != nil {
		return n, err
	}
	for _, piece := range pieces {
		x := values
		switch {
		case piece.Name == pool.Row:
			x, err = tensor.Scalar(int64(0)).Expand(piece.Used / 8) // until WriteData knows the sums of the others
		case piece.Name != pool.Values:
			x, err = ints(piece.Used, func(w io.Writer) error { return pool.WriteLengths(w, piece.Offsets) })
		}
		if err == nil {
			err = p.part(n, piece, x)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// A poolPart says which part of a ragged tensor a leaf is.
type poolPart uint8

const (
	noPart     poolPart = iota
	summedPart          // lengths or values
	rowPart             // row numbers, which WriteData makes
)

// rowNumbers returns the row numbers of a ragged tensor whose other parts have the given sums.
func (l *leaf) rowNumbers(sums [][]uint32) (*tensor.Tensor, error) {
	return ints(l.size, func(w io.Writer) error { return pool.WriteRows(w, 0, l.size/8, pool.Tag(sums)) })
}

// ints returns the numbers that write writes, size bytes in all.
func ints(size int, write func(w io.Writer) error) (*tensor.Tensor, error) {
	b := make(appender, 0, size)
	if err := write(&b); err != nil {
		return nil, err
	}
	return tensor.FromBytes(tensor.Int64, b, len(b)/8)
}

// An appender is an io.Writer that appends to itself.
type appender []byte

// Write implements io.Writer.
func (b *appender) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// part plans a part of a ragged tensor, whose first elements t has.
func (p *Plan) part(n int, piece pool.Piece, t *tensor.Tensor) error {
	if err := p.leaf(n, "", piece.Name, t); err != nil {
		return err
	}
	l := &p.leaves[len(p.leaves)-1]
	if l.shape = piece.Shape; piece.Size > math.MaxInt-l.start-align {
		return tooLarge(piece.DType, piece.Shape)
	}
	l.size, l.part = piece.Size, summedPart
	if piece.Name == pool.Row {
		l.part = rowPart
	}
	p.size = l.end()
	return nil
}
