package ragged

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Categories returns the distinct texts of t, in the order in which they first appear, and the
// number of each row's text:
//
//	uint8 [B... *] -> codes int32 [B...], so that row i of t is texts[codes[i]]
//
// [FromCategories] is the inverse. Texts that differ in a byte are distinct. Categories returns the
// errors of [Strings] and of [TextCodes.Code].
func Categories(t *Tensor) (codes *tensor.Tensor, texts []string, err error) {
	s, err := t.compactText()
	if err != nil {
		return nil, nil, err
	}
	var c TextCodes
	numbers := make([]int32, s.Shape().Size())
	failed := tensor.Read(s.values, func(v []uint8) {
		for i := range numbers {
			from, to := s.layout.within(i, 1)
			if numbers[i], err = c.Code(v[from:to]); err != nil {
				err = fmt.Errorf("row %d: %w", i, err)
				return
			}
		}
	})
	if failed != nil {
		return nil, nil, failed
	}
	if err != nil {
		return nil, nil, err
	}
	codes, err = tensor.From(numbers, s.Shape()...)
	return codes, c.Texts(), err
}

// FromCategories returns a tensor with the texts that codes number:
//
//	codes int32 [B...] -> uint8 [B... *], row i being texts[codes[i]]
//
// It copies. It returns shapeops.ErrKind if codes is nil, tensor.ErrDType unless it holds int32,
// and shapeops.ErrIndex, with the row, for a code that is not the number of a text.
func FromCategories(codes *tensor.Tensor, texts []string) (out *Tensor, err error) {
	failed := tensor.Read(codes, func(v []int32) {
		for i, code := range v {
			if code < 0 || int(code) >= len(texts) {
				err = fmt.Errorf("row %v: %w: got code %d of %d texts", codes.Shape().Position(i), shapeops.ErrIndex, code, len(texts))
				return
			}
		}
		out, err = fromTexts(codes.Shape(), len(v), func(i int) string { return texts[v[i]] })
	})
	if failed != nil {
		return nil, failed
	}
	return out, err
}

// TextCodes numbers distinct texts from 0, in the order in which they first appear. To read a
// column of categories in chunks, use one TextCodes for all chunks. The zero TextCodes has no
// texts. It must not be copied after first use. Not safe for concurrent use.
type TextCodes struct {
	codes  map[string]int32
	texts  []string
	memory strings.Builder // the current piece of memory; see keep
}

// NewTextCodes returns a TextCodes in which the number of each text is its index in texts. Given
// the result of [TextCodes.Texts], a program continues with the same codes. It returns
// shapeops.ErrIndex for a duplicate text.
func NewTextCodes(texts []string) (*TextCodes, error) {
	c := &TextCodes{}
	for i, text := range texts {
		code, err := c.Code([]byte(text))
		if err != nil {
			return nil, err
		}
		if int(code) != i {
			return nil, fmt.Errorf("%w: got %q as text %d and as text %d, want each text once", shapeops.ErrIndex, text, code, i)
		}
	}
	return c, nil
}

// Code returns the number of a text. A new text gets the next number and is copied. Code returns
// shapeops.ErrIndex for a new text if there are 2,147,483,648 texts already, all that int32 can
// number.
func (c *TextCodes) Code(text []byte) (int32, error) {
	if code, ok := c.codes[string(text)]; ok {
		return code, nil
	}
	if len(c.texts) > math.MaxInt32 {
		return 0, fmt.Errorf("%w: got more than %d distinct texts", shapeops.ErrIndex, len(c.texts))
	}
	if c.codes == nil {
		c.codes = map[string]int32{}
	}
	code, kept := int32(len(c.texts)), c.keep(text)
	c.codes[kept] = code
	c.texts = append(c.texts, kept)
	return code, nil
}

// keep returns a copy of text. It packs copies into pieces of memory that grow, so that many short
// texts take few allocations.
func (c *TextCodes) keep(text []byte) string {
	const least, most = 1 << 8, 1 << 20
	if c.memory.Cap()-c.memory.Len() < len(text) {
		size := min(max(2*c.memory.Cap(), least), most)
		c.memory = strings.Builder{}
		c.memory.Grow(max(size, len(text)))
	}
	from := c.memory.Len()
	c.memory.Write(text)
	return c.memory.String()[from:]
}

// Texts returns the texts in the order of their numbers. The caller must not change the slice. New
// texts do not change it.
func (c *TextCodes) Texts() []string { return c.texts }
