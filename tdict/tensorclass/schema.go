package tensorclass

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SchemaFor returns the schema of dictionaries that T views, or that rows of T make. An inner
// dictionary that a pointer leads to is optional if the pointer is, and comes after the others.
// SchemaFor returns [ErrType] if T does not map, or holds itself, so that there is no end to its
// entries.
func SchemaFor[T any]() (tdict.Schema, error) {
	p, err := planFor(reflect.TypeFor[T](), true)
	if err != nil {
		p, err = planFor(reflect.TypeFor[T](), false)
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

// find returns the entry of td for a spec of a field, or nil if it is missing and optional. A
// tensor that fits is found fast; of others [tdict.Schema.Check] says whether they do.
func (p *plan) find(op string, td *tdict.TensorDict, f *field, s *tdict.Spec) (tdict.Value, error) {
	v, err := td.Get(s.Key)
	missing := errors.Is(err, tdict.ErrMissing)
	if missing && s.Optional || err == nil && fits(s, v, td.Shape()) {
		return v, nil
	}
	var lacks error // which lists what there is
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok && missing {
		lacks = bad.Err
	}
	part := tdict.New(td.Shape()...)
	if !missing {
		part, err = td.Select(s.Key)
	}
	if err == nil || missing {
		err = tdict.Schema{*s}.Check(part)
	}
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok && lacks != nil {
		err = &tdict.KeyError{Op: bad.Op, Key: bad.Key, Err: fmt.Errorf("%w: %w", bad.Err, lacks)}
	}
	if err != nil {
		return nil, p.fail(op, f, err)
	}
	return v, nil
}

// fail returns the error of a field, or of one that it leads to.
func (p *plan) fail(op string, f *field, err error) error {
	key := f.spec.Key
	if bad, ok := errors.AsType[*tdict.KeyError](err); ok {
		switch key, err = bad.Key, bad.Err; {
		case bad.Op == op && f.role == inner:
			return &tdict.KeyError{Op: op, Key: nestedkey.Join(f.spec.Key, key), Err: err}
		case bad.Op == op:
			return bad
		}
	}
	return &tdict.KeyError{Op: op, Key: key, Err: fmt.Errorf("field %v.%s: %w", p.typ, f.name, err)}
}

// fits reports whether an entry is a tensor that is seen to fit a spec.
func fits(s *tdict.Spec, v tdict.Value, batch shapeops.Shape) bool {
	t, ok := v.(*tensor.Tensor)
	return ok && s.Kind == tdict.KindTensor && (s.DType == 0 || s.DType == t.DType()) &&
		t.Shape().HasPrefix(batch) && slices.EqualFunc(s.Shape, t.Shape()[len(batch):], sizeFits)
}

// sizeFits reports whether a spec that wants one size takes another.
func sizeFits(want, got int) bool {
	return want == tdict.Any || want == got
}
