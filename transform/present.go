package transform

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// presentIn returns present or, if that is nil, the schema of a dataset.
func presentIn(td tdict.Dictionary, present any) any {
	if ds, ok := td.(interface{ Schema() tdict.Schema }); ok && present == nil {
		return ds.Schema()
	}
	return present
}

// masksOf returns a function that returns the mask of the leaf of td under a key: a tensor, a
// ragged tensor, or nil.
func masksOf(td *tdict.TensorDict, present any) (func(nestedkey.Key) (any, error), error) {
	ok := present == nil
	switch p := present.(type) {
	case tdict.Schema:
		masks, err := p.Masks(td)
		return func(key nestedkey.Key) (any, error) {
			if !masks.Has(key) {
				return nil, nil
			}
			return maskUnder(masks, key)
		}, err
	case *tdict.TensorDict:
		if p != nil {
			return func(key nestedkey.Key) (any, error) { return maskUnder(p, key) }, nil
		}
	case *tensor.Tensor:
		ok = p != nil
	case *ragged.Tensor:
		ok = p.DType() != 0
	}
	if !ok {
		return nil, fmt.Errorf("%w: present: got %T, want nil, a schema, or a tensor or dictionary that is not nil",
			tdict.ErrKind, present)
	}
	return func(nestedkey.Key) (any, error) { return present, nil }, nil
}

// maskUnder returns the mask under a key: a tensor or a ragged tensor.
func maskUnder(masks *tdict.TensorDict, key nestedkey.Key) (any, error) {
	mask, err := masks.Get(key)
	if _, ok := mask.(*ragged.Tensor); !ok && err == nil {
		mask, err = masks.Tensor(key)
	}
	if inner, ok := err.(*tdict.KeyError); ok {
		err = inner.Err
	}
	return mask, err
}

// denseMask returns the mask of a dense leaf, or nil if there is none.
func denseMask(mask any, x *tensor.Tensor) (*tensor.Tensor, error) {
	if mask == nil {
		return nil, nil
	}
	m, ok := mask.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%w: got %s for a dense leaf, want a dense mask", tdict.ErrKind, textOfLeaf(mask))
	}
	return m, checkMask(m, x.Shape())
}

// checkMask returns an error unless mask holds bools over leading dims of a shape.
func checkMask(mask *tensor.Tensor, shape shapeops.Shape) error {
	switch {
	case mask.DType() != tensor.Bool:
		return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
	case len(mask.Shape()) == 0 || !shape.HasPrefix(mask.Shape()):
		return fmt.Errorf("%w: got %v, want leading dims of %v", shapeops.ErrShape, mask.Shape(), shape)
	}
	return nil
}

// raggedMask returns the mask of a ragged leaf, or nil if there is none. A dense mask over batch
// dims becomes a ragged mask without levels.
func raggedMask(mask any, x *ragged.Tensor) (*ragged.Tensor, error) {
	switch m := mask.(type) {
	case *tensor.Tensor:
		return overBatch(m, x.Shape())
	case *ragged.Tensor:
		return m, checkRaggedMask(m, x)
	}
	return nil, nil
}

// overBatch converts a dense mask over leading dims of a batch to a ragged mask without levels.
func overBatch(mask *tensor.Tensor, batch shapeops.Shape) (*ragged.Tensor, error) {
	if err := checkMask(mask, batch); err != nil {
		return nil, err
	}
	after := slices.Repeat(shapeops.Shape{1}, len(batch)-len(mask.Shape()))
	mask, err := mask.Reshape(slices.Concat(mask.Shape(), after)...)
	if err != nil {
		return nil, err
	}
	if mask, err = mask.Expand(batch...); err != nil {
		return nil, err
	}
	if mask, err = mask.Reshape(batch.Size()); err != nil {
		return nil, err
	}
	layout, err := ragged.NewLayout(batch)
	if err != nil {
		return nil, err
	}
	return ragged.New(mask, layout)
}

// checkRaggedMask returns an error unless mask holds bools for the rows of x at some level, or for
// the values of x and leading dims of their features. It does not compare lengths.
func checkRaggedMask(mask, x *ragged.Tensor) error {
	features := shapeops.Shape{}
	if mask.Depth() == x.Depth() {
		features = x.Features()
	}
	switch {
	case mask.DType() != tensor.Bool:
		return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
	case mask.Depth() > x.Depth() || !mask.Shape().Equal(x.Shape()) || !features.HasPrefix(mask.Features()):
		return fmt.Errorf("%w: got %s, want leading dims of %s", shapeops.ErrShape, mask.Text(), x.Text())
	}
	return nil
}

// A hider sets the values that do not count to NaN. copied holds a copy of the rows of a leaf at
// positions start up to, not including, stop.
type hider func(copied *tensor.Tensor, start, stop int) error

// hiding returns the hider for a mask over leading dims, or nil if mask is nil.
func hiding(mask *tensor.Tensor) hider {
	if mask == nil {
		return nil
	}
	return func(copied *tensor.Tensor, start, stop int) (err error) {
		part := mask
		if len(mask.Shape()) > 0 {
			if part, err = mask.Index(ix.Range(start, stop)); err != nil {
				return err
			}
		}
		return arith.WhereInto(copied, part, copied, math.NaN())
	}
}

// hidingLists returns the hider for a mask over the rows or values of a layout. It returns
// tensor.ErrLayout if the rows of the mask are not consecutive.
func hidingLists(l *ragged.Layout, mask *ragged.Tensor) (hider, error) {
	bits, err := mask.ValuesView()
	if err != nil {
		return nil, err
	}
	outer, err := l.At(mask.Depth())
	if err != nil {
		return nil, err
	}
	if err := outer.CheckEqual(mask.Layout()); err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}
	if mask.Depth() == l.Depth() {
		return hiding(bits), nil
	}
	return hidingRows(l, mask.Depth(), bits)
}

// hidingRows returns the hider for the values in the rows of a level, given a mask of these rows.
func hidingRows(l *ragged.Layout, level int, mask *tensor.Tensor) (hider, error) {
	mask, err := mask.Contiguous()
	if err != nil {
		return nil, err
	}
	h := new(rowsHider)
	if h.mask, err = tensor.Of[bool](mask); err != nil {
		return nil, fmt.Errorf("present: %w", err)
	}
	for level++; level <= l.Depth(); level++ {
		offsets, err := l.Offsets(level)
		if err != nil {
			return nil, err
		}
		h.offsets = append(h.offsets, offsets)
	}
	return h.hide, nil
}

// A rowsHider hides the values of rows, in order.
type rowsHider struct {
	mask     []bool    // of rows
	offsets  [][]int64 // of the levels from these rows to values
	row      int       // the row with the next value, or an earlier one
	repeated []bool
}

// hide repeats the mask of rows for their values, and hides these. It must be called for values in
// order.
func (h *rowsHider) hide(copied *tensor.Tensor, start, stop int) error {
	h.repeated = h.repeated[:0]
	for at := start; at < stop; {
		end := h.end()
		if end <= at {
			h.row++
			continue
		}
		for end = min(end, stop); at < end; at++ {
			h.repeated = append(h.repeated, h.mask[h.row])
		}
	}
	mask, err := tensor.From(h.repeated, stop-start)
	if err != nil {
		return err
	}
	return arith.WhereInto(copied, mask, copied, math.NaN())
}

// end returns the number of the value after the last value of the row.
func (h *rowsHider) end() int {
	end := int64(h.row) + 1
	for _, offsets := range h.offsets {
		end = offsets[end]
	}
	return int(end)
}
