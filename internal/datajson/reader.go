package datajson

import (
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/tdict"
)

// maxValues bounds the values that a Reader reads, including those in lists and objects, because
// each takes many times the memory of its text. An object counts as objectCosts more values, and
// each of its fields as fieldCosts.
const (
	maxValues   = 3 << 20
	objectCosts = 4
	fieldCosts  = 2
)

// A Reader reads values one after another, and bounds the memory of them all.
type Reader struct {
	*jsonscan.Scanner
	count   int // values so far; objects count more
	objects int // objects around the current value
}

// add counts n more values.
func (r *Reader) add(n int) error {
	if r.count += n; r.count > maxValues {
		return fileformat.Unsupported("data that takes the memory of more than %d values", maxValues)
	}
	return nil
}

// New returns a Reader of text, which must not change while it is used.
func New(text []byte) *Reader { return On(jsonscan.New(text)) }

// On returns a Reader that begins at the position of s, and moves it.
func On(s *jsonscan.Scanner) *Reader { return &Reader{Scanner: s} }

// Value reads a value. It returns fileformat.ErrUnsupported for values that take too much memory or
// are nested too deep, jsonscan.ErrSyntax, and the errors of tdict.NewObject.
func (r *Reader) Value() (any, error) { return r.value(0) }

// Failed returns an error about data as fileformat.ErrUnsupported, unless it is that already, or
// fileformat.ErrCorrupt: the value is one that Python has and tdict.Data cannot hold.
func Failed(err error) error {
	if errors.Is(err, fileformat.ErrCorrupt) || errors.Is(err, fileformat.ErrUnsupported) {
		return err
	}
	return fileformat.Unsupported("data: %w", err)
}

// value reads a value within depth other values.
func (r *Reader) value(depth int) (any, error) {
	if err := r.add(1); err != nil {
		return nil, err
	}
	if depth > tdict.MaxDepth {
		return nil, fileformat.Unsupported("data nested more than %d deep", tdict.MaxDepth)
	}
	switch r.Next() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		text, err := r.Text()
		return string(text), err
	case 't', 'f':
		return r.Bool()
	case 'n':
		return nil, r.Null()
	}
	return r.Number()
}

func (r *Reader) list(depth int) (any, error) {
	list := []any{}
	err := r.Array(func(int) error {
		v, err := r.value(depth + 1)
		list = append(list, v)
		return err
	})
	return list, err
}

func (r *Reader) object(depth int) (any, error) {
	before := r.count
	fields, err := r.fields(depth)
	if err == nil && r.objects > 0 { // an object around it copies it
		err = r.add(r.count - before)
	}
	if err != nil {
		return nil, err
	}
	return tdict.NewObject(fields...)
}

// fields reads the fields of an object. If a name comes several times, the last value counts, as in
// Python.
func (r *Reader) fields(depth int) ([]tdict.Field, error) {
	r.objects++
	defer func() { r.objects-- }()
	at := fieldIndex{}
	err := r.add(objectCosts)
	if err != nil {
		return nil, err
	}
	err = r.Object(func(name []byte) error {
		if err := r.add(fieldCosts); err != nil {
			return err
		}
		v, err := r.value(depth + 1)
		at.set(string(name), v)
		return err
	})
	return at.fields, err
}

// A fieldIndex is a list of fields with an index by name.
type fieldIndex struct {
	fields []tdict.Field
	at     map[string]int // nil for few fields
}

func (x *fieldIndex) set(name string, v any) {
	if i := x.find(name); i >= 0 {
		x.fields[i].Value = v
		return
	}
	x.fields = append(x.fields, tdict.Field{Name: name, Value: v})
	const few = 16
	if x.at == nil && len(x.fields) == few {
		x.at = map[string]int{}
		for i, f := range x.fields {
			x.at[f.Name] = i
		}
	}
	if x.at != nil {
		x.at[name] = len(x.fields) - 1
	}
}

// find returns the index of the field with a name, or -1.
func (x *fieldIndex) find(name string) int {
	if x.at == nil {
		return slices.IndexFunc(x.fields, func(f tdict.Field) bool { return f.Name == name })
	}
	if i, ok := x.at[name]; ok {
		return i
	}
	return -1
}
