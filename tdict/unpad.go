package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Unpad removes padding along the second batch dim. It returns a dictionary of ragged tensors with
// the rows for which mask is true.
//
//	td [N L B...], mask bool [N L] -> [N], a tensor [N L B... F...] -> [N * B... F...]
//
// Unpad is the reverse of shapeops.PadSequenceMasked with dim 0. PadSequenceMasked then pads the
// first batch dim of each dictionary, which is the second batch dim of its result, and so all
// leaves have the same mask. [UnstackRagged] of the result returns the dictionaries that were
// padded.
//
// Further batch dims become features. [Data] of batch shape [N L] becomes Data with a list of
// values for each row. The result is a copy, and its leaves share one layout.
//
// Unpad returns shapeops.ErrDim if td has fewer than two batch dims; shapeops.ErrShape if the shape
// of mask is not [N L] or, with the key, for Data and ragged tensors with more than two batch dims;
// and the errors of [TensorDict.MaskedSelect].
func Unpad(td *TensorDict, mask *tensor.Tensor) (*TensorDict, error) {
	if td == nil {
		return nil, failed("unpad", errNil)
	}
	mask, err := tensor.OwnMask(mask)
	if err != nil {
		return nil, failed("unpad", err)
	}
	lengths, err := td.present(mask)
	if err != nil {
		return nil, failed("unpad", err)
	}
	all, err := td.MaskedSelect(mask)
	if err != nil {
		return nil, failed("unpad", err)
	}
	return all.groupRows("unpad", lengths)
}

// present returns, for each row of the first batch dim, the number of true elements of mask.
func (td *TensorDict) present(mask *tensor.Tensor) ([]int64, error) {
	if len(td.batch) < 2 {
		return nil, fmt.Errorf("%w: got batch shape %v, want two dims or more", shapeops.ErrDim, td.batch)
	}
	if mask == nil {
		return nil, fmt.Errorf("mask: %w: got nil", ErrKind)
	}
	if err := mask.Shape().CheckEqual(td.batch[:2]); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	rows, err := ragged.FromMasks(mask, mask)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	return rows.Layout().Lengths(1)
}
