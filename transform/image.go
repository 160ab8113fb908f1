package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// RandomCrop returns a transform that cuts a part of the given sizes out of each row. The sizes are
// for the first dims after the batch shape. The position of the part is random, and the same for
// all leaves of a row:
//
//	leaves [N H W F...], two sizes -> [N h w F...]
//
// With a longer batch shape, a row is everything at one position of its first dim: the frames of
// one film are cut alike. Apply returns shapeops.ErrShape if a leaf has too few dims, is smaller
// than the part, or differs from other leaves in these dims: use [OnKeys] to select the leaves. It
// returns tdict.ErrKind for a tdict.Stacked leaf, and the errors of [Draw.Each].
func RandomCrop(sizes ...int) Transform {
	c := crop(slices.Clone(sizes))
	texts := make([]string, len(c))
	for i, size := range c {
		texts[i] = fmt.Sprint(size)
	}
	return Random("random crop "+strings.Join(texts, "x"), func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
		out, err := c.apply(td, d)
		return out, errtext.Named("random crop", err)
	})
}

// A crop holds the sizes of the part that is cut out.
type crop shapeops.Shape

func (c crop) apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
	if err := checkDense(td); err != nil {
		return nil, err
	}
	whole, err := c.sizes(td)
	if err != nil {
		return nil, err
	}
	starts, err := c.starts(td, d, whole)
	if err != nil {
		return nil, err
	}
	dims := make([]int, len(c))
	for i := range dims {
		dims[i] = len(td.Shape()) + i
	}
	return td.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		return shapeops.Window(x, starts, dims, c)
	})
}

// sizes returns the sizes of the dims that are cut, which all leaves of td share.
func (c crop) sizes(td *tdict.TensorDict) (shapeops.Shape, error) {
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: got no sizes", shapeops.ErrShape)
	}
	whole, first := shapeops.Shape(c), true
	for key, x := range td.Tensors() {
		have, err := c.sizesIn(x.Shape()[len(td.Shape()):])
		if err == nil && !first && !have.Equal(whole) {
			err = fmt.Errorf("%w: got %v, want %v as in the leaves before", shapeops.ErrShape, have, whole)
		}
		if err != nil {
			return nil, &tdict.KeyError{Key: key, Err: err}
		}
		whole, first = have, false
	}
	return whole, nil
}

// sizesIn returns the sizes of the dims of a row that are cut.
func (c crop) sizesIn(row shapeops.Shape) (shapeops.Shape, error) {
	if len(row) < len(c) {
		return nil, fmt.Errorf("%w: got %v after the batch shape, want at least the %d dims to cut", shapeops.ErrShape, row, len(c))
	}
	for i, size := range c {
		if size < 0 || size > row[i] {
			return nil, fmt.Errorf("%w: got sizes %v to cut out of %v", shapeops.ErrShape, shapeops.Shape(c), row[:len(c)])
		}
	}
	return row[:len(c)], nil
}

// starts draws the start of the part for each row: int64 [N K] for K sizes, [N] for one.
func (c crop) starts(td *tdict.TensorDict, d Draw, whole shapeops.Shape) (*tensor.Tensor, error) {
	var starts []int64
	err := d.Each(td, func(_ int, r *rand.Rand) {
		for i, size := range c {
			starts = append(starts, r.Int64N(int64(whole[i]-size)+1))
		}
	})
	if err != nil {
		return nil, err
	}
	if len(c) == 1 {
		return tensor.From(starts, td.Shape()[0])
	}
	return tensor.From(starts, td.Shape()[0], len(c))
}

// RandomFlip returns a transform that reverses a dim of each row with probability p, in all leaves
// of the row or in none. The dim is counted after the batch shape, from 0; a negative dim counts
// from the last dim of each leaf. For images [N H W C], dims 1 and -2 swap left and right.
//
// Apply returns [ErrNumber] unless p is from 0 to 1, shapeops.ErrDim if a leaf has no such dim,
// tdict.ErrKind if one is a tdict.Stacked, and the errors of [Draw.Each].
func RandomFlip(p float64, dim int) Transform {
	name := fmt.Sprintf("random flip: dim %d, p %v", dim, p)
	return Random(name, func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
		out, err := flip(td, d, p, dim)
		return out, errtext.Named("random flip", err)
	})
}

func flip(td *tdict.TensorDict, d Draw, p float64, dim int) (*tdict.TensorDict, error) {
	if !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("%w: got probability %v, want 0 to 1", ErrNumber, p)
	}
	if err := checkDense(td); err != nil {
		return nil, err
	}
	var rows []int
	err := d.Each(td, func(i int, r *rand.Rand) {
		if r.Float64() < p {
			rows = append(rows, i)
		}
	})
	if err != nil {
		return nil, err
	}
	return td.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		at, err := x.Shape()[len(td.Shape()):].Dim(dim)
		if err != nil {
			return nil, err
		}
		return flipRows(x, ix.Take(rows...), len(td.Shape())+at)
	})
}

// flipRows returns a copy of x with a dim reversed in the given rows.
func flipRows(x *tensor.Tensor, rows ix.Index, dim int) (*tensor.Tensor, error) {
	part, err := x.Index(rows)
	if err != nil {
		return nil, err
	}
	if part, err = shapeops.Flip(part, dim); err != nil {
		return nil, err
	}
	out, err := x.Clone()
	if err != nil {
		return nil, err
	}
	return out, out.SetIndex(part, rows)
}
