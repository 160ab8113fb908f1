package pool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Piece is a part to be written.
type Piece struct {
	Part
	Offsets []int64 // their differences are the lengths; nil for the pool and the row numbers
	Used    int     // bytes that have a meaning, the first ones
	Size    int     // bytes of the whole part
}

// PiecesOf returns the parts of t: the lengths of each level, the pool, and the row numbers. A
// tensor without levels has a part for lengths without elements. PiecesOf returns shapeops.ErrShape if a part is too large.
func PiecesOf(t *ragged.Tensor) ([]Piece, error) {
	b := t.Shape()
	rows := b.Size()
	var pieces []Piece
	add := func(p Part, offsets []int64, count int) error {
		if err := p.Shape.Check(); err != nil {
			return err
		}
		if p.Shape.Size() > math.MaxInt/p.DType.Size() {
			return fmt.Errorf("%w: got %v %v, want a size in bytes that an int holds", shapeops.ErrShape, p.DType, p.Shape)
		}
		value := p.Shape[min(len(b)+1, len(p.Shape)):].Size() * p.DType.Size()
		pieces = append(pieces, Piece{p, offsets, count * value, p.Shape.Size() * p.DType.Size()})
		return nil
	}
	count := rows
	if t.Depth() == 0 {
		if err := add(Part{Lengths, tensor.Int64, noLengths(b)}, nil, 0); err != nil {
			return nil, err
		}
	}
	for level := 1; level <= t.Depth(); level++ {
		offsets, err := t.Layout().Offsets(level)
		if err != nil {
			return nil, err
		}
		shape := b.Clone()
		if level > 1 {
			shape = append(shape, Width(count, rows))
		}
		if err := add(Part{LengthsOf(level), tensor.Int64, shape}, offsets, count); err != nil {
			return nil, err
		}
		count = int(offsets[len(offsets)-1])
	}
	if err := add(Part{Values, t.DType(), slices.Concat(b, shapeops.Shape{Width(count, rows)}, t.Features())}, nil, count); err != nil {
		return nil, err
	}
	return pieces, add(Part{Row, tensor.Int64, b.Clone()}, nil, rows)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Tag returns the tag, of 31 bits, of a tensor whose lengths and values have the given checksums: a
// list for each part, in the order of [PiecesOf]. Equal tensors have equal tags.
func Tag(sums [][]uint32) uint32 {
	var b []byte
	for _, list := range sums {
		for _, sum := range list {
			b = binary.LittleEndian.AppendUint32(b, sum)
		}
	}
	return crc32.Checksum(b, castagnoli) >> 1
}

// RandomTag returns the tag of a tensor whose values are not known.
func RandomTag() uint32 { return rand.Uint32() >> 1 }

// TagIn returns the tag in a row number.
func TagIn(number int64) uint32 { return uint32(number >> numberBits) }

// Number returns the number of a row of a tensor with a tag.
func Number(row int, tag uint32) int64 { return int64(tag)<<numberBits + int64(row) }

// WriteLengths writes the differences of offsets.
func WriteLengths(w io.Writer, offsets []int64) error {
	return write(w, max(0, len(offsets)-1), func(to []int64, first int) {
		from := offsets[first:]
		for i := range to {
			to[i] = from[i+1] - from[i]
		}
	})
}

// WriteRows writes the numbers of n rows, from the row first, of a tensor with a tag.
func WriteRows(w io.Writer, first, n int, tag uint32) error {
	start := Number(first, tag)
	return write(w, n, func(to []int64, first int) {
		for i := range to {
			to[i] = start + int64(first+i)
		}
	})
}

// write writes n numbers. fill sets the next ones, from the given one on.
func write(w io.Writer, n int, fill func(to []int64, first int)) error {
	buf := make([]int64, min(n, 1<<13))
	for first := 0; first < n; first += len(buf) {
		buf = buf[:min(len(buf), n-first)]
		fill(buf, first)
		if _, err := w.Write(cast.Bytes(buf)); err != nil {
			return err
		}
	}
	return nil
}
