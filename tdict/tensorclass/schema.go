package tensorclass

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SchemaFor returns the schema of dictionaries that T views, or that rows of T make. An inner
// dictionary that a pointer leads to is optional if the pointer is, and comes after the others.
// SchemaFor returns [ErrType] if T does not map, or holds itself, so that there is no end to its
// entries.
func SchemaFor[T any]() (tdict.Schema, error) {
	p, err := planOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	if p.noRows != nil {
		err = p.noView
	}
	if err != nil {
		return nil, err
	}
	return p.schema()
}

// schema returns the specs of all entries of a dictionary that lies in those of outer.
func (p *plan) schema(outer ...*plan) (tdict.Schema, error) {
	if slices.Contains(outer, p) {
		return nil, fmt.Errorf("%w: got %v, which holds itself: a schema of it has no end", ErrType, p.typ)
	}
	s := p.specs()
	for i := range p.fields {
		f := &p.fields[i]
		if f.role != inner {
			continue
		}
		below, err := f.sub.schema(append(slices.Clip(outer), p)...)
		if err != nil {
			return nil, err
		}
		for _, spec := range below {
			spec.Key = nestedkey.Join(f.spec.Key, spec.Key)
			s = append(s, spec)
		}
	}
	return s, nil
}

// specs returns the specs of the entries, without those of inner dictionaries.
func (p *plan) specs() (s tdict.Schema) {
	for i := range p.fields {
		f := &p.fields[i]
		if f.role == masked {
			s = append(append(s, f.sub.specs()...), f.maskSpec())
		} else {
			s = append(s, f.spec)
		}
	}
	return s
}

// maskSpec returns the spec of the mask of a pointer.
func (f *field) maskSpec() tdict.Spec { return tdict.Spec{Key: f.mask, DType: tensor.Bool} }

// find returns the entry of td for a spec of a field, or nil if it is missing and optional.
func (p *plan) find(op string, td *tdict.TensorDict, f *field, s *tdict.Spec) (tdict.Value, error) {
	v, err := td.Get(s.Key)
	switch {
	case err == nil && fits(s, v, td.Shape()):
		return v, nil
	case errors.Is(err, tdict.ErrMissing) && s.Optional:
		return nil, nil
	}
	err = compare(td, *s)
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
		err = &tdict.KeyError{Op: op, Key: s.Key, Err: fmt.Errorf("field %v.%s: %w", p.typ, f.name, bad.Err)}
	}
	return v, err
}

// fits reports whether it takes little to see that an entry fits a spec.
func fits(s *tdict.Spec, v tdict.Value, batch shapeops.Shape) bool {
	if !v.Shape().HasPrefix(batch) {
		return false
	}
	more := v.Shape()[len(batch):]
	switch v := v.(type) {
	case *tensor.Tensor:
		return s.Kind == tdict.KindTensor && (s.DType == 0 || s.DType == v.DType()) && more.Equal(s.Shape)
	case *ragged.Tensor:
		isText := s.Kind == tdict.KindText && v.DType() == tensor.Uint8 && v.Depth() == 1
		isList := s.Kind == tdict.KindRagged && (s.DType == 0 || s.DType == v.DType()) && s.Depth == v.Depth()
		return (isText || isList) && len(more) == 0 && v.Features().Equal(s.Shape)
	case *tdict.Data:
		return s.Kind == tdict.KindData && more.Equal(s.Shape)
	}
	return false
}

// compare returns the error of an entry that does not fit a spec, or nil.
func compare(td *tdict.TensorDict, s tdict.Spec) error {
	s.Optional = false
	part := tdict.New(td.Shape()...)
	if td.Has(s.Key) {
		var err error
		if part, err = td.Select(s.Key); err != nil {
			return err
		}
	}
	return tdict.Schema{s}.Check(part)
}
