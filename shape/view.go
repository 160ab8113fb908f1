package shape

import (
	"fmt"
	"iter"
	"slices"
)

// A View locates the elements of a shape within a buffer. The zero View is a scalar at the buffer's
// first element. Safe for concurrent use.
//
// Invariant: len(Shape) == len(Strides), and every position that [View.Offsets] yields lies inside
// the buffer that the View was made for. [Contiguous], [Plan.View] and [Plan.Frame] make Views, and
// each keeps it.
type View struct {
	Shape   Shape
	Strides []int // elements, not bytes; 0 repeats
	Offset  int   // elements
}

// Contiguous returns the View of a row-major buffer, or [ErrShape] if shape fails its Check. It
// does not keep shape.
func Contiguous(shape Shape) (View, error) {
	if err := shape.Check(); err != nil {
		return View{}, err
	}
	n := len(shape)
	numbers := append(make([]int, 0, 2*n), shape...) // one allocation for both
	numbers = shape.AppendStrides(numbers)
	return View{Shape: numbers[:n:n], Strides: numbers[n:]}, nil
}

// IsContiguous reports whether the elements of v lie in row-major order without gaps.
func (v View) IsContiguous() bool {
	step := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		if v.Shape[i] == 0 {
			return true
		}
		if v.Shape[i] != 1 && v.Strides[i] != step {
			return v.Shape.Size() == 0
		}
		step *= v.Shape[i]
	}
	return true
}

// Bounds returns the range [low, high) of positions that v reaches; it is empty if v has no
// element.
func (v View) Bounds() (low, high int) {
	low, high = v.Offset, v.Offset+1
	for i, size := range v.Shape {
		if size == 0 {
			return v.Offset, v.Offset
		}
		if step := (size - 1) * v.Strides[i]; step < 0 {
			low += step
		} else {
			high += step
		}
	}
	return low, high
}

// At returns where in the buffer the element at a position lies; pos has one number for each dim,
// negative ones from the end. It returns [ErrIndex] if there is no such element.
func (v View) At(pos ...int) (int, error) {
	if len(pos) != len(v.Shape) {
		return 0, fmt.Errorf("%w: got position %v, want one number for each dim of %v", ErrIndex, slices.Clone(pos), v.Shape)
	}
	at := v.Offset
	for dim, i := range pos {
		i, err := v.Shape.At(dim, i)
		if err != nil {
			return 0, err
		}
		at += i * v.Strides[dim]
	}
	return at, nil
}

// Offsets yields the position of each element, in row-major order.
func (v View) Offsets() iter.Seq[int] {
	return func(yield func(int) bool) {
		if v.Shape.Size() > 0 {
			v.walk(0, v.Offset, yield)
		}
	}
}

func (v View) walk(dim, at int, yield func(int) bool) bool {
	if dim == len(v.Shape) {
		return yield(at)
	}
	for range v.Shape[dim] {
		if !v.walk(dim+1, at, yield) {
			return false
		}
		at += v.Strides[dim]
	}
	return true
}

// Overlaps reports whether elements of v may be one in the buffer: because a dim repeats them, or
// because its dims reach into one another, as those of windows that overlap do.
func (v View) Overlaps() bool {
	for i, size := range v.Shape {
		if size < 2 {
			continue
		}
		reach := 0 // of the dims with shorter strides
		for j, stride := range v.Strides {
			if j != i && v.Shape[j] > 1 && (stride < v.Strides[i] || stride == v.Strides[i] && j > i) {
				reach += (v.Shape[j] - 1) * stride
			}
		}
		if reach >= v.Strides[i] {
			return true
		}
	}
	return false
}
