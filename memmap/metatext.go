package memmap

import (
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// The field _type that Save writes.
const (
	typeName     = "<class 'tensordict._td.TensorDict'>"
	lazyTypeName = "<class 'tensordict._lazy.LazyStackedTensorDict'>"
)

// appendTo appends the text of the meta.json of a dictionary or a lazy stack: the same bytes as
// Python's writer, apart from native fields.
func (m *meta) appendTo(b []byte) []byte {
	b = append(b, '{')
	if m.class == lazyClass {
		b = append(b, `"`+fieldType+`":"`+lazyTypeName+`","stack_dim":`...)
		return m.appendNative(strconv.AppendInt(b, int64(m.dim), 10))
	}
	for i := range m.entries {
		e := &m.entries[i]
		b = append(appendText(b, e.name), ':')
		b = append(e.appendTo(b), ',')
	}
	b = appendShape(append(b, `"`+fieldShape+`":`...), m.shape)
	b = append(b, `,"`+fieldDevice+`":"cpu","`+fieldType+`":"`+typeName+`"`...)
	return m.appendNative(b)
}

// appendNative ends the text of a meta.json with its native facts.
func (m *meta) appendNative(b []byte) []byte {
	if m.native.isSet() {
		b = m.native.appendTo(append(b, `,"`+fieldNative+`":`...))
	}
	return append(b, '}')
}

// appendTo appends the text of an entry.
func (e *metaEntry) appendTo(b []byte) []byte {
	if e.isNode() {
		b = append(appendText(append(b, `{"type":`...), e.class), '}')
	} else {
		b = appendShape(append(b, `{"device":"cpu","shape":`...), e.shape)
		b = appendText(append(b, `,"dtype":`...), e.dtype)
		b = strconv.AppendBool(append(b, `,"is_nested":`...), e.nested == isNested)
		b = append(b, '}')
	}
	return withFact(b, &e.fact)
}

// withFact appends the field "go" to the object that b ends with, unless f is empty.
func withFact(b []byte, f *fact) []byte {
	const name = `,"go":`
	before := len(b) - 1 // before the closing brace
	b = f.appendTo(append(b[:before], name...))
	if len(b) == before+len(name) {
		b = b[:before]
	}
	return append(b, '}')
}

// appendText appends a JSON string.
func appendText(b []byte, text string) []byte { return jsonlists.AppendText(b, text) }

// editMeta returns the text of a meta.json with other sums and another token. edit returns the new
// sums of each leaf that has sums. by is the token of the Dataset that has made sums void, or ""
// for none. Everything else stays as it is, including fields of others and of later versions.
func editMeta(text []byte, by string, edit func(name string, sums []uint32) []uint32) ([]byte, error) {
	s := jsonscan.New(text)
	out := append(make([]byte, 0, len(text)+len(text)/4), '{')
	var native []byte
	err := s.Object(func(name []byte) error {
		key := string(name)
		value, err := s.Raw()
		if err == nil && key == fieldNative {
			native = value
			return nil
		}
		if err == nil {
			value, err = editEntry(key, value, edit)
		}
		out = appendField(out, key, value)
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err == nil {
		native, err = editToken(native, by)
	}
	if err != nil {
		return nil, corrupt("%w", err)
	}
	if native != nil {
		out = appendField(out, fieldNative, native)
	}
	return append(out, '}'), nil
}

// appendField appends a field to the text of an object without its closing brace.
func appendField(b []byte, name string, value []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(appendText(b, name), ':'), value...)
}

// editEntry returns the value of a field, with new sums from edit if it is a leaf that has sums.
func editEntry(key string, value []byte, edit func(string, []uint32) []uint32) ([]byte, error) {
	if value[0] != '{' {
		return value, nil
	}
	d := newMetaDecoder(value, 1)
	if err := d.readEntry([]byte(key)); err != nil {
		return nil, err
	}
	if len(d.m.entries) == 0 || !d.m.entries[0].hasSums() {
		return value, nil
	}
	sums := edit(key, d.m.entries[0].fact.sums)
	if sums == nil {
		return value, nil
	}
	return editField(value, "go", func(fact []byte) ([]byte, error) {
		return editField(fact, "sums", func([]byte) ([]byte, error) { return appendSums(nil, sums), nil })
	})
}

// editToken returns the field "_go", given the old one or nil, with the token by, or with no token
// if by is "". It returns nil for no field.
func editToken(native []byte, by string) ([]byte, error) {
	if native == nil {
		native = []byte(`[{"v":1}]`)
	}
	if err := new(nodeFact).decode(jsonscan.New(native), math.MaxInt, false); err != nil {
		return nil, err
	}
	out := []byte{'['}
	put := func([]byte) (token []byte, _ error) {
		if by != "" {
			token = appendText(nil, by)
		}
		by = "" // in the first object only
		return token, nil
	}
	s := jsonscan.New(native)
	err := s.Array(func(int) error {
		object, err := s.Raw()
		if err == nil {
			object, err = editField(object, "by", put)
		}
		if string(object) == `{"v":1}` { // an object without a fact
			return err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, object...)
		return err
	})
	if len(out) == 1 {
		return nil, err
	}
	return append(out, ']'), err
}

// editField returns the text of an object with a new value of the field name. change returns it,
// given the old one. nil means no field, for both. Everything else stays as it is.
func editField(object []byte, name string, change func(value []byte) ([]byte, error)) ([]byte, error) {
	s := jsonscan.New(object)
	out, found := []byte{'{'}, false
	err := s.Object(func(field []byte) error {
		key := string(field)
		value, err := s.Raw()
		if err == nil && key == name {
			found = true
			value, err = change(value)
		}
		if value != nil {
			out = appendField(out, key, value)
		}
		return err
	})
	if err == nil && !found {
		var value []byte
		if value, err = change(nil); value != nil {
			out = appendField(out, name, value)
		}
	}
	return append(out, '}'), err
}

// addEntry returns the text of a meta.json with the entry e after its last field, where Python's
// make_memmap adds one.
func addEntry(text []byte, e *metaEntry) []byte {
	end := len(text) - 1
	for text[end] != '}' {
		end--
	}
	out := append([]byte(nil), text[:end]...)
	out = append(out, ',')
	out = append(appendText(out, e.name), ':')
	return append(e.appendTo(out), '}')
}
