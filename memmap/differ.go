package memmap

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sameData returns tdict.ErrDiffers unless each value of got is saved as the one of want. NaN is
// equal to itself.
func sameData(got, want *tdict.Data) error {
	shared, _ := want.Uniform()
	text := appendValue(nil, shared)
	if v, ok := got.Uniform(); ok && bytes.Equal(appendValue(nil, v), text) {
		return nil
	}
	row := 0
	for v := range got.All() {
		if other := appendValue(nil, v); !bytes.Equal(other, text) {
			at := commonLen(other, text)
			return fmt.Errorf("%w: row %d: got %s, want %s", tdict.ErrDiffers, row, excerpt(other, at), excerpt(text, at))
		}
		row++
	}
	return nil
}

// sameBytes returns tdict.ErrDiffers unless two tensors of one shape are saved alike.
func sameBytes(got, want *tensor.Tensor) error {
	if got == want {
		return nil
	}
	if got.DType() != want.DType() {
		return fmt.Errorf("%w: got %v %v, want %v %v", tdict.ErrDiffers, got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	var x, y bytes.Buffer
	_, err := got.WriteTo(&x)
	_, failed := want.WriteTo(&y)
	if err = errors.Join(err, failed); err != nil || bytes.Equal(x.Bytes(), y.Bytes()) {
		return err
	}
	return differAt(got, want, commonLen(x.Bytes(), y.Bytes())/got.DType().Size())
}

// differAt says that two tensors differ in an element, counted row-major.
func differAt(got, want *tensor.Tensor, element int) error {
	pos := make([]int, len(got.Shape()))
	expr := make([]ix.Index, len(pos))
	for dim := len(pos) - 1; dim >= 0; dim-- {
		size := got.Shape()[dim]
		pos[dim], element = element%size, element/size
		expr[dim] = ix.At(pos[dim])
	}
	mine, err := elementText(got, expr)
	theirs, failed := elementText(want, expr)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return fmt.Errorf("%w: element %v: got %s, want %s", tdict.ErrDiffers, pos, mine, theirs)
}

// elementText returns the text of the element that an expression selects.
func elementText(x *tensor.Tensor, expr []ix.Index) (string, error) {
	one, err := x.Index(expr...)
	if err != nil {
		return "", err
	}
	texts, err := one.Texts()
	return strings.Join(texts, " "), err
}

// commonLen returns how many bytes two texts have in common at their beginning.
func commonLen(a, b []byte) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at
}

// excerpt returns a text, or of a long one the part around a position.
func excerpt(text []byte, at int) string {
	const before, most = 20, 60
	start := max(at-before, 0)
	end := min(start+most, len(text))
	s := strings.ToValidUTF8(string(text[start:end]), "")
	if start > 0 {
		s = "..." + s
	}
	if end < len(text) {
		s += "..."
	}
	return s
}
