package arith

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// The order of elements in sorts and groups:
//
//   - integers by value; false before true
//   - floating-point numbers by value; 0 and -0 are equal
//   - NaN last, in ascending and descending order; all NaNs are equal, whatever their bits
//   - complex numbers have no order: tensor.ErrDType
//
// Equal elements keep their order and their bits.

// An order maps the bits of elements of one dtype to unsigned keys, whose order is the order of the
// elements.
type order[K uints] struct {
	width int // bits of a key
	sign  K   // the sign bit, or 0
	inf   K   // the bits of +Inf, or 0: greater bits without a sign are NaN
	flip  K   // all ones for descending order, otherwise 0
}

// orderOf returns the order of a dtype, which checkOrder has accepted. Its elements are as wide as
// K.
func orderOf[K uints](d tensor.DType, descending bool) order[K] {
	o := order[K]{width: 8 * d.Size(), inf: K(infinities[d])}
	switch {
	case d == tensor.Bool:
		o.width = 1
	case d.IsFloat() || d >= tensor.Int8 && d <= tensor.Int64:
		o.sign = 1 << (o.width - 1)
	}
	if descending {
		o.flip = ^K(0)
	}
	return o
}

// infinities holds the bits of +Inf for dtypes that have one.
var infinities = [tensor.Float64 + 1]uint64{
	tensor.Float16: 0x7c00, tensor.BFloat16: 0x7f80, tensor.Float32: 0x7f800000, tensor.Float64: 0x7ff << 52,
}

// checkOrder returns tensor.ErrKind if t is nil, and tensor.ErrDType if its dtype has no order.
func checkOrder(t *tensor.Tensor) error {
	switch {
	case t == nil:
		return fmt.Errorf("%w: got a nil tensor", tensor.ErrKind)
	case t.DType().IsComplex() || t.DType().Size() == 0:
		return fmt.Errorf("%w: got %v, which has no order", tensor.ErrDType, t.DType())
	}
	return nil
}

// key returns the key of the element with bits b.
func (o *order[K]) key(b K) K {
	if o.inf == 0 {
		return b ^ o.sign ^ o.flip
	}
	switch size := b &^ o.sign; {
	case size > o.inf:
		return ^K(0)
	case size == 0:
		return o.sign ^ o.flip
	}
	return o.ranked(b) ^ o.flip
}

// ranked maps the bits of a floating-point number to a number that orders as unsigned: it inverts
// the bits of a negative number, and sets the sign bit of others.
func (o *order[K]) ranked(b K) K { return b ^ (-(b >> (o.width - 1)) | o.sign) }

// A lineSort sorts lines. Not safe for concurrent use.
type lineSort[K uints] struct {
	order[K]
	keys     []K
	odd      []K // the zeros of the line, if one is -0, then its NaNs
	counters counters
}

// sort sorts a line: [N] -> [N]. to may be from.
func (s *lineSort[K]) sort(to, from []K) {
	if len(s.keys) < len(from) {
		s.keys = cast.UninitOf[K](len(from))
	}
	keys, o := s.keys[:len(from)], s.order
	if o.inf == 0 {
		flip := o.sign ^ o.flip
		for i, b := range from {
			keys[i] = b ^ flip
		}
		for i, k := range sortKeys(keys, to, &s.counters) {
			to[i] = k ^ flip
		}
		return
	}
	n, minus := 0, false // the numbers, and whether one is -0
	for _, b := range from {
		if b&^o.sign > o.inf {
			continue
		}
		if b == o.sign {
			b, minus = 0, true
		}
		keys[n] = o.ranked(b) ^ o.flip
		n++
	}
	s.odd = s.odd[:0]
	if minus {
		for _, b := range from {
			if b&^o.sign == 0 {
				s.odd = append(s.odd, b)
			}
		}
	}
	zeros := len(s.odd)
	for i := 0; i < len(from) && len(s.odd)-zeros < len(from)-n; i++ {
		if b := from[i]; b&^o.sign > o.inf {
			s.odd = append(s.odd, b)
		}
	}
	sorted := sortKeys(keys[:n], to[:n], &s.counters)
	first, _ := slices.BinarySearch(sorted, o.sign^o.flip)
	for i, k := range sorted { // the inverse of ranked
		k ^= o.flip
		to[i] = k ^ (^-(k >> (o.width - 1)) | o.sign)
	}
	copy(to[first:], s.odd[:zeros])
	copy(to[n:], s.odd[zeros:])
}

// byWidth has a function on the lines of elements along a dim, taken as bits, for each width in
// bytes.
type byWidth [9]func(dst, src *tensor.Tensor, dim int, descending bool) error

var (
	sorters    = byWidth{1: sortLines[uint8], 2: sortLines[uint16], 4: sortLines[uint32], 8: sortLines[uint64]}
	argSorters = byWidth{1: argSortLines[uint8], 2: argSortLines[uint16], 4: argSortLines[uint32], 8: argSortLines[uint64]}
)

func sortLines[K uints](dst, src *tensor.Tensor, dim int, descending bool) error {
	o := orderOf[K](src.DType(), descending)
	return readWrite(dst, src, writeBits[K], func(to, from []K) error {
		return eachLine(to, from, src, dim, func() func(to, from []K) {
			return (&lineSort[K]{order: o}).sort
		})
	})
}

func argSortLines[K uints](dst, src *tensor.Tensor, dim int, descending bool) error {
	o := orderOf[K](src.DType(), descending)
	return readWrite(dst, src, tensor.Write[int64], func(to []int64, from []K) error {
		return eachLine(to, from, src, dim, func() func(to []int64, from []K) {
			s, c := &rowSort{untied: true}, &column[K]{order: o, row: 1}
			return func(to []int64, from []K) {
				c.bits = from
				s.reset(to)
				s.by(c)
			}
		})
	})
}

// readWrite calls fn with the elements of dst, to be set, and the elements of src as bits.
func readWrite[D any, K uints](dst, src *tensor.Tensor, write func(*tensor.Tensor, func([]D)) error,
	fn func(to []D, from []K) error) error {
	var failed, unwritten error
	err := readBits(src, func(from []K) {
		unwritten = write(dst, func(to []D) { failed = fn(to, from) })
	})
	return cmp.Or(failed, unwritten, err)
}

// readBits is tensor.Read with the bits of elements of any dtype that is as wide as K. Invalid
// bools are an error.
func readBits[K uints](t *tensor.Tensor, fn func(s []K)) error {
	if t.DType() == tensor.Bool {
		if err := tensor.Read(t, func([]bool) {}); err != nil {
			return err
		}
	}
	bits, err := t.Reinterpret(tensor.DTypeOf[K]())
	if err != nil {
		return err
	}
	return tensor.Read(bits, fn)
}

// writeBits is tensor.Write with the bits of elements of any dtype that is as wide as K.
func writeBits[K uints](t *tensor.Tensor, fn func(s []K)) error {
	bits, err := t.Reinterpret(tensor.DTypeOf[K]())
	if err != nil {
		return err
	}
	return tensor.Write(bits, fn)
}
