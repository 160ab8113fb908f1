package ragged

import "github.com/go-tensordict/tensordict/tensor"

// A TextBuilder makes tensors of texts row by row, and reuses its memory for the next tensor. To
// read texts in chunks, use one TextBuilder for all chunks:
//
//	b.Reset()
//	for rows.Scan() {
//		b.AppendBytes(rows.Bytes())
//	}
//	texts, err := b.Tensor() // until the next Reset
//
// The zero TextBuilder is ready for use. Not safe for concurrent use.
type TextBuilder struct {
	bytes []byte
	ends  []int64 // the end of each row in bytes
}

// Append appends a row with the bytes of text.
func (b *TextBuilder) Append(text string) {
	b.bytes = append(b.bytes, text...)
	b.ends = append(b.ends, int64(len(b.bytes)))
}

// AppendBytes is [TextBuilder.Append] for a []byte, which it copies.
func (b *TextBuilder) AppendBytes(text []byte) {
	b.bytes = append(b.bytes, text...)
	b.ends = append(b.ends, int64(len(b.bytes)))
}

// Len returns the number of rows.
func (b *TextBuilder) Len() int { return len(b.ends) }

// Tensor returns the rows appended since [TextBuilder.Reset], row-major: uint8 [B... *], B being
// the shape, or [Len *] without a shape. It shares b's memory and must not be used after the next
// Reset; a Clone may be. Its Layout is new and never changes. Rows that are appended later are not
// in it. Tensor returns shapeops.ErrShape unless the size of the shape is Len.
func (b *TextBuilder) Tensor(shape ...int) (*Tensor, error) {
	if len(shape) == 0 {
		shape = []int{b.Len()}
	}
	if err := checkHolds(shape, b.Len()); err != nil {
		return nil, err
	}
	l, err := NewLayout(shape, append([]int64{0}, b.ends...))
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
func (b *TextBuilder) Reset() { b.bytes, b.ends = b.bytes[:0], b.ends[:0] }
