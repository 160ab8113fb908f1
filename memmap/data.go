package memmap

import (
	"errors"
	"hash/crc32"
	"slices"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// data returns one value for all rows: Python's NonTensorData, a directory with nothing but a
// meta.json.
func (r *reader) data(n tree, m *meta, e *metaEntry, batch shapeops.Shape) (tdict.Value, error) {
	if m.data == nil {
		return nil, r.pickled(n, e, "other.pickle")
	}
	if e != nil && e.fact.batch != nil {
		batch = e.fact.batch
	}
	v, err := datajson.New(m.data).Value()
	if err != nil {
		return nil, r.fail(n, metaName, datajson.Failed(err))
	}
	d, err := tdict.NewData(v, batch...)
	if err != nil {
		return nil, r.fail(n, metaName, corrupt("%w", err))
	}
	return datajson.Fixed(d), nil
}

// pickled returns the error for an entry that Python has pickled, or nil if it is to be left out.
func (r *reader) pickled(n tree, e *metaEntry, file string) error {
	if !n.has(file) {
		return r.fail(n, metaName, corrupt("got neither a field \"data\" nor a file %s", file))
	}
	if r.skips(n, file) {
		return nil
	}
	name, class := "", dataClass
	if e != nil {
		name, class = e.name, e.class
	}
	return r.fail(n, file, unsupported("entry %s, a %s, is pickled, and pickles are never executed: leave it out with SkipPickled", quote(name), printable(class)))
}

// skips reports whether a pickle is left out, and tells the caller of OpenWith.
func (r *reader) skips(n tree, file string) bool {
	if r.opt.SkipPickled && r.opt.Skipped != nil {
		if at, ok := errors.AsType[*DatasetError](r.fail(n, file, ErrUnsupported)); ok {
			r.opt.Skipped(at.Path)
		}
	}
	return r.opt.SkipPickled
}

// dataStack returns a value for each row: Python's NonTensorStack.
func (r *reader) dataStack(n tree, m *meta, e *metaEntry, batch shapeops.Shape) (tdict.Value, error) {
	if m.data == nil && r.skips(n, metaName) {
		return nil, nil
	}
	if m.data == nil {
		return nil, r.fail(n, metaName, unsupported("a NonTensorStack with a directory for each row, want its rows in the field \"data\""))
	}
	if string(m.data) == `"pickle.pkl"` {
		return nil, r.pickled(n, e, "pickle.pkl")
	}
	d, err := stacked(m.data, e, batch)
	if err != nil {
		return nil, r.fail(n, metaName, datajson.Failed(err))
	}
	return datajson.Fixed(d), nil
}

// stacked returns the data of a list of rows, nested one level for each batch dim. The batch shape
// is the one in the native field of e. Without that field, each level of lists with equal lengths
// is a dim, as in Python.
func stacked(text []byte, e *metaEntry, batch shapeops.Shape) (*tdict.Data, error) {
	v, err := datajson.New(text).Value()
	if err != nil {
		return nil, err
	}
	if _, ok := v.([]any); !ok {
		return nil, corrupt("data: want a list of rows")
	}
	rows, shape := []any{v}, shapeops.Shape{}
	for dims := -1; ; {
		n, ok := commonLength(rows)
		if e != nil && e.fact.batch != nil {
			dims = len(e.fact.batch)
		}
		if !ok || dims == len(shape) {
			break
		}
		shape = append(shape, n)
		rows = slices.Concat(lists(rows)...)
		if n == 0 {
			break
		}
	}
	if e != nil && e.fact.batch != nil && !shape.Equal(e.fact.batch) {
		return nil, corrupt("data: %w: got rows %v, want %v", shapeops.ErrShape, shape, e.fact.batch)
	}
	if !shape.HasPrefix(batch) {
		return nil, corrupt("data: %w: got rows %v, want a shape that begins with %v", shapeops.ErrShape, shape, batch)
	}
	return tdict.DataFrom(rows, shape...)
}

// commonLength returns the common length of all lists. It reports false if a value is not a list,
// or the lengths differ.
func commonLength(values []any) (int, bool) {
	length := -1
	for _, v := range values {
		list, ok := v.([]any)
		if !ok || length >= 0 && len(list) != length {
			return 0, false
		}
		length = len(list)
	}
	return length, length >= 0
}

func lists(values []any) [][]any {
	out := make([][]any, len(values))
	for i, v := range values {
		out[i] = v.([]any)
	}
	return out
}

// data plans to save d as the entry e of n.
func (s *saver) data(n *savedNode, e *metaEntry, d *tdict.Data) error {
	inner, err := s.claimNode(n, e.name)
	if err == nil {
		err = s.fail(inner.at, checkShape(d.Shape()))
	}
	if err != nil {
		return err
	}
	if !d.Shape().Equal(n.meta.shape) {
		e.fact.batch = d.Shape().Clone()
	}
	if one, ok := datajson.Shared(d); ok || d.Shape().Size() == 0 {
		e.class = dataClass
		inner.text = dataText(one)
	} else {
		if mistaken(d) {
			return s.fail(inner.at, unsupported("the values of all rows of an innermost list are lists of the same length, which Python would read as a further dim of rows"))
		}
		e.class = dataStackClass
		inner.text = dataStackText(d)
	}
	if len(inner.text) > maxMeta {
		return s.fail(inner.at, unsupported("got %d bytes of data, want at most %d", len(inner.text), maxMeta))
	}
	e.fact.sums = []uint32{crc32.Checksum(inner.text, tdc.Castagnoli)}
	s.nodes = append(s.nodes, inner)
	return nil
}

// mistaken reports whether Python would read rows of d as further dims: whether all rows of an
// innermost list are lists of one length.
func mistaken(d *tdict.Data) bool {
	shape := d.Shape()
	for rows := range slices.Chunk(slices.Collect(d.All()), shape[len(shape)-1]) {
		if _, ok := commonLength(rows); ok {
			return true
		}
	}
	return false
}

// dataText returns the meta.json of one value for all rows.
func dataText(v any) []byte {
	b := datajson.Append([]byte(`{"_type":"<class 'tensordict.tensorclass.NonTensorData'>","data":`), v)
	return append(b, `,"_is_non_tensor":true,"_metadata":null}`...)
}

// dataStackText returns the meta.json of a value for each row.
func dataStackText(d *tdict.Data) []byte {
	b := []byte(`{"_type":"<class 'tensordict.tensorclass.NonTensorStack'>","stack_dim":0,"device":null,"data":`)
	values := slices.Collect(d.All())
	return append(appendRows(b, d.Shape(), &values), '}')
}

// appendRows appends the next values as nested lists of the given shape.
func appendRows(b []byte, shape shapeops.Shape, values *[]any) []byte {
	if len(shape) == 0 {
		b = datajson.Append(b, (*values)[0])
		*values = (*values)[1:]
		return b
	}
	b = append(b, '[')
	for i := range shape[0] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRows(b, shape[1:], values)
	}
	return append(b, ']')
}
