package npy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A dtype is NumPy's type of an element: a number, or a record of fields.
type dtype struct {
	size   int          // in bytes
	elem   tensor.DType // for a number
	swap   bool         // the bytes of a number are in the other order
	record bool
	fields []field
	raw    bool  // padding bytes between fields
	err    error // the reason for which elements cannot be read, or nil
}

// A field of a record holds elements of a dtype, [dims...].
type field struct {
	dtype
	name   string
	names  []string // the name, and the title if it is a string
	dims   []int
	offset int // bytes from the start of the record
}

// codes lists the dtypes of numbers, and their NumPy codes without the byte order.
var codes = []struct {
	code string
	elem tensor.DType
}{
	{"b1", tensor.Bool},
	{"u1", tensor.Uint8}, {"u2", tensor.Uint16}, {"u4", tensor.Uint32}, {"u8", tensor.Uint64},
	{"i1", tensor.Int8}, {"i2", tensor.Int16}, {"i4", tensor.Int32}, {"i8", tensor.Int64},
	{"f2", tensor.Float16}, {"f4", tensor.Float32}, {"f8", tensor.Float64},
	{"c8", tensor.Complex64}, {"c16", tensor.Complex128},
}

// others lists the kinds that tensors do not hold: the size in bytes of one unit of their sizes, a
// description, and what to save instead.
var others = map[byte]struct {
	width         int
	what, instead string
}{
	'O': {1, "objects", "arrays of numbers"},
	'U': {4, "strings", "codes, or characters by x.view('u4')"},
	'S': {1, "strings", "codes, or bytes by x.view('u1')"},
	'a': {1, "strings", "codes, or bytes by x.view('u1')"},
	'M': {1, "dates", "x.view('i8')"},
	'm': {1, "differences of dates", "x.view('i8')"},
	'f': {1, "long doubles", "x.astype('f8')"},
	'c': {1, "complex long doubles", "x.astype('c16')"},
	'V': {1, "raw bytes, as which NumPy writes bfloat16", "x.view('u2') for bfloat16, or x.view('u1')"},
}

// newDType returns the dtype of a descr: a string, or a list of fields.
func newDType(descr literal) (dtype, error) {
	switch v := descr.(type) {
	case string:
		return newNumber(v)
	case list:
		return newRecord(v)
	}
	return dtype{}, corrupt("header: got the descr %s, want a string or a list", quoted(descr))
}

// newNumber returns the dtype of a descr such as "<f4".
func newNumber(descr string) (dtype, error) {
	code := strings.TrimLeft(descr, "<>=|")
	if len(descr)-len(code) > 1 || code == "" {
		return dtype{}, corrupt("header: got the descr %s, want one such as '<f4'", errtext.Quote(descr))
	}
	for _, c := range codes {
		if c.code == code {
			other := byte('>')
			if !cast.LittleEndian() {
				other = '<'
			}
			return dtype{size: c.elem.Size(), elem: c.elem, swap: descr[0] == other && c.elem.Size() > 1}, nil
		}
	}
	return newOther(descr, code)
}

// newOther returns a dtype whose elements cannot be read.
func newOther(descr, code string) (dtype, error) {
	digits, _, _ := strings.Cut(code[1:], "[") // "M8[ns]"
	n, err := strconv.ParseUint(digits, 10, 31)
	kind, known := others[code[0]]
	if code == "O" {
		n, err = 8, nil
	}
	if err != nil || !known {
		return dtype{}, corrupt("header: got the descr %s, want one such as '<f4'", errtext.Quote(descr))
	}
	refused := unsupported("got %s (%s), want numbers: save %s", kind.what, errtext.Quote(descr), kind.instead)
	if kind.what == "objects" {
		return dtype{}, refused // the whole array is pickled, so no field can be read
	}
	return dtype{size: int(n) * kind.width, raw: code[0] == 'V', err: refused}, nil
}

