package tdict

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// MarshalJSON returns the batch shape and the value of all rows or, if the rows differ, the values
// row-major:
//
//	{"shape":[2],"value":"left"}
//	{"shape":[2],"values":["left",1.0]}
//
// A float64 has a point or an exponent, an int64 has none. NaN and infinities become the strings
// "NaN", "Infinity" and "-Infinity". The zero Data is null. MarshalJSON returns shapeops.ErrShape
// if there are more than 1<<24 values, including those in lists and objects: use
// [TensorDict.Preview].
func (d *Data) MarshalJSON() ([]byte, error) { return dataOps{d}.AppendJSON(nil) }

// AppendJSON implements typedOps.
func (d dataOps) AppendJSON(b []byte) ([]byte, error) {
	if !d.valid() {
		return append(b, "null"...), nil
	}
	if err := checkDims(d.Shape()); err != nil {
		return b, err
	}
	out, ok := d.appendRows(b, "{", jsonlists.MaxElements, jsonlists.AppendText)
	if !ok {
		return b, fmt.Errorf("%w: got %s, want at most %d values in JSON: use Preview(n)",
			shapeops.ErrShape, describeData(d.Data), jsonlists.MaxElements)
	}
	return out, nil
}

// An appendText appends a string as JSON.
type appendText func(b []byte, s string) []byte

// appendRows appends the object of d, which begins with open. It returns false if there are more
// than most values.
func (d *Data) appendRows(b []byte, open string, most int, text appendText) (_ []byte, ok bool) {
	if _, one := d.rows.One(); !one && d.Shape().Size() > most {
		return nil, false
	}
	b = jsonlists.AppendInts(append(append(b, open...), `"shape":`...), d.Shape())
	if v, ok := d.Uniform(); ok {
		return append(appendValue(append(b, `,"value":`...), v, text), '}'), countValues(v, most) >= 0
	}
	b = append(b, `,"values":`...)
	b, n := d.appendFirst(b, most, text)
	return append(b, '}'), n == d.Shape().Size()
}

// appendFirst appends a list of the first rows, as many as have at most most values together, and
// returns the number of these rows.
func (d *Data) appendFirst(b []byte, most int, text appendText) (_ []byte, rows int) {
	b = append(b, '[')
	for v := range d.All() {
		if most = countValues(v, most); most < 0 {
			break
		}
		if rows > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v, text)
		rows++
	}
	return append(b, ']'), rows
}

// countValues subtracts from left the number of values in v, v included. It stops below 0.
func countValues(v any, left int) int {
	left--
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && left >= 0; i++ {
			left = countValues(v[i], left)
		}
	case *Object:
		for i := 0; i < len(v.fields) && left >= 0; i++ {
			left = countValues(v.fields[i].Value, left)
		}
	}
	return left
}

func (d *Data) preview(n int) ([]byte, error) {
	if !d.valid() {
		return []byte("null"), nil
	}
	if whole, ok := d.appendRows(nil, previewOpen(n), n, appendShort); ok {
		return whole, nil
	}
	b := jsonlists.AppendInts([]byte(previewOpen(n)+`"shape":`), d.Shape())
	b, _ = d.appendFirst(append(b, `,"first":`...), n, appendShort)
	return append(b, '}'), nil
}

// previewText is the largest number of bytes of a text in a preview.
const previewText = 200

// appendShort appends a text, which it cuts if it is long.
func appendShort(b []byte, s string) []byte {
	if len(s) > previewText {
		s = strings.ToValidUTF8(s[:previewText], "") + "..."
	}
	return jsonlists.AppendText(b, s)
}

// MarshalJSON returns o as a JSON object with its fields in order. Values are written as in [Data].
func (o *Object) MarshalJSON() ([]byte, error) { return appendValue(nil, o, jsonlists.AppendText), nil }

// jsonText returns v as JSON.
func jsonText(v any) string { return string(appendValue(nil, v, jsonlists.AppendText)) }

// appendValue appends a value that plain returned.
func appendValue(b []byte, v any, text appendText) []byte {
	return jsonlists.Values{Text: text}.Append(b, v)
}

// readValue reads a value of Data that is nested depth deep.
func readValue(s *jsonscan.Scanner, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("%w: lists and objects are nested more than %d deep", ErrDepth, MaxDepth)
	}
	switch s.Next() {
	case 'n':
		return nil, s.Null()
	case 't', 'f':
		return s.Bool()
	case '"':
		text, err := s.Text()
		return string(text), err
	case '[':
		return readList(s, depth)
	case '{':
		o := &Object{[]Field{}, map[string]int{}}
		err := s.Object(func(text []byte) error {
			name := string(text)
			if _, ok := o.at[name]; ok {
				return fmt.Errorf("%w: duplicate field %.40q", tensor.ErrJSON, name)
			}
			v, err := readValue(s, depth+1)
			o.at[name] = len(o.fields)
			o.fields = append(o.fields, Field{name, v})
			return err
		})
		return o, err
	}
	text, err := jsonlists.Number(s)
	if err != nil {
		return nil, err
	}
	var v any
	if bytes.ContainsAny(text, ".eE") {
		v, err = strconv.ParseFloat(string(text), 64)
	} else {
		v, err = strconv.ParseInt(string(text), 10, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: got %.40s, want a number of 64 bits", tensor.ErrJSON, text)
	}
	return v, nil
}

func readList(s *jsonscan.Scanner, depth int) (any, error) {
	list := []any{}
	err := s.Array(func(int) error {
		v, err := readValue(s, depth+1)
		list = append(list, v)
		return err
	})
	return list, err
}
