package tensorclass

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// ErrType means that a struct does not map to a dictionary. The error names the type and the field.
var ErrType = errors.New("type does not map to a dictionary")

// A role is the way in which a field holds an entry.
type role uint8

const (
	column role = iota // the entry itself: a Leaf, a *tensor.Tensor and the like
	inner              // a pointer to the struct of a nested dictionary
	data               // a value of Data, converted by JSON
	dense              // a number, a bool, or an array of them
	text               // a string
	list               // a slice of dense values
	masked             // a pointer to an element, nil where a mask is false
	nested             // a struct whose fields are entries; no field of a plan has this role
)

// A plan maps the fields of a type to entries, for columns and for rows. It never changes after it
// is made.
type plan struct {
	typ    reflect.Type
	class  string
	fields []field
	mixed  bool  // not all of a row is dense
	noView error // the error of View for the type, or nil
	noRows error // the error of FromRows for the type, or nil
}

// A field is a field of a struct, or of a struct in it, that maps to an entry.
type field struct {
	spec   tdict.Spec
	role   role
	name   string        // with the names of the structs around it, for errors
	path   []int         // indexes in these structs; empty if the row is not a struct
	offset int           // the offset in a row, in bytes
	typ    reflect.Type  // the type of the field
	unit   int           // for dense and list: copied in units of this many bytes
	units  int           // units in one row, or in one value of a list
	sub    *plan         // for inner and masked: the plan of the type pointed to
	mask   nestedkey.Key // for masked: the key of the mask
}

// in returns the field of a row.
func (f *field) in(row reflect.Value) reflect.Value {
	for _, i := range f.path {
		row = row.Field(i)
	}
	return row
}

// plans holds, for each type, the function that returns its plan.
var plans sync.Map

// planFor returns the plan of a struct for rows or for columns, or the error that it does not map.
// Both are computed once for each type.
func planFor(t reflect.Type, rows bool) (*plan, error) {
	once, ok := plans.Load(t)
	if !ok {
		once, _ = plans.LoadOrStore(t, sync.OnceValues(func() (*plan, error) { return newPlan(t, map[reflect.Type]*plan{}) }))
	}
	p, err := once.(func() (*plan, error))()
	if err == nil && rows {
		return p, p.noRows
	} else if err == nil {
		return p, p.noView
	}
	return nil, err
}

// A planner makes a plan.
type planner struct {
	*plan
	known map[reflect.Type]*plan   // the plans of this type and of those around it
	keys  map[nestedkey.Key]string // the name of the field of each key
	rows  []reflect.Type           // the types on the path of pointers in a row
}

// A position is where a struct is in a row and in a dictionary.
type position struct {
	key    nestedkey.Key // "" for the outermost dictionary
	name   string
	path   []int
	offset int
}

// below returns the position of a field of the struct.
func (at position) below(f reflect.StructField) position {
	name := strings.TrimPrefix(at.name+"."+f.Name, ".")
	return position{at.key, name, append(slices.Clip(at.path), f.Index...), at.offset + int(f.Offset)}
}

// join returns the key of an entry in the dictionary of the struct.
func (at position) join(key nestedkey.Key) nestedkey.Key {
	if at.key == "" {
		return key
	}
	return nestedkey.Join(at.key, key)
}

// newPlan makes the plan of a struct. known has the plans that are being made.
func newPlan(t reflect.Type, known map[reflect.Type]*plan) (*plan, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: got %v, want a struct", ErrType, t)
	}
	p := planner{&plan{typ: t}, known, map[nestedkey.Key]string{}, []reflect.Type{t}}
	known[t] = p.plan
	if err := p.structure(position{}, t); err != nil {
		return nil, err
	}
	err := p.specs().Validate()
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
		err = p.refuse(p.keys[bad.Key], fmt.Errorf("key %q: %w", bad.Key, bad.Err))
	}
	return p.plan, err
}

// refuse returns an ErrType about a field.
func (p *planner) refuse(name string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrType, strings.TrimSuffix(p.typ.String()+"."+name, "."), err)
}