// newRecord returns the dtype of a record.
func newRecord(descr list) (dtype, error) {
	d := dtype{record: true}
	names := map[string]bool{}
	for _, v := range descr {
		f, err := newField(v)
		if err != nil {
			return d, err
		}
		f.offset = d.size
		n, ok := product(f.dims, f.size)
		if !ok || n > math.MaxInt32-d.size {
			return d, corrupt("header: field %s: records are larger than %d bytes", errtext.Quote(f.name), math.MaxInt32)
		}
		d.size += n
		if f.padding() {
			continue
		}
		for _, name := range f.names {
			if names[name] {
				return d, corrupt("header: duplicate field %s", errtext.Quote(name))
			}
			names[name] = true
		}
		d.fields = append(d.fields, f)
	}
	return d, nil
}

// padding reports whether f is only padding.
func (f field) padding() bool { return f.name == "" && f.raw }

// newField returns the field of a tuple: a name, or a title and a name; a descr; and optionally
// dims.
func newField(v literal) (f field, err error) {
	parts, ok := v.(tuple)
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return f, corrupt("header: got the field %s, want a name, a descr and perhaps dims", quoted(v))
	}
	if both, ok := parts[0].(tuple); ok && len(both) == 2 {
		if title, ok := both[0].(string); ok {
			f.names = append(f.names, title)
		}
		parts = append(tuple{both[1]}, parts[1:]...)
	}
	if f.name, ok = parts[0].(string); !ok {
		return f, corrupt("header: got the name %s of a field, want a string", quoted(parts[0]))
	}
	f.names = append(f.names, f.name)
	if len(parts) == 3 {
		if f.dims, err = newShape(parts[2]); err != nil {
			return f, err
		}
	}
	if err = f.setBase(parts[1]); err != nil {
		err = fmt.Errorf("field %s: %w", errtext.Quote(f.name), err)
	}
	return f, err
}

// setBase sets the dtype of f. If descr is a subarray, a tuple of a descr and dims, its dims follow
// the dims of f.
func (f *field) setBase(descr literal) (err error) {
	if sub, ok := descr.(tuple); ok && len(sub) == 2 {
		inner, err := newShape(sub[1])
		if err != nil {
			return err
		}
		f.dims = slices.Concat(f.dims, inner)
		return f.setBase(sub[0])
	}
	f.dtype, err = newDType(descr)
	return err
}

// maxRank is the largest number of dims of a NumPy array.
const maxRank = 64

// newShape returns a tuple as a shape.
func newShape(v literal) (shapeops.Shape, error) {
	sizes, ok := v.(tuple)
	if !ok || len(sizes) > maxRank {
		return nil, corrupt("header: got the shape %s, want a tuple of at most %d numbers", quoted(v), maxRank)
	}
	s := make(shapeops.Shape, len(sizes))
	for i, size := range sizes {
		if s[i], ok = size.(int); !ok {
			return nil, corrupt("header: got the shape %s, want numbers", quoted(v))
		}
	}
	if err := s.Check(); err != nil {
		return nil, corrupt("header: %w", err)
	}
	return s, nil
}

// product returns the size in bytes of an array with shape s and elements of size bytes. ok is
// false if it overflows, also if dims of size 0 are counted as 1.
func product(s shapeops.Shape, size int) (n int, ok bool) {
	n = size
	for _, k := range s {
		if n > math.MaxInt/max(k, 1) {
			return 0, false
		}
		n *= max(k, 1)
	}
	if slices.Contains(s, 0) {
		n = 0
	}
	return n, true
}

// quoted returns the text of a literal, for errors.
func quoted(v literal) string {
	if s, ok := v.(string); ok {
		return errtext.Quote(s)
	}
	return errtext.Quote(pythonText(v))
}

// pythonText returns a literal in Python's notation.
func pythonText(v literal) string {
	switch v := v.(type) {
	case string:
		return "'" + v + "'"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case list:
		return "[" + pythonTexts(v) + "]"
	case tuple:
		if len(v) == 1 {
			return "(" + pythonText(v[0]) + ",)"
		}
		return "(" + pythonTexts(v) + ")"
	}
	return fmt.Sprint(v)
}

func pythonTexts(all []literal) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = pythonText(v)
	}
	return strings.Join(texts, ", ")
}
