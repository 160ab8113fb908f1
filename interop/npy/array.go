package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A column is a part of the records of an array: a number, or an array of numbers, in each record.
type column struct {
	dtype
	key    []string // names of fields, outermost first
	levels []level
}

// A level is the position of the elements of a field in the record that contains them.
type level struct {
	offset int   // in bytes
	dims   []int // dims of the field
	size   int   // size of one element in bytes
	bytes  int   // size of all elements in bytes
}

// columns returns the columns of an array of d: one, unless d is a record.
func (d dtype) columns(outer column) (all []column) {
	if !d.record {
		outer.dtype = d
		return []column{outer}
	}
	for _, f := range d.fields {
		n, _ := product(f.dims, f.size) // newRecord has checked it
		all = append(all, f.columns(column{
			key:    append(slices.Clip(outer.key), f.name),
			levels: append(slices.Clip(outer.levels), level{f.offset, f.dims, f.size, n}),
		})...)
	}
	return all
}

// strided reports whether the numbers of a column, in records of size bytes, can be described by
// strides: whether offsets and distances are multiples of the size of a number, and the byte order
// is the machine's.
func (c column) strided(size int) bool {
	s := c.elem.Size()
	fits := size%s == 0
	for _, l := range c.levels {
		fits = fits && l.offset%s == 0 && l.size%s == 0
	}
	return fits && !c.swap
}

// A body returns the elements of an array, row-major as stored, as a tensor of dtype d.
type body func(d tensor.DType, shape ...int) (*tensor.Tensor, error)

// errRoom says that MaxCopy is exceeded.
var errRoom = fmt.Errorf("%w: beyond MaxCopy", ErrUnsupported)

// A room is the number of bytes that may still be copied into memory.
type room struct{ left int64 }

// newRoom returns a room of most bytes, or of 1 GiB if most is 0 or less.
func newRoom(most int64) *room {
	if most <= 0 {
		most = 1 << 30
	}
	return &room{most}
}

func (r *room) take(n int) error {
	if int64(n) > r.left {
		return errtext.With(errRoom, "got %d more bytes to copy into memory, want at most %d", n, r.left)
	}
	r.left -= int64(n)
	return nil
}

// array returns the tensor of an array that is not structured.
func (h *header) array(elements body, room *room) (*tensor.Tensor, error) {
	switch {
	case h.record:
		return nil, unsupported("got a structured array, which is a dictionary: use OpenDict")
	case h.err != nil || h.swap:
		return h.value(column{dtype: h.dtype}, elements, room)
	}
	return h.units(elements, h.elem)
}

// value returns a column of an array: a view of its elements if strides can describe it, otherwise
// a copy.
//
//	records [N...], dims [D...] of the field -> [N... D...]
func (h *header) value(c column, elements body, room *room) (*tensor.Tensor, error) {
	if c.err != nil {
		return nil, c.err
	}
	view := c.strided(h.size)
	unit := c.elem
	if !view {
		unit = tensor.Uint8
	}
	t, err := h.units(elements, unit, h.size/unit.Size())
	if err == nil {
		t, err = c.cut(t, len(h.shape))
	}
	if err == nil && !view {
		t, err = c.copied(t, room)
	}
	if err != nil {
		return nil, err
	}
	return t.Index(ix.Rest, ix.At(0))
}

// units returns the elements of an array as units of a dtype. dims are the dims of the units in one
// element: [N... dims...].
func (h *header) units(elements body, unit tensor.DType, dims ...int) (*tensor.Tensor, error) {
	if !h.fortran {
		return elements(unit, slices.Concat(h.shape, dims)...)
	}
	shape := slices.Clone(h.shape)
	slices.Reverse(shape)
	order := make([]int, len(shape)+len(dims))
	for dim := range order {
		order[dim] = dim
	}
	slices.Reverse(order[:len(shape)])
	t, err := elements(unit, append(shape, dims...)...)
	if err != nil {
		return nil, err
	}
	return t.Permute(order...)
}

// cut selects the units of a column: [N... units of a record] -> [N... D... units of a number].
func (c column) cut(t *tensor.Tensor, dim int) (_ *tensor.Tensor, err error) {
	unit := t.DType().Size()
	for _, l := range c.levels {
		if t, err = t.Narrow(dim, l.offset/unit, l.bytes/unit); err != nil {
			return nil, err
		}
		if t, err = t.Unflatten(dim, append(slices.Clip(l.dims), l.size/unit)...); err != nil {
			return nil, err
		}
		dim += len(l.dims)
	}
	return t, nil
}

// copied returns a copy of numbers that are given as bytes: uint8 [... size] -> [... 1].
func (c column) copied(t *tensor.Tensor, room *room) (*tensor.Tensor, error) {
	if err := room.take(t.ByteSize()); err != nil {
		return nil, err
	}
	t, err := t.Clone()
	if err != nil {
		return nil, err
	}
	b, err := tensor.Of[uint8](t)
	if err != nil {
		return nil, err
	}
	if c.swap && c.elem.IsComplex() {
		swap(b, c.elem.Size()/2)
	} else if c.swap {
		swap(b, c.elem.Size())
	}
	return t.Reinterpret(c.elem)
}

// swap reverses the bytes of each number; width is 1, 2, 4 or 8 bytes.
func swap(b []byte, width int) {
	le := binary.LittleEndian
	for ; len(b) >= width; b = b[width:] {
		switch width {
		case 2:
			le.PutUint16(b, bits.ReverseBytes16(le.Uint16(b)))
		case 4:
			le.PutUint32(b, bits.ReverseBytes32(le.Uint32(b)))
		case 8:
			le.PutUint64(b, bits.ReverseBytes64(le.Uint64(b)))
		}
	}
}

// firstRead is the largest number of bytes that readElements allocates at first.
const firstRead = 1 << 20

// readElements reads n bytes from r. The memory that it allocates grows with the bytes that r has,
// whatever n is.
func readElements(r io.Reader, n int) ([]byte, error) {
	b := cast.Uninit(min(n, firstRead))
	for got := 0; ; {
		m, err := io.ReadFull(r, b[got:])
		if got += m; got == n {
			return b, nil
		}
		if err != nil {
			return nil, cut(err, "array")
		}
		more := cast.Uninit(min(n, 2*got))
		copy(more, b)
		b = more
	}
}