// structure adds the fields of a struct.
func (p *planner) structure(outer position, t reflect.Type) error {
	before := len(p.keys)
	for f := range t.Fields() {
		at := outer.below(f)
		if err := p.add(at, outer, f); errors.Is(err, ErrType) {
			return err
		} else if err != nil {
			return p.refuse(at.name, err)
		}
	}
	if len(p.keys) == before {
		return p.refuse(outer.name, errors.New("got no field that maps to an entry, want at least one"))
	}
	return nil
}

// add adds a field of a struct.
func (p *planner) add(at, outer position, f reflect.StructField) (err error) {
	if f.Type == classType {
		return p.addClass(f, outer)
	}
	tag, err := tagOf(f)
	switch p.mixed = p.mixed || tag.out; {
	case err != nil || tag.out:
		return err
	case f.Anonymous && !tag.given && f.Type.Kind() == reflect.Struct && !isLeaf(f.Type):
		return p.structure(at, f.Type)
	case f.Anonymous && !tag.given && f.Type.Kind() == reflect.Pointer:
		return fmt.Errorf("got %v embedded, want the struct itself, or a key for it", f.Type)
	case !f.IsExported():
		return errors.New(`got a field that is not exported, want a name with a capital, or td:"-"`)
	}
	if at.key = outer.join(tag.key); tag.mask != "" {
		tag.mask = outer.join(tag.mask)
	}
	return p.field(at, f.Type, tag)
}

// addClass sets the class to the name in the tag.
func (p *planner) addClass(f reflect.StructField, outer position) error {
	class, _, err := lookup(f, "td")
	switch {
	case err != nil:
		return err
	case class == "" || p.class != "" || outer.name != "":
		return errors.New(`got a Class without a name, twice, or in a nested struct, want one Class with a tag td in the struct of a dictionary`)
	}
	p.class = class
	return tdict.New().SetClass(class) // checks the name
}

// field adds a field of type t, which is an entry or a struct of entries.
func (p *planner) field(at position, t reflect.Type, tag tag) error {
	f := field{name: at.name, path: at.path, offset: at.offset, typ: t, mask: tag.mask}
	err := f.classify(tag)
	f.spec.Key, f.spec.Optional = at.key, tag.optional
	if err == nil {
		err = tag.fits(&f)
	}
	key := at.key
	switch {
	case err != nil:
		return err
	case f.role == nested:
		return p.structure(at, t)
	case f.role == inner:
		if f.sub = p.known[t.Elem()]; f.sub == nil {
			if f.sub, err = newPlan(t.Elem(), p.known); err != nil {
				err = fmt.Errorf("%v.%s: %w", p.typ, f.name, err)
			}
		}
		if err == nil && p.noView == nil {
			p.noView = f.sub.noView
		}
	case f.role == masked:
		err, key = p.addMasked(&f), f.mask
	}
	if other, taken := p.keys[key]; taken && err == nil {
		err = fmt.Errorf("got the key %q, which field %s has", key, other)
	}
	if err != nil {
		return err
	}
	p.keys[key], p.mixed = f.name, p.mixed || f.role != dense
	if f.role >= dense && p.noView == nil {
		p.noView = p.refuse(f.name, fmt.Errorf("got %v in a struct of columns, want a Leaf; use FromRows and ToRows for rows", t))
	}
	if f.role <= inner && p.noRows == nil {
		p.noRows = p.refuse(f.name, fmt.Errorf("got %v in a struct of a row, want an element; use View for columns", t))
	}
	p.fields = append(p.fields, f)
	return nil
}

// addMasked plans the type that a pointer in a row points to. Its entries are in the same
// dictionary.
func (p *planner) addMasked(f *field) error {
	t := f.typ.Elem()
	if slices.Contains(p.rows, t) {
		return fmt.Errorf("got %v, which contains itself, want a type that does not", t)
	}
	sub := planner{&plan{typ: p.typ}, p.known, p.keys, append(slices.Clip(p.rows), t)}
	if err := sub.field(position{key: f.spec.Key, name: f.name}, t, tag{}); err != nil {
		return err
	}
	f.sub, sub.typ = sub.plan, t
	return f.sub.noRows
}
