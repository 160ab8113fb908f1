package columns

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An item is an array that is being made.
type item struct {
	typ      arrow.DataType
	n        int
	buffers  [][]byte // after the bitmap
	children []arrow.ArrayData
	dict     *array.Data
	nullable bool
	present  []bool // of each element, or nil if all are
}

// field returns a field for the item.
func (it *item) field(name string) arrow.Field {
	return arrow.Field{Name: name, Type: it.typ, Nullable: it.nullable}
}

// data returns the array.
func (it *item) data() *array.Data {
	buffers, nulls := make([]*memory.Buffer, 1, 3), 0
	if it.present != nil {
		b := pack(it.present)
		if nulls = it.n - bitutil.CountSetBits(b, 0, it.n); nulls > 0 {
			buffers[0] = memory.NewBufferBytes(b)
		}
	}
	for _, b := range it.buffers {
		buffers = append(buffers, memory.NewBufferBytes(b))
	}
	d := array.NewData(it.typ, it.n, buffers, it.children, nulls, 0)
	if it.dict != nil {
		d.SetDictionary(it.dict)
	}
	return d
}

// inLists returns lists with offsets of the item.
func (it *item) inLists(offsets []int64) item {
	return item{
		typ: arrow.LargeListOfField(it.field("item")), n: len(offsets) - 1,
		buffers: [][]byte{cast.Bytes(offsets)}, children: []arrow.ArrayData{it.data()},
	}
}

// inDims returns n lists of the item, of the given dims. A list is null if all in it are.
func (it item) inDims(n int, dims shapeops.Shape) (item, error) {
	for i, k := range slices.Backward(dims) {
		count := n * dims[:i].Size()
		switch {
		case k > math.MaxInt32:
			return it, fmt.Errorf("%w: got a dim of %d, want at most %d", ErrType, k, math.MaxInt32)
		case k == 0: // the library has no lists of size 0
			it = it.inLists(make([]int64, count+1))
			continue
		}
		out := item{
			typ: arrow.FixedSizeListOfField(int32(k), it.field("item")), n: count,
			children: []arrow.ArrayData{it.data()}, nullable: it.nullable,
		}
		if it.present != nil {
			out.present = make([]bool, count)
			for j := range out.present {
				out.present[j] = slices.Contains(it.present[j*k:(j+1)*k], true)
			}
		}
		it = out
	}
	return it, nil
}

// A writer makes arrays of the entries of a dictionary.
type writer struct {
	td      *tdict.TensorDict
	ofFile  bool // see FileBatch
	compact map[*ragged.Layout]*ragged.Layout
}

// layout returns a layout that is compact.
func (w *writer) layout(l *ragged.Layout) *ragged.Layout {
	if w.compact[l] == nil {
		w.compact[l] = l.Compact()
	}
	return w.compact[l]
}

// An inside says where an entry is: in n elements with dims after the rows, and levels.
type inside struct {
	n     int
	dims  shapeops.Shape
	outer *ragged.Layout // nil without levels
}

// depth returns the number of levels.
func (in inside) depth() int {
	if in.outer == nil {
		return 0
	}
	return in.outer.Depth()
}

// entry makes an entry.
func (w *writer) entry(e *entry, in inside) (item, error) {
	s, missing := &e.spec, !w.td.Has(e.spec.Key)
	batch := s.Shape
	if s.Kind == tdict.KindRagged {
		batch = s.Batch
	}
	if len(batch) < len(in.dims) || s.Depth < in.depth() || slices.Contains(batch, tdict.Any) || slices.Contains(s.Shape, tdict.Any) {
		return item{}, fmt.Errorf("%w: got Depth %d and Shape %v, want fixed sizes, and at least the levels and dims of the dictionary around it", tdict.ErrSchema, s.Depth, batch)
	}
	own := batch[len(in.dims):]
	at := inside{n: in.n * own.Size(), dims: batch, outer: in.outer} // the elements
	v, layout, err := w.value(e, in, at.n, missing)
	if err != nil {
		return item{}, err
	}
	var offsets [][]int64 // of the levels that the dictionary around it does not have
	if layout != nil {
		first := 1
		if !missing || s.Kind == tdict.KindDict {
			first += in.depth()
		}
		for level := first; level <= layout.Depth(); level++ {
			list, err := layout.Offsets(level)
			if err != nil {
				return item{}, err
			}
			offsets = append(offsets, list)
			at.n, at.outer = int(list[len(list)-1]), layout
		}
	}
	bits, nullable, err := w.mask(e, at.n, in.depth()+len(offsets), len(offsets) == 0, layout, missing)
	if err != nil {
		return item{}, err
	}
	var it item
	if s.Kind == tdict.KindDict {
		it, err = w.structs(e, at)
	} else {
		it, err = w.leaf(s, v, at.n, bits)
	}
	if err == nil && s.Kind == tdict.KindRagged {
		it, err = it.inDims(at.n, s.Shape)
	}
	if err != nil {
		return item{}, err
	}
	if s.Kind != tdict.KindData {
		it.present, it.nullable = bits, nullable
	}
	for i := len(offsets) - 1; i >= 0; i-- {
		it = it.inLists(offsets[i])
		if it.present, it.nullable, err = w.mask(e, it.n, in.depth()+i, i == 0, layout, missing); err != nil {
			return item{}, err
		}
	}
	return it.inDims(in.n, own)
}

