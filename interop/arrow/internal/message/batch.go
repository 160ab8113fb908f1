package message

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A message is the table of a message.
type message struct {
	version int
	kind    int
	header  table
	body    int64 // length of the body
}

// The versions of the format, less 1.
const (
	version4 = 3
	version5 = 4
)

// parse returns the message in b, which must not change.
func parse(b []byte) (message, error) {
	f := newFlat(b)
	t := f.root()
	m := message{version: int(t.num(0, 2)), kind: int(t.num(1, 1)), body: t.num(3, 8)}
	header, ok := t.sub(2)
	switch m.header = header; {
	case f.err != nil:
		return m, f.err
	case m.version < version4 || m.version > version5:
		return m, unsupported("got version %d of the format, want 4 or 5", m.version+1)
	case !ok:
		return m, corrupt("got a message without a header")
	case m.body < 0 || m.body > math.MaxInt:
		return m, corrupt("got a body of %d bytes", m.body)
	}
	return m, nil
}

// A batch is the header of a batch of rows, or of values of a dictionary.
type batch struct {
	version  int
	rows     int64
	nodes    []byte // 16 bytes each: length, number of nulls
	buffers  []byte // 16 bytes each: offset in the body, length
	variadic []byte // 8 bytes each: number of buffers of an array of views
	codec    codec
}

// newBatch returns the batch in a table.
func newBatch(t table, version int) (batch, error) {
	vector := func(slot, width int) []byte {
		pos, n := t.vector(slot, width)
		return t.f.b[pos : pos+n*width]
	}
	b := batch{version, t.num(0, 8), vector(1, 16), vector(2, 16), vector(4, 8), none}
	if c, ok := t.sub(3); ok {
		b.codec = codec(c.num(0, 1))
		if method := c.num(1, 1); b.codec > zstandard || method != 0 {
			return b, unsupported("got codec %d and method %d, want lz4 (0) or zstd (1), and buffers (0)", b.codec, method)
		}
	}
	if t.f.err != nil {
		return b, t.f.err
	}
	if b.rows < 0 || b.rows > math.MaxInt {
		return b, corrupt("got %d rows", b.rows)
	}
	return b, nil
}

// A walk goes through the nodes and buffers of a batch, in the order of the fields of the schema.
// After an error, err is set and nothing is loaded.
type walk struct {
	batch
	body  []byte
	most  int64 // number of bytes that values without buffers may claim, and that may be allocated
	dicts dictionaries
	seen  func(n *node, nulls int64) // if not nil, called with each node
	skip  bool                       // whether the column is not loaded

	used  int64 // bytes of the body so far
	takes int64 // bytes that will be allocated
	fills []fill
	err   error
}

// A fill is a compressed buffer that is to be loaded.
type fill struct {
	to   *memory.Buffer
	name string
	from []byte
	size int
}

// fail sets the error, unless one is set already.
func (w *walk) fail(n *node, err error) {
	if w.err == nil {
		w.err = In("", "", n.name, err)
	}
}

// node returns the next node: the number of values, and of nulls. want is the number of values that
// the parent needs, or -1 if it needs none in particular.
func (w *walk) node(n *node, want int64) (length, nulls int64) {
	if len(w.nodes) < 16 {
		w.fail(n, corrupt("the batch has too few nodes"))
		return 0, 0
	}
	length, nulls = int64(le.Uint64(w.nodes)), int64(le.Uint64(w.nodes[8:]))
	w.nodes = w.nodes[16:]
	switch {
	case length < 0 || nulls < 0 || nulls > length:
		w.fail(n, corrupt("got %d values, %d of them null", length, nulls))
	case length < want:
		w.fail(n, corrupt("got %d values, want %d", length, want))
	}
	if want >= 0 {
		length = want
	}
	if w.err != nil {
		return 0, 0
	}
	if w.seen != nil {
		w.seen(n, nulls)
	}
	return length, nulls
}

