package columns

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A run is n elements from off on, counted from the beginning of the buffers; an off below 0 means
// that the list is null and has no elements.
type run struct{ off, n int }

// An arr is elements of an array: n in the runs of data.
type arr struct {
	data arrow.ArrayData
	runs []run
	n    int
}

// appendRun appends a run, and joins it with the last one if it continues it.
func appendRun(runs []run, off, n int) []run {
	if n == 0 {
		return runs
	}
	if last := len(runs) - 1; last >= 0 {
		if x := &runs[last]; off < 0 && x.off < 0 || off >= 0 && x.off >= 0 && x.off+x.n == off {
			x.n += n
			return runs
		}
	}
	return append(runs, run{off, n})
}

// child returns the elements of child i of a struct, or of lists of k elements. Binary data of one
// size has its bytes in the array itself.
func (in arr) child(i, k int) arr {
	out, start := arr{data: in.data, n: in.n * k}, 0
	if children := in.data.Children(); len(children) > 0 {
		out.data, start = children[i], children[i].Offset()
	}
	if in.contiguous() {
		out.runs = []run{{start + in.runs[0].off*k, in.n * k}}
		return out
	}
	for _, x := range in.runs {
		if x.off >= 0 {
			x.off = start + x.off*k
		}
		out.runs = appendRun(out.runs, x.off, x.n*k)
	}
	return out
}

// contiguous reports whether the elements are in one run.
func (in arr) contiguous() bool { return len(in.runs) == 1 && in.runs[0].off >= 0 }

// rows says which rows of the result the elements of a place are.
type rows struct {
	shape    shapeops.Shape // of the rows before the levels
	layout   *ragged.Layout // of the levels, or nil before the first
	depth    int            // the number of levels
	features shapeops.Shape // after the levels
	present  []bool         // of each element, or nil if all are
}

// column converts a column.
func (r *Reader) column(c *column, in arr, at rows) error {
	own, valued := false, false // a null that is in no mask yet; the mask of values is set
	for i := range len(c.steps) + 1 {
		p, s := &c.leaf, (*step)(nil)
		if i < len(c.steps) {
			s = &c.steps[i]
			if p = &s.place; r.dry {
				s.level, s.dims = s.known == nil, s.known
			}
		}
		null, err := r.nulls(p, in, &at)
		if err == nil && p.form.layout == codes {
			var more bool
			more, err = r.indices(c, in, &at)
			null = null || more
		}
		if err != nil {
			return err
		}
		own = own || null
		isValue := s == nil || s.level || at.layout != nil // and not a dim before the levels
		switch {
		case valued && own && !r.dry:
			return fmt.Errorf("%w: got a null in a value of several elements, want one more level", ErrNull)
		case isValue && !valued:
			if err := r.setMask(c, p, in.n, at, own); err != nil {
				return err
			}
			own, valued = false, s != nil && !s.level
		}
		switch {
		case s == nil:
		case s.level:
			in, err = r.level(s, in, &at)
		default:
			in, err = r.dims(s, in, &at)
		}
		if err != nil {
			return err
		}
	}
	var err error
	if c.leaf.form.layout == structs {
		err = r.structs(c, in, at)
	} else {
		err = r.leaf(c, in, at)
	}
	for _, key := range slices.Backward(c.masks) {
		if outer, nested := key.Parent(); err == nil && !r.dry && (!nested || r.td.Has(outer)) {
			err = r.placeMask(key)
		}
	}
	return err
}

// placeMask sets a mask in the dictionary, unless it is there or was not made.
func (r *Reader) placeMask(key nestedkey.Key) error {
	v := r.masks[key]
	if v == nil || r.td.Has(key) {
		return nil
	}
	return failed(key, r.td.Set(key, v))
}

// structs converts the columns of a struct.
func (r *Reader) structs(c *column, in arr, at rows) error {
	if !r.dry {
		if err := r.td.Set(c.spec.Key, tdict.New(at.shape...)); err != nil {
			return err
		}
	}
	for _, x := range c.inner {
		if x.read(r.dry) {
			if err := r.column(x, in.child(x.field, 1), at); err != nil {
				return x.failed(err)
			}
		}
	}
	return nil
}

// read reports whether the column is read.
func (c *column) read(dry bool) bool { return c.spec != nil || dry && c.err == nil }

// failed returns an error with the key of the entry of c.
func (c *column) failed(err error) error {
	if c.spec != nil {
		return failed(c.spec.Key, err)
	}
	return failed(c.key, err)
}

// nulls adds the nulls of a place to at.present. own is whether there is a null whose row was
// present.
func (r *Reader) nulls(p *place, in arr, at *rows) (own bool, err error) {
	if p.never {
		return false, nil
	}
	if p.form.layout == nothing {
		own = in.n > 0 && (at.present == nil || slices.Contains(at.present, true))
		if at.present, err = r.bools(p, in.n); err == nil {
			clear(at.present)
		}
		p.nulls = p.nulls || own
		return own, err
	}
	bitmap := bytesOf(in.data.Buffers()[0])
	if len(bitmap) == 0 {
		if n := in.data.NullN(); n > 0 {
			return false, fmt.Errorf("%w: got %d nulls without a bitmap", ErrArray, n)
		}
		return false, nil
	}
	zeros := 0
	for _, x := range in.runs {
		if x.off >= 0 {
			zeros += x.n - bitutil.CountSetBits(bitmap, x.off, x.n)
		}
	}
	whole := in.contiguous() && in.runs[0] == run{in.data.Offset(), in.data.Len()}
	if n := in.data.NullN(); whole && n >= 0 && n != zeros {
		return false, fmt.Errorf("%w: got a null count of %d, want %d as the bitmap", ErrArray, n, zeros)
	}
	if zeros == 0 {
		return false, nil
	}
	if r.dry && at.present == nil && p.form.layout < nothing { // nothing is in it
		p.nulls = true
		return true, nil
	}
	present, err := r.bools(p, in.n)
	if err != nil {
		return false, err
	}
	i := 0
	for _, x := range in.runs {
		if x.off < 0 {
			clear(present[i : i+x.n])
		} else {
			unpack(present[i:i+x.n], bitmap, x.off)
		}
		i += x.n
	}
	own = at.present == nil
	for i, is := range at.present {
		own = own || is && !present[i]
		present[i] = present[i] && is
	}
	at.present, p.nulls = present, p.nulls || own
	return own, nil
}

