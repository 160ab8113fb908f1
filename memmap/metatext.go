package memmap

import (
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

const typeName = "<class 'tensordict._td.TensorDict'>" // what Save writes

// appendTo appends the text of a dictionary's meta.json: the bytes that Python's writer would
// write, but for native fields.
func (m *meta) appendTo(b []byte) []byte {
	b = append(b, '{')
	for i := range m.entries {
		e := &m.entries[i]
		b = append(appendText(b, e.name), ':')
		b = append(e.appendTo(b), ',')
	}
	b = appendShape(append(b, `"`+fieldShape+`":`...), m.shape)
	b = append(b, `,"`+fieldDevice+`":"cpu","`+fieldType+`":"`+typeName+`"`...)
	if m.native.says() {
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

// withFact puts a native field at the end of the object at the end of b.
func withFact(b []byte, f *fact) []byte {
	const name = `,"go":`
	before := len(b) - 1 // without the brace
	b = f.appendTo(append(b[:before], name...))
	if len(b) == before+len(name) {
		b = b[:before]
	}
	return append(b, '}')
}

// appendText appends a JSON string.
func appendText(b []byte, text string) []byte { return jsonlists.AppendText(b, text) }

// editMeta returns the text of a meta.json with the token by of whoever has made sums void, or
// none, in which edit has changed the native fields of leaves that have one; all else stays as it
// is, names of dims and what others added included.
func editMeta(text []byte, by string, edit func(name string, f *fact)) ([]byte, error) {
	s := jsonscan.New(text)
	out := append(make([]byte, 0, len(text)+len(text)/4), '{')
	field := func(name string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
	}
	native := nodeFact{}
	err := s.Object(func(name []byte) error {
		key := string(name)
		raw, err := s.Raw()
		if err == nil && key == fieldNative {
			return native.decode(jsonscan.New(raw), math.MaxInt)
		}
		if err != nil {
			return err
		}
		field(key)
		out, err = appendEdited(out, key, raw, edit)
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, corrupt("%w", err)
	}
	if native = (nodeFact{by: by, names: native.names}); native.says() {
		field(fieldNative)
		out = native.appendTo(out)
	}
	return append(out, '}'), nil
}

// appendEdited appends the value of a field, edited if it is a leaf with a native field.
func appendEdited(out []byte, key string, raw []byte, edit func(string, *fact)) ([]byte, error) {
	if raw[0] != '{' {
		return append(out, raw...), nil
	}
	d := &metaDecoder{Scanner: jsonscan.New(raw), most: 1, names: map[string]bool{}}
	d.onEntryField = d.entryField
	if err := d.readEntry([]byte(key)); err != nil {
		return nil, err
	}
	if len(d.m.entries) == 0 || !d.m.entries[0].hasSums() {
		return append(out, raw...), nil
	}
	edit(key, &d.m.entries[0].fact)
	out = append(out, '{')
	s := jsonscan.New(raw)
	err := s.Object(func(name []byte) error {
		field := string(name)
		value, err := s.Raw()
		if err != nil || field == "go" {
			return err
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(appendText(out, field), ':'), value...)
		return nil
	})
	return withFact(append(out, '}'), &d.m.entries[0].fact), err
}

// addEntry returns the text of a meta.json with a further field at its end, as Python's make_memmap
// adds one.
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
