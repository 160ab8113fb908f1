package columns

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// leaf converts the elements of a column.
func (r *Reader) leaf(c *column, in arr, at rows) error {
	if c.leaf.form.layout == codes {
		dict := in.data.Dictionary().(*array.Data)
		whole := arr{dict, []run{{dict.Offset(), dict.Len()}}, dict.Len()}
		switch {
		case r.dry:
			return r.collect(c, whole)
		case c.codes != nil:
			return r.coded(c, whole, at, true)
		}
		if err := r.claim(in.n, 16); err != nil {
			return err
		}
		in = arr{data: dict, n: in.n}
		for _, i := range c.index {
			if i >= 0 {
				i += dict.Offset()
			}
			in.runs = appendRun(in.runs, i, 1)
		}
	}
	switch f := c.value; {
	case r.dry:
		return nil
	case c.spec.Kind == tdict.KindData:
		return r.strings(c, in, at)
	case c.codes != nil:
		return r.coded(c, in, at, false)
	case f.isText() || c.spec.Kind == tdict.KindText:
		return r.text(c, in, at)
	case f.layout == bits:
		return r.boolean(c, in, at)
	}
	return r.flat(c, in, at)
}

// room returns n times size bytes of c's memory.
func (r *Reader) room(c *column, n, size int) ([]byte, error) {
	if err := r.claim(n, size); err != nil {
		return nil, err
	}
	if n *= size; cap(c.data) < n {
		c.data = cast.Uninit(n)
	}
	return c.data[:n], nil
}

// set sets the entry of c to the elements in data or, unless b is nil, in b from byte off on.
func (r *Reader) set(c *column, at rows, data []byte, b *memory.Buffer, off int) (err error) {
	shape := at.shape
	if at.layout != nil {
		n, err := at.layout.NumRows(-1)
		if err != nil {
			return err
		}
		shape = append(shapeops.Shape{n}, at.features...)
	}
	var t *tensor.Tensor
	if b == nil || shape.Size() == 0 {
		t, err = tensor.FromBytes(c.dtype, data, shape...)
	} else {
		from, start := r.lender(b)
		t, err = tensor.FromLender(c.dtype, from, start+off, shape...)
	}
	if err != nil {
		return err
	}
	if at.layout == nil {
		return r.td.Set(c.spec.Key, t)
	}
	v, err := ragged.New(t, at.layout)
	if err != nil {
		return err
	}
	return r.td.Set(c.spec.Key, v)
}

// lender returns the lender of a buffer, and the offset in it at which the buffer begins.
func (r *Reader) lender(b *memory.Buffer) (tensor.Lender, int) {
	if r.Lend != nil {
		if l, start := r.Lend(b); l != nil {
			return l, start
		}
	}
	return lend(b), 0
}

// flat converts elements of a fixed width.
func (r *Reader) flat(c *column, in arr, at rows) error {
	from, to := c.value.width/8, c.dtype.Size()
	if from == to && at.present == nil && in.contiguous() {
		return r.set(c, at, nil, in.data.Buffers()[1], in.runs[0].off*from)
	}
	data, err := r.room(c, in.n, to)
	if err != nil {
		return err
	}
	rest := data
	for _, x := range in.runs {
		switch {
		case x.off < 0 || from == 0:
			clear(rest[:x.n*to])
		case from == to:
			copy(rest[:x.n*to], bytesOf(in.data.Buffers()[1])[x.off*from:])
		default: // int32 to int64
			for i := range x.n {
				v := int32(binary.NativeEndian.Uint32(bytesOf(in.data.Buffers()[1])[(x.off+i)*4:]))
				binary.NativeEndian.PutUint64(rest[8*i:], uint64(v))
			}
		}
		rest = rest[x.n*to:]
	}
	for i, is := range at.present {
		if !is {
			clear(data[i*to : (i+1)*to])
		}
	}
	return r.set(c, at, data, nil, 0)
}

// boolean converts bits to bytes.
func (r *Reader) boolean(c *column, in arr, at rows) error {
	data, err := r.room(c, in.n, 1)
	if err != nil {
		return err
	}
	clear(data)
	to, _ := cast.Slice[bool](data)
	rest := to
	for _, x := range in.runs {
		if x.off >= 0 {
			unpack(rest[:x.n], bytesOf(in.data.Buffers()[1]), x.off)
		}
		rest = rest[x.n:]
	}
	for i, is := range at.present {
		to[i] = to[i] && is
	}
	return r.set(c, at, data, nil, 0)
}

