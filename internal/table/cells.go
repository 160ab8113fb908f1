package table

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// cells are the elements of a column, in memory that is reused.
type cells interface {
	// parse appends an element.
	parse(text []byte) error
	// zero appends a zero element.
	zero()
	len() int
	// grow allocates memory for n more elements.
	grow(n int)
	reset()
	// tensor returns the elements with a shape of their number. It shares memory.
	tensor(shape []int) (*tensor.Tensor, error)

	// load replaces the elements by copies of t's.
	load(t *tensor.Tensor) error
	// text appends the text of element i.
	text(b []byte, i int) []byte
}

// cellsAs are cells of a Go type.
type cellsAs[T tensor.Elem] struct {
	elem   elem[T]
	values []T
}

func (c *cellsAs[T]) parse(text []byte) error {
	v, err := c.elem.parse(text)
	if err == nil {
		c.values = append(c.values, v)
	}
	return err
}

func (c *cellsAs[T]) zero() {
	var v T
	c.values = append(c.values, v)
}

func (c *cellsAs[T]) len() int   { return len(c.values) }
func (c *cellsAs[T]) grow(n int) { c.values = slices.Grow(c.values, n) }
func (c *cellsAs[T]) reset()     { c.values = c.values[:0] }

func (c *cellsAs[T]) tensor(shape []int) (*tensor.Tensor, error) {
	return tensor.From(c.values, shape...)
}

func (c *cellsAs[T]) load(t *tensor.Tensor) error {
	if want := tensor.DTypeOf[T](); t.DType() != want {
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, t.DType(), want)
	}
	n := t.Size()
	c.values = slices.Grow(c.values[:0], n)[:n]
	own, err := tensor.From(c.values, t.Shape()...)
	if err != nil {
		return err
	}
	return own.CopyFrom(t)
}

func (c *cellsAs[T]) text(b []byte, i int) []byte { return c.elem.append(b, c.values[i]) }
