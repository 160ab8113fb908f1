package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows are moved in blocks of so many bytes, field after field, so that a block stays in the cache
// nearest to the core until its last field is done. Structs of less than 8 bytes make blocks of
// mostRows.
const (
	blockBytes = 4 << 10
	mostRows   = 512
)

// blockRows returns the rows of a block.
func (p *plan) blockRows() int { return min(max(blockBytes/max(int(p.typ.Size()), 1), 1), mostRows) }

// memory returns the bytes of the elements of a slice.
func memory(s reflect.Value) []byte {
	return cast.Memory(s.UnsafePointer(), s.Len()*int(s.Type().Elem().Size()))
}

// width returns the bytes of a row of a dense field, or of a value of a list.
func (f *field) width() int { return f.unit * f.units }

// gather writes the field of rows to a column, whose bytes say how many they are.
func (f *field) gather(col, rows []byte, size int) {
	if len(col) == 0 {
		return
	}
	switch rows = rows[f.offset:]; f.unit {
	case 1:
		gather[uint8](col, rows, f.units, size)
	case 2:
		gather[uint16](col, rows, f.units, size)
	case 4:
		gather[uint32](col, rows, f.units, size)
	case 8:
		gather[uint64](col, rows, f.units, size)
	}
}

// scatter writes a column to the field of rows.
func (f *field) scatter(rows, col []byte, size int) {
	if len(col) == 0 {
		return
	}
	switch rows = rows[f.offset:]; f.unit {
	case 1:
		scatter[uint8](rows, col, f.units, size)
	case 2:
		scatter[uint16](rows, col, f.units, size)
	case 4:
		scatter[uint32](rows, col, f.units, size)
	case 8:
		scatter[uint64](rows, col, f.units, size)
	}
}

// units returns bytes as units, without a rest. A row, and a field in it, begins at a whole unit.
func units[U cast.Fixed](b []byte) []U {
	size := cast.Size[U]()
	s, _ := cast.Slice[U](b[:len(b)/size*size])
	return s
}

// gather takes n units from each row of so many bytes. Up to three need no call of copy.
func gather[U cast.Fixed](to, rows []byte, n, size int) {
	dst, src := units[U](to), units[U](rows)
	step, at := size/cast.Size[U](), 0
	switch n {
	case 1:
		for i := range dst {
			dst[i] = src[at]
			at += step
		}
	case 2:
		for ; len(dst) >= 2; dst = dst[2:] {
			from := src[at : at+2]
			dst[0], dst[1] = from[0], from[1]
			at += step
		}
	case 3:
		for ; len(dst) >= 3; dst = dst[3:] {
			from := src[at : at+3]
			dst[0], dst[1], dst[2] = from[0], from[1], from[2]
			at += step
		}
	default:
		for ; len(dst) > 0; dst = dst[n:] {
			copy(dst[:n], src[at:])
			at += step
		}
	}
}

// scatter is gather the other way.
func scatter[U cast.Fixed](rows, from []byte, n, size int) {
	dst, src := units[U](rows), units[U](from)
	step, at := size/cast.Size[U](), 0
	switch n {
	case 1:
		for _, v := range src {
			dst[at] = v
			at += step
		}
	case 2:
		for ; len(src) >= 2; src = src[2:] {
			to := dst[at : at+2]
			to[0], to[1] = src[0], src[1]
			at += step
		}
	case 3:
		for ; len(src) >= 3; src = src[3:] {
			to := dst[at : at+3]
			to[0], to[1], to[2] = src[0], src[1], src[2]
			at += step
		}
	default:
		for ; len(src) > 0; src = src[n:] {
			copy(dst[at:], src[:n])
			at += step
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
