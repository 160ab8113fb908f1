package ragged

import (
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// A TextBuilder makes tensors of texts row by row, again and again in the same memory, as a reader
// does that yields one chunk of rows after another:
//
//	b.Reset()
//	for rows.Scan() {
//		b.AppendBytes(rows.Bytes())
//	}
//	texts, err := b.Tensor() // until the next Reset
//
// The zero TextBuilder is ready for use. Not safe for concurrent use.
type TextBuilder struct {
	bytes   []byte
	offsets []int64
}

// Append appends a row, the bytes of a text, which are kept as they are.
func (b *TextBuilder) Append(text string) {
	b.bytes = append(b.bytes, text...)
	b.end()
}

// AppendBytes is [TextBuilder.Append] of bytes, which it copies.
func (b *TextBuilder) AppendBytes(text []byte) {
	b.bytes = append(b.bytes, text...)
	b.end()
}

// end ends a row.
func (b *TextBuilder) end() {
	b.begin()
	b.offsets = append(b.offsets, int64(len(b.bytes)))
}

// begin puts the offset at which rows begin before all others.
func (b *TextBuilder) begin() {
	if len(b.offsets) == 0 {
		b.offsets = append(b.offsets, 0)
	}
}

// Len returns the number of rows.
func (b *TextBuilder) Len() int { return max(0, len(b.offsets)-1) }

// Tensor returns the rows that were appended since [TextBuilder.Reset], row-major: uint8 [B... *],
// B the shape, or [Len *] without one. It shares the bytes of b, but not the offsets, which are
// copied: a Layout never changes. It must not be used after the next Reset; Clone keeps it longer.
// Rows that are appended later are not in it. It returns shapeops.ErrShape if the shape does not
// hold Len rows.
func (b *TextBuilder) Tensor(shape ...int) (*Tensor, error) {
	b.begin()
	if len(shape) == 0 {
		shape = []int{b.Len()}
	}
	if err := checkHolds(shape, b.Len()); err != nil {
		return nil, err
	}
	l, err := NewLayout(shape, slices.Clone(b.offsets))
	if err != nil {
		return nil, err
	}
	values, err := tensor.From(b.bytes, len(b.bytes))
	if err != nil {
		return nil, err
	}
	return New(values, l)
}

// Reset removes all rows. It keeps the memory, which the next rows overwrite.
func (b *TextBuilder) Reset() { b.bytes, b.offsets = b.bytes[:0], b.offsets[:0] }
