package pool

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// PartsOf returns the parts of t: the lengths of each level, the pool, and the row numbers. A
// tensor without levels has a part for lengths without elements. PartsOf returns shapeops.ErrShape
// if a part is too large.
func PartsOf(t *ragged.Tensor) ([]Part, error) {
	b := t.Shape()
	rows := b.Size()
	lengths := b.Clone()
	if t.Depth() == 0 {
		lengths = noLengths(b)
	}
	parts := []Part{{Lengths, tensor.Int64, lengths, 8 * lengths.Size()}}
	count := rows
	for level := 1; level <= t.Depth(); level++ {
		if level > 1 {
			parts = append(parts, Part{lengthsOf(level), tensor.Int64, append(b.Clone(), Width(count, rows)), 8 * count})
		}
		offsets, err := t.Layout().Offsets(level)
		if err != nil {
			return nil, err
		}
		count = int(offsets[len(offsets)-1])
	}
	value := t.Features().Size() * t.DType().Size()
	parts = append(parts,
		Part{Values, t.DType(), slices.Concat(b, shapeops.Shape{Width(count, rows)}, t.Features()), count * value},
		Part{Row, tensor.Int64, b.Clone(), 8 * rows})
	for i := range parts {
		if err := parts[i].checkSize(); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Write writes a part of t, without what follows in a pool. The first row of t has the given number
// in the saved tensor. Only row numbers have the tag.
func Write(w io.Writer, part string, t *ragged.Tensor, first int, tag uint32) error {
	switch part {
	case Values:
		values, err := t.Values()
		if err == nil {
			_, err = bundle.Write(w, values)
		}
		return err
	case Row:
		start := number(first, tag)
		return write(w, t.Shape().Size(), func(to []int64, at int) {
			for i := range to {
				to[i] = start + int64(at+i)
			}
		})
	}
	if t.Depth() == 0 {
		return nil
	}
	offsets, err := t.Layout().Offsets(Level(part))
	if err != nil {
		return err
	}
	return write(w, len(offsets)-1, func(to []int64, at int) {
		from := offsets[at:]
		for i := range to {
			to[i] = from[i+1] - from[i]
		}
	})
}

// write writes n numbers. fill sets the next ones, from the one at a position on.
func write(w io.Writer, n int, fill func(to []int64, at int)) error {
	buf := make([]int64, min(n, 1<<13))
	for at := 0; at < n; at += len(buf) {
		buf = buf[:min(len(buf), n-at)]
		fill(buf, at)
		if _, err := w.Write(cast.Bytes(buf)); err != nil {
			return err
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Tag returns the tag, of 31 bits, of a tensor, given the checksums of its lengths and values, in
// the order of [PartsOf]. Equal tensors have equal tags.
func Tag(sums []uint32) uint32 {
	var b []byte
	for _, sum := range sums {
		b = binary.LittleEndian.AppendUint32(b, sum)
	}
	return crc32.Checksum(b, castagnoli) >> 1
}

// RandomTag returns the tag of a tensor whose values are not known.
func RandomTag() uint32 { return rand.Uint32() >> 1 }

// TagIn returns the tag in a row number.
func TagIn(number int64) uint32 { return uint32(number >> numberBits) }

// number returns the number of a row of a tensor with a tag.
func number(row int, tag uint32) int64 { return int64(tag)<<numberBits + int64(row) }