// text converts texts to rows of bytes.
func (r *Reader) text(c *column, in arr, at rows) error {
	if c.value.layout == nothing {
		if err := r.claim(in.n+1, 8); err != nil {
			return err
		}
		return r.addTexts(c, at, make([]int64, in.n+1), nil, nil, 0)
	}
	if c.value.layout == views {
		return r.viewed(c, in, at)
	}
	offsets, out, err := r.lists(c.value, in, at.present, -1)
	if err != nil {
		return err
	}
	b := in.data.Buffers()[2]
	if out.contiguous() {
		return r.addTexts(c, at, offsets, nil, b, out.runs[0].off)
	}
	data, err := r.room(c, out.n, 1)
	if err != nil {
		return err
	}
	rest := data
	for _, x := range out.runs {
		rest = rest[copy(rest, b.Bytes()[x.off:x.off+x.n]):]
	}
	return r.addTexts(c, at, offsets, data, nil, 0)
}

// addTexts adds the level of the bytes, and sets the entry.
func (r *Reader) addTexts(c *column, at rows, offsets []int64, data []byte, b *memory.Buffer, off int) error {
	if err := r.nest(&at, offsets); err != nil {
		return err
	}
	return r.set(c, at, data, b, off)
}

// viewed converts texts that are in several buffers.
func (r *Reader) viewed(c *column, in arr, at rows) error {
	if err := r.claim(in.n+1, 8); err != nil {
		return err
	}
	offsets := make([]int64, 1, in.n+1)
	c.data = c.data[:0]
	err := r.each(c, in, at.present, func(text []byte) error {
		if err := r.claim(len(text), 1); err != nil {
			return err
		}
		c.data = append(c.data, text...)
		offsets = append(offsets, int64(len(c.data)))
		return nil
	})
	if err != nil {
		return err
	}
	return r.addTexts(c, at, offsets, c.data, nil, 0)
}

// each calls fn with each text, nil for a null.
func (r *Reader) each(c *column, in arr, present []bool, fn func(text []byte) error) error {
	i := 0
	for _, x := range in.runs {
		for j := range x.n {
			var text []byte
			if x.off >= 0 && (present == nil || present[i]) {
				var err error
				if text, err = c.value.text(in.data.Buffers(), x.off+j); err != nil {
					return fmt.Errorf("value %d: %w", i, err)
				}
			}
			if err := fn(text); err != nil {
				return fmt.Errorf("value %d: %w", i, err)
			}
			i++
		}
	}
	return nil
}

// text returns text i, which is not nil.
func (f form) text(buffers []*memory.Buffer, i int) ([]byte, error) {
	b := bytesOf(buffers[1])
	if f.layout != views {
		text := bytesOf(buffers[2])
		from, to := f.offset(b, i), f.offset(b, i+1)
		if err := checkRange(from, to, len(text)); err != nil {
			return nil, err
		}
		if from == to {
			return []byte{}, nil
		}
		return text[from:to], nil
	}
	header := b[arrow.ViewHeaderSizeBytes*i:][:arrow.ViewHeaderSizeBytes]
	n := int(int32(binary.NativeEndian.Uint32(header)))
	if n >= 0 && n <= 12 {
		return header[4 : 4+n], nil
	}
	k, from := int(int32(binary.NativeEndian.Uint32(header[8:]))), int(int32(binary.NativeEndian.Uint32(header[12:])))
	if n < 0 || k < 0 || k >= len(buffers)-2 || from < 0 || from+n > len(bytesOf(buffers[2+k])) {
		return nil, fmt.Errorf("%w: got a view of %d bytes from %d in buffer %d of %d", ErrArray, n, from, k, len(buffers)-2)
	}
	return bytesOf(buffers[2+k])[from : from+n], nil
}

// checkRange returns an error unless a list from an offset to another is in n elements.
func checkRange(from, to, n int) error {
	if from < 0 || from > to || to > n {
		return fmt.Errorf("%w: got %d to %d, want them to increase from 0 to %d", ragged.ErrOffsets, from, to, n)
	}
	return nil
}

