package memmap

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// checkLike returns an error unless got has the same keys as want and, under each key, the same
// kind of value, dtype and shape. The number of rows, the first batch dim, may differ. It reads no
// element.
func checkLike(want, got *tdict.TensorDict) error {
	rows := len(want.Shape()) > 0
	if !rows && len(got.Shape()) == 1 {
		return fmt.Errorf("%w: got batch shape %v, want []: Like is a single row: Unsqueeze it", shapeops.ErrShape, got.Shape())
	}
	if err := checkShapeLike(want.Shape(), got.Shape(), rows); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	for key := range want.NestedKeys() {
		g, err := got.Get(key)
		if e, ok := errors.AsType[*tdict.KeyError](err); ok {
			return &tdict.KeyError{Op: "like", Key: e.Key, Err: e.Err}
		}
		w, _ := want.Get(key) // it has the key
		if err := checkValueLike(w, g, rows); err != nil {
			return &tdict.KeyError{Op: "like", Key: key, Err: err}
		}
	}
	for key := range got.NestedKeys() {
		if !want.Has(key) {
			return &tdict.KeyError{Op: "like", Key: key, Err: fmt.Errorf("%w in the prototype", tdict.ErrMissing)}
		}
	}
	return nil
}

// checkShapeLike compares two shapes. If rows is set, their first dims may differ.
func checkShapeLike(want, got shapeops.Shape, rows bool) error {
	if rows && len(want) > 0 && len(want) == len(got) {
		want = append(got[:1:1], want[1:]...)
	}
	return got.CheckEqual(want)
}

// checkValueLike compares the kinds, dtypes and shapes of two values.
func checkValueLike(want, got tdict.Value, rows bool) error {
	w, g := typeOf(want), typeOf(got)
	switch {
	case g.kind != w.kind:
		return fmt.Errorf("%w: got a %s, want a %s", tdict.ErrKind, g.kind, w.kind)
	case g.dtype != w.dtype:
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, g.dtype, w.dtype)
	case g.levels != w.levels:
		return fmt.Errorf("%w: got %d levels, want %d", ragged.ErrLengths, g.levels, w.levels)
	case !g.features.Equal(w.features):
		return fmt.Errorf("%w: got features %v, want %v", shapeops.ErrShape, g.features, w.features)
	}
	return checkShapeLike(want.Shape(), got.Shape(), rows)
}

// A valueType describes a value, all but its elements and its shape.
type valueType struct {
	kind     string
	dtype    tensor.DType
	levels   int
	features shapeops.Shape // of a ragged tensor
}

func typeOf(v tdict.Value) valueType {
	t := valueType{kind: fmt.Sprintf("%T", v)}
	switch x := v.(type) {
	case *tensor.Tensor:
		t.dtype = x.DType()
	case *ragged.Tensor:
		t.dtype, t.levels, t.features = x.DType(), x.Depth(), x.Features()
	case *tdict.Unbatched:
		t.dtype = x.Tensor().DType()
	case *tdict.Stacked:
		t.dtype = x.DType()
	}
	return t
}
