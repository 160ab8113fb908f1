package tensor

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Tensor is an array of numbers of one dtype, with a shape. Its header (dtype, shape, strides) never changes;
// its elements can be shared with other tensors and change with [Tensor.SetIndex], [Tensor.CopyFrom] and through
// the slices that [Of] returns. Only this package's functions make useful Tensors.
//
// A Tensor must not be copied by value.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Tensor struct {
	dtype DType
	view  shapeops.View // within mem, in elements
	mem   memory
	room  [8]int // for the numbers of view, if it has no more than 4 dims
}

// New returns a tensor of zeros. It returns [ErrDType] if dtype is none and shapeops.ErrShape if a size is negative
// or the shape larger than memory can be.
func New(dtype DType, shape ...int) (*Tensor, error) {
	t, n, err := adopt(dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	t.mem.bytes = make([]byte, n, (n+7)&^7)
	return t, nil
}

// blank returns a tensor of shape [lead... behind...] whose elements are undefined: the caller must write each.
func blank(dtype DType, lead, behind shapeops.Shape) (*Tensor, error) {
	t, n, err := adopt(dtype, lead, behind)
	if err != nil {
		return nil, err
	}
	t.mem.bytes = cast.Uninit(n)
	return t, nil
}

// adopt returns a contiguous tensor of shape [lead... behind...] that has no memory yet, and the bytes that it needs.
func adopt(dtype DType, lead, behind shapeops.Shape) (*Tensor, int, error) {
	if !dtype.valid() {
		return nil, 0, fmt.Errorf("%w: got %v", ErrDType, dtype)
	}
	t := &Tensor{dtype: dtype}
	var err error
	if t.view, err = shapeops.ContiguousIn(t.room[:], lead, behind); err != nil {
		return nil, 0, err
	}
	n := t.view.Shape.Size()
	if n > maxBytes/dtype.Size() {
		return nil, 0, fmt.Errorf("%w: got %v of %v, want at most %d bytes", shapeops.ErrShape, t.view.Shape, dtype, maxBytes)
	}
	return t, n * dtype.Size(), nil
}

// maxBytes is what no machine addresses.
const maxBytes = min(math.MaxInt, 1<<47)

// Zeros returns a tensor of zeros of dtype T. Its errors are those of [New].
func Zeros[T Elem](shape ...int) (*Tensor, error) { return New(DTypeOf[T](), shape...) }

// Full returns a tensor with every element v. Its errors are those of [New].
func Full[T Elem](v T, shape ...int) (*Tensor, error) {
	t, err := blank(DTypeOf[T](), shape, nil)
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

// Vector returns a tensor of shape [len(v)] whose elements are v. It does not copy.
func Vector[T Elem](v ...T) *Tensor {
	t, err := From(v, len(v))
	if err != nil {
		panic("tensor: impossible: " + err.Error())
	}
	return t
}

// Number is the set of element types that [Arange] counts with.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// Arange returns start, start+step, ... up to but without stop, as a tensor with one dim. It returns
// shapeops.ErrShape if step is zero, or a bound is not a number or too far away; a stop on the wrong side of start gives
// no element.
func Arange[T Number](start, stop, step T) (*Tensor, error) {
	if step == 0 || step != step || start-start != 0 || stop != stop { // NaN differs from itself, and so does Inf-Inf from 0
		return nil, fmt.Errorf("%w: got a range from %v to %v by %v", shapeops.ErrShape, start, stop, step)
	}
	n, ok := countSteps(start, stop, step)
	if !ok {
		return nil, fmt.Errorf("%w: got too many steps from %v to %v by %v", shapeops.ErrShape, start, stop, step)
	}
	t, err := blank(DTypeOf[T](), shapeops.Shape{n}, nil)
	if err != nil {
		return nil, err
	}
	s, _ := cast.Slice[T](t.mem.bytes)
	for i := range s {
		s[i] = start + T(i)*step
	}
	return t, nil
}

// countSteps returns how many steps lead from start to stop, exactly, or false if they are too many to hold.
func countSteps[T Number](start, stop, step T) (n int, ok bool) {
	if (step > 0) != (start < stop) || start == stop {
		return 0, true
	}
	if DTypeOf[T]().IsFloat() {
		steps := math.Ceil((float64(stop) - float64(start)) / float64(step))
		return int(steps), steps < maxBytes
	}
	way, by := uint64(stop)-uint64(start), uint64(step) // modulo 2^64, as is right for signed numbers too
	if step < 0 {
		way, by = -way, -by
	}
	steps := (way-1)/by + 1
	return int(steps), steps < maxBytes
}

// From returns a tensor whose elements, row-major, are data. It does not copy. Without a shape it is a scalar, and
// data must have one element. From returns shapeops.ErrShape if shape does not hold len(data) elements.
func From[T Elem](data []T, shape ...int) (*Tensor, error) {
	t, _, err := adopt(DTypeOf[T](), shape, nil)
	if err != nil {
		return nil, err
	}
	if n := t.view.Shape.Size(); n != len(data) {
		return nil, fmt.Errorf("%w: got %d elements, want the %d of %v", shapeops.ErrShape, len(data), n, t.view.Shape)
	}
	t.mem.bytes = cast.Bytes(data)
	return t, nil
}

// FromBytes returns a tensor whose elements, row-major and in the machine's byte order, are data. It does not copy.
// It returns shapeops.ErrShape if shape and dtype do not take len(data) bytes.
func FromBytes(dtype DType, data []byte, shape ...int) (*Tensor, error) {
	t, n, err := adopt(dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("%w: got %d bytes, want the %d of %v %v", shapeops.ErrShape, len(data), n, dtype, t.view.Shape)
	}
	t.mem.bytes = data
	return t, nil
}

// FromLender returns a tensor whose elements, row-major, are what lender lends. Nothing is borrowed before an
// element is wanted; then it must be as many bytes as shape and dtype take, or more. It returns [ErrDType] or
// shapeops.ErrShape, as [New] does, and [ErrLayout] if lender is nil.
func FromLender(dtype DType, lender Lender, shape ...int) (*Tensor, error) {
	t, n, err := adopt(dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	if lender == nil {
		return nil, fmt.Errorf("%w: got no lender", ErrLayout)
	}
	t.mem = memory{lender: lender, size: n}
	return t, nil
}

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the shape. The caller must not change it.
func (t *Tensor) Shape() shapeops.Shape { return t.view.Shape }

// View returns where the elements lie in the tensor's memory. The caller must not change what is in it.
func (t *Tensor) View() shapeops.View { return t.view }

// Size returns the number of elements.
func (t *Tensor) Size() int { return t.view.Shape.Size() }

// ByteSize returns how many bytes the elements take, each counted once for each place it has in the shape.
func (t *Tensor) ByteSize() int { return t.Size() * t.dtype.Size() }

// Lender returns the owner of the tensor's memory, or nil if Go manages it.
func (t *Tensor) Lender() Lender { return t.mem.lender }

// SharesMemory reports whether t and u lie in the same memory: whether writing one may change the other.
func (t *Tensor) SharesMemory(u *Tensor) bool {
	if t.mem.lender != nil || u.mem.lender != nil {
		return sameLender(t.mem.lender, u.mem.lender)
	}
	_, shared := cast.Shift(t.mem.bytes, u.mem.bytes)
	return shared
}
