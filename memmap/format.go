package memmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// The fields of meta.json that are no entries.
const (
	fieldShape  = "shape"
	fieldDevice = "device"
	fieldType   = "_type"
)

const (
	typeName = "<class 'tensordict._td.TensorDict'>" // what Save writes
	dictKind = "TensorDict"
	torch    = "torch." // before the name of a dtype
	maxMeta  = 64 << 20 // bytes of meta.json
	maxDims  = 64
)

// A meta is the content of a meta.json file.
type meta struct {
	shape   shapeops.Shape
	kind    string // the last part of the class name
	entries []metaEntry
}

// A metaEntry is a leaf or a nested dictionary.
type metaEntry struct {
	name   string
	isDict bool
	leaf   metaLeaf
}

// A metaLeaf is what meta.json says of a leaf. Writers before v0.5 have no is_nested.
type metaLeaf struct {
	Device   string `json:"device"`
	Shape    []int  `json:"shape"`
	DType    string `json:"dtype"`
	IsNested *bool  `json:"is_nested"`
}

// encode returns the bytes that Python's writer would write.
func (m meta) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, e := range m.entries {
		if err := writeJSON(&b, e.name, ":"); err != nil {
			return nil, err
		}
		if e.isDict {
			b.WriteString(`{"type":"` + dictKind + `"},`)
			continue
		}
		if err := writeJSON(&b, e.leaf, ","); err != nil {
			return nil, err
		}
	}
	b.WriteString(`"` + fieldShape + `":`)
	if err := writeJSON(&b, m.shape.Clone(), `,"`+fieldDevice+`":"cpu","`+fieldType+`":"`+typeName+`"}`); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeJSON writes v compactly, without escapes that JSON does not need, and then tail.
func writeJSON(b *bytes.Buffer, v any, tail string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	b.WriteString(tail)
	return nil
}

// decodeMeta reads a meta.json: a JSON object whose fields keep their order and occur once. Fields
// that are not known are ignored, as Python does.
func decodeMeta(data []byte) (meta, error) {
	var m meta
	if !utf8.Valid(data) {
		return m, fmt.Errorf("%w: not UTF-8", ErrCorrupt)
	}
	fields, err := decodeObject(withoutNaN(data))
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	typed := false
	for _, f := range fields {
		if err := m.field(f.name, f.raw); err != nil {
			return m, err
		}
		typed = typed || f.name == fieldType
	}
	if !typed {
		return m, fmt.Errorf("%w: no field %q", ErrCorrupt, fieldType)
	}
	return m, nil
}

// A field is one of a JSON object.
type field struct {
	name string
	raw  json.RawMessage
}

// decodeObject returns the fields of a JSON object, in order. It refuses duplicate fields and
// trailing data after the object.
func decodeObject(data []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var fields []field
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: t.(string)} // the decoder sees to it
		if err := d.Decode(&f.raw); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.name, err)
		}
		if seen[f.name] {
			return nil, fmt.Errorf("duplicate field %q", f.name)
		}
		seen[f.name] = true
		fields = append(fields, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("trailing data after the JSON object")
	}
	return fields, nil
}

// withoutNaN puts null for NaN, Infinity and -Infinity outside of strings, which Python's json
// writes and JSON does not know. No field that is read here can hold them.
func withoutNaN(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out []byte
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
		case c == '"':
			inString = !inString
		case inString:
		default:
			for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(data[i:], []byte(word)) {
					out = append(out, "nul"...)
					i += len(word) - 1
					data[i] = 'l' // the last letter, appended below
					break
				}
			}
		}
		out = append(out, data[i])
	}
	return out
}

// field takes in one field.
func (m *meta) field(name string, raw json.RawMessage) error {
	switch name {
	case fieldShape:
		var err error
		m.shape, err = decodeShape(raw)
		return inField(name, err)
	case fieldDevice:
		return nil
	case fieldType:
		var class string
		if err := json.Unmarshal(raw, &class); err != nil {
			return fmt.Errorf("%w: field %q: %w", ErrCorrupt, name, err)
		}
		m.kind = lastPart(class)
		return nil
	}
	return inField(name, m.entry(name, raw))
}

func inField(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: field %q: %w", ErrCorrupt, name, err)
}

// entry takes in a field that may be an entry: an object with a type, or with a dtype and a shape.
func (m *meta) entry(name string, raw json.RawMessage) error {
	if raw[0] != '{' {
		return nil
	}
	fields, err := decodeObject(raw)
	if err != nil {
		return err
	}
	has := map[string]json.RawMessage{}
	for _, f := range fields {
		has[f.name] = f.raw
	}
	if has["type"] != nil {
		m.entries = append(m.entries, metaEntry{name: name, isDict: true})
		return nil
	}
	if has["dtype"] == nil || has["shape"] == nil {
		return nil
	}
	e := metaEntry{name: name}
	if err := json.Unmarshal(has["dtype"], &e.leaf.DType); err != nil {
		return err
	}
	if has["is_nested"] != nil {
		if err := json.Unmarshal(has["is_nested"], &e.leaf.IsNested); err != nil {
			return err
		}
	}
	e.leaf.Shape, err = decodeShape(has["shape"])
	m.entries = append(m.entries, e)
	return err
}

func decodeShape(raw json.RawMessage) (shapeops.Shape, error) {
	var sizes []*int
	if err := json.Unmarshal(raw, &sizes); err != nil {
		return nil, err
	}
	if sizes == nil {
		return nil, fmt.Errorf("%w: got null, want a list", shapeops.ErrShape)
	}
	s := make(shapeops.Shape, len(sizes))
	for i, size := range sizes {
		if size == nil {
			return nil, fmt.Errorf("%w: got null as size %d", shapeops.ErrShape, i)
		}
		s[i] = *size
	}
	return s, checkShape(s)
}

// checkShape returns an error if a shape is none, or has more dims than the format's readers take.
func checkShape(s shapeops.Shape) error {
	if len(s) > maxDims {
		return fmt.Errorf("%w: got %d dims, want at most %d", shapeops.ErrShape, len(s), maxDims)
	}
	return s.Check()
}

// lastPart returns TensorDict of "<class 'tensordict._td.TensorDict'>".
func lastPart(class string) string {
	class = strings.TrimSuffix(strings.TrimPrefix(class, "<class '"), "'>")
	return class[strings.LastIndexByte(class, '.')+1:]
}

// dictKinds are the classes whose directory is that of a TensorDict.
var dictKinds = map[string]bool{dictKind: true, "PersistentTensorDict": true, "TensorDictParams": true}

// dtype returns the dtype of a leaf. What torch has and this module has not is ErrUnsupported.
func (l metaLeaf) dtype() (tensor.DType, error) {
	name, ok := strings.CutPrefix(l.DType, torch)
	if ok {
		if dtype, err := tensor.ParseDType(name); err == nil {
			return dtype, nil
		}
	}
	for _, known := range []string{"complex32", "float8", "qint", "quint"} {
		if strings.HasPrefix(name, known) {
			return 0, fmt.Errorf("%w: dtype %q", ErrUnsupported, l.DType)
		}
	}
	return 0, fmt.Errorf("%w: there is no dtype %q", ErrCorrupt, l.DType)
}

// ragged reports whether the leaf is a nested tensor of Python's.
func (l metaLeaf) ragged() bool { return l.IsNested != nil && *l.IsNested }

// old reports whether m was written before nested dictionaries were listed: no entry has a field
// that came later.
func (m meta) old() bool {
	for _, e := range m.entries {
		if e.isDict || e.leaf.IsNested != nil {
			return false
		}
	}
	return true
}
