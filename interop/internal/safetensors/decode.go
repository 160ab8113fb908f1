package safetensors

import (
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// shortest is the least number of bytes of an entry's text.
const shortest = len(`"":{"dtype":"U8","shape":[],"data_offsets":[0,0]}`)

// entryFields lists the fields that an entry must have. Other fields are skipped, as in the
// original.
var entryFields = [...]string{fieldDType, fieldShape, fieldOffsets}

// decode reads the text of a header. It does not check the offsets of entries against each other.
func decode(text []byte) (*Header, error) {
	if !utf8.Valid(text) {
		return nil, corrupt("not UTF-8")
	}
	d := &decoder{Scanner: jsonscan.New(text), names: map[string]bool{}}
	d.h.Entries = make([]Entry, 0, len(text)/shortest)
	d.onEntryField = d.entryField
	err := d.Object(d.field)
	if err == nil {
		err = d.End()
	}
	return &d.h, err
}

// A decoder reads one header.
type decoder struct {
	*jsonscan.Scanner
	h     Header
	names map[string]bool

	entry        Entry                  // the entry that is being read
	seen         [len(entryFields)]bool // its fields that were read
	dims         [maxDims]int
	onEntryField func(name []byte) error
}

// field reads a field of the header.
func (d *decoder) field(name []byte) error {
	if d.names[string(name)] {
		return corrupt("duplicate name %s", errtext.Quote(string(name)))
	}
	key := string(name)
	d.names[key] = true
	if key == metadataName {
		return within(metadataName, d.metadata())
	}
	return inTensor(key, d.tensor(key))
}

// metadata reads an object of strings. The original takes null for no metadata.
func (d *decoder) metadata() error {
	if d.Next() == 'n' {
		return d.Null()
	}
	ahead, n := *d.Scanner, 0 // count first: a map that grows takes twice the memory
	if err := ahead.Object(func([]byte) error { n++; return ahead.Skip() }); err != nil {
		return err
	}
	d.h.Metadata = make(map[string]string, n)
	return d.Object(func(name []byte) error {
		if _, ok := d.h.Metadata[string(name)]; ok {
			return corrupt("duplicate name %s", errtext.Quote(string(name)))
		}
		key := string(name)
		text, err := d.Text()
		d.h.Metadata[key] = string(text)
		return err
	})
}

// tensor reads an entry, and checks everything that does not depend on other entries.
func (d *decoder) tensor(name string) error {
	d.entry, d.seen = Entry{Name: name}, [len(entryFields)]bool{}
	if err := d.Object(d.onEntryField); err != nil {
		return err
	}
	if at := slices.Index(d.seen[:], false); at >= 0 {
		return corrupt("no field %q", entryFields[at])
	}
	e := &d.entry
	want, ok := e.bytes()
	if !ok {
		return within(fieldShape, corrupt("got %v, which overflows", e.Shape))
	}
	if got := e.End - e.Begin; got != want {
		return within(fieldOffsets, corrupt("got %d bytes, want %d for %s %v", got, want, e.DType, e.Shape))
	}
	d.h.Entries = append(d.h.Entries, *e)
	return nil
}

// entryField reads a field of an entry.
func (d *decoder) entryField(name []byte) error {
	at := slices.Index(entryFields[:], string(name))
	if at < 0 {
		return d.Skip()
	}
	if d.seen[at] {
		return corrupt("duplicate field %q", entryFields[at])
	}
	d.seen[at] = true
	return within(entryFields[at], d.read(entryFields[at]))
}

// read reads the value of a field.
func (d *decoder) read(field string) error {
	switch field {
	case fieldDType:
		return d.dtype()
	case fieldShape:
		return d.shape()
	}
	return d.offsets()
}

// dtype reads a dtype. It stores the string of the table, not a new one.
func (d *decoder) dtype() error {
	name, err := d.Text()
	if err != nil {
		return err
	}
	at := rank(string(name))
	if at < 0 {
		return unknown(string(name))
	}
	d.entry.DType = dtypes[at].name
	return nil
}

func (d *decoder) shape() error {
	n := 0
	err := d.Array(func(i int) error {
		if i == maxDims {
			return unsupported("got more than %d dims", maxDims)
		}
		size, err := d.Int()
		if err == nil && size < 0 {
			err = corrupt("got dim %d of size %d, want at least 0", i, size)
		}
		d.dims[i], n = int(size), i+1
		return err
	})
	d.entry.Shape = make([]int, n)
	copy(d.entry.Shape, d.dims[:])
	return err
}

func (d *decoder) offsets() error {
	var at [2]int64
	n := 0
	err := d.Array(func(i int) (err error) {
		if n = i + 1; n > len(at) {
			return corrupt("got more than 2 numbers, want 2")
		}
		at[i], err = d.Int()
		return err
	})
	if err == nil && n < len(at) {
		err = corrupt("got %d numbers, want 2", n)
	}
	if err == nil && (at[0] < 0 || at[1] < at[0]) {
		err = corrupt("got %v, want 0 <= begin <= end", at)
	}
	d.entry.Begin, d.entry.End = at[0], at[1]
	return err
}
