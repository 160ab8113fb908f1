package tdict

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Value is the value of an entry: *tensor.Tensor, *[TensorDict], *ragged.Tensor, *[Data],
// *[Unbatched] or *[Stacked]. Functions return [ErrKind] for other types.
type Value interface {
	// Shape returns the shape. For a dictionary and a ragged tensor it is the batch shape, for a
	// Stacked the shape on which its members agree.
	Shape() shapeops.Shape
}

// A Leaf is a Value that is not a dictionary.
type Leaf interface{ Value }

// checkValue returns ErrKind unless v is a Value that a dictionary can hold.
func checkValue(v Value) error {
	if t, ok := v.(*tensor.Tensor); ok && t != nil {
		if t.DType() != 0 {
			return nil
		}
	} else if k := opsOf(v); k != nil && k.isValid(v) {
		return nil
	}
	if opsOf(v) != nil {
		return fmt.Errorf("%w: got a %T that is nil or has its zero value", ErrKind, v)
	}
	const want = "*tensor.Tensor, *tdict.TensorDict, *ragged.Tensor, *tdict.Data, *tdict.Unbatched or *tdict.Stacked"
	return fmt.Errorf("%w: got %T, want a %s", ErrKind, v, want)
}

// describe returns a description of v for errors.
func describe(v Value) string { return opsOf(v).text(v) }

// mismatch returns the error that got is of another kind than want.
func mismatch(got, want Value) error {
	return fmt.Errorf("%w: got %s, want %s", ErrKind, describe(got), describe(want))
}

// notDict returns the error of a key that leads through the leaf v, whose name is name.
func notDict(name string, v Value) error {
	return fmt.Errorf("%w: %q is %s", ErrNotDict, name, describe(v))
}

func describeDict(td *TensorDict) string { return fmt.Sprintf("dictionary %v", td.Shape()) }

// fitted returns v if own, its batch shape, begins with batch, and extend() if batch begins with
// own.
func fitted[T Value](v T, own, batch shapeops.Shape, extend func() (T, error)) (T, error) {
	if err := batch.Check(); err != nil || own.HasPrefix(batch) || !batch.HasPrefix(own) {
		return v, cmp.Or(err, own.CheckPrefix(batch))
	}
	return extend()
}
