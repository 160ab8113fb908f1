package tensor

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
)

const (
	jsonElements = 1000 // the most that MarshalJSON writes
	logElements  = 16   // the most that LogValue shows
)

// MarshalJSON returns dtype, shape and, of a tensor with at most 1000 elements, these as nested
// lists:
//
//	{"dtype":"float32","shape":[2,2],"values":[[0,1],[2,3]]}
//
// What JSON has no number for is a string: "NaN", "+Inf", "(1+2i)". It is for people and their
// tools; no function reads it back.
func (t *Tensor) MarshalJSON() ([]byte, error) {
	out := struct {
		DType  string          `json:"dtype"`
		Shape  shapeops.Shape  `json:"shape"`
		Values json.RawMessage `json:"values,omitempty"`
	}{DType: t.dtype.String(), Shape: t.view.Shape.Clone()}
	if t.Size() <= jsonElements {
		values, err := t.appendJSON(nil)
		if err != nil {
			return nil, err
		}
		out.Values = values
	}
	return json.Marshal(out)
}

// appendJSON appends the elements as nested lists.
func (t *Tensor) appendJSON(b []byte) (_ []byte, err error) {
	if t.Size() == 0 {
		return append(b, "[]"...), nil
	}
	if len(t.view.Shape) == 0 {
		text, err := t.itemText()
		if t.dtype != Bool && strings.ContainsAny(text, "NIi") { // of NaN, Inf, and complex numbers
			text = strconv.Quote(text)
		}
		return append(b, text...), err
	}
	b = append(b, '[')
	for i := range t.view.Shape[0] {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = t.row(i).appendJSON(b); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// LogValue implements slog.LogValuer: a line with dtype, shape and, if they are at most 16, the
// elements.
func (t *Tensor) LogValue() slog.Value {
	if t == nil {
		return slog.StringValue("<nil>")
	}
	text := fmt.Sprintf("%v %v", t.dtype, t.view.Shape)
	if t.Size() > logElements {
		return slog.StringValue(text)
	}
	values, err := t.appendJSON(nil)
	if err != nil {
		return slog.StringValue(fmt.Sprintf("%s: %v", text, err))
	}
	return slog.StringValue(text + " " + string(values))
}
