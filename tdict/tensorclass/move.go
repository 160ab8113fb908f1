package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows are moved in blocks of so many bytes, field after field, so that a block stays in the cache
// nearest to the core until its last field is done.
const blockBytes = 8 << 10

// blockRows returns the rows of a block.
func (p *plan) blockRows() int { return min(max(blockBytes/max(int(p.typ.Size()), 1), 1), 512) }

// memory returns the bytes of the elements of a slice.
func memory(s reflect.Value) []byte {
	return cast.Memory(s.UnsafePointer(), s.Len()*int(s.Type().Elem().Size()))
}

// width returns the bytes of a row of a dense field, or of a value of a list.
func (f *field) width() int { return f.unit * f.units }

// gather writes the field of n rows to a column.
func (f *field) gather(col, rows []byte, size, n int) {
	if f.units > 0 && n > 0 {
		f.move(col, rows[f.offset:], f.units, size/f.unit, n)
	}
}

// scatter writes n rows of a column to the field.
func (f *field) scatter(rows, col []byte, size, n int) {
	if f.units > 0 && n > 0 {
		f.move(rows[f.offset:], col, size/f.unit, f.units, n)
	}
}

// move moves the units of n rows that lie so many units apart. Every row of a type, and every field
// in it, lies at a multiple of its units.
func (f *field) move(dst, src []byte, dstStep, srcStep, n int) {
	switch f.unit {
	case 1:
		moveUnits[uint8](dst, src, f.units, dstStep, srcStep, n)
	case 2:
		moveUnits[uint16](dst, src, f.units, dstStep, srcStep, n)
	case 4:
		moveUnits[uint32](dst, src, f.units, dstStep, srcStep, n)
	case 8:
		moveUnits[uint64](dst, src, f.units, dstStep, srcStep, n)
	}
}

// whole returns bytes as units, without a rest of them.
func whole[U cast.Fixed](b []byte) []U {
	size := cast.Size[U]()
	s, _ := cast.Slice[U](b[:len(b)/size*size])
	return s
}

// moveUnits is move by units of type U. Few units of a row are moved as one value.
func moveUnits[U cast.Fixed](to, from []byte, units, dstStep, srcStep, n int) {
	dst, src := whole[U](to), whole[U](from)
	d, s := 0, 0
	switch units {
	case 1:
		for range n {
			dst[d] = src[s]
			d, s = d+dstStep, s+srcStep
		}
	case 2:
		for range n {
			*(*[2]U)(dst[d:]) = [2]U(src[s:])
			d, s = d+dstStep, s+srcStep
		}
	case 3:
		for range n {
			*(*[3]U)(dst[d:]) = [3]U(src[s:])
			d, s = d+dstStep, s+srcStep
		}
	case 4:
		for range n {
			*(*[4]U)(dst[d:]) = [4]U(src[s:])
			d, s = d+dstStep, s+srcStep
		}
	default:
		for range n {
			copy(dst[d:d+units], src[s:])
			d, s = d+dstStep, s+srcStep
		}
	}
}

// windowBytes is how much of a column that does not lie in order in Go memory is copied at a time.
const windowBytes = 128 << 10

// A source lends the rows of a column.
type source struct {
	col    *tensor.Tensor // [N F...]
	size   int            // bytes of a row
	bytes  []byte         // of n rows from start on: of all of them, or of a window that was copied
	start  int
	n      int
	window *tensor.Tensor // over bytes, or nil
}

// newSource returns the source of a column whose rows have so many bytes, made of units of so many.
func newSource(col *tensor.Tensor, size, unit int) (source, error) {
	s := source{col: col, size: size}
	if col.Lender() != nil || !col.View().IsContiguous() || len(col.View().Shape) == 0 {
		return s, nil
	}
	b, err := bytesOf(col)
	if err == nil && cast.Aligned(b, unit) {
		s.bytes, s.n = b, col.Shape()[0]
	}
	return s, err
}

// bytesOf returns the bytes of a tensor in Go memory that lies in order.
func bytesOf(t *tensor.Tensor) ([]byte, error) {
	flat, err := t.Reshape(-1)
	if err == nil {
		flat, err = flat.Reinterpret(tensor.Uint8)
	}
	if err != nil {
		return nil, err
	}
	return tensor.Of[uint8](flat)
}

// rows returns the bytes of n rows from lo on, until the next call. A bool in them is 0 or 1.
func (s *source) rows(lo, n int) (b []byte, err error) {
	if lo < s.start || lo+n > s.start+s.n {
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

// slide copies a window that begins with row lo and has at least n rows.
func (s *source) slide(lo, n int) (err error) {
	total := s.col.Shape()[0]
	if s.window == nil {
		if s.window, s.bytes, err = newWindow(s.col, min(max(windowBytes/max(s.size, 1), n), total)); err != nil {
			return err
		}
	}
	rows := min(s.window.Shape()[0], total-lo)
	if rows < n {
		return fmt.Errorf("%w: impossible: got %d rows from %d on, want %d", tensor.ErrLayout, rows, lo, n)
	}
	s.n = 0 // nothing, if the copy fails
	to, err := s.window.Narrow(0, 0, rows)
	if err != nil {
		return err
	}
	from, err := s.col.Narrow(0, lo, rows)
	if err != nil {
		return err
	}
	s.start, s.n = lo, rows
	if err := to.CopyFrom(from); err != nil {
		s.n = 0
		return err
	}
	return nil
}

// newWindow returns a tensor like some rows of a column, and its bytes.
func newWindow(col *tensor.Tensor, rows int) (*tensor.Tensor, []byte, error) {
	shape := append([]int{rows}, col.Shape()[1:]...)
	b := cast.Uninit(rows * col.DType().Size() * col.Shape()[1:].Size())
	t, err := tensor.FromBytes(col.DType(), b, shape...)
	return t, b, err
}
