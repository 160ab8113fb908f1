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

// ErrType says that a struct does not map to a dictionary. The error names the type and the field.
var ErrType = errors.New("type does not map to a dictionary")

// A role says how a field holds what an entry holds.
type role uint8

const (
	column role = iota // the entry itself: a Leaf, a *tensor.Tensor and the like
	inner              // a pointer to the struct of an inner dictionary
	data               // what JSON takes: the value of Data
	dense              // a number, a bool, or an array of them
	text               // a string
	list               // a slice of what dense is
	masked             // a pointer to an element, nil where a mask is false
	nested             // a struct whose fields are entries; no field of a plan has this role
)

// A plan is how the fields of a type map to entries: one for columns and for rows. It never
// changes once it is made.
type plan struct {
	typ    reflect.Type
	class  string
	fields []field
	mixed  bool  // a part of a row is not dense
	noView error // why View does not take it, or nil
	noRows error // why FromRows does not take it, or nil
}

// A field is a field of a struct that maps to an entry, at any depth of structs.
type field struct {
	spec   tdict.Spec
	role   role
	name   string        // with those of the structs around it, for errors
	path   []int         // of positions in these structs; none for what is no struct
	offset int           // in a row
	typ    reflect.Type  // of the field
	unit   int           // bytes of what dense and list are moved by
	units  int           // of one row, or of one value of a list
	sub    *plan         // of what inner and masked point to
	mask   nestedkey.Key // of masked
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

// planFor returns the plan of a struct of rows, or of columns. It is made, or found impossible,
// once.
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
	known map[reflect.Type]*plan   // of dictionaries that this one may be in
	keys  map[nestedkey.Key]string // the field of each key
	rows  []reflect.Type           // which pointers of rows have led to
}

// A place is where in a row, and in a dictionary, the fields of a struct lie.
type place struct {
	key    nestedkey.Key // "" is the outermost dictionary
	name   string
	path   []int
	offset int
}

// below returns the place of a field of the struct.
func (at place) below(f reflect.StructField) place {
	name := strings.TrimPrefix(at.name+"."+f.Name, ".")
	return place{at.key, name, append(slices.Clip(at.path), f.Index...), at.offset + int(f.Offset)}
}

// join returns the key of an entry in the dictionary of the struct.
func (at place) join(key nestedkey.Key) nestedkey.Key {
	if at.key == "" {
		return key
	}
	return nestedkey.Join(at.key, key)
}

// newPlan makes the plan of a struct, given those that are being made.
func newPlan(t reflect.Type, known map[reflect.Type]*plan) (*plan, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: got %v, want a struct", ErrType, t)
	}
	p := planner{&plan{typ: t}, known, map[nestedkey.Key]string{}, []reflect.Type{t}}
	known[t] = p.plan
	if err := p.structure(place{}, t); err != nil {
		return nil, err
	}
	err := p.specs().Validate()
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
		err = p.refuse(p.keys[bad.Key], fmt.Errorf("key %q: %w", bad.Key, bad.Err))
	}
	return p.plan, err
}

// refuse returns the error of a field.
func (p *planner) refuse(name string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrType, strings.TrimSuffix(p.typ.String()+"."+name, "."), err)
}

// structure adds the fields of a struct.
func (p *planner) structure(outer place, t reflect.Type) error {
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
		return p.refuse(outer.name, errors.New("got no field that is an entry, want one"))
	}
	return nil
}

// add adds a field of a struct.
func (p *planner) add(at, outer place, f reflect.StructField) (err error) {
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

// addClass adds the name of the class.
func (p *planner) addClass(f reflect.StructField, outer place) error {
	class, _, err := lookup(f, "td")
	switch {
	case err != nil:
		return err
	case class == "" || p.class != "" || outer.name != "":
		return errors.New(`got a Class without a tag td that names it, a second one, or one within a struct that is no dictionary of its own`)
	}
	p.class = class
	return tdict.New().SetClass(class) // which must be a name
}

// field adds a field of a type, which is an entry, or a struct of entries.
func (p *planner) field(at place, t reflect.Type, tag tag) error {
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
		p.noView = p.refuse(f.name, fmt.Errorf("got %v in a struct of columns, want a Leaf, or FromRows and ToRows for rows", t))
	}
	if f.role <= inner && p.noRows == nil {
		p.noRows = p.refuse(f.name, fmt.Errorf("got %v in a struct of a row, want an element, or View for columns", t))
	}
	p.fields = append(p.fields, f)
	return nil
}

// addMasked plans what a pointer in a row leads to: entries of this dictionary.
func (p *planner) addMasked(f *field) error {
	t := f.typ.Elem()
	if slices.Contains(p.rows, t) {
		return fmt.Errorf("got %v, which holds itself, want rows of one depth", t)
	}
	sub := planner{&plan{typ: p.typ}, p.known, p.keys, append(slices.Clip(p.rows), t)}
	if err := sub.field(place{key: f.spec.Key, name: f.name}, t, tag{}); err != nil {
		return err
	}
	f.sub, sub.typ = sub.plan, t
	return f.sub.noRows
}
