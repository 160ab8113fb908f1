package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// StackRagged stacks dictionaries that differ in the length of their first batch dim. Their tensors
// become ragged tensors that share one layout, without padding.
//
//	N dictionaries [Li B...], a tensor [Li B... F...] -> a dictionary [N], [N * B... F...]
//	a ragged tensor [Li * F...] -> [N * * F...]
//
// The other batch dims must be equal and become features. [Data] of batch shape [Li] becomes Data
// with a list of Li values for each dictionary. The result is a copy, and its dims have no names.
// (Python: lazy_stack, then get with as_nested_tensor=True for each leaf.)
//
// StackRagged returns [ErrKind] if there is no dictionary or one is nil, shapeops.ErrDim for a
// batch shape [], shapeops.ErrShape, with the key, for Data or ragged tensors with more than one
// batch dim, and the errors of shapeops.Cat, such as [ErrMissing] if the keys differ.
func StackRagged(tds []*TensorDict) (*TensorDict, error) {
	if len(tds) == 0 || slices.Contains(tds, nil) {
		return nil, failed("stack ragged", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	lengths := make([]int64, len(tds))
	for i, td := range tds {
		if len(td.batch) == 0 {
			return nil, failed("stack ragged", fmt.Errorf("value %d: %w: got batch shape [], want at least one dim", i, shapeops.ErrDim))
		}
		lengths[i] = int64(td.batch[0])
	}
	all, err := shapeops.Cat(tds, 0)
	if err != nil {
		return nil, failed("stack ragged", err)
	}
	l, err := ragged.LayoutOf(shapeops.Shape{len(lengths)}, lengths)
	if err != nil {
		return nil, failed("stack ragged", err)
	}
	s := raggedStack{layout: l, lengths: lengths}
	out, err := s.dict(all)
	return out, failed("stack ragged", err)
}

// A raggedStack groups the rows of a dictionary into the rows of a layout.
type raggedStack struct {
	layout  *ragged.Layout
	lengths []int64 // the lengths of the rows of layout
	pass    plan.Pass
}

func (s *raggedStack) dict(td *TensorDict) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) { return s.value(v) })
	if err != nil {
		return nil, within("stack ragged", name, err)
	}
	return &TensorDict{batch: s.layout.Shape().Clone(), entries: entries, header: td.named(nil)}, nil
}

// value groups the rows of a value, which are its first dim, into the rows of the layout.
func (s *raggedStack) value(v Value) (Value, error) {
	switch v := v.(type) {
	case *TensorDict:
		return asValue(s.dict(v))
	case *tensor.Tensor:
		return asValue(ragged.New(v, s.layout))
	case *ragged.Tensor:
		if err := checkOneDim(v); err != nil {
			return nil, err
		}
		return asValue(nested(v).NestIn(&s.pass, s.layout))
	case *Data:
		if err := checkOneDim(v); err != nil {
			return nil, err
		}
		values, lists := slices.Collect(v.All()), make([]any, len(s.lengths))
		for i, n := range s.lengths {
			lists[i], values = values[:n:n], values[n:]
		}
		return asValue(DataFrom(lists, len(lists)))
	case *Unbatched:
		return unbatched(v.tensor, s.layout.Shape()), nil
	case *Stacked:
		d, err := v.Dense()
		if err != nil {
			return nil, err
		}
		return s.value(d)
	}
	return nil, fmt.Errorf("%w: got %T", ErrKind, v)
}

// checkOneDim returns shapeops.ErrShape if v has more than one batch dim.
func checkOneDim(v Value) error {
	if n := len(v.Shape()); n != 1 {
		return fmt.Errorf("%w: got %s, want one batch dim: Exclude it first, or Flatten", shapeops.ErrShape, describe(v))
	}
	return nil
}