// bools returns the memory of a place for n bools.
func (r *Reader) bools(p *place, n int) ([]bool, error) {
	if err := r.claim(n, 1); err != nil {
		return nil, err
	}
	p.present = slices.Grow(p.present[:0], n)[:n]
	return p.present, nil
}

// claim counts n times size bytes for the batch. It returns ErrMemory if they are too many.
func (r *Reader) claim(n, size int) error {
	if left := r.most - r.need; size > 0 && int64(n) > left/int64(size) {
		return fmt.Errorf("%w: got %d bytes and %d times %d more, want at most %d", ErrMemory, r.need, n, size, r.most)
	}
	r.need += int64(n) * int64(size)
	return nil
}

// setMask sets the mask of c at the levels that at has. own is whether it is needed: it has nulls
// that no mask around it has.
func (r *Reader) setMask(c *column, p *place, n int, at rows, own bool) error {
	key := c.mask(at.depth)
	switch {
	case r.dry:
		return nil
	case key == "" && own && c.spec.Kind != tdict.KindData:
		return fmt.Errorf("%w: got a null inside %d lists, want none: give the entry a Mask", ErrNull, at.depth)
	case key == "":
		return nil
	}
	if n > 0 && (at.present == nil || cast.Address(cast.Bytes(at.present)) != cast.Address(cast.Bytes(p.present))) {
		bits, err := r.bools(p, n)
		if err != nil {
			return err
		}
		if copy(bits, at.present) == 0 {
			for i := range bits {
				bits[i] = true
			}
		}
	}
	shape := at.shape
	if at.layout != nil {
		shape = shapeops.Shape{n}
	}
	bits, err := tensor.From(p.present[:n], shape...)
	if err != nil {
		return failed(key, err)
	}
	var v tdict.Value = bits
	if at.layout != nil {
		if v, err = ragged.New(bits, at.layout); err != nil {
			return failed(key, err)
		}
	}
	if old := r.masks[key]; old != nil && !equal(old, v) { // several entries have this mask
		return failed(key, fmt.Errorf("%w: got other nulls than in another entry with this mask", tdict.ErrSchema))
	}
	r.masks[key] = v
	return nil
}

// equal reports whether two masks are equal.
func equal(x, y tdict.Value) bool {
	a, b := tdict.New(), tdict.New()
	return a.Set("mask", x) == nil && b.Set("mask", y) == nil && a.Equal(b)
}

// dims returns the elements of lists that are dims.
func (r *Reader) dims(s *step, in arr, at *rows) (out arr, err error) {
	k := s.dims.Size()
	if !in.contiguous() && k > 0 && int64(in.n) > r.most/int64(k) { // of lists that are not there
		return arr{}, errElements(in.n)
	}
	if !s.form.isList() {
		out = in.child(0, k)
	} else if _, out, err = r.lists(s.form, in, at.present, k); err != nil {
		return arr{}, err
	}
	if at.layout != nil {
		at.features = append(at.features[:len(at.features):len(at.features)], s.dims...)
	} else {
		at.shape = append(at.shape[:len(at.shape):len(at.shape)], s.dims...)
	}
	if at.present != nil {
		if err := r.claim(out.n, 1); err != nil {
			return arr{}, err
		}
		s.spread = slices.Grow(s.spread[:0], out.n)[:out.n]
		for i, is := range at.present {
			for j := range k {
				s.spread[i*k+j] = is
			}
		}
		at.present = s.spread
	}
	return out, nil
}

// level returns the elements of lists that are a level.
func (r *Reader) level(s *step, in arr, at *rows) (arr, error) {
	offsets, out, err := r.lists(s.form, in, at.present, -1)
	if err == nil && !r.dry {
		err = r.nest(at, offsets)
	}
	at.present = nil
	return out, err
}

// A layoutKey is equal for equal layouts.
type layoutKey struct {
	outer *ragged.Layout
	n     int
	last  int64
	sum   int64
}

// nest adds a level. Columns with equal offsets get the same layout.
func (r *Reader) nest(at *rows, offsets []int64) error {
	outer := at.layout
	if outer == nil {
		i := slices.IndexFunc(r.bases, func(l *ragged.Layout) bool { return slices.Equal(l.Shape(), at.shape) })
		if i < 0 {
			base, err := ragged.NewLayout(at.shape)
			if err != nil {
				return err
			}
			i, r.bases = len(r.bases), append(r.bases, base)
		}
		outer = r.bases[i]
	}
	key := layoutKey{outer: outer, n: len(offsets), last: offsets[len(offsets)-1]}
	for _, x := range offsets {
		key.sum += x
	}
	at.depth++
	if old := r.layouts[key]; old != nil {
		if known, err := old.Offsets(-1); err == nil && slices.Equal(known, offsets) {
			at.layout = old
			return nil
		}
	}
	l, err := outer.Nest(offsets)
	at.layout, r.layouts[key] = l, l
	return err
}
