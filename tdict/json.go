package tdict

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"github.com/go-tensordict/tensordict/shapeops"
)

// jsonValues is the most values of one Data that MarshalJSON writes.
const jsonValues = 1000

// MarshalJSON returns the batch shape and the entries, in order, each as its own MarshalJSON writes
// it: elements of large tensors are left out.
//
//	{"batch":[2],"entries":{"reward":{"dtype":"float32","shape":[2],"values":[0,1]}}}
//
// It is for people and their tools; no function reads it back.
func (td *TensorDict) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"batch":`)
	if err := writeJSON(&b, td.batch.Clone()); err != nil {
		return nil, err
	}
	b.WriteString(`,"entries":{`)
	comma := ""
	for name, v := range td.entries.all() {
		b.WriteString(comma)
		comma = ","
		if err := writeJSON(&b, name.Name()); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		text, err := opsOf(v).json(v)
		if err != nil {
			return nil, within("marshal", name, err)
		}
		b.Write(text)
	}
	b.WriteString("}}")
	return b.Bytes(), nil
}

// MarshalJSON returns the batch shape and the value of all rows, or, if they differ and are at most
// 1000, the values row-major.
func (d *Data) MarshalJSON() ([]byte, error) {
	out := struct {
		Shape  shapeops.Shape `json:"shape"`
		Value  any            `json:"value,omitempty"`
		Values []any          `json:"values,omitempty"`
	}{Shape: d.Shape().Clone()}
	if v, ok := d.Uniform(); ok {
		v = jsonable(v)
		out.Value = &v // so that nil is there too
	} else if d.Shape().Size() <= jsonValues {
		for v := range d.All() {
			out.Values = append(out.Values, jsonable(v))
		}
	}
	var b bytes.Buffer
	err := writeJSON(&b, out)
	return b.Bytes(), err
}

// MarshalJSON returns the batch shape and the tensor.
func (u *Unbatched) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Batch     shapeops.Shape `json:"batch"`
		Unbatched any            `json:"unbatched"`
	}{u.batch.Clone(), u.tensor})
}

// logLeaves is the most leaves that LogValue shows.
const logLeaves = 64

// LogValue implements slog.LogValuer: a group with the batch shape and a line for each of the first
// 64 leaves, which has the elements of a small tensor.
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
