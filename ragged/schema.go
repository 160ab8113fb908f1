package ragged

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/tensor"
)

// A Schema lists the fields of a collection.
type Schema []Spec

// A Spec describes a field: its dtype and depth, so that lists without a value have them too.
type Spec struct {
	Name  string
	DType tensor.DType
	Depth int // 0 for one value in each row, and more; or AsListed, or Single
	Tree  string
}

// Special values of [Spec].Depth.
const (
	AsListed = -1 // the depth of the lists
	Single   = -2 // one value for all rows: a scalar
)

// Schema returns the name, dtype, depth and tree of each field, in order. The depth of a scalar is
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

// JointFromLists returns a collection of nested lists, each converted as by [FromLists], which
// infers its dtype and depth. Fields are in the order of their names. If lists may be empty, use
// [Schema.Joint]. JointFromLists returns the errors of FromLists, with the name, and of [NewJoint].
func JointFromLists(lists map[string]any) (*Joint, error) {
	var s Schema
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		s = append(s, Spec{Name: name, Depth: AsListed})
	}
	return s.Joint(lists)
}

// Joint returns a collection of nested lists, each converted as by [FromListsAs], in the order of
// the schema. For a spec with depth [Single] the map has a value instead of a list. If a spec has
// no dtype, the dtype is inferred. Joint returns [ErrName] if a list has no spec, or a spec no
// list, and the errors of FromListsAs and of [NewJoint].
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
			return nil, fmt.Errorf("%w: got no list for %q, which the schema has", ErrName, spec.Name)
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
