package memmap

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fitsRows returns an error unless got is a ragged tensor like want, with the given batch shape.
func fitsRows(want *ragged.Tensor, got tdict.Value, batch shapeops.Shape) error {
	t, ok := got.(*ragged.Tensor)
	if !ok {
		return fmt.Errorf("%w: got a %T, want ragged rows", tdict.ErrKind, got)
	}
	return sameRows(partsLike(t, t.Shape()), partsLike(want, batch))
}

// partsLike returns the parts of a ragged tensor like t with another batch shape.
func partsLike(t *ragged.Tensor, batch shapeops.Shape) *pool.Parts {
	return &pool.Parts{Batch: batch, DType: t.DType(), Features: t.Features(), Depth: t.Depth()}
}

// sameRows returns an error unless two ragged tensors have the same dtype and shape.
func sameRows(got, want *pool.Parts) error {
	if got.DType != want.DType {
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, got.DType, want.DType)
	}
	if got.Text() != want.Text() {
		return fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, got.Text(), want.Text())
	}
	return nil
}

// agree returns an error unless rows like k can be appended to the rows of there, in a dictionary
// of the given batch shape.
func (k keyed) agree(there keyed, batch shapeops.Shape) error {
	switch {
	case !slices.Equal(there.path, k.path), (there.e == nil) != (k.e == nil):
		return errOtherEntry
	case k.e != nil:
		return k.e.agree(there.e, batch[0])
	}
	want, err := partsOf(there.parts, batch)
	if err != nil {
		return err
	}
	got, err := partsOf(k.parts, nil)
	if err != nil {
		return err
	}
	got.Batch = append(batch[:1:1], got.Batch[1:]...)
	return sameRows(got, want)
}

// countRows adds the rows of td to the counts of all ragged leaves.
func (w *Writer) countRows(td *tdict.TensorDict) error {
	for _, c := range w.leaves {
		if c.part != pool.Row { // the last part of each
			continue
		}
		t, err := tdict.Get[*ragged.Tensor](td, c.key)
		if err == nil {
			err = c.rows.count(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
