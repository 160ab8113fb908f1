package tensor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/shape"
)

// ErrJSON says that UnmarshalJSON of a tensor, or of a value that holds tensors, cannot read its
// text.
var ErrJSON = jsonscan.ErrSyntax

const logElements = 16 // LogValue shows at most these

// MarshalJSON returns dtype, shape and the elements as nested lists, which [Tensor.UnmarshalJSON]
// reads:
//
//	{"dtype":"float32","shape":[2,2],"values":[[0,1],[2,3]]}
//
// An element that JSON has no number for is a string: "NaN", "+Inf", "-Inf", "(1+2i)". A NaN loses
// its payload. The zero Tensor is null. MarshalJSON returns shape.ErrShape for more than 1<<24
// elements (use [Tensor.Preview]) or more than 400 dims, and [ErrMeta] if t is on device [Meta].
func (t *Tensor) MarshalJSON() ([]byte, error) { return t.Ops().AppendJSON(nil) }

// AppendJSON implements [Ops].
func (v *ops) AppendJSON(b []byte) ([]byte, error) {
	t := (*Tensor)(v)
	if t == nil || t.dtype == 0 {
		return append(b, "null"...), nil
	}
	if err := t.checkJSON(); err != nil {
		return b, err
	}
	return t.appendNode(b, `{"dtype":`)
}

// appendNode appends t as a JSON object that begins with open.
func (t *Tensor) appendNode(b []byte, open string) ([]byte, error) {
	out, err := t.appendLists(append(t.appendHead(b, open), `,"values":`...))
	if err != nil {
		return b, err
	}
	return append(out, '}'), nil
}

// appendHead appends open and the fields dtype and shape.
func (t *Tensor) appendHead(b []byte, open string) []byte {
	b = jsonlists.AppendText(append(b, open...), t.dtype.String())
	return jsonlists.AppendInts(append(b, `,"shape":`...), t.view.Shape)
}

func (t *Tensor) checkJSON() error {
	if n := len(t.view.Shape); n > jsonlists.MaxDims {
		return fmt.Errorf("%w: got %d dims, want at most %d in JSON", shape.ErrShape, n, jsonlists.MaxDims)
	}
	if t.Size() > jsonlists.MaxElements {
		return fmt.Errorf("%w: got %v %v, want at most %d elements in JSON: use Preview(n)",
			shape.ErrShape, t.dtype, t.view.Shape, jsonlists.MaxElements)
	}
	return nil
}

// appendLists appends the elements of t as nested lists.
func (t *Tensor) appendLists(b []byte) ([]byte, error) {
	l := jsonlists.Lists{DType: t.dtype.String(), Batch: t.view.Shape}
	switch {
	case t.Device() == Meta:
		return b, ErrMeta
	case t.Size() == 0:
		return l.Append(b), nil
	}
	x, err := t.inOrder()
	if err != nil {
		return b, err
	}
	out, failed := b, error(nil)
	err = x.use(func(mem []byte) {
		if l.Data = x.own(mem); x.dtype == Bool {
			_, failed = typedBytes[bool](Bool, l.Data)
		}
		if failed == nil {
			out = l.Append(b)
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		return b, err
	}
	return out, nil
}

// UnmarshalJSON sets t, which must be the zero Tensor, from the text of MarshalJSON. Fields may be
// in any order. Infinities may also be spelled "Infinity" and "-Infinity". null leaves t unchanged.
//
// It returns [ErrJSON], with the byte offset or the number of the element, if the text is not a
// tensor, has unknown fields or is a preview; [ErrKind] if t is not the zero Tensor, since a header
// never changes; and shape.ErrShape. On an error nothing has changed. It allocates memory only
// for elements that the text contains.
func (t *Tensor) UnmarshalJSON(text []byte) error {
	node, lists, err := jsonlists.Parse(text)
	switch {
	case node == nil || err != nil:
		return err
	case t == nil || t.dtype != 0:
		return fmt.Errorf("%w: got a tensor with a dtype, or nil, want a pointer to the zero Tensor", ErrKind)
	case node.Stars != "":
		return fmt.Errorf("%w: got the shape %.40s of a ragged tensor, want only sizes", ErrJSON, node.Stars)
	}
	return (*ops)(t).Read(lists)
}

// Read implements [jsonlists.Reader].
func (v *ops) Read(l *jsonlists.Lists) error {
	dtype, err := ParseDType(l.DType)
	if err != nil {
		return err
	}
	t, err := FromBytes(dtype, l.Data, l.Batch...)
	if err == nil {
		*v = ops(*t)
	}
	return err
}

// Preview returns a json.Marshaler of a bounded form of t, for people and their tools. It has
// dtype, shape and, if t has more than n elements, the first n of them in a list:
//
//	{"preview":3,"dtype":"float32","shape":[84,84],"first":[0,0.5,1]}
//
// UnmarshalJSON refuses it.
func (t *Tensor) Preview(n int) json.Marshaler {
	return jsonlists.Marshaler(func() ([]byte, error) { return t.preview(jsonlists.PreviewSize(n)) })
}

func (t *Tensor) preview(n int) ([]byte, error) {
	if t == nil || t.dtype == 0 {
		return []byte("null"), nil
	}
	open := fmt.Sprintf(`{"preview":%d,"dtype":`, n)
	if t.Size() <= n {
		return t.appendNode(nil, open)
	}
	first, err := t.first(n)
	if err != nil {
		return nil, err
	}
	text, err := first.appendLists(append(t.appendHead(nil, open), `,"first":`...))
	return append(text, '}'), err
}

// first returns the first n elements of t, which has more, as one dim. It reads fewer than 2n
// elements.
func (t *Tensor) first(n int) (*Tensor, error) {
	v := t.view
	v.Shape = v.Shape.Clone()
	after := 1 // the number of elements kept of each position
	for i := len(v.Shape) - 1; i >= 0; i-- {
		v.Shape[i] = min(v.Shape[i], (max(n, 1)-1)/after+1)
		after *= v.Shape[i]
	}
	few, err := (&Tensor{t.dtype, v, t.mem}).Clone()
	if err != nil {
		return nil, err
	}
	return FromBytes(t.dtype, few.mem.bytes[:n*t.dtype.Size()], n)
}

// LogValue implements slog.LogValuer: a line with dtype, shape and, if there are at most 16, the
// elements.
func (t *Tensor) LogValue() slog.Value {
	if t == nil {
		return slog.StringValue("<nil>")
	}
	text := fmt.Sprintf("%v %v", t.dtype, t.view.Shape)
	if t.Size() > logElements {
		return slog.StringValue(text)
	}
	values, err := t.appendLists(nil)
	if err != nil {
		return slog.StringValue(fmt.Sprintf("%s: %v", text, err))
	}
	return slog.StringValue(text + " " + string(values))
}
