package memmap

import (
	"bytes"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// A metaEdit is a meta.json that is to be changed. All that is not set keeps its place and its
// bytes, including fields of others and of later versions.
type metaEdit struct {
	*meta  // as it was
	fields *object
}

// newMetaEdit checks and reads a meta.json.
func newMetaEdit(text []byte) (*metaEdit, error) {
	m, err := decodeNode(text)
	if err != nil {
		return nil, err
	}
	fields, err := parseObject(text)
	return &metaEdit{m, fields}, err
}

// sealed returns the new text, with its sum.
func (e *metaEdit) sealed() []byte {
	e.fields.set(fieldSum, nil)
	return withMetaSum(e.fields.text())
}

// add adds an entry after the last field, where Python's make_memmap adds one.
func (e *metaEdit) add(x *metaEntry) { e.fields.set(x.name, x.appendTo(nil)) }

// setSums sets the sums of an entry that has a native fact.
func (e *metaEdit) setSums(name string, sums []uint32) {
	entry, _ := parseObject(e.fields.get(name)) // decodeNode has read it, and what follows
	fact, _ := parseObject(entry.get("go"))
	fact.set("sums", appendSums(nil, sums))
	entry.set("go", fact.text())
	e.fields.set(name, entry.text())
}

// setNative sets a native fact of the node, in the first object of the list; nil removes it.
// Objects that hold only a version are removed.
func (e *metaEdit) setNative(name string, value []byte) {
	var list []*object
	if native := e.fields.get(fieldNative); native != nil {
		s := jsonscan.New(native)
		_ = s.Array(func(int) error {
			text, err := s.Raw()
			o, _ := parseObject(text)
			list = append(list, o)
			return err
		})
	}
	if len(list) == 0 {
		list = append(list, &object{})
		list[0].set("v", []byte("1"))
	}
	out := []byte{'['}
	for _, o := range list {
		o.set(name, value)
		value = nil
		if text := o.text(); string(text) != `{"v":1}` {
			out = append(append(out, text...), ',')
		}
	}
	if len(out) == 1 {
		out = nil
	} else {
		out[len(out)-1] = ']'
	}
	e.fields.set(fieldNative, out)
}

// An object is the text of a JSON object as fields in their order.
type object struct {
	fields  []objectField
	next    int // where find begins
	changed bool
}

type objectField struct {
	name  []byte
	head  []byte // the name and the colon, with white space
	value []byte // nil if the field was removed
}

func parseObject(text []byte) (*object, error) {
	o, s := &object{}, jsonscan.New(text)
	from := bytes.IndexByte(text, '{') + 1
	err := s.Object(func(name []byte) error {
		value, err := s.Raw()
		o.fields = append(o.fields, objectField{name, text[from : s.Pos()-len(value)], value})
		from = s.Pos() + bytes.IndexByte(text[s.Pos():], ',') + 1
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return o, corrupt("%w", err)
	}
	return o, nil
}

// find returns the index of a field, or -1. It begins at the last one that it found.
func (o *object) find(name string) int {
	for n := range o.fields {
		if i := (o.next + n) % len(o.fields); string(o.fields[i].name) == name {
			o.next = i
			return i
		}
	}
	return -1
}

// get returns the value of a field, nil if there is none.
func (o *object) get(name string) []byte {
	if i := o.find(name); i >= 0 {
		return o.fields[i].value
	}
	return nil
}

// set sets the value of a field, the last one if it is new; nil removes it.
func (o *object) set(name string, value []byte) {
	i := o.find(name)
	switch {
	case i >= 0 && !bytes.Equal(o.fields[i].value, value):
		o.fields[i].value, o.changed = value, true
	case i < 0 && value != nil:
		o.fields = append(o.fields, objectField{[]byte(name), append(appendText(nil, name), ':'), value})
		o.changed = true
	}
}

// text returns the text of the object.
func (o *object) text() []byte {
	size := len("{}")
	for _, f := range o.fields {
		size += len(f.head) + len(f.value) + 1
	}
	out := append(make([]byte, 0, size), '{')
	for _, f := range o.fields {
		if f.value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, f.head...), f.value...)
	}
	return append(out, '}')
}
