package tensorclass

import (
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// blockBytes is the size of the blocks in which rows are copied, field after field. A block stays
// in the first-level cache until its last field is done.
const blockBytes = 4 << 10

// blockRows returns the number of rows in a block: at least one, and at most blockBytes/8.
func (p *plan) blockRows() int { return max(blockBytes/max(int(p.typ.Size()), 8), 1) }

// memory returns the bytes of the elements of a slice.
func memory(s reflect.Value) []byte {
	return cast.Memory(s.UnsafePointer(), s.Len()*int(s.Type().Elem().Size()))
}

// width returns the number of bytes of a row of a dense field, or of a value of a list.
func (f *field) width() int { return f.unit * f.units }

// move copies the field of n rows, which are dstSize bytes apart in dst and srcSize bytes in src.
// Both sizes are multiples of the field's unit.
func (f *field) move(dst, src []byte, dstSize, srcSize, n int) {
	switch f.unit {
	case 1:
		moveUnits[uint8](dst, src, f.units, dstSize, srcSize, n)
	case 2:
		moveUnits[uint16](dst, src, f.units, dstSize, srcSize, n)
	case 4:
		moveUnits[uint32](dst, src, f.units, dstSize, srcSize, n)
	case 8:
		moveUnits[uint64](dst, src, f.units, dstSize, srcSize, n)
	}
}

// moveUnits is move for units of type U. One to three units are assigned, more are copied by copy.
func moveUnits[U cast.Fixed](to, from []byte, units, dstSize, srcSize, n int) {
	size := cast.Size[U]()
	dst, _ := cast.Slice[U](to[:len(to)/size*size])
	src, _ := cast.Slice[U](from[:len(from)/size*size])
	d, s, dstStep, srcStep := 0, 0, dstSize/size, srcSize/size
	switch units {
	case 1:
		for range n {
			dst[d] = src[s]
			d, s = d+dstStep, s+srcStep
		}
	case 2:
		for range n {
			a, b := dst[d:d+2], src[s:s+2]
			a[0], a[1] = b[0], b[1]
			d, s = d+dstStep, s+srcStep
		}
	case 3:
		for range n {
			a, b := dst[d:d+3], src[s:s+3]
			a[0], a[1], a[2] = b[0], b[1], b[2]
			d, s = d+dstStep, s+srcStep
		}
	default:
		for range n {
			copy(dst[d:], src[s:s+units])
			d, s = d+dstStep, s+srcStep
		}
	}
}

// windowBytes is the largest part, unless a block is larger, of a column that is copied at a time.
// Only columns that are mapped, strided or not aligned are copied.
const windowBytes = 128 << 10

// A source returns the bytes of rows of a column.
type source struct {
	col   *tensor.Tensor // [N F...]
	size  int            // bytes of a row
	bytes []byte         // rows start to end-1: of the column itself, or a copy
	start int
	end   int
}

// newSource returns the source of a column whose rows have size bytes, a multiple of unit.
func newSource(col *tensor.Tensor, size, unit int) (s source, err error) {
	s = source{col: col, size: size}
	if col.Lender() == nil && col.View().IsContiguous() {
		s.bytes, err = bytesOf(col)
	}
	if s.bytes != nil && cast.Aligned(s.bytes, unit) {
		s.end = col.Shape()[0]
	}
	return s, err
}

// bytesOf returns the bytes of a contiguous tensor in Go memory.
func bytesOf(t *tensor.Tensor) ([]byte, error) {
	b, err := t.Reinterpret(tensor.Uint8)
	if err != nil {
		return nil, err
	}
	return tensor.Of[uint8](b)
}

// rows returns the bytes of n rows, beginning at row lo. They are valid until the next call. It
// returns an error for a bool that is neither 0 nor 1.
func (s *source) rows(lo, n int) (b []byte, err error) {
	if lo < s.start || lo+n > s.end {
		if err := s.slide(lo, n); err != nil {
			return nil, err
		}
	}
	b = s.bytes[(lo-s.start)*s.size:][:n*s.size]
	if s.col.DType() == tensor.Bool {
		err = tensor.CheckBools(b)
	}
	return b, err
}

// slide copies at least n rows, beginning at row lo, which exist. It copies twice as many rows each
// time, so that reading a single row stays cheap.
func (s *source) slide(lo, n int) error {
	more := min(2*(s.end-s.start), windowBytes/max(s.size, 1))
	rows := min(max(more, n), s.col.Shape()[0]-lo)
	part, err := s.col.Narrow(0, lo, rows)
	if err == nil {
		part, err = part.Clone()
	}
	if err == nil {
		s.start, s.end = lo, lo+rows
		s.bytes, err = bytesOf(part)
	}
	return err
}