// buffer returns the next buffer: the first count values of bits bits each, or all bytes if bits is
// 0. It returns nil if the column is not loaded.
func (w *walk) buffer(n *node, count, bits int64) *memory.Buffer {
	if len(w.buffers) < 16 {
		w.fail(n, corrupt("the batch has too few buffers"))
	}
	if w.err != nil {
		return nil
	}
	offset, size := int64(le.Uint64(w.buffers)), int64(le.Uint64(w.buffers[8:]))
	w.buffers = w.buffers[16:]
	all := int64(len(w.body))
	if offset < 0 || size < 0 || size > all || offset > all-size {
		w.fail(n, corrupt("got a buffer of %d bytes at byte %d of a body of %d bytes", size, offset, all))
		return nil
	}
	if w.used += size; w.used > all {
		w.fail(n, corrupt("the buffers have more bytes together than the body, which has %d", all))
		return nil
	}
	if count > (math.MaxInt64-7)/max(1, bits) {
		w.fail(n, corrupt("got %d values of %d bits", count, bits))
		return nil
	}
	b, need := w.body[offset:offset+size], (count*bits+7)/8
	if size > 0 && w.codec != none {
		return w.compressed(n, b, need, bits)
	}
	return w.plain(n, b, need, bits)
}

// plain returns a buffer that is not compressed.
func (w *walk) plain(n *node, b []byte, need, bits int64) *memory.Buffer {
	if int64(len(b)) < need {
		w.fail(n, corrupt("got a buffer of %d bytes, want %d", len(b), need))
		return nil
	}
	if w.skip {
		return nil
	}
	if bits > 0 {
		b = b[:need:need]
	}
	if !aligned(b) {
		w.takes += int64(len(b))
		b = append(make([]byte, 0, len(b)), b...) // no more than the body
	}
	return memory.NewBufferBytes(b)
}

// compressed returns a buffer that is filled later, unless it is stored as it is.
func (w *walk) compressed(n *node, b []byte, need, bits int64) *memory.Buffer {
	if w.skip {
		return nil
	}
	if len(b) < 8 {
		w.fail(n, corrupt("got a compressed buffer of %d bytes, want its size first", len(b)))
		return nil
	}
	size := int64(le.Uint64(b))
	if b = b[8:]; size == -1 {
		return w.plain(n, b, need, bits)
	}
	if size < need {
		w.fail(n, corrupt("got a compressed buffer of %d bytes, want %d", size, need))
		return nil
	}
	if size > w.codec.most(len(b)) {
		w.fail(n, corrupt("got %d bytes that say they are %d, compressed", len(b), size))
		return nil
	}
	if size > w.most-w.takes {
		w.fail(n, tooMuch(w.takes+size, w.most))
		return nil
	}
	w.takes += size
	to := memory.NewBufferBytes(nil)
	w.fills = append(w.fills, fill{to, n.name, b, int(size)})
	return to
}

// array returns the array of a node, or nil if the column is not loaded.
func (w *walk) array(n *node, want int64) arrow.ArrayData {
	if w.err != nil {
		return nil
	}
	if isView(n.stored) { // before the node, since it says how many buffers follow
		return w.views(n, want)
	}
	length, nulls := w.node(n, want)
	buffers, nulls := w.validity(n, length, nulls)
	var kids []arrow.ArrayData
	add := func(count, bits int64) { buffers = append(buffers, w.buffer(n, count, bits)) }
	all := func(want int64) {
		for _, kid := range n.kids {
			kids = append(kids, w.array(kid, want))
		}
	}
	offsets := func() int64 { return length + min(1, length) } // none for no values
	switch t := n.stored.(type) {
	case *arrow.NullType:
		w.bound(n, length)
		buffers, nulls = nil, length
	case *arrow.BinaryType, *arrow.StringType:
		add(offsets(), 32)
		add(0, 0)
	case *arrow.LargeBinaryType, *arrow.LargeStringType:
		add(offsets(), 64)
		add(0, 0)
	case *arrow.ListType, *arrow.MapType:
		add(offsets(), 32)
		all(-1)
	case *arrow.LargeListType:
		add(offsets(), 64)
		all(-1)
	case *arrow.ListViewType:
		add(length, 32)
		add(length, 32)
		all(-1)
	case *arrow.LargeListViewType:
		add(length, 64)
		add(length, 64)
		all(-1)
	case *arrow.FixedSizeListType:
		w.bound(n, length)
		if length > math.MaxInt64/int64(t.Len()) {
			w.fail(n, corrupt("got %d lists of %d values", length, t.Len()))
			return nil
		}
		all(length * int64(t.Len()))
	case *arrow.StructType:
		w.bound(n, length)
		all(length)
	case *arrow.DenseUnionType:
		add(length, 8)
		add(length, 32)
		all(-1)
	case *arrow.SparseUnionType:
		add(length, 8)
		all(length)
	case *arrow.RunEndEncodedType:
		w.bound(n, length)
		all(-1)
	case *arrow.DictionaryType:
		add(length, int64(t.IndexType.(arrow.FixedWidthDataType).BitWidth()))
	case arrow.FixedWidthDataType:
		if t.BitWidth() == 0 {
			w.bound(n, length)
		}
		add(length, int64(t.BitWidth()))
	default:
		w.fail(n, unsupported("got type %v", n.typ))
	}
	return w.data(n, length, buffers, kids, nulls)
}