// lists returns the offsets and elements of lists, or of the bytes of texts. A null has no
// elements. If size is not negative, all lists have that many elements, a null too, and there are
// no offsets.
func (r *Reader) lists(f form, in arr, present []bool, size int) ([]int64, arr, error) {
	out, start, limit := arr{data: in.data}, 0, 0
	if children := in.data.Children(); len(children) > 0 {
		out.data = children[0]
		start, limit = out.data.Offset(), out.data.Len()
	} else { // bytes in the array itself
		buffers := in.data.Buffers()
		limit = len(bytesOf(buffers[len(buffers)-1]))
	}
	var offsets []int64
	if size < 0 {
		if err := r.claim(in.n+1, 8); err != nil {
			return nil, arr{}, err
		}
		offsets = cast.UninitOf[int64](in.n + 1)
		offsets[0] = 0
	}
	if size < 0 && in.contiguous() && (f.layout == bytes32 || f.layout == bytes64 || f.layout == lists32 || f.layout == lists64) {
		first, dense, err := f.rebase(offsets, bytesOf(in.data.Buffers()[1]), in.runs[0].off, present, limit)
		if err != nil {
			return nil, arr{}, err
		}
		if dense {
			out.n = int(offsets[in.n])
			out.runs = []run{{start + first, out.n}}
			return offsets, out, nil
		}
	}
	if err := r.claim(in.n, 16); err != nil {
		return nil, arr{}, err
	}
	i := 0
	for _, x := range in.runs {
		for j := range x.n {
			is := x.off >= 0 && (present == nil || present[i])
			from, n := -1, max(size, 0)
			if is {
				var to int
				from, to = f.bounds(in.data.Buffers(), x.off+j)
				if err := checkRange(from, to, limit); err != nil {
					return nil, arr{}, fmt.Errorf("list %d: %w", i, err)
				}
				if n = to - from; size >= 0 && n != size {
					return nil, arr{}, fmt.Errorf("list %d: %w: got %d elements, want %d", i, ragged.ErrLengths, n, size)
				}
				from += start
			}
			out.runs = appendRun(out.runs, from, n)
			if out.n += n; out.n > math.MaxInt/4 { // n is less
				return nil, arr{}, errElements(out.n)
			}
			i++
			if size < 0 {
				offsets[i] = int64(out.n)
			}
		}
	}
	if !out.contiguous() && int64(out.n) > r.most { // all are copied
		return nil, arr{}, errElements(out.n)
	}
	return offsets, out, nil
}

// errElements returns the error for n elements of lists that are repeated or not there.
func errElements(n int) error { return fmt.Errorf("%w: got lists of %d elements", ErrMemory, n) }

// bounds returns where list i begins and ends in the elements.
func (f form) bounds(buffers []*memory.Buffer, i int) (from, to int) {
	if f.size >= 0 {
		return i * f.size, (i + 1) * f.size
	}
	b := bytesOf(buffers[1])
	if from = f.offset(b, i); f.layout == listViews32 || f.layout == listViews64 {
		return from, from + f.offset(bytesOf(buffers[2]), i)
	}
	return from, f.offset(b, i+1)
}

// rebase sets offsets to the offsets of the lists from number off on, less the first one, which it
// returns. dense is false if a null has elements.
func (f form) rebase(offsets []int64, b []byte, off int, present []bool, limit int) (first int, dense bool, err error) {
	if len(offsets) == 1 { // an array without elements may lack its only offset
		return 0, true, nil
	}
	if f.width == 32 {
		if src, ok := cast.Slice[int32](b[off*4 : (off+len(offsets))*4]); ok {
			return rebase(offsets, src, present, limit)
		}
	} else if src, ok := cast.Slice[int64](b[off*8 : (off+len(offsets))*8]); ok {
		return rebase(offsets, src, present, limit)
	}
	return 0, false, nil // not aligned
}

func rebase[T int32 | int64](offsets []int64, src []T, present []bool, limit int) (first int, dense bool, err error) {
	last := src[0]
	first, dense = int(last), true
	if first < 0 {
		return 0, false, fmt.Errorf("%w: got %d first, want at least 0", ragged.ErrOffsets, first)
	}
	for i, x := range src {
		if x < last {
			return 0, false, fmt.Errorf("%w: got %d after %d at list %d, want them to increase", ragged.ErrOffsets, x, last, i-1)
		}
		last, offsets[i] = x, int64(x)-int64(first)
	}
	if int64(last) > int64(limit) {
		return 0, false, fmt.Errorf("%w: got %d last, want at most %d", ragged.ErrOffsets, last, limit)
	}
	for i, is := range present {
		dense = dense && (is || offsets[i] == offsets[i+1])
	}
	return first, dense, nil
}
