package ragged

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

const logOver = 16 // LogValue shows at most this number of rows and elements

// MarshalJSON returns dtype, shape and the rows as nested lists:
//
//	{"dtype":"int64","shape":"[3 *]","values":[[1,2],[],[3]]}
//
// An element that JSON has no number for is a string: "NaN", "+Inf", "-Inf", "(1+2i)". A NaN loses
// its payload. At depth 0, where no star separates batch dims from features, "feature_dims" is the
// number of feature dims. The zero Tensor is null.
//
// MarshalJSON returns shapeops.ErrShape for more than 1<<24 rows and elements (use
// [Tensor.Preview]) or more than 400 dims. It returns another error if values cannot be read.
func (t *Tensor) MarshalJSON() ([]byte, error) { return ops{t}.AppendJSON(nil) }

// AppendJSON implements tensor.Ops.
func (t ops) AppendJSON(b []byte) ([]byte, error) {
	if !t.made() {
		return append(b, "null"...), nil
	}
	if n := t.dims(); n > jsonlists.MaxDims {
		return b, fmt.Errorf("%w: got %d dims, want at most %d in JSON", shapeops.ErrShape, n, jsonlists.MaxDims)
	}
	if t.moreThan(jsonlists.MaxElements) {
		return b, fmt.Errorf("%w: got %s, want at most %d rows and elements in JSON: use Preview(n)",
			shapeops.ErrShape, t.Text(), jsonlists.MaxElements)
	}
	return t.appendNode(b, `{"dtype":`)
}

// moreThan reports whether t has more than n rows, of all levels, and elements.
func (t *Tensor) moreThan(n int) bool {
	values := t.NumValues()
	return values > n || values > 0 && t.Features().Size() > n/values || t.sizeOf() > n
}

// appendNode appends t as a JSON object that begins with open.
func (t *Tensor) appendNode(b []byte, open string) ([]byte, error) {
	out, err := t.appendLists(append(t.appendHead(b, open), `,"values":`...))
	if err != nil {
		return b, err
	}
	return append(out, '}'), nil
}

// appendHead appends open and the fields before values.
func (t *Tensor) appendHead(b []byte, open string) []byte {
	b = jsonlists.AppendText(append(b, open...), t.DType().String())
	b = jsonlists.AppendText(append(b, `,"shape":`...), t.shapeText())
	if n := len(t.Features()); t.Depth() == 0 && n > 0 {
		b = fmt.Appendf(b, `,"feature_dims":%d`, n)
	}
	return b
}

// appendLists appends the rows as nested lists.
func (t *Tensor) appendLists(b []byte) ([]byte, error) {
	s, err := t.compact(nil)
	if err != nil {
		return b, err
	}
	data, err := bytesOf(s.values)
	if err != nil {
		return b, err
	}
	levels := make([][]int64, s.Depth())
	for at := s.layout; at.depth > 0; at = at.outer {
		levels[at.depth-1] = at.offsets
	}
	l := jsonlists.Lists{
		DType: s.DType().String(), Batch: s.Shape(), Levels: levels, Features: s.Features(), Data: data,
	}
	return l.Append(b), nil
}

