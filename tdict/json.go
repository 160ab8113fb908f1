package tdict

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/shapeops"
)

// MarshalJSON returns the batch shape, the names of dims and the class if there are any, and the
// entries in order, with every element. [TensorDict.UnmarshalJSON] reads the text.
//
//	{"batch":[2],"names":["time"],"entries":{"x":{"dtype":"int8","shape":[2],"values":[0,1]}}}
//
// Names of entries are not escaped: the name km/h is "km/h" in the JSON, though its key is "km~1h".
// Tensors and ragged tensors read back with the same bits, except for the payload of NaN; their NaN
// and infinities are written as the strings "NaN", "+Inf" and "-Inf". In [Data], a float64 has a
// point or an exponent and an int64 has none. NaN and infinities in Data are written as the strings
// "NaN", "Infinity" and "-Infinity", and read back as strings. The text does not say which
// dictionaries are locked, or which leaves share memory or a ragged layout.
//
// MarshalJSON returns shapeops.ErrShape, with the key, for a leaf of more than 1<<24 elements: use
// [TensorDict.Preview]. It returns [ErrDepth] for dictionaries that are nested more than 256 deep,
// and an error if a leaf cannot be read.
func (td *TensorDict) MarshalJSON() ([]byte, error) { return td.Ops().AppendJSON(nil) }

// AppendJSON implements tensor.Ops.
func (td dictOps) AppendJSON(b []byte) ([]byte, error) {
	if td.TensorDict == nil {
		return append(b, "null"...), nil
	}
	out, err := td.appendJSON(b, `{"batch":`, 0, ops.json)
	if err != nil {
		return b, failed("marshal", err)
	}
	return out, nil
}

// appendJSON appends the object of td, which is nested depth deep. The object begins with open;
// leaf appends each leaf.
func (td *TensorDict) appendJSON(b []byte, open string, depth int, leaf appendLeaf) (_ []byte, err error) {
	if depth > MaxDepth {
		return nil, errDepth
	}
	if err := checkDims(td.batch); err != nil {
		return nil, err
	}
	b = jsonlists.AppendInts(append(b, open...), td.batch)
	for i, name := range td.names {
		if i == 0 {
			b = append(b, `,"names":`...)
		}
		b = append(b, "[,"[min(i, 1)])
		if name == "" {
			b = append(b, "null"...)
		} else {
			b = jsonlists.AppendText(b, name)
		}
	}
	if td.names != nil {
		b = append(b, ']')
	}
	if td.class != "" {
		b = jsonlists.AppendText(append(b, `,"class":`...), td.class)
	}
	b = append(b, `,"entries":{`...)
	comma := ""
	for name, v := range td.entries.all() {
		b = jsonlists.AppendText(append(b, comma...), name.Name())
		b, comma = append(b, ':'), ","
		if d, ok := v.(*TensorDict); ok {
			b, err = d.appendJSON(b, open, depth+1, leaf)
		} else {
			b, err = leaf(opsOf(v), v, b)
		}
		if err != nil {
			return nil, within("marshal", name, err)
		}
	}
	return append(b, "}}"...), nil
}

// checkDims returns ErrShape for a shape with more dims than UnmarshalJSON reads.
func checkDims(s shapeops.Shape) error {
	if len(s) > jsonlists.MaxDims {
		return fmt.Errorf("%w: got %d dims, want at most %d in JSON", shapeops.ErrShape, len(s), jsonlists.MaxDims)
	}
	return nil
}

// appendLeaf appends the object of the leaf v. k is opsOf(v).
type appendLeaf func(k ops, v Value, b []byte) ([]byte, error)

// Preview returns JSON of bounded size for people and their tools. It has at most the first n
// elements of each leaf; if there are more, they are under "first" instead of "values". Texts of
// [Data] are cut after 200 bytes. Apart from the names of the entries, the size is proportional to
// the number of leaves times n.
//
//	{"preview":2,"batch":[9],"entries":{"x":{"preview":2,"dtype":"int8","shape":[9],"first":[0,1]}}}
//
// UnmarshalJSON does not accept it.
func (td *TensorDict) Preview(n int) json.Marshaler {
	return jsonlists.Marshaler(func() ([]byte, error) { return td.preview(jsonlists.PreviewSize(n)) })
}

func (td *TensorDict) preview(n int) ([]byte, error) {
	if td == nil {
		return []byte("null"), nil
	}
	text, err := td.appendJSON(nil, previewOpen(n)+`"batch":`, 0, func(k ops, v Value, b []byte) ([]byte, error) {
		part, err := k.preview(v, n)
		return append(b, part...), err
	})
	return text, failed("marshal", err)
}

// previewOpen returns the beginning of the object of a preview.
func previewOpen(n int) string { return fmt.Sprintf(`{"preview":%d,`, n) }

// MarshalJSON returns the batch shape and the tensor, or null for the zero Unbatched. It returns
// the errors of [tensor.Tensor.MarshalJSON].
func (u *Unbatched) MarshalJSON() ([]byte, error) { return unbatchedOps{u}.AppendJSON(nil) }

// AppendJSON implements typedOps.
func (u unbatchedOps) AppendJSON(b []byte) ([]byte, error) {
	if !u.valid() {
		return append(b, "null"...), nil
	}
	if err := checkDims(u.shape); err != nil {
		return b, err
	}
	out, err := u.tensor.Ops().AppendJSON(u.appendHead(b, "{"))
	if err != nil {
		return b, err
	}
	return append(out, '}'), nil
}

// appendHead appends open and the fields before the tensor.
func (u *Unbatched) appendHead(b []byte, open string) []byte {
	b = jsonlists.AppendInts(append(append(b, open...), `"batch":`...), u.batch)
	return append(b, `,"unbatched":`...)
}

func (u *Unbatched) preview(n int) ([]byte, error) {
	if !u.valid() {
		return []byte("null"), nil
	}
	part, err := u.tensor.Preview(n).MarshalJSON()
	return append(append(u.appendHead(nil, previewOpen(n)), part...), '}'), err
}

// logLeaves is the largest number of leaves that LogValue shows.
const logLeaves = 64

// LogValue implements slog.LogValuer: a group with the batch shape and one attribute for each of
// the first 64 leaves. The attribute of a small tensor has its elements.
func (td *TensorDict) LogValue() slog.Value {
	if td == nil {
		return slog.StringValue("<nil>")
	}
	attrs := []slog.Attr{slog.String("batch", td.batch.String())}
	left := td.countLeaves() - logLeaves
	for key, v := range td.Leaves() {
		if len(attrs) > logLeaves {
			attrs = append(attrs, slog.Int("more", left))
			break
		}
		attrs = append(attrs, slog.Attr{Key: string(key), Value: opsOf(v).log(v)})
	}
	return slog.GroupValue(attrs...)
}

// LogValue implements slog.LogValuer: a line with the shape and the first values.
func (d *Data) LogValue() slog.Value { return slog.StringValue(d.String()) }

// LogValue implements slog.LogValuer: a line that describes the tensor.
func (u *Unbatched) LogValue() slog.Value {
	return slog.StringValue("unbatched " + u.tensor.LogValue().String())
}
