package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromStrings returns the tensor of texts, row-major: the bytes of each text are a row.
//
//	texts of size(B), B the shape -> uint8 [B... *]
//
// Without a shape the result is [len(texts) *]. The bytes are copied unchanged, UTF-8 or not, and
// [Strings] returns the same bytes. A program that needs UTF-8 checks the texts with
// utf8.ValidString. FromStrings returns shapeops.ErrShape unless the size of the shape is
// len(texts).
func FromStrings(texts []string, shape ...int) (*Tensor, error) {
	if len(shape) == 0 {
		shape = []int{len(texts)}
	}
	if err := checkHolds(shape, len(texts)); err != nil {
		return nil, err
	}
	return fromTexts(shape, len(texts), func(i int) string { return texts[i] })
}

// checkHolds returns ErrShape unless the size of s is n, the number of texts.
func checkHolds(s shapeops.Shape, n int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Size() != n {
		return fmt.Errorf("%w: got %d texts, want %d for shape %v", shapeops.ErrShape, n, s.Size(), s)
	}
	return nil
}

// fromTexts returns the tensor of n texts; text(i) is text i.
func fromTexts(shape shapeops.Shape, n int, text func(i int) string) (*Tensor, error) {
	offsets := make([]int64, n+1)
	for i := range n {
		offsets[i+1] = offsets[i] + int64(len(text(i)))
	}
	l, err := NewLayout(shape, offsets)
	if err != nil {
		return nil, err
	}
	size, err := byteSize(tensor.Uint8, shapeops.Shape{l.numbered()})
	if err != nil {
		return nil, err
	}
	bytes := cast.Uninit(size)
	for i := range n {
		copy(bytes[offsets[i]:], text(i))
	}
	return New(tensor.Vector(bytes...), l)
}

// Strings returns the texts of the rows of the batch, row-major: [B... *] -> size(B) strings.
//
// The bytes are copied once, and the strings share that memory: keeping one string keeps all of it.
// Strings does not check for UTF-8. It returns shapeops.ErrKind if t is nil, tensor.ErrDType unless
// it holds uint8, shapeops.ErrDim unless it has one level, shapeops.ErrShape if values have
// features, and an error if lent memory cannot be read.
func Strings(t *Tensor) ([]string, error) {
	s, err := t.compactText()
	if err != nil {
		return nil, err
	}
	var all string
	if err := tensor.Read(s.values, func(v []uint8) { all = string(v) }); err != nil {
		return nil, err
	}
	texts := make([]string, s.Shape().Size())
	for i := range texts {
		from, to := s.layout.within(i, 1)
		texts[i] = all[from:to]
	}
	return texts, nil
}

// StringAt returns the text of one row, given its position in each batch dim; a negative position
// counts from the end. It reads and copies only the bytes of that row. It returns the errors of
// [Strings], and shapeops.ErrIndex if there is no such row or row does not have one position for
// each batch dim.
func StringAt(t *Tensor, row ...int) (text string, err error) {
	if err := t.checkText(); err != nil {
		return "", err
	}
	if len(row) != len(t.Shape()) {
		return "", fmt.Errorf("%w: got %d positions, want one for each dim of %v", shapeops.ErrIndex, len(row), t.Shape())
	}
	expr := make([]ix.Index, len(row))
	for i, at := range row {
		expr[i] = ix.At(at)
	}
	one, err := t.selected(expr...)
	if err != nil {
		return "", err
	}
	values, err := one.Values()
	if err != nil {
		return "", err
	}
	err = tensor.Read(values, func(v []uint8) { text = string(v) })
	return text, err
}

// compactText is compact, with an error unless t holds texts.
func (t *Tensor) compactText() (*Tensor, error) {
	if err := t.checkText(); err != nil {
		return nil, err
	}
	return t.compact(nil)
}

// checkText returns an error unless t holds texts: uint8, one level, no features.
func (t *Tensor) checkText() error {
	switch {
	case !t.made():
		return errNil
	case t.DType() != tensor.Uint8:
		return fmt.Errorf("%w: got %s, want texts, which are %v [B... *]", tensor.ErrDType, t.Text(), tensor.Uint8)
	case t.Depth() != 1:
		return fmt.Errorf("%w: got %s, want texts, which have one level", shapeops.ErrDim, t.Text())
	}
	return t.checkBare()
}

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
