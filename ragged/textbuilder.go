package ragged

import "github.com/go-tensordict/tensordict/tensor"

// A TextBuilder makes tensors of texts row by row, again and again in the same memory. A reader
// that yields chunk after chunk uses one:
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
	ends  []int64 // of the rows in bytes
}

// Append appends a row, the bytes of a text, which are kept as they are.
func (b *TextBuilder) Append(text string) {
	b.bytes = append(b.bytes, text...)
	b.ends = append(b.ends, int64(len(b.bytes)))
}

// AppendBytes is [TextBuilder.Append] of bytes, which it copies.
func (b *TextBuilder) AppendBytes(text []byte) {
	b.bytes = append(b.bytes, text...)
	b.ends = append(b.ends, int64(len(b.bytes)))
}

// Len returns the number of rows.
func (b *TextBuilder) Len() int { return len(b.ends) }

// Tensor returns the rows that were appended since [TextBuilder.Reset], row-major: uint8 [B... *],
// B the shape, or [Len *] without one. It shares the bytes of b, so it must not be used after the
// next Reset; a Clone may be. Its Layout is new and never changes. Rows that are appended later are
// not in it. It returns shapeops.ErrShape if the shape does not hold Len rows.
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
