package tensor

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Tensor is an array of numbers of one dtype, with a shape. Its header (dtype, shape, strides)
// never changes; its elements can be shared with other tensors and change with [Tensor.SetIndex],
// [Tensor.CopyFrom] and through the slices that [Of] returns. Only this package's functions make
// useful Tensors.
//
// A Tensor must not be copied by value.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Tensor struct {
	dtype DType
	view  shapeops.View // within mem, in elements
	mem   memory
}

// New returns a tensor of zeros. It returns [ErrDType] if dtype is none and shapeops.ErrShape if a
// size is negative or the elements cannot be counted in bytes. A tensor larger than the memory of
// the machine ends the program, as make does; that holds for every copy, and [Tensor.ByteSize] says
// how large one will be.
func New(dtype DType, shape ...int) (*Tensor, error) {
	v, n, err := layOut(nil, dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	return &Tensor{dtype, v, memory{bytes: make([]byte, n, (n+7)&^7)}}, nil
}

// blank returns a tensor of shape [lead... trailing...] whose elements are undefined: the caller
// must write each. Its numbers, header and elements lie where the pass has room for them.
func blank(p *plan.Pass, dtype DType, lead, trailing shapeops.Shape) (*Tensor, error) {
	v, n, err := layOut(p, dtype, lead, trailing)
	if err != nil {
		return nil, err
	}
	r := roomOf(p)
	t := r.header(n)
	*t = Tensor{dtype, v, memory{bytes: r.data(n)}}
	return t, nil
}

// layOut returns the view of a contiguous tensor of shape [lead... trailing...], and the bytes that
// it needs.
func layOut(p *plan.Pass, d DType, lead, trailing shapeops.Shape) (shapeops.View, int, error) {
	if !d.valid() {
		return shapeops.View{}, 0, fmt.Errorf("%w: got %v", ErrDType, d)
	}
	v, err := p.Contiguous(lead, trailing)
	if err != nil {
		return v, 0, err
	}
	n := v.Shape.Size()
	if n > maxBytes/d.Size() {
		return v, 0, fmt.Errorf("%w: got %v of %v, want at most %d bytes",
			shapeops.ErrShape, v.Shape, d, maxBytes)
	}
	return v, n * d.Size(), nil
}

// maxBytes is what no machine addresses.
const maxBytes = min(math.MaxInt, 1<<47)

// Zeros returns a tensor of zeros of dtype T. Its errors are those of [New].
func Zeros[T Elem](shape ...int) (*Tensor, error) { return New(DTypeOf[T](), shape...) }

// Full returns a tensor with every element v. Its errors are those of [New].
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

// Real is the set of element types that are real numbers.
type Real interface{ Number | F16 | BF16 }

// Arange returns start, start+step, ... up to but not including stop, as a tensor with one dim. It
// returns shapeops.ErrShape if step is zero, or a bound is not a number or too far away; a stop on
// the wrong side of start gives no element.
func Arange[T Number](start, stop, step T) (*Tensor, error) {
	if step == 0 || step != step || start-start != 0 || stop != stop { // NaN != NaN, Inf-Inf != 0
		return nil, fmt.Errorf("%w: got a range from %v to %v by %v", shapeops.ErrShape, start, stop, step)
	}
	n, ok := countSteps(start, stop, step)
	if !ok {
		return nil, fmt.Errorf("%w: got too many steps from %v to %v by %v", shapeops.ErrShape, start, stop, step)
	}
	t, err := blank(nil, DTypeOf[T](), shapeops.Shape{n}, nil)
	if err != nil {
		return nil, err
	}
	s, _ := cast.Slice[T](t.mem.bytes)
	for i := range s {
		s[i] = start + T(i)*step
	}
	return t, nil
}

// countSteps returns how many steps lead from start to stop, exactly, or false if they are too many
// to hold.
func countSteps[T Number](start, stop, step T) (n int, ok bool) {
	if (step > 0) != (start < stop) || start == stop {
		return 0, true
	}
	if DTypeOf[T]().IsFloat() {
		steps := math.Ceil((float64(stop) - float64(start)) / float64(step))
		return int(steps), steps < maxBytes
	}
	way, by := uint64(stop)-uint64(start), uint64(step) // modulo 2^64, for signed too
	if step < 0 {
		way, by = -way, -by
	}
	steps := (way-1)/by + 1
	return int(steps), steps < maxBytes
}

// From returns a tensor whose elements, row-major, are data. It does not copy. Without a shape it
// is a scalar, and data must have one element. From returns shapeops.ErrShape if shape does not
// hold len(data) elements.
func From[T Elem](data []T, shape ...int) (*Tensor, error) {
	v, _, err := layOut(nil, DTypeOf[T](), shape, nil)
	if err != nil {
		return nil, err
	}
	if n := v.Shape.Size(); n != len(data) {
		return nil, fmt.Errorf("%w: got %d elements, want the %d of %v",
			shapeops.ErrShape, len(data), n, v.Shape)
	}
	return &Tensor{DTypeOf[T](), v, memory{bytes: cast.Bytes(data)}}, nil
}

// FromBytes returns a tensor whose elements, row-major and in the machine's byte order, are data.
// It does not copy. It returns shapeops.ErrShape if shape and dtype do not take len(data) bytes.
func FromBytes(dtype DType, data []byte, shape ...int) (*Tensor, error) {
	v, n, err := layOut(nil, dtype, shape, nil)
	if err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("%w: got %d bytes, want the %d of %v %v",
			shapeops.ErrShape, len(data), n, dtype, v.Shape)
	}
	return &Tensor{dtype, v, memory{bytes: data}}, nil
}

// FromLender returns a tensor whose elements, row-major, are what lender lends, from byte offset
// on. Nothing is borrowed before an element is wanted; then the memory must reach as far as shape
// and dtype take it, or farther. FromLender returns [ErrDType] or shapeops.ErrShape, as [New] does,
// [ErrLayout] if offset is negative or too large, and [ErrKind] if lender is nil or of a type that
// cannot be compared. Memory that turns out to be too short is ErrLayout when it is wanted.
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
	return &Tensor{dtype, v, memory{loan: &loan{lender: lender, start: offset, size: n}}}, nil
}

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the shape. The caller must not change it.
func (t *Tensor) Shape() shapeops.Shape { return t.view.Shape }

// View returns where the elements lie in the tensor's memory. The caller must not change what is in
// it.
func (t *Tensor) View() shapeops.View { return t.view }

// Size returns the number of elements.
func (t *Tensor) Size() int { return t.view.Shape.Size() }

// ByteSize returns how many bytes the elements take, each counted once for each place it has in the
// shape, or math.MaxInt if that is more than an int holds.
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

// SharesMemory reports whether t and u lie in the same memory: whether writing one may change the
// other.
func (t *Tensor) SharesMemory(u *Tensor) bool {
	if u == nil {
		return false
	}
	_, shared := shift(t.mem, u.mem)
	return shared
}
