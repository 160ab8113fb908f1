package tensor

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shape"
)

// An operand is a tensor that a function is mapped over, and the error of checking it.
type operand struct {
	t   *Tensor
	err error
}

func operandOf[T Elem](t *Tensor) operand { return operand{t, checkOperand[T](t)} }

// operandsOf returns the operands' tensors, broadcast to the shape of the first.
func operandsOf(noFunc bool, xs ...operand) ([]*Tensor, error) {
	all := make([]*Tensor, len(xs))
	for i, x := range xs {
		view, err := shape.View{}, x.err
		if err == nil {
			view, err = x.t.broadcast(xs[0].t.view.Shape)
		}
		if err != nil {
			return nil, ordinal(i, err)
		}
		if all[i] = x.t; i > 0 {
			all[i] = &Tensor{dtype: x.t.dtype, view: view, mem: x.t.mem}
		}
	}
	if noFunc {
		return nil, errNoFunc
	}
	return all, nil
}

// ordinal adds to an error the number of the operand.
func ordinal(i int, err error) error {
	if i == 0 {
		return err
	}
	return fmt.Errorf("%s operand: %w", [...]string{1: "second", 2: "third"}[i], err)
}

// mapped returns the tensor whose elements loop sets, block by block, in row-major order.
func mapped[U Elem](xs []*Tensor, loop func(b *Block, to []U, at *cursor)) (*Tensor, error) {
	out, err := blank(nil, DTypeOf[U](), xs[0].view.Shape, nil)
	if err != nil {
		return nil, err
	}
	err = caught(xs[0].view.Shape, func(at *cursor) error {
		k := Kernel{Elements: func(b *Block) error {
			to, _ := cast.Slice[U](b.Dst)
			err := checkLanes(b)
			if err == nil {
				loop(b, to, at)
			}
			return err
		}}
		b := new(straightBlock)
		if b.lineUp(out, xs) { // of any size: one goroutine calls fn in order
			return k.Elements(&b.Block)
		}
		return k.run(b, out, xs, 0, 1)
	})
	if err != nil {
		return nil, whichOperand(err, xs)
	}
	return out, nil
}

// whichOperand adds to err, if it is about a byte that is not a bool, the operand and the position.
func whichOperand(err error, xs []*Tensor) error {
	for i, x := range xs {
		if which := x.whichBool(err); which != err {
			return ordinal(i, which)
		}
	}
	return err
}

// checkLanes returns ErrDType if an operand has an invalid bool.
func checkLanes(b *Block) error {
	for _, l := range b.Src {
		if l.DType != Bool {
			continue
		}
		if err := CheckBools(l.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// A column is the elements of an operand in a block.
type column[T Elem] struct {
	s    []T
	row  int // distance between rows
	step int // distance between elements of a row
}

func columnOf[T Elem](b *Block, operand int) column[T] {
	l := b.Src[operand]
	s, _ := cast.Slice[T](l.Bytes)
	switch {
	case l.Per == PerBlock:
		return column[T]{s, 0, 0}
	case l.Per == PerRow && b.Width > 1:
		return column[T]{s, 1, 0}
	}
	return column[T]{s, b.Width, 1}
}

// from returns the elements from row row on.
func (c column[T]) from(row int) []T { return c.s[row*c.row:] }

// rowsOf returns an iterator over the rows of a block, each with the part of to that it sets. If
// all columns continue evenly, the block is one row.
func rowsOf[U Elem](b *Block, to []U, at *cursor) iter.Seq2[int, []U] {
	width := len(to)
	for _, l := range b.Src {
		if l.Per == PerRow && b.Width > 1 {
			width = b.Width
		}
	}
	return func(yield func(int, []U) bool) {
		for row := 0; len(to) > 0 && yield(row, to[:width]); row++ {
			at.done += width
			to = to[width:]
		}
	}
}

// caught returns the error of fn. If fn panics, the error names the element of a tensor of shape.
func caught(shape shape.Shape, fn func(at *cursor) error) (err error) {
	var at cursor
	defer func() {
		if v := recover(); v != nil {
			i := at.done + at.i
			err = &panicAt{shape.Position(i), &workers.PanicError{Item: i, Value: v, Stack: debug.Stack()}}
		}
	}()
	return fn(&at)
}

// A panicAt is the panic of a function, and the element that it was called for.
type panicAt struct {
	at    []int
	cause *workers.PanicError
}

// Error returns the position and the panic value.
func (e *panicAt) Error() string { return fmt.Sprintf("element %v: panic: %v", e.at, e.cause.Value) }

// Unwrap returns the panic, which wraps its value if that is an error.
func (e *panicAt) Unwrap() error { return e.cause }
