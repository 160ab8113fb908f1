package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Pick returns the positions of each row of a level that index lists, in the order of index:
//
//	t [N * F...], index integers [N *] of other lengths -> [N * F...]
//
// The level is the depth of index; index and t have the same rows above that level. Negative
// positions count from the end of a row. Pick copies. It returns [ErrLengths] if the layouts above
// the level differ, shapeops.ErrIndex, with level and row, if a row has no such position,
// shapeops.ErrDim if index has depth 0 or is deeper than t, and the errors of tensor.Tensor.Ints.
func (t *Tensor) Pick(index *Tensor) (_ *Tensor, err error) {
	defer errtext.Name("pick", &err)
	if !t.made() {
		return nil, errNil
	}
	e, err := t.layout.picks(index)
	if err != nil {
		return nil, err
	}
	return e.on(t)
}

// picks checks index against l and returns the edit for Pick.
func (l *Layout) picks(index *Tensor) (*edit, error) {
	if !index.made() {
		return nil, errNil
	}
	if index.Depth() == 0 || index.Depth() > l.depth {
		return nil, fmt.Errorf("index: %w: got %d levels, want 1 to %d", shapeops.ErrDim, index.Depth(), l.depth)
	}
	if err := l.at(index.Depth() - 1).CheckEqual(index.layout.outer); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	e, err := index.picks()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return e, nil
}

// picks returns the edit that keeps, at the depth of t, the positions that t lists.
func (t *Tensor) picks() (*edit, error) {
	if err := t.checkBare(); err != nil {
		return nil, err
	}
	s, err := t.compact(nil)
	if err != nil {
		return nil, err
	}
	list, err := s.values.Ints()
	if err != nil {
		return nil, err
	}
	offsets := s.layout.offsets
	return rearranged(s.Depth(), func(row, _, n int) ([]int, error) {
		positions := list[offsets[row]:offsets[row+1]]
		for i, at := range positions {
			if at < -n || at >= n {
				return nil, fmt.Errorf("%w: got position %d, want one of %d", shapeops.ErrIndex, at, n)
			}
			if at < 0 {
				positions[i] += n
			}
		}
		return positions, nil
	}), nil
}

// MaskedSelect keeps the rows, or values, for which mask is true. mask holds bools and has the
// lengths of t's outer levels:
//
//	t [N * * F...], mask [N *] -> [N * * F...], with fewer rows at level 1
//	t [N * F...],   mask [N *] -> [N * F...], with fewer values
//
// A mask of depth 0 keeps rows of the batch, which must then have one dim. MaskedSelect copies. It
// returns [ErrLengths] if the lengths differ, tensor.ErrDType if mask does not hold bools, and
// shapeops.ErrDim if mask is deeper than t.
func (t *Tensor) MaskedSelect(mask *Tensor) (_ *Tensor, err error) {
	defer errtext.Name("masked select", &err)
	if !t.made() {
		return nil, errNil
	}
	e, err := masked(t.layout, mask)
	if err != nil {
		return nil, err
	}
	if e != nil {
		return e.on(t)
	}
	bits, err := mask.Values()
	if err == nil {
		bits, err = bits.Reshape(mask.Shape()...)
	}
	if err != nil {
		return nil, err
	}
	x, err := bits.AsMask()
	if err != nil {
		return nil, err
	}
	return t.selected(x)
}

// checkBare returns ErrShape if values have features.
func (t *Tensor) checkBare() error {
	if len(t.Features()) > 0 {
		return fmt.Errorf("%w: got features %v, want none", shapeops.ErrShape, t.Features())
	}
	return nil
}

// masked returns the edit for MaskedSelect, or nil if mask selects rows of the batch.
func masked(l *Layout, mask *Tensor) (*edit, error) {
	if err := l.checkMask(mask); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	if mask.Depth() == 0 {
		return nil, nil
	}
	values, err := mask.Values()
	if err != nil {
		return nil, err
	}
	var bits []bool
	var list []int
	if err := tensor.Read(values, func(s []bool) { bits = slices.Clone(s) }); err != nil {
		return nil, err
	}
	return rearranged(mask.Depth(), func(_, first, n int) ([]int, error) {
		list = list[:0]
		for i, bit := range bits[first : first+n] {
			if bit {
				list = append(list, i)
			}
		}
		return list, nil
	}), nil
}

// checkMask returns an error unless mask holds bools and has the lengths of l's outer levels.
func (l *Layout) checkMask(mask *Tensor) error {
	if !mask.made() {
		return errNil
	}
	if mask.DType() != tensor.Bool {
		return fmt.Errorf("%w: got %v, want bool", tensor.ErrDType, mask.DType())
	}
	if err := mask.checkBare(); err != nil {
		return err
	}
	around, err := l.At(mask.Depth())
	if err != nil {
		return err
	}
	return around.CheckEqual(mask.layout)
}
