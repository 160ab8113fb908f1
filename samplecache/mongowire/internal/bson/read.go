package bson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// ErrSyntax says that bytes are not a document.
var ErrSyntax = errors.New("invalid BSON")

// MaxDepth is the maximum depth of nested documents.
const MaxDepth = 100

// The kinds of value, as the format numbers them.
const (
	Double byte = 0x01
	String byte = 0x02
	Object byte = 0x03
	Array  byte = 0x04
	Binary byte = 0x05
	OID    byte = 0x07
	Bool   byte = 0x08
	Time   byte = 0x09
	Null   byte = 0x0a
	Int32  byte = 0x10
	Int64  byte = 0x12
)

var le = binary.LittleEndian

// A Doc is the bytes of a document that was checked. An array is a document with the names "0", "1"
// and so on, which are ignored. The zero Doc has no fields.
type Doc []byte

// A Value is a value of a document. The zero Value is the value of a missing field.
type Value struct {
	Kind byte
	data []byte
}

// Parse returns b as a document. It returns [ErrSyntax] if b is not exactly one document, if
// documents are nested more than [MaxDepth] deep, and for text that is not UTF-8.
func Parse(b []byte) (Doc, error) {
	doc, rest, err := Cut(b)
	if err == nil && len(rest) > 0 {
		err = errtext.With(ErrSyntax, "%d bytes follow the document", len(rest))
	}
	return doc, err
}

// Cut returns the document at the beginning of b, and the bytes after it. It returns the errors of
// [Parse].
func Cut(b []byte) (doc Doc, rest []byte, err error) {
	doc, rest, ok := cut(b, MaxDepth)
	if !ok {
		return nil, nil, errtext.With(ErrSyntax, "%d bytes are not a document", len(b))
	}
	return doc, rest, nil
}

func cut(b []byte, depth int) (doc Doc, rest []byte, ok bool) {
	n := length(b, 0)
	if n < 5 || n > len(b) || b[n-1] != 0 || depth == 0 {
		return nil, nil, false
	}
	doc = b[:n:n]
	for fields := doc[4 : n-1]; len(fields) > 0; {
		var v Value
		if _, v, fields, ok = field(fields); !ok || !v.valid(depth-1) {
			return nil, nil, false
		}
	}
	return doc, b[n:], true
}

// length returns the length that b begins with, plus more; -1 if that is longer than b.
func length(b []byte, more int) int {
	if len(b) < 4 || le.Uint32(b) > math.MaxInt32 || int(le.Uint32(b)) > len(b)-more {
		return -1
	}
	return int(le.Uint32(b)) + more
}

// sizes has the number of bytes of values of the kinds with a fixed length.
var sizes = map[byte]int{Double: 8, OID: 12, Bool: 1, Time: 8, Null: 0, Int32: 4, Int64: 8, 0x11: 8, 0x13: 16, 0x06: 0, 0xff: 0, 0x7f: 0}

// field returns the field at the beginning of b, and the bytes after it.
func field(b []byte) (name []byte, v Value, rest []byte, ok bool) {
	end := bytes.IndexByte(b[1:], 0)
	if end < 0 || !utf8.Valid(b[1:1+end]) {
		return nil, v, nil, false
	}
	name, data := b[1:1+end], b[2+end:]
	n, fixed := sizes[b[0]]
	switch {
	case fixed:
	case b[0] == String || b[0] == 0x0d || b[0] == 0x0e:
		n = length(data, 4)
	case b[0] == Object || b[0] == Array:
		n = length(data, 0)
	case b[0] == Binary:
		n = length(data, 5)
	case b[0] == 0x0b: // a regular expression: two texts
		first := bytes.IndexByte(data, 0)
		second := bytes.IndexByte(data[first+1:], 0)
		n = first + second + 2
		ok = first >= 0 && second >= 0
		if !ok {
			return nil, v, nil, false
		}
	default:
		return nil, v, nil, false
	}
	if n < 0 || n > len(data) {
		return nil, v, nil, false
	}
	return name, Value{b[0], data[:n:n]}, data[n:], true
}

// valid checks the inside of a value.
func (v Value) valid(depth int) bool {
	switch v.Kind {
	case Object, Array:
		_, rest, ok := cut(v.data, depth)
		return ok && len(rest) == 0
	case String:
		n := len(v.data)
		return n >= 5 && v.data[n-1] == 0 && utf8.Valid(v.data[4:n-1])
	case Bool:
		return v.data[0] <= 1
	}
	return true
}

// All yields the fields in their order.
func (d Doc) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if len(d) < 5 {
			return
		}
		for fields := d[4 : len(d)-1]; len(fields) > 0; {
			name, v, rest, _ := field(fields)
			if !yield(string(name), v) {
				return
			}
			fields = rest
		}
	}
}

// Get returns the first field of a name.
func (d Doc) Get(name string) Value {
	if len(d) < 5 {
		return Value{}
	}
	for fields := d[4 : len(d)-1]; len(fields) > 0; { // All copies every name
		n, v, rest, _ := field(fields)
		if string(n) == name {
			return v
		}
		fields = rest
	}
	return Value{}
}

// Len returns the number of fields.
func (d Doc) Len() (n int) {
	for range d.All() {
		n++
	}
	return n
}

// First returns the name and the value of the first field; "" if there is none.
func (d Doc) First() (string, Value) {
	for name, v := range d.All() {
		return name, v
	}
	return "", Value{}
}

// Int returns an integer, or a double that is an integer below 1<<53.
func (v Value) Int() (int64, bool) {
	switch v.Kind {
	case Int32:
		return int64(int32(le.Uint32(v.data))), true
	case Int64:
		return int64(le.Uint64(v.data)), true
	case Double:
		f := math.Float64frombits(le.Uint64(v.data))
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	return 0, false
}

// True reports whether a value is true, or a number other than 0.
func (v Value) True() bool {
	n, ok := v.Int()
	return v.Kind == Bool && v.data[0] == 1 || ok && n != 0 || v.Kind == Double && !ok
}

// Text returns a string; "" if v is not one.
func (v Value) Text() (string, bool) {
	if v.Kind != String {
		return "", false
	}
	return string(v.data[4 : len(v.data)-1]), true
}

// Doc returns a document or an array; an empty document if v is neither.
func (v Value) Doc() (Doc, bool) {
	if v.Kind != Object && v.Kind != Array {
		return nil, false
	}
	return v.data, true
}

// Bytes returns binary data of any subtype, or an ObjectId.
func (v Value) Bytes() ([]byte, bool) {
	switch v.Kind {
	case Binary:
		return v.data[5:], true
	case OID:
		return v.data, true
	}
	return nil, false
}

// Compare compares two values: numbers by value, others by bytes. It is not ok for values of
// different kinds, which match no query in MongoDB either.
func (v Value) Compare(u Value) (int, bool) {
	a, isInt := v.Int()
	b, too := u.Int()
	switch {
	case isInt && too:
		return cmp.Compare(a, b), true
	case v.Kind != u.Kind || v.Kind == Double:
		return 0, false
	case v.Kind == String:
		return bytes.Compare(v.data[4:], u.data[4:]), true
	}
	return bytes.Compare(v.data, u.data), true
}
