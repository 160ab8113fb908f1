package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Check returns nil if td has the entries of s, in any order, and no others. An entry may be
// missing if it is Optional, or if it is below an Optional dictionary that is missing. The mask of
// an Optional entry, see [Spec], is an entry like any other: s must list it.
//
// Otherwise Check returns an error that unwraps, by Unwrap() []error, to a [*KeyError] with
// [ErrSchema] for each entry that is missing, that s does not list, or that has another kind,
// dtype, shape or depth. Each says what was got and wanted. Errors about entries of s come first,
// in the order of s; then those about other entries, in the order of td.
//
// If s says KindText, the entry must be a ragged uint8 leaf with one level and without features.
// Check reads no elements: the bytes of a text need not be UTF-8. Check returns [ErrKind] if td is
// nil.
func (s Schema) Check(td *TensorDict) error {
	x, err := s.index()
	if err != nil {
		return err
	}
	if td == nil {
		return failed("check", errNil)
	}
	var errs []error
	for i := range s {
		if err := x.checkEntry(td, &s[i]); err != nil {
			errs = append(errs, failedKey("check", s[i].Key, err))
		}
	}
	return errors.Join(append(errs, x.others(td, "")...)...)
}

// checkEntry returns ErrSchema unless td has an entry that fits a spec.
func (x schemaIndex) checkEntry(td *TensorDict, want *Spec) error {
	v, err := td.Get(want.Key)
	optional := want.Optional // or in a dictionary that is optional and missing
	for key, ok := want.Key.Parent(); ok && err != nil && !optional; key, ok = key.Parent() {
		in := x.specs[key]
		optional = in != nil && in.Optional && !td.Has(key)
	}
	switch {
	case errors.Is(err, ErrNotDict): // others reports it
		return nil
	case errors.Is(err, ErrMissing) && optional:
		return nil
	case errors.Is(err, ErrMissing):
		return fmt.Errorf("%w: got none, want %s", ErrSchema, want.describe(td.batch))
	case err != nil:
		return err
	}
	if t, ok := v.(*tensor.Tensor); ok && want.Kind == KindTensor && (want.DType == 0 || want.DType == t.DType()) &&
		sizesFit(want.Shape, t.Shape()[len(td.batch):]) { // faster than specOf
		return nil
	}
	if got := specOf(v, len(td.batch)); !want.fits(&got) {
		return fmt.Errorf("%w: got %s, want %s", ErrSchema, got.describe(td.batch), want.describe(td.batch))
	}
	return nil
}

// others returns an error for each entry of d, at any depth, that has no spec. path is the key of
// d, followed by a slash unless it is empty.
func (x schemaIndex) others(d *TensorDict, path nestedkey.Key) (errs []error) {
	for name, v := range d.All() {
		key := path + name
		inner, isDict := v.(*TensorDict)
		switch spec := x.specs[key]; {
		case spec == nil && !x.outer[key]:
			err := fmt.Errorf("%w: got %s, want no such entry", ErrSchema, describe(v))
			errs = append(errs, failedKey("check", key, err))
		case spec == nil && !isDict:
			err := fmt.Errorf("%w: got %s, want a dictionary", ErrSchema, describe(v))
			errs = append(errs, failedKey("check", key, err))
		case isDict && (spec == nil || spec.Kind == KindDict):
			errs = append(errs, x.others(inner, key+"/")...)
		}
	}
	return errs
}

// fits reports whether an entry with the spec got fits s.
func (s *Spec) fits(got *Spec) bool {
	if s.Kind == KindText && got.Kind == KindRagged {
		if got.DType != tensor.Uint8 || got.Depth != s.Depth+1 || len(got.Shape) > 0 {
			return false
		}
		got = &Spec{Kind: KindText, Shape: got.Batch, Depth: s.Depth}
	}
	return s.Kind == got.Kind && (s.DType == 0 || s.DType == got.DType) && (s.Depth == got.Depth || s.Kind == KindDict) &&
		sizesFit(s.Batch, got.Batch) && sizesFit(s.Shape, got.Shape)
}

// sizesFit reports whether got has the sizes of want, in which Any matches any size.
func sizesFit(want, got shapeops.Shape) bool {
	if len(want) != len(got) {
		return false
	}
	for i, n := range want {
		if n != Any && n != got[i] {
			return false
		}
	}
	return true
}
