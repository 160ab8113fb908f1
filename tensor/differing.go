package tensor

import (
	"bytes"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// A Tolerance says when two numbers that differ count as equal, by the rule of torch.isclose: a and
// b do if |a-b| is finite and <= Absolute + Relative*|b|. An infinity equals only itself, and
// Relative times 0 is 0. With the zero Tolerance numbers that differ never count as equal: NaN
// differs from itself, and 0 equals -0.
type Tolerance struct {
	Absolute float64
	Relative float64
	EqualNaN bool // NaN counts as equal to NaN
}

// near reports whether two numbers count as equal.
func (tol Tolerance) near(a, b complex128) bool {
	switch {
	case a == b:
		return true
	case isNaN(a) || isNaN(b):
		return tol.EqualNaN && isNaN(a) && isNaN(b)
	case cmplx.IsInf(a) || cmplx.IsInf(b):
		return false
	}
	apart := cmplx.Abs(a - b)
	return apart <= math.MaxFloat64 && apart <= tol.within(cmplx.Abs(b))
}

// isNaN reports whether either part of a complex number is NaN.
func isNaN(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }

// nearReal is near of real numbers.
func (tol Tolerance) nearReal(a, b float64) bool {
	switch {
	case a == b:
		return true
	case a != a || b != b:
		return tol.EqualNaN && a != a && b != b
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return false
	}
	apart := math.Abs(a - b)
	return apart <= math.MaxFloat64 && apart <= tol.within(math.Abs(b))
}

// within returns the largest distance from a number of the given absolute value that counts as 0.
func (tol Tolerance) within(size float64) float64 {
	if tol.Relative == 0 || size == 0 { // 0 times an infinity would be NaN
		return tol.Absolute
	}
	return tol.Absolute + tol.Relative*size
}

// AllClose reports whether each element of t is near to the element of u at its position, after
// broadcasting u to t: no element differs by more than tol. It compares block by block, so the
// memory needed does not grow with t.
//
// It returns [ErrDType] if the dtypes differ, or if t or u holds a bool that is neither 0 nor 1,
// shape.ErrShape if u does not broadcast to t, and [ErrKind] if u is nil or zero.
func (t *Tensor) AllClose(u *Tensor, tol Tolerance) (bool, error) {
	switch {
	case u == nil:
		return false, errNil
	case t.dtype == 0 || u.dtype == 0:
		return false, errZero
	case t.dtype != u.dtype:
		return false, fmt.Errorf("%w: got %v, want %v", ErrDType, u.dtype, t.dtype)
	}
	view, err := u.broadcast(t.view.Shape)
	if err != nil || t.Size() == 0 {
		return err == nil, err
	}
	s := search{tol: tol, most: 1, all: t.dtype == Bool} // so that an invalid bool is always an error
	a, b := narrowed(t, &Tensor{dtype: u.dtype, view: view, mem: u.mem})
	err = s.run(a, b)
	return err == nil && s.count == 0, u.whichBool(t.whichBool(err))
}

// An ElementDiff is a position at which two tensors differ.
type ElementDiff struct {
	Position []int
	A, B     string // the elements, as String prints them
}

// Differing implements [Ops]. An element that both tensors repeat counts once. It returns
// [ErrDType] or shape.ErrShape if the tensors differ in dtype or shape, [ErrKind] if u is nil,
// and other errors if elements cannot be read.
func (v *ops) Differing(u *Tensor, tol Tolerance, n int) (first []ElementDiff, count int, err error) {
	t := (*Tensor)(v)
	switch {
	case u == nil:
		return nil, 0, errNil
	case t.dtype != u.dtype:
		return nil, 0, fmt.Errorf("%w: got %v, want %v", ErrDType, u.dtype, t.dtype)
	case !t.view.Shape.Equal(u.view.Shape):
		return nil, 0, fmt.Errorf("%w: got %v, want %v", shape.ErrShape, u.view.Shape, t.view.Shape)
	}
	a, b := narrowed(t, u)
	s := search{tol: tol, most: n, all: true}
	if err := s.run(a, b); err != nil {
		return nil, 0, err
	}
	for _, i := range s.first {
		d, err := t.elementDiff(u, a.view.Shape.Position(i))
		if err != nil {
			return nil, 0, err
		}
		first = append(first, d)
	}
	return first, s.count, nil
}

// A search finds the elements in which two tensors of one dtype and shape differ.
type search struct {
	tol  Tolerance
	bits bool // compares bits, and not numbers
	most int  // elements to list
	all  bool // goes on after these, and counts all

	first  []int // the row-major numbers of the elements to list
	count  int
	before int       // elements of earlier blocks
	room   [2][]byte // operands that repeat elements, spread over a block
}

// run searches in t and u. What must be copied to be compared is copied block by block.
func (s *search) run(t, u *Tensor) error {
	if t.Size() <= blockElements || t.view.IsContiguous() && u.view.IsContiguous() {
		return s.compare(t, u)
	}
	blocks := *s // the method value moves it to the heap, and s stays
	l := newLanes(&Kernel{Elements: blocks.block}, t, []*Tensor{t, u})
	l.dry = true
	err := l.run(1)
	*s = blocks
	return err
}

func (s *search) block(b *Block) error {
	if s.count >= s.most && !s.all {
		return nil
	}
	var xs [2]*Tensor
	for i := range xs {
		if xs[i] = b.operand(i); b.Src[i].Per == PerElement {
			continue
		}
		n := xs[i].ByteSize()
		if len(s.room[i]) < n {
			s.room[i] = cast.Uninit(n)
		}
		view := shape.View{Shape: xs[i].view.Shape, Strides: []int{b.Width, 1}}
		spread := &Tensor{xs[i].dtype, view, memory{bytes: s.room[i][:n]}}
		if err := spread.copyFrom(xs[i]); err != nil {
			return err
		}
		xs[i] = spread
	}
	err := s.compare(xs[0], xs[1])
	s.before += b.Rows * b.Width
	return err
}

// compare searches in tensors that may be copied as a whole.
func (s *search) compare(t, u *Tensor) error {
	if s.bits {
		at, err := firstByte(t, u)
		if at >= 0 && err == nil {
			s.found(at)
		}
		return err
	}
	switch t.dtype {
	case Bool:
		return searchIn(s, t, u, func(a, b bool) bool { return a == b })
	case Uint8:
		return searchIn(s, t, u, nearInts[uint8](s.tol))
	case Uint16:
		return searchIn(s, t, u, nearInts[uint16](s.tol))
	case Uint32:
		return searchIn(s, t, u, nearInts[uint32](s.tol))
	case Uint64:
		return searchIn(s, t, u, nearInts[uint64](s.tol))
	case Int8:
		return searchIn(s, t, u, nearInts[int8](s.tol))
	case Int16:
		return searchIn(s, t, u, nearInts[int16](s.tol))
	case Int32:
		return searchIn(s, t, u, nearInts[int32](s.tol))
	case Int64:
		return searchIn(s, t, u, nearInts[int64](s.tol))
	case Float16: // equal bits need no conversion, but for NaN
		return searchIn(s, t, u, func(a, b F16) bool {
			return a == b && a&0x7fff <= 0x7c00 || s.tol.nearReal(a.Float64(), b.Float64())
		})
	case BFloat16:
		return searchIn(s, t, u, func(a, b BF16) bool {
			return a == b && a&0x7fff <= 0x7f80 || s.tol.nearReal(a.Float64(), b.Float64())
		})
	case Float32:
		return searchIn(s, t, u, func(a, b float32) bool { return s.tol.nearReal(float64(a), float64(b)) })
	case Float64:
		return searchIn(s, t, u, s.tol.nearReal)
	case Complex64:
		return searchIn(s, t, u, func(a, b complex64) bool { return s.tol.near(complex128(a), complex128(b)) })
	}
	return searchIn(s, t, u, s.tol.near)
}

// nearInts compares integers without converting them to float64, which would round them.
func nearInts[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64](tol Tolerance) func(a, b T) bool {
	return func(a, b T) bool {
		if a == b {
			return true
		}
		apart := uint64(max(a, b)) - uint64(min(a, b)) // right for negative ones too
		most := tol.within(math.Abs(float64(b)))
		return most >= 1<<64 || most >= 0 && apart <= uint64(most)
	}
}

// pieceElements is the number of elements that are first compared as bytes.
const pieceElements = 1024

// searchIn compares elements. Of pieces with equal bytes it compares none, unless they may be NaN
// that differs from itself.
func searchIn[T Elem](s *search, t, u *Tensor, near func(a, b T) bool) error {
	byBytes := s.tol.EqualNaN || !t.dtype.IsFloat() && !t.dtype.IsComplex()
	numbers := t.dtype != Float16 && t.dtype != BFloat16 // their == compares bits
	return readBoth(t, u, func(a, b []T) {
		for from := 0; from < len(a); from += pieceElements {
			stop := min(from+pieceElements, len(a))
			p, q := a[from:stop], b[from:stop]
			if byBytes && bytes.Equal(cast.Bytes(p), cast.Bytes(q)) {
				continue
			}
			for i, v := range p {
				if numbers && v == q[i] || near(v, q[i]) {
					continue
				}
				if s.found(from + i); s.count >= s.most && !s.all {
					return
				}
			}
		}
	})
}

// found counts the element with number i of the block.
func (s *search) found(i int) {
	if s.count++; s.count <= s.most {
		s.first = append(s.first, s.before+i)
	}
}
