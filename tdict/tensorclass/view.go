package tensorclass

import (
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Class as a blank field of a struct names the Python class of its dictionaries, see
// tdict.TensorDict.SetClass:
//
//	type Frame struct {
//		_ tensorclass.Class `td:"my.module.Frame"`
//		...
//	}
//
// [Dict] and [FromRows] set the name. [View] and [ToRows] accept dictionaries of any class.
//
// Python loads a dataset of such dictionaries only after the program has imported the class, and
// only if the class has a field for each entry. memmap.SaveOptions.NoClass saves without classes.
type Class struct{}

// A Leaf is a tensor whose dtype the compiler knows: a field of a struct that [View] fills. The
// zero Leaf has no tensor; it stands for an optional entry that a dictionary lacks. Its methods
// then return tensor.ErrKind, but methods of the embedded Tensor panic. Safe for concurrent use as
// its Tensor is.
type Leaf[T tensor.Elem] struct{ *tensor.Tensor }

// dtype returns the dtype of the Tensor.
func (l Leaf[T]) dtype() tensor.DType { return tensor.DTypeOf[T]() }

// Slice returns the elements in l's own memory, with the rules of tensor.Of.
func (l Leaf[T]) Slice() ([]T, error) { return tensor.Of[T](l.Tensor) }

// Read calls fn with the elements, row-major, as tensor.Read does.
func (l Leaf[T]) Read(fn func(s []T)) error { return tensor.Read(l.Tensor, fn) }

// Write calls fn with the elements, row-major, which fn may change, as tensor.Write does.
func (l Leaf[T]) Write(fn func(s []T)) error { return tensor.Write(l.Tensor, fn) }

// At returns one element, as tensor.Item does. pos has one number for each dim.
func (l Leaf[T]) At(pos ...int) (T, error) { return tensor.Item[T](l.Tensor, pos...) }

// View returns a T whose fields are the entries of td. They share memory: writing to a tensor of
// one writes to the other. Entries without a field in T are ignored. A field of an optional entry
// that td lacks is nil, or a zero Leaf.
//
// View returns
//
//   - [ErrType] if T does not map to columns,
//   - tdict.ErrSchema in a *tdict.KeyError, with the field, what was got and what was wanted, for
//     an entry that is missing or differs from T in kind, dtype or shape,
//   - tdict.ErrNotDict if a key leads through a leaf,
//   - tdict.ErrKind if td is nil,
//   - the errors of encoding/json for Data that does not fit the field.
func View[T any](td *tdict.TensorDict) (t T, err error) {
	p, err := planFor(reflect.TypeFor[T](), false)
	if err == nil {
		err = p.view(td, reflect.ValueOf(&t).Elem())
	}
	if err != nil {
		t = *new(T)
	}
	return t, err
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
			d := v.(*tdict.Data)
			one, same := d.Uniform()
			if err = fromData(one, f.in(to)); !same {
				err = fmt.Errorf("%w: got data %v whose rows differ, want one value: make the field a *tdict.Data", tdict.ErrSchema, d.Shape())
			}
			if err != nil {
				return p.fail("view", f, err)
			}
		}
	}
	return nil
}

var errNil = fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)

// viewInner fills the struct that a field points to, if td has a dictionary for it.
func (p *plan) viewInner(td *tdict.TensorDict, f *field, to reflect.Value) error {
	v, _ := td.Get(f.spec.Key)
	d, ok := v.(*tdict.TensorDict)
	if !ok {
		_, err := p.find("view", td, f, &f.spec)
		return err
	}
	err := d.Shape().CheckEqual(td.Shape())
	s := reflect.New(f.sub.typ)
	if err == nil {
		err = f.sub.view(d, s.Elem())
	}
	if err != nil {
		return p.fail("view", f, err)
	}
	f.in(to).Set(s)
	return nil
}

// Dict returns a dictionary with the given batch shape whose entries are the fields of *t, in their
// order. It shares the memory of tensors. An optional field that is nil, or zero if it has the
// option data, is left out.
//
// Dict returns [ErrType] as [View] does; tdict.ErrSchema in a *tdict.KeyError, with the field, what
// was got and what was wanted, for a field that is nil or has another dtype or shape than its tags
// say; the errors of tdict.TensorDict.Set, such as tdict.ErrDepth for a pointer that leads back to
// *t; and tdict.ErrKind if t is nil or a value is invalid as Data.
func Dict[T any](batch shapeops.Shape, t *T) (*tdict.TensorDict, error) {
	return collect("dict", batch, t)
}

// Update sets the fields of *t in td, which then shares the memory of their tensors. An optional
// field that is nil does not change td. Update returns the errors of [Dict] and of
// tdict.TensorDict.Update. On an error td has not changed.
func Update[T any](td *tdict.TensorDict, t *T) error {
	if td == nil {
		return errNil
	}
	fields, err := collect("update", td.Shape(), t)
	if err != nil {
		return err
	}
	return td.Update(fields)
}

// collect returns a dictionary of the fields of *t, for the operation op.
func collect[T any](op string, batch shapeops.Shape, t *T) (*tdict.TensorDict, error) {
	p, err := planFor(reflect.TypeFor[T](), false)
	if err == nil && t == nil {
		err = fmt.Errorf("%s: %w: got a nil %T", op, tdict.ErrKind, t)
	}
	if err == nil {
		err = batch.Check()
	}
	if err != nil {
		return nil, err
	}
	return p.collect(op, batch, reflect.ValueOf(t).Elem(), 0)
}

// collect returns a dictionary of the fields of a struct, nested depth deep.
func (p *plan) collect(op string, batch shapeops.Shape, from reflect.Value, depth int) (*tdict.TensorDict, error) {
	if depth > tdict.MaxDepth {
		return nil, tdict.ErrDepth
	}
	td := tdict.New(batch...)
	for i := range p.fields {
		f := &p.fields[i]
		v, err := f.value(op, batch, f.in(from), depth)
		if err == nil && v != nil {
			err = td.Set(f.spec.Key, v)
		}
		if err == nil && (v == nil || f.role != inner) {
			_, err = p.find(op, td, f, &f.spec)
		}
		if err != nil {
			return nil, p.fail(op, f, err)
		}
	}
	return td, td.SetClass(p.class)
}

// value returns the entry for a field with the value from, or nil.
func (f *field) value(op string, batch shapeops.Shape, from reflect.Value, depth int) (tdict.Value, error) {
	switch {
	case f.spec.Optional && from.IsZero(), f.role != data && from.IsNil():
		return nil, nil
	case f.role == inner:
		return f.sub.collect(op, batch, from.Elem(), depth+1)
	case f.role == column:
		return from.Interface().(tdict.Value), nil
	}
	v, err := toData(from)
	if err != nil {
		return nil, err
	}
	return tdict.NewData(v)
}
