package tensorclass

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
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
)

// A plan is how the fields of a type map to entries: one for columns and for rows. It never
// changes once it is made.
type plan struct {
	typ    reflect.Type
	class  string
	fields []field
	noView error // why View does not take it, or nil
	noRows error // why FromRows does not take it, or nil
}

// A field is a field of a struct that maps to an entry, at any depth of structs.
type field struct {
	spec   tdict.Spec
	role   role
	name   string        // with those of the structs around it, for errors
	path   []int         // of positions in these structs; none for what is no struct
	offset uintptr       // in a row
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

// planOf returns the plan of a type. It is made, or found impossible, once.
func planOf(t reflect.Type) (*plan, error) {
	once, ok := plans.Load(t)
	if !ok {
		once, _ = plans.LoadOrStore(t, sync.OnceValues(func() (*plan, error) {
			return newPlan(t, map[reflect.Type]*plan{})
		}))
	}
	return once.(func() (*plan, error))()
}

// viewPlan returns the plan of a struct of columns.
func viewPlan(t reflect.Type) (*plan, error) {
	p, err := planOf(t)
	if err != nil {
		return nil, err
	}
	return p, p.noView
}

// rowPlan returns the plan of a struct of elements.
func rowPlan(t reflect.Type) (*plan, error) {
	p, err := planOf(t)
	if err != nil {
		return nil, err
	}
	return p, p.noRows
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
	offset uintptr
}

// below returns the place of a field of the struct.
func (at place) below(f reflect.StructField) place {
	name := f.Name
	if at.name != "" {
		name = at.name + "." + name
	}
	return place{at.key, name, append(slices.Clip(at.path), f.Index...), at.offset + f.Offset}
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
	p := planner{&plan{typ: t}, known, map[nestedkey.Key]string{}, []reflect.Type{t}}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: got %v, want a struct", ErrType, t)
	}
	known[t] = p.plan
	if err := p.structure(place{}, t); err != nil {
		return nil, err
	}
	return p.plan, p.validate()
}

// refuse returns the error of a field.
func (p *planner) refuse(name string, err error) error {
	return fmt.Errorf("%w: %v.%s: %w", ErrType, p.typ, name, err)
}

// structure adds the fields of a struct.
func (p *planner) structure(at place, t reflect.Type) error {
	before := len(p.keys)
	for f := range t.Fields() {
		if err := p.add(at.below(f), at, f); err != nil {
			if errors.Is(err, ErrType) {
				return err
			}
			return p.refuse(at.below(f).name, err)
		}
	}
	switch {
	case len(p.keys) > before:
		return nil
	case at.name == "":
		return fmt.Errorf("%w: got %v, which has no field that is an entry", ErrType, t)
	}
	return p.refuse(at.name, fmt.Errorf("got %v, which has no field that is an entry", t))
}

// add adds a field of a struct.
func (p *planner) add(at, outer place, f reflect.StructField) error {
	if f.Type == classType {
		return p.addClass(outer, f)
	}
	tag, err := tagOf(f)
	if err != nil || tag.out {
		return err
	}
	if f.Anonymous && !tag.given && f.Type.Kind() == reflect.Struct && !isLeaf(f.Type) {
		return p.structure(at, f.Type)
	}
	if !f.IsExported() {
		return errors.New(`got a field that is not exported, want a name with a capital, or td:"-"`)
	}
	at.key = outer.join(tag.key)
	mask := tag.mask
	if mask != "" {
		mask = outer.join(mask)
	}
	return p.field(at, f.Type, tag, mask)
}

// addClass takes the name of the class.
func (p *planner) addClass(outer place, f reflect.StructField) (err error) {
	if p.class != "" || outer.name != "" {
		return errors.New("got a Class in a struct that is no dictionary of its own, or a second one")
	}
	if p.class, _, err = lookup(f, "td"); err == nil && p.class == "" {
		err = errors.New("got a Class without a tag td, which has its name")
	}
	return err
}

// field adds a field of a type, which is an entry, or a struct of entries.
func (p *planner) field(at place, t reflect.Type, tag tag, mask nestedkey.Key) error {
	f := field{name: at.name, path: at.path, offset: at.offset, typ: t, mask: mask}
	err := f.classify(tag)
	switch {
	case err != nil:
		return err
	case f.role == nested:
		if tag.optional || tag.mask != "" || tag.shaped || tag.depth != 0 {
			return fmt.Errorf("got options of %v, want none: a pointer to it can be missing", t)
		}
		return p.structure(at, t)
	}
	f.spec.Key, f.spec.Optional = at.key, tag.optional
	if err := tag.fits(&f); err != nil {
		return err
	}
	switch f.role {
	case inner:
		return p.addInner(f)
	case masked:
		return p.addMasked(at, f)
	}
	return p.take(f, f.spec.Key)
}