// bound checks a number of values that may have no buffer.
func (w *walk) bound(n *node, length int64) {
	if length > w.most {
		w.fail(n, fmt.Errorf("%w: got %d values that need no bytes, want at most %d: raise MaxMemory", ErrMemory, length, w.most))
	}
}

// validity returns the bitmap of the values that are not null, as the first of the buffers, and the
// number of nulls, which the library counts if there are any.
func (w *walk) validity(n *node, length, nulls int64) ([]*memory.Buffer, int64) {
	switch n.stored.ID() {
	case arrow.NULL:
		return nil, nulls
	case arrow.DENSE_UNION, arrow.SPARSE_UNION, arrow.RUN_END_ENCODED:
		if w.version == version5 {
			return []*memory.Buffer{nil}, 0
		}
	}
	if nulls == 0 {
		was := w.skip
		w.skip = true // counted, but not used
		w.buffer(n, 0, 0)
		w.skip = was
		return []*memory.Buffer{nil}, 0
	}
	return []*memory.Buffer{w.buffer(n, length, 1)}, array.UnknownNullCount
}

// isView reports whether arrays of a type are views of a variable number of buffers.
func isView(t arrow.DataType) bool {
	return t.ID() == arrow.BINARY_VIEW || t.ID() == arrow.STRING_VIEW
}

// views returns an array of views.
func (w *walk) views(n *node, want int64) arrow.ArrayData {
	if len(w.variadic) < 8 {
		w.fail(n, corrupt("the batch has too few numbers of buffers of views"))
		return nil
	}
	count := le.Uint64(w.variadic)
	if w.variadic = w.variadic[8:]; count > uint64(len(w.buffers)/16) {
		w.fail(n, corrupt("got %d buffers of views, want at most %d", count, len(w.buffers)/16))
		return nil
	}
	length, nulls := w.node(n, want)
	buffers, nulls := w.validity(n, length, nulls)
	buffers = append(buffers, w.buffer(n, length, 128))
	for range count {
		buffers = append(buffers, w.buffer(n, 0, 0))
	}
	return w.data(n, length, buffers, nil, nulls)
}

// data returns the array, unless it is not loaded.
func (w *walk) data(n *node, length int64, buffers []*memory.Buffer, kids []arrow.ArrayData, nulls int64) arrow.ArrayData {
	if w.err != nil || w.skip {
		return nil
	}
	d := array.NewData(n.typ, int(length), buffers, kids, int(nulls), 0)
	if n.values != nil {
		dict, err := w.dicts.get(n.id)
		if err != nil {
			w.fail(n, err)
			return nil
		}
		d.SetDictionary(dict)
	}
	return d
}

// end checks that the fields have used up the batch, and loads the compressed buffers.
func (w *walk) end(room *room) error {
	if w.err == nil && len(w.nodes)+len(w.buffers)+len(w.variadic) > 0 {
		w.err = corrupt("the batch has %d nodes and %d buffers more than the schema", len(w.nodes)/16, len(w.buffers)/16)
	}
	if w.err == nil {
		w.err = room.fill(w.codec, w.fills)
	}
	return w.err
}
