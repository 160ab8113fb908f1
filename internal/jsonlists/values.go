package jsonlists

import (
	"bytes"
	"iter"
	"math"
	"strconv"
)

// Values writes values without a tensor as JSON: nil, bool, int64, float64, string, []any, and
// objects, which have All.
type Values struct {
	// Text appends a string, or the name of a field.
	Text func(b []byte, s string) []byte
	// Python has a number that JSON has not be NaN, Infinity or -Infinity, and not a string.
	Python bool
}

// Append appends v.
func (w Values) Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return w.appendFloat(b, v)
	case string:
		return w.Text(b, v)
	case []any:
		return w.appendList(b, v)
	case interface{ All() iter.Seq2[string, any] }:
		return w.appendObject(b, v.All())
	}
	return append(b, "null"...)
}

// appendFloat appends a number that reads back as a float64.
func (w Values) appendFloat(b []byte, v float64) []byte {
	text := ""
	switch {
	case math.IsNaN(v):
		text = `"NaN"`
	case math.IsInf(v, 1):
		text = `"Infinity"`
	case math.IsInf(v, -1):
		text = `"-Infinity"`
	}
	if text != "" && w.Python {
		text = text[1 : len(text)-1]
	}
	if text != "" {
		return append(b, text...)
	}
	if w.Python {
		return appendPythonFloat(b, v)
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// appendPythonFloat appends a number as orjson spells it, which Python's tensordict writes with: an
// exponent only from 1e16 on, and below 1e-5.
func appendPythonFloat(b []byte, v float64) []byte {
	if size := math.Abs(v); size != 0 && (size < 1e-5 || size >= 1e16) {
		from := len(b)
		b = strconv.AppendFloat(b, v, 'e', -1, 64)
		at := from + bytes.IndexByte(b[from:], 'e') + 1
		exponent := bytes.TrimLeft(bytes.TrimPrefix(b[at:], []byte("+")), "0")
		if b[at] == '-' {
			exponent = append([]byte("-"), bytes.TrimLeft(b[at+1:], "0")...)
		}
		return append(b[:at], exponent...)
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, 'f', -1, 64)
	if bytes.IndexByte(b[from:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

func (w Values) appendList(b []byte, list []any) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.Append(b, v)
	}
	return append(b, ']')
}

func (w Values) appendObject(b []byte, fields iter.Seq2[string, any]) []byte {
	b = append(b, '{')
	for name, v := range fields {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = w.Append(append(w.Text(b, name), ':'), v)
	}
	return append(b, '}')
}
