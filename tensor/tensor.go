package tensor

import (
	"fmt"
	"math"
	"sort"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A Tensor is an array of numbers of one dtype, with a shape. Its header (dtype, shape, strides)
// never changes. Its elements may be shared with other tensors; they change by [Tensor.SetIndex],
// [Tensor.CopyFrom] and other writing functions, and through the slices that [Of] returns. Only
// functions of this package make Tensors; the zero Tensor has no dtype.
//
// A Tensor must not be copied by value.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Tensor struct {
	dtype DType
	view  shape.View // in mem, counted in elements
	mem   memory
}

// New returns a tensor of zeros. It returns [ErrDType] if dtype is invalid, and shape.ErrShape
// if a size is negative or the size in bytes overflows. A tensor larger than the machine's memory
// ends the program, as make does. That holds for every copy; [Tensor.ByteSize] tells its size in
// advance.
func New(dtype DType, shape ...int) (*Tensor, error) {
	v, n, err := layOut(nil, dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	return &Tensor{dtype, v, memory{bytes: make([]byte, n, (n+7)&^7)}}, nil
}

// blank returns a tensor of shape [lead... trailing...] with undefined elements: the caller must
// write each. Shape, header and elements are allocated by the pass where it can.
func blank(p *plan.Pass, dtype DType, lead, trailing shape.Shape) (*Tensor, error) {
	v, n, err := layOut(p, dtype, lead, trailing)
	if err != nil {
		return nil, err
	}
	r := arena.Of[Tensor](p)
	t := r.Header(n)
	*t = Tensor{dtype, v, memory{bytes: r.Data(n)}}
	return t, nil
}

// layOut returns the view of a contiguous tensor of shape [lead... trailing...], and its size in
// bytes.
func layOut(p *plan.Pass, d DType, lead, trailing shape.Shape) (shape.View, int, error) {
	if !d.valid() {
		return shape.View{}, 0, fmt.Errorf("%w: got %v", ErrDType, d)
	}
	v, err := p.Contiguous(lead, trailing)
	if err != nil {
		return v, 0, err
	}
	n := v.Shape.Size()
	if n > maxBytes/d.Size() {
		return v, 0, fmt.Errorf("%w: got %v of %v, want at most %d bytes",
			shape.ErrShape, v.Shape, d, maxBytes)
	}
	return v, n * d.Size(), nil
}

// maxBytes is what no machine addresses.
const maxBytes = min(math.MaxInt, 1<<47)

// Zeros returns a tensor of zeros of dtype T. It returns the errors of [New].
func Zeros[T Elem](shape ...int) (*Tensor, error) { return New(DTypeOf[T](), shape...) }

// Full returns a tensor whose elements all are v. It returns the errors of [New].
func Full[T Elem](v T, shape ...int) (*Tensor, error) {
	t, err := blank(nil, DTypeOf[T](), shape, nil)
	if err != nil {
		return nil, err
	}
	s, _ := cast.Slice[T](t.mem.bytes)
	for i := range s {
		s[i] = v
	}
	return t, nil
}

// Scalar returns a tensor of shape [] that holds v.
func Scalar[T Elem](v T) *Tensor {
	return &Tensor{dtype: DTypeOf[T](), mem: memory{bytes: cast.Bytes([]T{v})}}
}

// Vector returns a tensor of shape [len(v)] that aliases v.
func Vector[T Elem](v ...T) *Tensor {
	t, err := From(v, len(v))
	if err != nil {
		panic("tensor: impossible: " + err.Error())
	}
	return t
}

// Number is the set of element types that [Arange] takes.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// Real is the set of element types that are real numbers.
type Real interface{ Number | F16 | BF16 }

// Arange returns start, start+step, ... up to but not including stop, as a tensor with one dim. It
// has no elements if start is already at or past stop in the direction of step. Arange returns
// shape.ErrShape if step is zero, if start or step is not finite, if stop is NaN, or if there
// are too many elements, as with an infinite stop.
func Arange[T Number](start, stop, step T) (*Tensor, error) {
	if step == 0 {
		return nil, fmt.Errorf("%w: got step 0, want another step", shape.ErrShape)
	}
	if step-step != 0 || start-start != 0 || stop != stop { // NaN != NaN, Inf-Inf != 0
		return nil, fmt.Errorf("%w: got a range from %v to %v by %v, want finite numbers", shape.ErrShape, start, stop, step)
	}
	n, ok := countSteps(start, stop, step)
	if !ok {
		return nil, fmt.Errorf("%w: got a range from %v to %v by %v, which has too many elements", shape.ErrShape, start, stop, step)
	}
	t, err := blank(nil, DTypeOf[T](), shape.Shape{n}, nil)
	if err != nil {
		return nil, err
	}
	s, _ := cast.Slice[T](t.mem.bytes)
	if last := T(n) * step; last-last != 0 { // a multiple of step is beyond the dtype
		for i := range s {
			s[i] = stepped(start, step, i)
		}
		return t, nil
	}
	for i := range s {
		s[i] = start + T(T(i)*step) // the conversion forbids fused multiply-add
	}
	return t, nil
}

// stepped returns element i of a range. If a multiple of step is beyond the dtype, it computes with
// halves.
func stepped[T Number](start, step T, i int) T {
	v := start + T(T(i)*step)
	if v-v != 0 {
		return 2 * (start/2 + T(T(i)*(step/2)))
	}
	return v
}

// countSteps returns the exact number of steps from start to stop, or false if int does not hold
// it.
func countSteps[T Number](start, stop, step T) (n int, ok bool) {
	if (step > 0) != (start < stop) || start == stop {
		return 0, true
	}
	if DTypeOf[T]().IsFloat() {
		steps := (float64(stop) - float64(start)) / float64(step)
		if math.IsInf(steps, 0) { // or only the difference
			steps = (float64(stop)/2 - float64(start)/2) / (float64(step) / 2)
		}
		if steps = math.Ceil(steps); steps >= maxBytes {
			return 0, false
		}
		return sort.Search(int(steps)+1, func(i int) bool { // the quotient or the last elements may have been rounded
			v := stepped(start, step, i)
			return step > 0 && v >= stop || step < 0 && v <= stop
		}), true
	}
	way, by := uint64(stop)-uint64(start), uint64(step) // modulo 2^64, for signed too
	if step < 0 {
		way, by = -way, -by
	}
	steps := (way-1)/by + 1
	return int(steps), steps < maxBytes
}

// From returns a tensor that aliases data, whose elements are row-major. Without a shape it is a
// scalar, and data must have one element. From returns shape.ErrShape if shape does not have
// len(data) elements.
func From[T Elem](data []T, shape ...int) (*Tensor, error) {
	v, _, err := layOut(nil, DTypeOf[T](), shape, nil)
	if err != nil {
		return nil, fmt.Errorf("tensor from: %w", err)
	}
	if n := v.Shape.Size(); n != len(data) {
		return nil, fmt.Errorf("tensor from: %w: got %d elements, want %d for %v", errShape, len(data), n, v.Shape)
	}
	return &Tensor{DTypeOf[T](), v, memory{bytes: cast.Bytes(data)}}, nil
}

// FromBytes returns a tensor that aliases data, whose elements are row-major and in the machine's
// byte order. It returns shape.ErrShape if shape and dtype do not take len(data) bytes.
func FromBytes(dtype DType, data []byte, shape ...int) (*Tensor, error) {
	v, n, err := layOut(nil, dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("%w: got %d bytes, want %d for %v %v", errShape, len(data), n, dtype, v.Shape)
	}
	return &Tensor{dtype, v, memory{bytes: data}}, nil
}

// FromLender returns a tensor in memory of lender. Its elements are row-major and begin at byte
// offset. Memory is borrowed only when an operation needs elements; if it is then too short for the
// tensor, that operation returns [ErrLayout].
//
// FromLender returns [ErrDType] and shape.ErrShape as [New] does, [ErrLayout] if offset is
// negative or if int does not hold the end of the elements, offset plus their size in bytes, and
// [ErrKind] if lender is nil or not comparable.
func FromLender(dtype DType, lender Lender, offset int, shape ...int) (*Tensor, error) {
	v, n, err := layOut(nil, dtype, shape, nil)
	switch {
	case err != nil:
		return nil, err
	case lender == nil:
		return nil, fmt.Errorf("%w: got no lender", ErrKind)
	case !canCompare(lender):
		return nil, fmt.Errorf("%w: got a lender of type %T, which cannot be compared, want a pointer", ErrKind, lender)
	case offset < 0 || offset > math.MaxInt-n:
		return nil, fmt.Errorf("%w: got offset %d for %d bytes, want one that is not negative or too large", ErrLayout, offset, n)
	}
	return &Tensor{dtype, v, memory{loan: newLoan(lender, offset, n)}}, nil
}

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the shape. The caller must not change it.
func (t *Tensor) Shape() shape.Shape { return t.view.Shape }

// View returns the shape, strides and offset of the elements in the tensor's memory. The caller
// must not change its slices.
func (t *Tensor) View() shape.View { return t.view }

// Size returns the number of elements.
func (t *Tensor) Size() int { return t.view.Shape.Size() }

// ByteSize returns the size of a contiguous copy of t in bytes: an element that is repeated counts
// each time. It is math.MaxInt if int does not hold the size.
func (t *Tensor) ByteSize() int {
	n, width := t.Size(), t.dtype.Size()
	if width > 0 && n > math.MaxInt/width {
		return math.MaxInt
	}
	return n * width
}

// Lender returns the owner of the tensor's memory, or nil if Go manages it.
func (t *Tensor) Lender() Lender {
	if t.mem.loan == nil {
		return nil
	}
	return t.mem.loan.lender
}

// SharesMemory reports whether t and u lie in the same memory, so that writing one may change the
// other.
func (t *Tensor) SharesMemory(u *Tensor) bool {
	if u == nil {
		return false
	}
	_, shared := shift(t.mem, u.mem)
	return shared
}
