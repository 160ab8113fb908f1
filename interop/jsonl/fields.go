package jsonl

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An object has the fields of a dictionary in the schema.
type object struct {
	key    nestedkey.Key // "" for the row
	depth  int           // number of lists around it
	fields []*field
	named  map[string]*field
}

// A field is a dictionary or a column.
type field struct {
	name   string
	open   string // the beginning of the field in JSON: {"name": or ,"name":
	key    nestedkey.Key
	last   int          // the number of the last object with the field
	entry  *table.Entry // nil for a dictionary that the schema does not list
	masked bool         // entry has masks of lists, values or objects
	levels []level      // of the lists around a value, also those around its object

	inner *object // nil for a column

	column *table.Column
	deep   bool // the column has levels
	want   scalar
}

// A level describes the lists at one nesting depth of a value.
type level struct {
	size  int          // length of the lists, or -1 for any
	lists *table.Level // nil for a dim
	rest  int          // number of elements in a list, if the level is a dim
}

// A scalar is a type of JSON values that are not lists or objects.
type scalar uint8

const (
	aNumber scalar = iota // an integer
	aFloat
	aComplex
	aBool
	aText
)

// objectOf returns the object for the rows of a schema. It returns tdict.ErrSchema if an object
// would have two fields of one name.
func objectOf(schema tdict.Schema, t *table.Table) (*object, error) {
	o := objects{root: &object{}, known: map[nestedkey.Key]*field{}}
	columns, dicts := t.Columns(), t.Dicts()
	for _, s := range schema {
		switch {
		case len(columns) > 0 && columns[0].Spec.Key == s.Key:
			f, err := o.add(s)
			if err != nil {
				return nil, err
			}
			f.setColumn(columns[0])
			columns = columns[1:]
		case len(dicts) > 0 && dicts[0].Spec.Key == s.Key:
			f, err := o.add(s)
			if err != nil {
				return nil, err
			}
			f.setDict(dicts[0])
			dicts = dicts[1:]
		} // others are masks
	}
	return o.root, nil
}

// objects are the objects of a schema.
type objects struct {
	root  *object
	known map[nestedkey.Key]*field
}

// add adds the field of a spec, and the dictionaries that contain it if necessary.
func (x *objects) add(s tdict.Spec) (*field, error) {
	name := s.Key.Name()
	if len(s.Columns) == 1 {
		name = s.Columns[0]
	}
	o := x.root
	if outer, ok := s.Key.Parent(); ok {
		in := x.known[outer]
		if in == nil {
			var err error
			if in, err = x.add(tdict.Spec{Key: outer, Kind: tdict.KindDict}); err != nil {
				return nil, err
			}
			up := x.root
			if key, ok := outer.Parent(); ok {
				up = x.known[key].inner
			}
			in.inner = &object{key: outer, depth: up.depth}
		}
		o = in.inner
	}
	if o.named[name] != nil {
		err := fmt.Errorf("%w: got the name %s of another field, want another: give the entry another key, and no Columns", tdict.ErrSchema, errtext.Quote(name))
		return nil, &tdict.KeyError{Op: "table", Key: s.Key, Err: err}
	}
	f := &field{name: name, key: s.Key}
	f.open = string(jsonlists.AppendText([]byte{"{,"[min(len(o.fields), 1)]}, name)) + ":"
	if o.fields = append(o.fields, f); o.named == nil {
		o.named = map[string]*field{}
	}
	o.named[name], x.known[s.Key] = f, f
	return f, nil
}

// setColumn makes f a column.
func (f *field) setColumn(c *table.Column) {
	f.column, f.deep, f.want = c, len(c.Levels) > 0, scalarOf(c.Spec)
	if c.IsText() {
		f.want = aText
	}
	f.setEntry(&c.Entry, f.deep)
	for i, n := range c.Spec.Shape {
		f.levels = append(f.levels, level{size: n, rest: c.Spec.Shape[i:].Size()})
	}
}

// setDict makes f a dictionary.
func (f *field) setDict(d *table.Entry) {
	f.inner = &object{key: f.key, depth: len(d.Levels)}
	f.setEntry(d, true)
}

// setEntry sets the levels. masked is set if masks are not of the elements of a tensor.
func (f *field) setEntry(e *table.Entry, masked bool) {
	f.entry = e
	for depth := range len(e.Levels) + 1 {
		f.masked = f.masked || masked && e.Mask(depth) != nil
	}
	for _, l := range e.Levels {
		f.levels = append(f.levels, level{size: -1, lists: l})
	}
}

// mask returns the mask of the values inside depth lists, or nil. It is not the mask of the
// elements of a tensor.
func (f *field) mask(depth int) *table.Mask {
	if !f.masked {
		return nil
	}
	return f.entry.Mask(depth)
}

// left returns the number of elements of a tensor in a value inside depth lists.
func (f *field) left(depth int) int {
	if depth < len(f.levels) {
		return f.levels[depth].rest
	}
	return 1
}

// what describes the value that f expects inside depth lists, for errors.
func (f *field) what(depth int) string {
	switch {
	case depth < len(f.levels) && f.levels[depth].size >= 0:
		return fmt.Sprintf("a list of %d", f.levels[depth].size)
	case depth < len(f.levels):
		return "a list"
	case f.inner != nil:
		return "an object"
	}
	return f.want.what()
}

// what describes the values, for errors.
func (s scalar) what() string {
	return [...]string{"an integer", "a number", `a number or a string such as "(1+2i)"`, "true or false", "a string"}[s]
}

func scalarOf(s tdict.Spec) scalar {
	switch d := s.DType; {
	case s.Kind == tdict.KindText:
		return aText
	case d == tensor.Bool:
		return aBool
	case d.IsComplex():
		return aComplex
	case d.IsFloat():
		return aFloat
	}
	return aNumber
}
