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
// the buffer that the View was made for. [Contiguous] and the plans of package plan make Views, and
// each keeps it.
type View struct {
	Shape   Shape
	Strides []int // elements, not bytes; 0 repeats
	Offset  int   // elements
}

// Contiguous returns the row-major View of a shape, or [ErrShape] if shape fails its Check. It
// copies shape.
func Contiguous(shape Shape) (View, error) {
	if err := shape.Check(); err != nil {
		return View{}, err
	}
	n := len(shape)
	numbers := append(make([]int, 0, 2*n), shape...) // one allocation for both
	numbers = shape.AppendStrides(numbers)
	return View{Shape: numbers[:n:n], Strides: numbers[n:]}, nil
}

// IsContiguous reports whether the elements of v are row-major without gaps.
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

// Bounds returns the range [low, high) of buffer positions that v touches; it is empty if v has no
// elements.
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

// At returns the buffer position of an element. pos has one number for each dim, negative from the
// end. It returns [ErrIndex] if pos is out of range.
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

// Offsets yields the buffer position of each element, row-major.
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

// Overlaps reports whether two elements of v may have one buffer position: because a dim repeats
// elements, or because its dims overlap, as in overlapping windows.
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
