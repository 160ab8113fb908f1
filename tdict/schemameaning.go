package tdict

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// timeUnits are the units of a [Spec] with Time, and their lengths.
var timeUnits = []struct {
	name   string
	length time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
}

// TimeUnits returns the units of a [Spec] with Time: "d", "h", "min", "s", "ms", "us" and "ns".
func TimeUnits() (names []string) {
	for _, u := range timeUnits {
		names = append(names, u.name)
	}
	return names
}

// TimeUnit returns the length of the unit of a spec with Time. ok is false for another unit, and
// for a spec without Time.
func (s Spec) TimeUnit() (length time.Duration, ok bool) {
	for _, u := range timeUnits {
		if s.Time != "" && u.name == s.Unit {
			return u.length, true
		}
	}
	return 0, false
}

// Spell returns the text of an element, which [tensor.Tensor.String] wrote, as s says it: a time by
// its layout, a category in quotes. Other texts stay as they are, and so do numbers that are no
// code, or a time that package time cannot hold.
func (s Spec) Spell(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	switch unit, isTime := s.TimeUnit(); {
	case err != nil:
	case isTime:
		if at, ok := timeOf(n, unit); ok {
			return at.Format(s.Time)
		}
	case n >= 0 && n < int64(len(s.Categories)):
		return strconv.Quote(s.Categories[n])
	}
	return text
}

// timeOf returns the time of n units after the beginning of 1970, in UTC. ok is false if it has too
// many seconds.
func timeOf(n int64, unit time.Duration) (at time.Time, ok bool) {
	if unit >= time.Second {
		const most = 1 << 62 // package time adds the seconds from year 1
		per := int64(unit / time.Second)
		return time.Unix(n*per, 0).UTC(), n <= most/per && n >= -most/per
	}
	per := int64(time.Second / unit)
	return time.Unix(n/per, n%per*int64(unit)).UTC(), true
}

// Find returns the spec of a key. ok is false if s does not list it. It looks at one entry after
// the other.
func (s Schema) Find(key nestedkey.Key) (spec Spec, ok bool) {
	for i := range s {
		if s[i].Key == key {
			return s[i], true
		}
	}
	return Spec{}, false
}

// MaskOf returns the mask of an entry of td, a dictionary that s describes: bools that are true
// where a value is present. For an entry of kind
//
//   - tensor [B... F...] it is a tensor [B... F...], a bool for each element
//   - text [B... F... *] it is a tensor [B... F...], a bool for each text
//   - ragged [B... * * F...] or dictionary [B...] it is a tensor [B...], a bool for each row; or a
//     ragged tensor of as many levels as the entry's Depth or fewer, with the entry's lengths: a
//     bool for each value, text or object, or for each list of the level after. What a missing list
//     or row would hold does not exist. Such a mask may have a Mask itself, of fewer levels
//
// It returns nil if s says no Mask for the key, or if td lacks the mask: then all values are
// present. It returns tensor.ErrDType, shapeops.ErrShape, ragged.ErrLengths or [ErrKind] with the
// key of the mask if that does not fit, and [ErrMissing] if td lacks the entry.
func (s Schema) MaskOf(td Dictionary, key nestedkey.Key) (Leaf, error) {
	d := Of(td)
	spec, _ := s.Find(key)
	if spec.Mask == "" {
		return nil, nil
	}
	if d == nil {
		return nil, failed("mask", errNil)
	}
	of, err := d.Get(key)
	if err != nil {
		return nil, err
	}
	v, err := d.Get(spec.Mask)
	if errors.Is(err, ErrMissing) {
		return nil, nil
	}
	if err == nil {
		err = errtext.Named("mask", checkMask(v, of, spec))
	}
	if err != nil {
		return nil, failedKey("mask", spec.Mask, err)
	}
	leaf, _ := v.(Leaf)
	return leaf, nil
}

// Masks returns a dictionary that has, under the key of each leaf of td with a mask, that mask, as
// [Schema.MaskOf] returns it. The mask of a dictionary is the mask of each leaf in it for which s
// lists none. The result has the batch shape of td, shares memory with td, and is what
// arith.Over.Masked takes. It returns [ErrKind] if td is nil, and the errors of MaskOf.
func (s Schema) Masks(td Dictionary) (*TensorDict, error) {
	d := Of(td)
	if d == nil {
		return nil, failed("masks", errNil)
	}
	masks, listed := New(d.batch...), map[nestedkey.Key]bool{}
	for _, spec := range s {
		listed[spec.Key] = spec.Mask != ""
	}
	for i, spec := range s {
		if spec.Mask == "" || !d.Has(spec.Key) {
			continue
		}
		mask, err := s[i:i+1].MaskOf(d, spec.Key)
		if err == nil && mask != nil {
			err = d.setMask(masks, spec.Key, mask, listed)
		}
		if err != nil {
			return nil, err
		}
	}
	return masks, nil
}