// bytesOf returns the elements of x as bytes, row-major. It returns tensor.ErrDType for a bool that
// is neither 0 nor 1.
func bytesOf(x *tensor.Tensor) ([]byte, error) {
	if x.DType() == tensor.Bool {
		if err := tensor.Read(x, func([]bool) {}); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	_, err := x.WriteTo(&b)
	return b.Bytes(), err
}

// UnmarshalJSON sets t, which must be the zero Tensor, from the text of MarshalJSON. Fields may
// come in any order, and infinities also as "Infinity" and "-Infinity". null leaves t unchanged.
//
// It returns tensor.ErrJSON, with the byte offset or the number of the element, if the text is not
// a ragged tensor, has unknown fields or is a preview; shapeops.ErrKind if t is not the zero
// Tensor; and shapeops.ErrShape. On an error nothing has changed. It allocates memory only for
// elements that the text contains.
func (t *Tensor) UnmarshalJSON(text []byte) error {
	node, lists, err := jsonlists.Parse(text)
	switch {
	case node == nil || err != nil:
		return err
	case t == nil || t.made():
		return fmt.Errorf("%w: got a tensor with a dtype, or nil, want a pointer to the zero Tensor", shapeops.ErrKind)
	case node.Stars == "":
		return fmt.Errorf(`%w: got the shape %v, want the shape of a ragged tensor, such as "[3 *]"`, tensor.ErrJSON, node.Shape)
	}
	return ops{t}.Read(lists)
}

// Read implements [jsonlists.Reader].
func (v ops) Read(l *jsonlists.Lists) error {
	layout, err := NewLayout(l.Batch, l.Levels...)
	if err != nil {
		return err
	}
	dtype, err := tensor.ParseDType(l.DType)
	if err != nil {
		return err
	}
	values, err := tensor.FromBytes(dtype, l.Data, append(shapeops.Shape{layout.numbered()}, l.Features...)...)
	if err != nil {
		return err
	}
	t, err := New(values, layout)
	if err == nil {
		*v.Tensor = *t
	}
	return err
}

// Preview returns a json.Marshaler of a bounded form of t, for people and their tools. It has
// dtype, shape and, if t has more than n rows and elements, at most the first n elements in one
// list:
//
//	{"preview":3,"dtype":"int64","shape":"[900 * *]","first":[7,7,1]}
//
// UnmarshalJSON refuses it.
func (t *Tensor) Preview(n int) json.Marshaler {
	return jsonlists.Marshaler(func() ([]byte, error) { return t.preview(jsonlists.PreviewSize(n)) })
}

func (t *Tensor) preview(n int) ([]byte, error) {
	if !t.made() {
		return []byte("null"), nil
	}
	open := fmt.Sprintf(`{"preview":%d,"dtype":`, n)
	if !t.moreThan(n) {
		return t.appendNode(nil, open)
	}
	first, err := t.first(n)
	if err != nil {
		return nil, err
	}
	data, err := bytesOf(first)
	if err != nil {
		return nil, err
	}
	l := jsonlists.Lists{DType: t.DType().String(), Batch: first.Shape(), Data: data}
	return append(l.Append(append(t.appendHead(nil, open), `,"first":`...)), '}'), nil
}

// first returns at most the first n elements of t's values, as one dim.
func (t *Tensor) first(n int) (*tensor.Tensor, error) {
	rows := (max(n, 1)-1)/max(1, t.Features().Size()) + 1
	var m rowsMaker
	looked := 0
	for row := range t.layout.root().rows.All() {
		from, to := t.layout.extent(row, 1)
		m.take(0, from, min(to-from, rows-m.made))
		if looked++; m.made == rows || looked == jsonlists.MaxElements {
			break
		}
	}
	layout, err := NewLayout(shapeops.Shape{m.made})
	if err != nil {
		return nil, err
	}
	m.layout = layout
	first, err := t.copied(nil, &m.moved, t)
	if err != nil {
		return nil, err
	}
	values := first.values
	if values, err = values.Reshape(values.Size()); err != nil {
		return nil, err
	}
	return values.Narrow(0, 0, min(n, values.Size()))
}

// LogValue implements slog.LogValuer: a line with dtype, shape and, if there are at most 16 rows
// and elements, the rows.
func (t *Tensor) LogValue() slog.Value {
	if !t.made() {
		return slog.StringValue("<nil>")
	}
	if t.sizeOf() > logOver {
		return slog.StringValue(t.Text())
	}
	text, err := t.appendLists(nil)
	if err != nil {
		return slog.StringValue(fmt.Sprintf("%s: %v", t.Text(), err))
	}
	return slog.StringValue(t.Text() + " " + string(text))
}
