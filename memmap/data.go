package memmap

import (
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// maxValues is how many values are read of one meta.json, those in lists and objects counted. Each
// takes memory many times its text; an object and its fields take as much as so many values.
const (
	maxValues   = 3 << 20
	objectCosts = 4
	fieldCosts  = 2
)

// data returns one value for all rows, which is Python's NonTensorData: a node with nothing but a
// meta.json.
func (r *reader) data(n tree, m *meta, e *metaEntry, batch shapeops.Shape) (tdict.Value, error) {
	if m.data == nil {
		return nil, r.pickled(n, e, "other.pickle")
	}
	if e != nil && e.fact.batch != nil {
		batch = e.fact.batch
	}
	v, err := (&valueReader{Scanner: jsonscan.New(m.data)}).value(0)
	if err != nil {
		return nil, r.fail(n, metaName, dataError(err))
	}
	d, err := tdict.NewData(v, batch...)
	if err != nil {
		return nil, r.fail(n, metaName, corrupt("%w", err))
	}
	return fixed(d), nil
}

// pickled says that the data of an entry was pickled, or nothing if it is to be passed over.
func (r *reader) pickled(n tree, e *metaEntry, file string) error {
	if !n.has(file) {
		return r.fail(n, metaName, corrupt("neither data nor %s", file))
	}
	if r.opt.SkipPickled {
		return nil
	}
	name, class := "", dataClass
	if e != nil {
		name, class = e.name, e.class
	}
	return r.fail(n, file, unsupported("entry %s, a %s, is pickled, which is never executed: leave it out with SkipPickled", quote(name), printable(class)))
}

// dataStack returns a value for each row, which is Python's NonTensorStack.
func (r *reader) dataStack(n tree, m *meta, e *metaEntry, batch shapeops.Shape) (tdict.Value, error) {
	if m.data == nil {
		return nil, r.fail(n, metaName, unsupported("a NonTensorStack of directories"))
	}
	if string(m.data) == `"pickle.pkl"` {
		return nil, r.pickled(n, e, "pickle.pkl")
	}
	d, err := stacked(m.data, e, batch)
	if err != nil {
		return nil, r.fail(n, metaName, dataError(err))
	}
	return fixed(d), nil
}

// stacked returns the data whose rows are a list, nested as often as the batch shape has dims. That
// shape is what the native field of e says, or, as for Python, as many dims as lists of equal
// length are nested.
func stacked(text []byte, e *metaEntry, batch shapeops.Shape) (*tdict.Data, error) {
	r := &valueReader{Scanner: jsonscan.New(text)}
	v, err := r.value(0)
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

// commonLength returns the length of all lists, or false if not all values are lists of one length.
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

// dataError returns an error of reading a value as one of ErrCorrupt, or of ErrUnsupported if it is
// something that Python has and Data has not.
func dataError(err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) {
		return err
	}
	return unsupported("data: %w", err)
}

// A valueReader reads the values of data.
type valueReader struct {
	*jsonscan.Scanner
	count   int // of values, and of what takes as much memory
	objects int // around what is read
}

// add counts more values.
func (r *valueReader) add(n int) error {
	if r.count += n; r.count > maxValues {
		return unsupported("data that takes the memory of more than %d values", maxValues)
	}
	return nil
}

// value reads a value, which is nested so deep.
func (r *valueReader) value(depth int) (any, error) {
	if err := r.add(1); err != nil {
		return nil, err
	}
	if depth > tdict.MaxDepth {
		return nil, unsupported("data nested more than %d deep", tdict.MaxDepth)
	}
	switch r.Next() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		text, err := r.Text()
		return string(text), err
	case 't', 'f':
		return r.Bool()
	case 'n':
		return nil, r.Null()
	}
	return r.Number()
}

func (r *valueReader) list(depth int) (any, error) {
	list := []any{}
	err := r.Array(func(int) error {
		v, err := r.value(depth + 1)
		list = append(list, v)
		return err
	})
	return list, err
}

func (r *valueReader) object(depth int) (any, error) {
	before := r.count
	fields, err := r.fields(depth)
	if err == nil && r.objects > 0 { // those around it copy it
		err = r.add(r.count - before)
	}
	if err != nil {
		return nil, err
	}
	return tdict.NewObject(fields...)
}

// fields reads the fields of an object. Of those of one name the last counts, as for Python.
func (r *valueReader) fields(depth int) ([]tdict.Field, error) {
	r.objects++
	defer func() { r.objects-- }()
	at := fieldIndex{}
	err := r.add(objectCosts)
	if err != nil {
		return nil, err
	}
	err = r.Object(func(name []byte) error {
		if err := r.add(fieldCosts); err != nil {
			return err
		}
		v, err := r.value(depth + 1)
		at.set(string(name), v)
		return err
	})
	return at.fields, err
}

// A fieldIndex is fields that are found by their names.
type fieldIndex struct {
	fields []tdict.Field
	at     map[string]int // once there are many
}

func (x *fieldIndex) set(name string, v any) {
	if i := x.find(name); i >= 0 {
		x.fields[i].Value = v
		return
	}
	x.fields = append(x.fields, tdict.Field{Name: name, Value: v})
	const few = 16
	if x.at == nil && len(x.fields) == few {
		x.at = map[string]int{}
		for i, f := range x.fields {
			x.at[f.Name] = i
		}
	}
	if x.at != nil {
		x.at[name] = len(x.fields) - 1
	}
}

// find returns the number of a field, or -1 if there is none of that name.
func (x *fieldIndex) find(name string) int {
	if x.at == nil {
		return slices.IndexFunc(x.fields, func(f tdict.Field) bool { return f.Name == name })
	}
	if i, ok := x.at[name]; ok {
		return i
	}
	return -1
}

// data adds values that are no tensors to what is saved.
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
	if one, ok := d.Uniform(); ok || d.Shape().Size() == 0 {
		e.class = dataClass
		inner.text = dataText(one)
	} else {
		if mistaken(d) {
			return s.fail(inner.at, unsupported("rows that are lists of one length, which Python would take for more rows"))
		}
		e.class = dataStackClass
		inner.text = dataStackText(d)
	}
	if len(inner.text) > maxMeta {
		return s.fail(inner.at, unsupported("got %d bytes of data, want at most %d", len(inner.text), maxMeta))
	}
	s.nodes = append(s.nodes, inner)
	return nil
}

// mistaken reports whether Python would read rows of d as further dims: all in one innermost list
// that are lists of one length.
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
	b := appendValue([]byte(`{"_type":"<class 'tensordict.tensorclass.NonTensorData'>","data":`), v)
	return append(b, `,"_is_non_tensor":true,"_metadata":null}`...)
}

// dataStackText returns the meta.json of a value for each row.
func dataStackText(d *tdict.Data) []byte {
	b := []byte(`{"_type":"<class 'tensordict.tensorclass.NonTensorStack'>","stack_dim":0,"device":null,"data":`)
	values := slices.Collect(d.All())
	return append(appendRows(b, d.Shape(), &values), '}')
}

// appendRows appends the next values as lists nested as shape says.
func appendRows(b []byte, shape shapeops.Shape, values *[]any) []byte {
	if len(shape) == 0 {
		b = appendValue(b, (*values)[0])
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

// appendValue appends a value as JSON, numbers that are none as Python spells them.
func appendValue(b []byte, v any) []byte {
	return jsonlists.Values{Text: jsonlists.AppendText[string], Python: true}.Append(b, v)
}

// fixed returns data that keeps its values.
func fixed(d *tdict.Data) *tdict.Data {
	return d.Plan().(interface{ Fixed() *tdict.Data }).Fixed()
}
