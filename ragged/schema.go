package ragged

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// A Schema says what fields a collection has.
type Schema []Spec

// A Spec says what a field is: its dtype, and how deep it lies, so that lists without a value are
// of that depth too.
type Spec struct {
	Name  string
	DType tensor.DType
	Depth int // or AsListed, or Single
	Tree  string
}

// What can be a depth in a Spec besides 0, for a value for each row, and more.
const (
	AsListed = -1 // the depth that lists show
	Single   = -2 // one value for all rows: a scalar
)

// Schema returns the name, dtype, depth and tree of each field, in order. A scalar has depth
// [Single].
func (j *Joint) Schema() Schema {
	var s Schema
	for f := range j.Fields() {
		depth := f.Tensor.Depth()
		if len(f.Tensor.Shape()) == 0 {
			depth = Single
		}
		s = append(s, Spec{f.Name, f.Tensor.DType(), depth, f.Tree})
	}
	return s
}

// JointFromLists returns the collection of nested lists, each as [FromLists] takes them, with the
// dtype that it infers. Fields come in the order of their names. The depth of lists must show: if
// they may be empty, give a schema. Its errors are those of FromLists, with the name, and of
// [NewJoint].
func JointFromLists(lists map[string]any) (*Joint, error) {
	var s Schema
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		s = append(s, Spec{Name: name, Depth: AsListed})
	}
	return s.Joint(lists)
}

// Joint returns the collection of nested lists, each as [FromListsAs] takes them, in the order of
// the schema; what a spec calls [Single] is a value instead of a list. Where a spec has no dtype,
// it is inferred. It returns [ErrName] if a list has no spec, or a spec no list, and the errors of
// FromListsAs and of [NewJoint].
func (s Schema) Joint(lists map[string]any) (*Joint, error) {
	if len(lists) > len(s) {
		for _, name := range slices.Sorted(maps.Keys(lists)) {
			if !slices.ContainsFunc(s, func(x Spec) bool { return x.Name == name }) {
				return nil, fmt.Errorf("%w: the schema has no %q", ErrName, name)
			}
		}
	}
	fields := make([]Field, len(s))
	for i, spec := range s {
		list, ok := lists[spec.Name]
		if !ok {
			return nil, fmt.Errorf("%w: got no list %q, which the schema has", ErrName, spec.Name)
		}
		t, err := spec.tensor(list)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", spec.Name, err)
		}
		fields[i] = Field{spec.Name, t, spec.Tree}
	}
	return NewJoint(fields...)
}

func (s Spec) tensor(list any) (*Tensor, error) {
	if s.Depth == Single {
		row, err := Spec{s.Name, s.DType, 0, s.Tree}.tensor([]any{list})
		if err != nil {
			return nil, err
		}
		return row.Row(0)
	}
	if s.DType == 0 && s.Depth < 0 {
		return FromLists(list)
	}
	if s.DType != 0 {
		return FromListsAs(list, s.DType, s.Depth)
	}
	t, err := fromTyped(list)
	if t != nil || err != nil {
		return t, err
	}
	return fromNumbers(list, tensor.DType(0), s.Depth)
}
