package columns

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A column is a field of a record or of a struct: its lists, from the outermost to the innermost,
// and the array of their elements.
type column struct {
	key   nestedkey.Key
	field int // its index
	steps []step
	leaf  place
	value form             // of the leaf or, if it is a dictionary, of its values
	inner []*column        // the columns of a struct
	names []string         // that metadata has for the numbers
	zone  bool             // times have a time zone
	err   error            // why no entry can have it, or nil
	texts map[string]int32 // of dictionaries, with their numbers, if they are collected
	dict  *array.Data      // the last dictionary whose texts were read
	bound
}

// A step is a list around the values of a column.
type step struct {
	place
	known  shapeops.Shape // of all lists, if their lengths are known
	dims   shapeops.Shape // of an entry, unless level is set
	spread []bool         // memory that is used again
	level  bool           // the lists are a level
}

// A place is where a value can be null.
type place struct {
	form     form
	typ      arrow.DataType
	nullable bool
	never    bool   // never null: a byte of binary data
	nulls    bool   // a null was seen
	present  []bool // memory that is used again
}

// places returns the places of a column, from the outermost to the leaf.
func (c *column) places() []*place {
	all := make([]*place, 0, len(c.steps)+1)
	for i := range c.steps {
		all = append(all, &c.steps[i].place)
	}
	return append(all, &c.leaf)
}

// featuresOf returns the types of columns as Hugging Face's metadata has them, by name, or nil.
func featuresOf(m arrow.Metadata) any {
	text, _ := m.GetValue("huggingface")
	var meta struct {
		Info struct{ Features map[string]any }
	}
	if json.Unmarshal([]byte(text), &meta) != nil {
		return nil
	}
	return meta.Info.Features
}

// columns returns the columns of fields. in is the key of the struct around them, nil for a record,
// and known are their features, or nil.
func (x *Inferrer) columns(fields []arrow.Field, in *nestedkey.Key, known any, depth int) []*column {
	named, _ := known.(map[string]any)
	var all []*column
	for i, f := range fields {
		key := nestedkey.Of(f.Name)
		if in != nil {
			key = nestedkey.Join(*in, key)
		}
		c := &column{field: i, key: x.free(key)}
		if c.key != key {
			x.note("column %q is there twice: one is %q", key, c.key)
		}
		if c.err = key.Check(); c.err == nil {
			c.err = x.column(c, f, named[f.Name], depth)
		}
		all = append(all, c)
	}
	return all
}

// free returns key, or with a number after it if the key is taken, and takes it.
func (x *Inferrer) free(key nestedkey.Key) nestedkey.Key {
	free := key
	for n := max(2, x.tried[key]); x.taken[free]; n++ {
		free, x.tried[key] = key+nestedkey.Key(strconv.Itoa(n)), n+1
	}
	x.taken[free] = true
	return free
}

func (x *Inferrer) note(format string, args ...any) {
	if x.opt.Note != nil {
		x.opt.Note(fmt.Sprintf(format, args...))
	}
}

// column sets the steps and the leaf of c.
func (x *Inferrer) column(c *column, f arrow.Field, known any, depth int) error {
	for {
		if depth++; depth > maxNesting {
			return fmt.Errorf("%w: got a type nested more than %d deep", ErrType, maxNesting)
		}
		form, t, err := formOf(f.Type)
		if err != nil {
			return err
		}
		p := place{form: form, typ: t, nullable: f.Nullable}
		if form.isList() || form.layout == fixedLists {
			s := step{place: p}
			if list, ok := t.(*arrow.FixedSizeListType); ok {
				s.known = fixedShape(f, int(list.Len()))
			}
			known = s.learn(known)
			c.steps = append(c.steps, s)
			f = t.(arrow.ListLikeType).ElemField()
			continue
		}
		c.leaf, c.value = p, form
		switch t := t.(type) {
		case *arrow.DictionaryType:
			if c.value, c.leaf.typ, err = formOf(t.ValueType); err == nil && (c.value.layout >= nothing || c.leaf.typ.ID() == arrow.FIXED_SIZE_BINARY) {
				err = fmt.Errorf("%w: got %v", ErrType, t)
			}
		case *arrow.StructType:
			c.inner = x.columns(t.Fields(), &c.key, known, depth)
		case *arrow.TimestampType:
			c.zone = t.TimeZone != ""
		case *arrow.NullType:
			c.leaf.nullable = true
		case *arrow.FixedSizeBinaryType: // lists of bytes
			c.steps = append(c.steps, step{place: p, known: shapeops.Shape{t.ByteWidth}})
			c.value = forms[arrow.UINT8]
			c.leaf = place{form: c.value, typ: arrow.PrimitiveTypes.Uint8, never: true}
		}
		if m, ok := known.(map[string]any); ok && c.value.dtype.IsInteger() && c.value.unit == "" {
			c.names = classNames(m)
		}
		return err
	}
}

// fixedShape returns the shape of lists of n elements.
func fixedShape(f arrow.Field, n int) shapeops.Shape {
	name, _ := f.Metadata.GetValue("ARROW:extension:name")
	text, _ := f.Metadata.GetValue("ARROW:extension:metadata")
	if x, ok := f.Type.(arrow.ExtensionType); ok {
		name, text = x.ExtensionName(), x.Serialize()
	}
	var meta struct{ Shape shapeops.Shape }
	if name == "arrow.fixed_shape_tensor" && json.Unmarshal([]byte(text), &meta) == nil && len(meta.Shape) > 0 && len(meta.Shape) <= maxNesting &&
		meta.Shape.Check() == nil && meta.Shape.Size() == n {
		return meta.Shape
	}
	return shapeops.Shape{n}
}

// learn applies features to the lists, and returns the features of their elements.
func (s *step) learn(known any) any {
	if list, ok := known.([]any); ok && len(list) == 1 {
		return list[0]
	}
	m, ok := known.(map[string]any)
	if !ok {
		return nil
	}
	if shape, ok := m["shape"].([]any); ok && len(shape) > 0 { // Array2D to Array5D
		s.setLength(shape[0])
		return map[string]any{"shape": shape[1:]}
	}
	s.setLength(m["length"])
	return m["feature"]
}

// setLength sets the length of the lists, which JSON says.
func (s *step) setLength(v any) {
	const most = 1 << 31
	if n, ok := v.(float64); ok && s.known == nil && n >= 0 && n < most && n == float64(int(n)) {
		s.known = shapeops.Shape{int(n)}
	}
}

// classNames returns the names of a ClassLabel.
func classNames(m map[string]any) []string {
	list, _ := m["names"].([]any)
	names, seen := make([]string, 0, len(list)), make(map[string]bool, len(list))
	for _, v := range list {
		name, ok := v.(string)
		if !ok || seen[name] {
			return nil
		}
		names, seen[name] = append(names, name), true
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// failed returns an error with a key, unless it has one.
func failed(key nestedkey.Key, err error) error {
	if x, ok := errors.AsType[*tdict.KeyError](err); err == nil || ok && x.Op == "column" {
		return err
	}
	return &tdict.KeyError{Op: "column", Key: key, Err: err}
}
