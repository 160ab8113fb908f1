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
	if t.DType() != want.DType() {
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, t.DType(), want.DType())
	}
	is, like := rowsText(t.Shape(), t.Depth(), t.Features()), rowsText(batch, want.Depth(), want.Features())
	if is != like {
		return fmt.Errorf("%w: got ragged rows %s, want %s", shapeops.ErrShape, is, like)
	}
	return nil
}

// dims returns the number of batch dims of a ragged tensor.
func (k keyed) dims() int {
	for _, e := range k.parts {
		if partName(e.name) == pool.Row {
			return len(e.shape)
		}
	}
	return 0
}

// agree returns an error unless rows like those of k can be appended to the n rows of there.
func (k keyed) agree(there keyed, n int) error {
	switch {
	case !slices.Equal(there.path, k.path), (there.e == nil) != (k.e == nil):
		return errOtherEntry
	case k.e != nil:
		return k.e.agree(there.e, n)
	case len(there.parts) != len(k.parts):
		return fmt.Errorf("%w: got ragged rows of %d levels, want %d", shapeops.ErrShape, len(k.parts)-2, len(there.parts)-2)
	}
	dims := k.dims()
	for i, e := range k.parts {
		like := *there.parts[i]
		if e.name == like.name && len(like.shape) > dims && len(e.shape) > dims { // the width may be another one
			like.shape = like.shape.Clone()
			like.shape[dims] = e.shape[dims]
		}
		if err := e.agree(&like, n); err != nil {
			return err
		}
	}
	return nil
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
