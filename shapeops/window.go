package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Unfold returns all windows of a size along a dim, each step positions after the one before:
//
//	[A N B] -> [A M size B], M = (N-size)/step + 1
//
// Positions after the last window are left out. The result shares the memory of x; if windows
// overlap it cannot be written to. Unfold returns [ErrDim] if x has no such dim, [ErrIndex] if a
// window is larger than the dim, [ErrShape] if size or step is not positive, and [ErrKind] if x is
// nil.
func Unfold[T Value[T]](x T, dim, size, step int) (T, error) {
	return execute("unfold", x, func(s Shape) (*plan.Plan, error) { return plan.Unfold(s, dim, size, step) })
}

// Integers is satisfied by *tensor.Tensor; it must hold integers.
type Integers interface {
	// Ints returns the elements, row-major. It returns an error for a nil tensor or another dtype.
	Ints() ([]int, error)
	Shape() Shape
}

// Window cuts a window out of each row of x, where rows are numbered by the leading dims. Each row
// has its own start along each of the given dims:
//
//	x [N... L F...], starts [N...], one dim -> [N... size F...]
//	x [N... C H W], starts [N... 2], two dims -> [N... C h w]
//
// With several dims, the last dim of starts has a start for each. Negative dims count from the
// last, so -2 and -1 crop [N C H W] and [N H W] alike. The dims of a dictionary are batch dims: to
// crop features, such as the images of a batch, call Window on each leaf. The result is a copy.
//
// Window returns [ErrDim] if a dim is among the row dims or is named twice, [ErrShape] unless there
// is a start for each row and dim and a size for each dim, [ErrIndex], with the row, if a window
// leaves its dim, [ErrKind] for nil, and the error of Ints.
func Window[T Value[T]](x T, starts Integers, dims, sizes []int) (T, error) {
	return execute("window", x, windows(starts, dims, sizes))
}

// SetWindow writes value, broadcast, to the windows of x that [Window] would return. On an error
// nothing has changed.
func SetWindow[T Value[T]](x, value T, starts Integers, dims, sizes []int) error {
	const op = "set window"
	var none T
	p, err := planned(x, windows(starts, dims, sizes))
	if err == nil && value == none {
		err = fmt.Errorf("value: %w: got nil", ErrKind)
	}
	if err != nil {
		return errtext.Named(op, err)
	}
	return errtext.Named(op, x.Ops().Write(p, value))
}

// windows returns the function that plans windows for a shape.
func windows(starts Integers, dims, sizes []int) func(s Shape) (*plan.Plan, error) {
	return func(s Shape) (*plan.Plan, error) {
		if starts == nil {
			return nil, fmt.Errorf("starts: %w: got nil", ErrKind)
		}
		list, err := starts.Ints()
		if err != nil {
			return nil, fmt.Errorf("starts: %w", err)
		}
		rank, err := windowRows(s, starts.Shape(), dims)
		if err != nil {
			return nil, err
		}
		return plan.Window(s, rank, list, dims, sizes)
	}
}

// windowRows returns the number of leading dims of s that number rows, given the shape of the
// starts.
func windowRows(s, starts Shape, dims []int) (int, error) {
	rank := len(starts)
	if len(dims) > 1 {
		if rank--; rank < 0 || starts[rank] != len(dims) {
			return 0, fmt.Errorf("%w: starts: got %v, want a last dim of %d, one for each dim of the windows",
				ErrShape, starts, len(dims))
		}
	}
	if rows := starts[:rank]; !s.HasPrefix(rows) {
		return 0, fmt.Errorf("%w: starts: got rows %v, want the leading dims of %v", ErrShape, rows, s)
	}
	for _, dim := range dims {
		if _, err := s.Dim(dim); err != nil {
			return 0, err
		}
	}
	return rank, nil
}