// nested is the role of a struct whose fields are entries of an inner dictionary. No field of a
// plan has it.
const nested = masked + 1

// classify finds the role of a field, and its spec but for the key.
func (f *field) classify(tag tag) error {
	t, ok := f.typ, false
	if tag.data {
		f.role, f.spec.Kind = data, tdict.KindData
		return checkJSON(t, map[reflect.Type]bool{})
	}
	if f.spec, ok = columnSpec(t); ok {
		f.column(tag)
		return nil
	}
	if f.spec.DType, f.spec.Shape, ok = elements(t); ok {
		f.role = dense
		f.measure(t)
		return nil
	}
	switch k := innermost(t).Kind(); k {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return fmt.Errorf("got %v, whose size differs between machines, want int64 or int32", t)
	}
	switch t.Kind() {
	case reflect.String:
		f.role, f.spec.Kind = text, tdict.KindText
		return nil
	case reflect.Slice:
		if f.spec.DType, f.spec.Shape, ok = elements(t.Elem()); ok {
			f.role, f.spec.Kind, f.spec.Depth = list, tdict.KindRagged, 1
			f.measure(t.Elem())
			return nil
		}
	case reflect.Pointer:
		return f.pointer()
	case reflect.Struct:
		if !opaque(t) {
			f.role = nested
			return nil
		}
	}
	f.role, f.spec.Kind = data, tdict.KindData
	return checkJSON(t, map[reflect.Type]bool{})
}

// column completes the spec of a column.
func (f *field) column(tag tag) {
	f.spec.Shape = tag.shape
	if tag.depth > 0 && f.spec.Kind == tdict.KindRagged {
		f.spec.Depth = tag.depth
	}
	if isLeaf(f.typ) {
		f.path = append(f.path, 0) // the tensor in it
	}
}

// pointer finds the role of a pointer.
func (f *field) pointer() error {
	switch {
	case f.mask != "":
		f.role = masked
	case f.typ.Elem().Kind() == reflect.Struct:
		f.role, f.spec.Kind = inner, tdict.KindDict
	default:
		return fmt.Errorf("got %v without mask=KEY, the bool entry that says where it is present", f.typ)
	}
	return nil
}

// measure works out how elements are moved. The struct around them may be no multiple of a complex
// number, so that they are moved as two numbers.
func (f *field) measure(t reflect.Type) {
	f.unit, f.units = f.spec.DType.Size(), f.spec.Shape.Size()
	if f.spec.DType.IsComplex() {
		f.unit, f.units = f.unit/2, 2*f.units
	}
}

// addInner adds a pointer to the struct of an inner dictionary.
func (p *planner) addInner(f field) (err error) {
	t := f.typ.Elem()
	if f.sub = p.known[t]; f.sub == nil {
		if f.sub, err = newPlan(t, p.known); err != nil {
			return err
		}
	}
	if p.noView == nil {
		p.noView = f.sub.noView
	}
	return p.take(f, f.spec.Key)
}

// addMasked adds a pointer in a row: what it points to makes entries of their own.
func (p *planner) addMasked(at place, f field) error {
	t := f.typ.Elem()
	if slices.Contains(p.rows, t) {
		return fmt.Errorf("got %v, which holds itself, want rows of one depth", t)
	}
	sub := planner{&plan{typ: p.typ}, p.known, p.keys, append(slices.Clip(p.rows), t)}
	if err := sub.field(place{key: at.key, name: at.name}, t, tag{}, ""); err != nil {
		return err
	}
	sub.typ = t
	f.sub = sub.plan
	if err := f.sub.noRows; err != nil {
		return err
	}
	return p.take(f, f.mask)
}

// take keeps a field whose entry has a key of its own.
func (p *planner) take(f field, key nestedkey.Key) error {
	if other, taken := p.keys[key]; taken {
		return fmt.Errorf("got the key %q, which field %s has", key, other)
	}
	p.keys[key] = f.name
	switch {
	case f.role >= dense && p.noView == nil:
		p.noView = p.refuse(f.name, fmt.Errorf("got %v in a struct of columns, want a Leaf, or FromRows and ToRows for rows", f.typ))
	case f.role <= inner && p.noRows == nil:
		p.noRows = p.refuse(f.name, fmt.Errorf("got %v in a struct of a row, want an element, or View for columns", f.typ))
	}
	p.fields = append(p.fields, f)
	return nil
}

// validate returns an error unless the entries can be in one dictionary.
func (p *planner) validate() error {
	err := p.specs().Validate()
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
		return p.refuse(p.keys[bad.Key], fmt.Errorf("%q: %w", bad.Key, bad.Err))
	}
	return err
}
