package bson

import (
	"fmt"
	"math"
	"strconv"
)

// A D is a document to be written, an E a field of it, and an A an array. A field is a name, which
// is a string, and a value. Values are bool, int, int32, int64, float64, string, []byte, ID, D, A,
// Value, and nil.
type (
	D []E
	E [2]any
	A []any
	// An ID is an ObjectId.
	ID [12]byte
)

// Name returns the name of a field.
func (e E) Name() string { return e[0].(string) }

// Append appends the bytes of a document. It panics on a value of another type, and on a name with
// a zero byte.
func Append(b []byte, d D) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for _, e := range d {
		b = AppendValue(b, e.Name(), e[1])
	}
	return end(b, start)
}

// end ends a document, or an array, that begins at start.
func end(b []byte, start int) []byte {
	b = append(b, 0)
	le.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

// AppendName appends the kind and the name of a field, which its value has to follow.
func AppendName(b []byte, kind byte, name string) []byte {
	for _, c := range []byte(name) {
		if c == 0 {
			panic(fmt.Sprintf("bson: name %q", name))
		}
	}
	return append(append(append(b, kind), name...), 0)
}

// AppendValue appends a field.
func AppendValue(b []byte, name string, value any) []byte {
	switch v := value.(type) {
	case nil:
		return AppendName(b, Null, name)
	case bool:
		n := byte(0)
		if v {
			n = 1
		}
		return append(AppendName(b, Bool, name), n)
	case int:
		if v == int(int32(v)) {
			return AppendValue(b, name, int32(v))
		}
		return AppendValue(b, name, int64(v))
	case int32:
		return le.AppendUint32(AppendName(b, Int32, name), uint32(v))
	case int64:
		return le.AppendUint64(AppendName(b, Int64, name), uint64(v))
	case float64:
		return le.AppendUint64(AppendName(b, Double, name), math.Float64bits(v))
	case string:
		b = le.AppendUint32(AppendName(b, String, name), uint32(len(v)+1))
		return append(append(b, v...), 0)
	case []byte:
		b = le.AppendUint32(AppendName(b, Binary, name), uint32(len(v)))
		return append(append(b, 0), v...)
	case ID:
		return append(AppendName(b, OID, name), v[:]...)
	case D:
		return Append(AppendName(b, Object, name), v)
	case A:
		return appendArray(AppendName(b, Array, name), v)
	case Value:
		return append(AppendName(b, v.Kind, name), v.data...)
	}
	panic(fmt.Sprintf("bson: a value of type %T", value))
}

func appendArray(b []byte, a A) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for i, v := range a {
		b = AppendValue(b, strconv.Itoa(i), v)
	}
	return end(b, start)
}
