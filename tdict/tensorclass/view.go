package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// View returns a T whose fields are the entries of td. They share td's memory: what is written to
// a tensor of one is in the other. Entries that T does not name are no matter. A nil *struct, a
// zero Leaf or a nil pointer stands for an optional entry that td lacks.
//
// View returns [ErrType] if T does not map to columns; tdict.ErrSchema in a *tdict.KeyError, with
// the field, what was got and wanted, for an entry that is missing, or of another kind, dtype or
// shape; tdict.ErrNotDict; tdict.ErrKind if td is nil; and the errors of encoding/json for a value
// of Data that the field does not take.
func View[T any](td *tdict.TensorDict) (T, error) {
	var t, none T
	p, err := viewPlan(reflect.TypeFor[T]())
	if err == nil {
		err = p.view(td, reflect.ValueOf(&t).Elem())
	}
	if err != nil {
		return none, err
	}
	return t, nil
}

// view fills a struct.
func (p *plan) view(td *tdict.TensorDict, to reflect.Value) error {
	if td == nil {
		return errNil
	}
	for i := range p.fields {
		f := &p.fields[i]
		if f.role == inner {
			if err := p.viewInner(td, f, to); err != nil {
				return err
			}
			continue
		}
		v, err := p.find("view", td, f, &f.spec)
		switch {
		case err != nil:
			return err
		case v == nil:
		case f.role == column:
			f.in(to).Set(reflect.ValueOf(v))
		default:
			if err := f.viewData(v.(*tdict.Data), to); err != nil {
				return p.failed("view", f, err)
			}
		}
	}
	return nil
}

var errNil = fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)

// failed returns the error of a field.
func (p *plan) failed(op string, f *field, err error) error {
	return &tdict.KeyError{Op: op, Key: f.spec.Key, Err: fmt.Errorf("field %v.%s: %w", p.typ, f.name, err)}
}

// viewInner fills the struct that a field points to.
func (p *plan) viewInner(td *tdict.TensorDict, f *field, to reflect.Value) error {
	if f.spec.Optional && !td.Has(f.spec.Key) {
		return nil
	}
	d, err := td.Dict(f.spec.Key)
	if err == nil {
		err = d.Shape().CheckEqual(td.Shape())
	}
	if err != nil {
		return p.failed("view", f, err)
	}
	s := reflect.New(f.sub.typ)
	if err := f.sub.view(d, s.Elem()); err != nil {
		return within("view", f, err)
	}
	f.in(to).Set(s)
	return nil
}

// viewData fills a field with the value that all rows have.
func (f *field) viewData(d *tdict.Data, to reflect.Value) error {
	v, ok := d.Uniform()
	if !ok {
		return fmt.Errorf("%w: got data %v whose rows differ, want one value: make the field a *tdict.Data", tdict.ErrSchema, d.Shape())
	}
	return fromData(v, f.in(to))
}

// Dict returns the dictionary with a batch shape whose entries are the fields of *t. It shares the
// memory of tensors. A nil field is left out if it is optional. Keys have the order of the fields.
//
// Dict returns [ErrType] as [View] does; tdict.ErrSchema in a *tdict.KeyError, with the field, what
// was got and wanted, for a field that is nil, or of another dtype or shape than its tags say;
// the errors of tdict.TensorDict.Set, with tdict.ErrDepth for a pointer that leads back to *t; and
// tdict.ErrKind if t is nil or the value of a Data field is none.
func Dict[T any](batch shapeops.Shape, t *T) (*tdict.TensorDict, error) {
	p, err := viewPlan(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	if err := batch.Check(); err != nil {
		return nil, err
	}
	return collect(p, "dict", tdict.New(batch...), t)
}

// Update sets the fields of *t that have changed since [View] in td. A nil field that is optional
// leaves what td has. All fields are checked before anything is set: on an error td is as it was.
// Its errors are those of [Dict] and of tdict.TensorDict.Update.
func Update[T any](td *tdict.TensorDict, t *T) error {
	p, err := viewPlan(reflect.TypeFor[T]())
	if err == nil && td == nil {
		err = errNil
	}
	if err != nil {
		return err
	}
	changed, err := collect(p, "update", tdict.New(td.Shape()...), t)
	if err != nil {
		return err
	}
	if err := p.dropSame(changed, td); err != nil {
		return err
	}
	return td.Update(changed)
}

// collect puts the fields of *t into an empty dictionary, and returns that.
func collect[T any](p *plan, op string, td *tdict.TensorDict, t *T) (*tdict.TensorDict, error) {
	if t == nil {
		return nil, fmt.Errorf("%w: got a nil %T", tdict.ErrKind, t)
	}
	if err := p.collect(op, td, reflect.ValueOf(t).Elem(), 0); err != nil {
		return nil, err
	}
	return td, nil
}

// collect puts the fields of a struct into an empty dictionary that lies so deep.
func (p *plan) collect(op string, td *tdict.TensorDict, from reflect.Value, depth int) error {
	if depth > tdict.MaxDepth {
		return tdict.ErrDepth
	}
	for i := range p.fields {
		f := &p.fields[i]
		v, err := f.value(op, td.Shape(), f.in(from), depth)
		if err == nil && v != nil {
			err = td.Set(f.spec.Key, v)
		}
		if err != nil {
			return within(op, f, err)
		}
		if f.role != inner || v == nil {
			if _, err := p.find(op, td, f, &f.spec); err != nil {
				return err
			}
		}
	}
	return td.SetClass(p.class)
}

// value returns what a field holds, or nil.
func (f *field) value(op string, batch shapeops.Shape, from reflect.Value, depth int) (tdict.Value, error) {
	switch {
	case f.role == data:
		v, err := toData(from)
		if err != nil {
			return nil, err
		}
		return tdict.NewData(v)
	case from.IsNil():
		return nil, nil
	case f.role == inner:
		d := tdict.New(batch...)
		return d, f.sub.collect(op, d, from.Elem(), depth+1)
	}
	return from.Interface().(tdict.Value), nil
}

// dropSame removes the entries that td has too.
func (p *plan) dropSame(changed, td *tdict.TensorDict) error {
	for i := range p.fields {
		f := &p.fields[i]
		if !td.Has(f.spec.Key) || !changed.Has(f.spec.Key) {
			continue
		}
		mine, err := td.Get(f.spec.Key)
		if err != nil {
			return err
		}
		v, err := changed.Get(f.spec.Key)
		if err != nil {
			return err
		}
		same := mine == v
		switch v := v.(type) {
		case *tdict.TensorDict:
			if old, ok := mine.(*tdict.TensorDict); ok {
				err = f.sub.dropSame(v, old)
			}
		case *tdict.Data:
			old, ok := mine.(*tdict.Data)
			same = ok && old.Equal(v)
		}
		if err == nil && same {
			err = changed.Delete(f.spec.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