// value returns the value of an entry, nil for a dictionary, and the layout of its levels, nil if
// it has none. The levels of text do not count its bytes. An entry that is missing has zeros and
// its own levels only.
func (w *writer) value(e *entry, in inside, n int, missing bool) (v tdict.Value, layout *ragged.Layout, err error) {
	s := e.spec
	if s.Kind == tdict.KindDict {
		if s.Depth == in.depth() {
			return nil, in.outer, nil
		}
		layout, err = w.levels(e, in, n)
		return nil, layout, err
	}
	if v, err = w.td.Get(s.Key); missing {
		zero := tdict.Spec{Key: "x", Kind: s.Kind, DType: s.DType, Shape: s.Shape, Batch: s.Batch, Depth: s.Depth - in.depth()}
		if s.Kind == tdict.KindRagged { // n has the dims before the levels
			zero.Batch = nil
		}
		if zero.Kind == tdict.KindRagged && zero.Depth == 0 {
			zero.Kind = tdict.KindTensor
		} else if s.Kind != tdict.KindRagged {
			zero.Shape = nil
		}
		td, err := tdict.Schema{zero}.Zeros(n)
		if err != nil {
			return nil, nil, err
		}
		v, _ = td.Get("x")
	} else if err != nil {
		return nil, nil, err
	}
	r, ok := v.(*ragged.Tensor)
	if !ok {
		return v, nil, nil
	}
	layout = w.layout(r.Layout())
	if !missing && in.outer != nil {
		if err := sameLevels(layout, in.outer); err != nil {
			return nil, nil, err
		}
	}
	if s.Kind == tdict.KindText {
		layout = layout.Outer()
	}
	return v, layout, nil
}

// sameLevels returns ragged.ErrLengths unless a layout begins with the levels of outer.
func sameLevels(layout, outer *ragged.Layout) error {
	got, err := layout.At(outer.Depth())
	if err != nil || got == outer {
		return err
	}
	return got.CheckEqual(outer)
}

// levels returns the layout of a list of objects, which the entries or the mask in it have. It is
// empty lists if none does.
func (w *writer) levels(e *entry, in inside, n int) (*ragged.Layout, error) {
	if l := w.find(e, e.spec.Depth); l != nil {
		if in.outer != nil {
			return l, sameLevels(l, in.outer)
		}
		return l, nil
	}
	l := in.outer
	if l == nil {
		var err error
		if l, err = ragged.NewLayout(slices.Concat(shapeops.Shape{w.td.Shape()[0]}, e.spec.Shape)); err != nil {
			return nil, err
		}
	}
	for l.Depth() < e.spec.Depth {
		var err error
		if l, err = l.Nest(make([]int64, n+1)); err != nil {
			return nil, err
		}
		n = 0
	}
	return l, nil
}

// find returns the first depth levels of a leaf or a mask in e, or nil.
func (w *writer) find(e *entry, depth int) *ragged.Layout {
	keys := []nestedkey.Key{e.spec.Key}
	for _, x := range e.inner {
		if l := w.find(x, depth); l != nil {
			return l
		}
	}
	for _, m := range e.masks {
		keys = append(keys, m.Key)
	}
	for _, key := range keys {
		v, _ := w.td.Get(key)
		if r, ok := v.(*ragged.Tensor); ok && r.Depth() >= depth {
			l, _ := w.layout(r.Layout()).At(depth)
			return l
		}
	}
	return nil
}

// structs makes the struct of a dictionary.
func (w *writer) structs(e *entry, at inside) (item, error) {
	it := item{n: at.n}
	fields := make([]arrow.Field, 0, len(e.inner))
	for _, x := range e.inner {
		child, err := w.entry(x, at)
		if err != nil {
			return it, failed(x.spec.Key, err)
		}
		fields, it.children = append(fields, child.field(x.name)), append(it.children, child.data())
	}
	it.typ = arrow.StructOf(fields...)
	return it, nil
}

// mask returns which of n values inside depth levels are present, nil if all are, and whether they
// have a mask; first is set if depth is the depth of the dictionary around the entry. If the entry
// is missing, its first values are null.
func (w *writer) mask(e *entry, n, depth int, first bool, layout *ragged.Layout, missing bool) (present []bool, nullable bool, err error) {
	of, nullable := e.spec, first && e.spec.Optional && e.spec.Mask == ""
	for _, m := range e.masks {
		if m.Depth == depth {
			nullable = true
			break
		}
		of = m
	}
	switch {
	case missing && first && nullable:
		return make([]bool, n), true, nil
	case missing || !nullable || of.Mask == "":
		return nil, nullable, nil
	}
	v, err := tdict.Schema{of}.MaskOf(w.td, of.Key)
	if err != nil || v == nil {
		return nil, true, err
	}
	if r, ok := v.(*ragged.Tensor); ok {
		if layout == nil {
			return nil, true, failed(of.Mask, fmt.Errorf("%w: got levels that the entry does not have", ragged.ErrLengths))
		}
		want, err := layout.At(r.Depth())
		if err == nil && w.layout(r.Layout()) != want {
			err = r.Layout().CheckEqual(want)
		}
		if err == nil {
			v, err = r.Values()
		}
		if err != nil {
			return nil, true, failed(of.Mask, err)
		}
	}
	bits, err := tensor.Slice[bool](v.(*tensor.Tensor))
	if err == nil && len(bits) != n {
		err = failed(of.Mask, fmt.Errorf("%w: got %d bools, want %d", shapeops.ErrShape, len(bits), n))
	}
	return bits, true, err
}
