package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// RandomCrop returns a transform that cuts a part of the given sizes, one for each of the first
// dims after the batch shape, out of each row, at a random place that is the same for all leaves of
// the row:
//
//	leaves [N H W F...], two sizes -> [N h w F...]
//
// With a longer batch shape, a row is what lies at a position of its first dim: the frames of one
// film are cut alike. Apply returns shapeops.ErrShape if a leaf has too few dims, is smaller than
// the part, or differs from the others in these dims: [OnKeys] says which leaves to cut. A
// tdict.Stacked leaf is tdict.ErrKind. Its other errors are those of [Draw.Each].
func RandomCrop(sizes ...int) Transform {
	c := crop(slices.Clone(sizes))
	texts := make([]string, len(c))
	for i, size := range c {
		texts[i] = fmt.Sprint(size)
	}
	return Random("random crop "+strings.Join(texts, "x"), func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
		out, err := c.apply(td, d)
		return out, named("random crop", err)
	})
}

// A crop is the sizes of what is cut out.
type crop shapeops.Shape

func (c crop) apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
	if err := checkDense(td); err != nil {
		return nil, err
	}
	room, err := c.room(td)
	if err != nil {
		return nil, err
	}
	starts, err := c.starts(td, d, room)
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

// room returns the sizes of the dims that are cut, which all leaves of td share.
func (c crop) room(td *tdict.TensorDict) (shapeops.Shape, error) {
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: got no sizes", shapeops.ErrShape)
	}
	room, first := shapeops.Shape(c), true // of no leaf
	for key, x := range td.Tensors() {
		have, err := c.roomIn(x.Shape()[len(td.Shape()):])
		if err == nil && !first && !have.Equal(room) {
			err = fmt.Errorf("%w: got %v, want %v as the leaves before", shapeops.ErrShape, have, room)
		}
		if err != nil {
			return nil, &tdict.KeyError{Key: key, Err: err}
		}
		room, first = have, false
	}
	return room, nil
}

// roomIn returns the sizes of the dims of a row that are cut.
func (c crop) roomIn(row shapeops.Shape) (shapeops.Shape, error) {
	if len(row) < len(c) {
		return nil, fmt.Errorf("%w: got %v after the batch shape, want the %d dims that are cut", shapeops.ErrShape, row, len(c))
	}
	for i, size := range c {
		if size < 0 || size > row[i] {
			return nil, fmt.Errorf("%w: got %v to cut out of %v", shapeops.ErrShape, shapeops.Shape(c), row[:len(c)])
		}
	}
	return row[:len(c)], nil
}

// starts draws where the part begins: int64 [N K] for K sizes, [N] for one.
func (c crop) starts(td *tdict.TensorDict, d Draw, room shapeops.Shape) (*tensor.Tensor, error) {
	var starts []int64
	err := d.Each(td, func(_ int, r *rand.Rand) {
		for i, size := range c {
			starts = append(starts, r.Int64N(int64(room[i]-size)+1))
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

// RandomFlip returns a transform that reverses a dim of a row with probability p, of all leaves or
// none. The dim is counted after the batch shape, from 0, or from the last of each leaf if it is
// negative: of images [N H W C], 1 and -2 swap left and right.
//
// Apply returns [ErrNumber] unless p is from 0 to 1, shapeops.ErrDim if a leaf has no such dim,
// tdict.ErrKind if one is a tdict.Stacked, and the errors of [Draw.Each].
func RandomFlip(p float64, dim int) Transform {
	name := fmt.Sprintf("random flip: dim %d, p %v", dim, p)
	return Random(name, func(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
		out, err := flip(td, d, p, dim)
		return out, named("random flip", err)
	})
}

func flip(td *tdict.TensorDict, d Draw, p float64, dim int) (*tdict.TensorDict, error) {
	if !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("%w: got probability %v, want one from 0 to 1", ErrNumber, p)
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

// flipRows returns a copy of x with a dim of some rows reversed.
func flipRows(x *tensor.Tensor, rows ix.Index, dim int) (*tensor.Tensor, error) {
	part, err := x.Index(rows)
	if err != nil {
		return nil, err
	}
	if err := shapeops.FlipInPlace(part, dim); err != nil {
		return nil, err
	}
	out, err := x.Clone()
	if err != nil {
		return nil, err
	}
	return out, out.SetIndex(part, rows)
}
