package memmap

import (
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
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
