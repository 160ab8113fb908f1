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

// checkPresent returns an error if present can be no mask of any leaf.
func checkPresent(present any) error {
	ok := present == nil
	switch p := present.(type) {
	case *tensor.Tensor:
		ok = p != nil
	case *ragged.Tensor:
		ok = p.DType() != 0
	case *tdict.TensorDict:
		ok = p != nil
	}
	if !ok {
		return fmt.Errorf("%w: present: got %T, want a tensor or a dictionary that is not nil, or nil",
			tdict.ErrKind, present)
	}
	return nil
}

// maskUnder returns the mask of the leaf under a key: a tensor, a ragged tensor, or nil.
func maskUnder(present any, key nestedkey.Key) (any, error) {
	masks, ok := present.(*tdict.TensorDict)
	if !ok {
		return present, nil
	}
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

// checkMask returns an error unless mask is one over leading dims of a shape.
func checkMask(mask *tensor.Tensor, shape shapeops.Shape) error {
	switch {
	case mask.DType() != tensor.Bool:
		return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
	case len(mask.Shape()) == 0 || !shape.HasPrefix(mask.Shape()):
		return fmt.Errorf("%w: got %v, want leading dims of %v", shapeops.ErrShape, mask.Shape(), shape)
	}
	return nil
}

// raggedMask returns the mask of a ragged leaf, or nil if there is none. A dense one, over batch
// dims, becomes one without levels.
func raggedMask(mask any, x *ragged.Tensor) (*ragged.Tensor, error) {
	switch m := mask.(type) {
	case *tensor.Tensor:
		return overBatch(m, x.Shape())
	case *ragged.Tensor:
		return m, checkRaggedMask(m, x)
	}
	return nil, nil
}

// overBatch returns a dense mask over leading dims of a batch as a ragged mask without levels.
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

// checkRaggedMask returns an error unless mask is over the rows of x at some level, or over values
// of x and leading dims of their features. It does not compare lengths.
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

// A hider sets rows to NaN that do not count. room holds the rows at positions start to stop of a
// leaf.
type hider func(room *tensor.Tensor, start, stop int) error

// hiding returns the hider of a mask over leading dims, or nil for nil.
func hiding(mask *tensor.Tensor) hider {
	if mask == nil {
		return nil
	}
	return func(room *tensor.Tensor, start, stop int) (err error) {
		part := mask
		if len(mask.Shape()) > 0 {
			if part, err = mask.Index(ix.Range(start, stop)); err != nil {
				return err
			}
		}
		return arith.WhereInto(room, part, room, math.NaN())
	}
}

// hidingLists returns the hider of a mask over rows or values that are laid out so. It returns
// tensor.ErrLayout if those of the mask do not follow one another.
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

// hidingRows returns the hider of values by a mask over the rows of a level.
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

// A rowsHider hides the values of rows, in their order.
type rowsHider struct {
	mask    []bool    // of rows
	offsets [][]int64 // of the levels from these rows to values
	row     int       // in which the next value is, or one before
	room    []bool
}

// hide repeats the mask for values, and hides these. It must be called with values in their order.
func (h *rowsHider) hide(room *tensor.Tensor, start, stop int) error {
	h.room = h.room[:0]
	for at := start; at < stop; {
		end := h.end()
		if end <= at {
			h.row++
			continue
		}
		for end = min(end, stop); at < end; at++ {
			h.room = append(h.room, h.mask[h.row])
		}
	}
	mask, err := tensor.From(h.room, stop-start)
	if err != nil {
		return err
	}
	return arith.WhereInto(room, mask, room, math.NaN())
}

// end returns where the values of the row end.
func (h *rowsHider) end() int {
	end := int64(h.row) + 1
	for _, offsets := range h.offsets {
		end = offsets[end]
	}
	return int(end)
}
