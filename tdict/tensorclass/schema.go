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

// SchemaFor returns the schema of the dictionaries that View takes as a T, or that rows of type T
// make. The entries of nested dictionaries come last. A nested dictionary is optional if its
// pointer is. A pointer with mask=KEY has that Mask, and so have the entries of a struct that it
// points to, except tensors with a Shape: a mask of rows has no bool for each of their elements.
// SchemaFor returns [ErrType] if T does not map, or if T contains itself, so that its
// schema would be infinite.
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

// schema returns the specs of all entries. outer has the plans of the dictionaries around this one.
func (p *plan) schema(outer ...*plan) (tdict.Schema, error) {
	if slices.Contains(outer, p) {
		return nil, fmt.Errorf("%w: got %v, which contains itself, so its schema would be infinite", ErrType, p.typ)
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
			if spec.Key = nestedkey.Join(f.spec.Key, spec.Key); spec.Mask != "" {
				spec.Mask = nestedkey.Join(f.spec.Key, spec.Mask)
			}
			s = append(s, spec)
		}
	}
	return s, nil
}

// specs returns the specs of the entries, without the entries of nested dictionaries.
func (p *plan) specs() (s tdict.Schema) {
	for i := range p.fields {
		f := &p.fields[i]
		if f.role == masked {
			for _, spec := range f.sub.specs() {
				if spec.Mask == "" && f.masks(spec) {
					spec.Mask = f.mask
				}
				s = append(s, spec)
			}
			s = append(s, f.maskSpec())
		} else {
			s = append(s, f.spec)
		}
	}
	return s
}

// maskSpec returns the spec of the mask of a pointer.
// masks reports whether the mask of a field, a bool for each row, can be the mask of one of its
// entries, as tdict.Schema.MaskOf says.
func (f *field) masks(spec tdict.Spec) bool {
	switch spec.Kind {
	case tdict.KindTensor, tdict.KindText:
		return len(spec.Shape) == 0
	case tdict.KindRagged:
		return len(spec.Batch) == 0
	}
	return false
}

func (f *field) maskSpec() tdict.Spec { return tdict.Spec{Key: f.mask, DType: tensor.Bool} }

// find returns the entry of td for a field with spec s, or nil if it is optional and missing. For a
// value that is not a tensor that fits, [tdict.Schema.Check] returns the error.
func (p *plan) find(op string, td *tdict.TensorDict, f *field, s *tdict.Spec) (tdict.Value, error) {
	v, err := td.Get(s.Key)
	missing := errors.Is(err, tdict.ErrMissing)
	if missing && s.Optional || err == nil && fits(s, v, td.Shape()) {
		return v, nil
	}
	var lacks error // lists the keys of td
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

// fail returns the error of a field, or of a field of a nested dictionary.
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

// fits reports whether v is a tensor that fits s. It is faster than a Check.
func fits(s *tdict.Spec, v tdict.Value, batch shapeops.Shape) bool {
	t, ok := v.(*tensor.Tensor)
	return ok && s.Kind == tdict.KindTensor && (s.DType == 0 || s.DType == t.DType()) &&
		t.Shape().HasPrefix(batch) && slices.EqualFunc(s.Shape, t.Shape()[len(batch):], sizeFits)
}

// sizeFits reports whether a size fits the size in a spec.
func sizeFits(want, got int) bool {
	return want == tdict.Any || want == got
}