// setMask puts the mask of an entry of td into masks: under its key or, for a dictionary, under the
// keys of the leaves in it that are not listed.
func (td *TensorDict) setMask(masks *TensorDict, key nestedkey.Key, mask Leaf, listed map[nestedkey.Key]bool) error {
	inner, err := td.Dict(key)
	if errors.Is(err, ErrNotDict) {
		return masks.Set(key, mask)
	}
	if err != nil {
		return err
	}
	for name := range inner.Leaves() {
		leaf := nestedkey.Join(key, name)
		if listed[leaf] {
			continue
		}
		if err := masks.Set(leaf, mask); err != nil {
			return err
		}
	}
	return nil
}

// checkMeaning returns an error unless Mask, Unit, Time, Categories and Columns are valid.
func (s *Spec) checkMeaning() error {
	integers := s.DType == 0 || s.DType.IsInteger()
	holds := s.Kind == KindTensor || s.Kind == KindRagged
	_, counted := s.TimeUnit()
	switch {
	case s.Mask == s.Key && s.Mask != "":
		return fmt.Errorf("%w: got Mask %q, want another entry", ErrSchema, s.Mask)
	case s.Mask != "" && !holds && s.Kind != KindText && s.Kind != KindDict:
		return fmt.Errorf("%w: got Mask %q for kind %v, want none", ErrSchema, s.Mask, s.Kind)
	case s.Time != "" && (!holds || s.DType != tensor.Int64 || s.Categories != nil):
		return fmt.Errorf("%w: got Time %q for %v, want it for int64 without Categories", ErrSchema, s.Time, s.describe(nil))
	case s.Time != "" && !counted:
		return fmt.Errorf("%w: got the unit %q of times, want one of %s", ErrSchema, s.Unit, strings.Join(TimeUnits(), ", "))
	case s.Bare && !(holds && (s.DType == 0 || s.DType.IsFloat())):
		return fmt.Errorf("%w: got Bare for %v, want it for floating-point numbers", ErrSchema, s.describe(nil))
	case s.Categories != nil && !(holds && integers):
		return fmt.Errorf("%w: got Categories for %v, want them for integers", ErrSchema, s.describe(nil))
	case !utf8.ValidString(s.Unit) || !utf8.ValidString(s.Time):
		return fmt.Errorf("got a Unit or a Time that is not UTF-8")
	}
	if s.Mask != "" {
		if err := s.Mask.Check(); err != nil {
			return fmt.Errorf("mask: %w", err)
		}
	}
	for _, name := range s.Columns {
		if !utf8.ValidString(name) {
			return fmt.Errorf("got the name %s in Columns, which is not UTF-8", errtext.Quote(name))
		}
	}
	return s.checkCategories()
}

// checkCategories returns an error unless the texts differ and are UTF-8.
func (s *Spec) checkCategories() error {
	seen := make(map[string]bool, len(s.Categories))
	for _, text := range s.Categories {
		if seen[text] || !utf8.ValidString(text) {
			return fmt.Errorf("%w: got the category %s, want different texts in UTF-8", ErrSchema, errtext.Quote(text))
		}
		seen[text] = true
	}
	return nil
}

// checkMasks returns an error for a Mask that s lists as something else.
func (x schemaIndex) checkMasks(s Schema) error {
	for i := range s {
		mask := x.specs[s[i].Mask]
		if s[i].Mask == "" || mask == nil && !x.outer[s[i].Mask] {
			continue
		}
		if mask == nil || !s[i].canHave(mask) {
			return failedKey("schema", s[i].Mask, fmt.Errorf("%w: got an entry that cannot be the mask of %q, want bools for its values", ErrSchema, s[i].Key))
		}
	}
	return nil
}

// canHave reports whether an entry can be the mask of s.
func (s *Spec) canHave(mask *Spec) bool {
	if mask.DType != tensor.Bool {
		return false
	}
	switch {
	case mask.Kind == KindTensor && s.Kind == KindRagged:
		return sizesFit(s.Batch, mask.Shape)
	case mask.Kind == KindTensor:
		return sizesFit(s.Shape, mask.Shape)
	}
	return mask.Kind == KindRagged && mask.Depth <= s.Depth && sizesFit(s.Batch, mask.Batch) && len(mask.Shape) == 0
}

// checkMask returns an error unless v can be the mask of a value with a spec.
func checkMask(v, of Value, spec Spec) error {
	switch mask := v.(type) {
	case *tensor.Tensor:
		if mask.DType() != tensor.Bool {
			return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
		}
		return mask.Shape().CheckEqual(of.Shape())
	case *ragged.Tensor:
		layout, depth, most := mask.Layout(), mask.Layout().Depth(), spec.Depth
		values, isRagged := of.(*ragged.Tensor)
		if isRagged && spec.Kind != KindText {
			most = values.Depth()
		}
		if depth == 0 || depth > most {
			break
		}
		if mask.DType() != tensor.Bool {
			return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
		}
		if !isRagged {
			return mask.Shape().CheckEqual(of.Shape())
		}
		want, err := values.Layout().At(depth)
		if err != nil {
			return err
		}
		return layout.CheckEqual(want)
	}
	return fmt.Errorf("%w: got %s, want bools for the values of %s", ErrKind, describe(v), describe(of))
}
