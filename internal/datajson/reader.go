package datajson

import (
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/tdict"
)

// maxValues is how many values a Reader reads, those in lists and objects counted. Each
// takes memory many times its text; an object and its fields take as much as so many values.
const (
	maxValues   = 3 << 20
	objectCosts = 4
	fieldCosts  = 2
)

// A Reader reads values one after another, and counts them all.
type Reader struct {
	*jsonscan.Scanner
	count   int // of values, and of what takes as much memory
	objects int // around what is read
}

// add counts more values.
func (r *Reader) add(n int) error {
	if r.count += n; r.count > maxValues {
		return fileformat.Unsupported("data that takes the memory of more than %d values", maxValues)
	}
	return nil
}

// New returns a Reader of a text, which must not change while it is used.
func New(text []byte) *Reader { return On(jsonscan.New(text)) }

// On returns a Reader that reads on where s is, and moves it.
func On(s *jsonscan.Scanner) *Reader { return &Reader{Scanner: s} }

// Value reads a value. It returns fileformat.ErrUnsupported for values that take too much memory or
// are nested too deep, jsonscan.ErrSyntax, and what tdict.NewObject returns.
func (r *Reader) Value() (any, error) { return r.value(0) }

// Failed returns an error about data as fileformat.ErrUnsupported, unless it is that already, or
// fileformat.ErrCorrupt: the value is one that Python has and tdict.Data cannot hold.
func Failed(err error) error {
	if errors.Is(err, fileformat.ErrCorrupt) || errors.Is(err, fileformat.ErrUnsupported) {
		return err
	}
	return fileformat.Unsupported("data: %w", err)
}

// value reads a value that has depth values around it.
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
	if err == nil && r.objects > 0 { // those around it copy it
		err = r.add(r.count - before)
	}
	if err != nil {
		return nil, err
	}
	return tdict.NewObject(fields...)
}

// fields reads the fields of an object. Of those of one name the last counts, as for Python.
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

// A fieldIndex is fields that are found by their names.
type fieldIndex struct {
	fields []tdict.Field
	at     map[string]int // once there are many
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

// find returns the number of a field, or -1 if there is none of that name.
func (x *fieldIndex) find(name string) int {
	if x.at == nil {
		return slices.IndexFunc(x.fields, func(f tdict.Field) bool { return f.Name == name })
	}
	if i, ok := x.at[name]; ok {
		return i
	}
	return -1
}
