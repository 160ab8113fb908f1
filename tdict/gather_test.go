package tdict_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOracleWrite compares Scatter and SetWindow, with values for some of the leaves, with nested
// loops.
func TestOracleWrite(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.writable().dict(naive.Shape(g.Rand, 3), 2)
		rank := len(td.Shape())
		for _, verb := range []string{"gather", "window"} {
			c, ok := naive.Random(g.Rand, verb, td.Shape())
			if !ok {
				continue
			}
			before := tensor.Must(td.Clone())
			value := g.twin(tensor.Must(called(td, c)), -1, 0)
			for key := range before.Leaves() {
				if g.IntN(4) == 0 {
					value = value.Exclude(key)
				}
			}
			if verb == "gather" {
				require.NoError(t, td.Scatter(c.N[0], listed(c.Index), value))
			} else {
				require.NoError(t, shapeops.SetWindow(td, value, listed(c.Index), c.Dims, c.Sizes))
			}
			for key := range before.Leaves() {
				after := rowsOf(t, tensor.Must(before.Get(key)), rank)
				if v, err := value.Get(key); err == nil {
					rows := rowsOf(t, v, rank)
					for i, at := range c.Want.At {
						after[at] = rows[i]
					}
				}
				require.Equal(t, after, rowsOf(t, tensor.Must(td.Get(key)), rank), "%q after %v of %v", key, c, td.Shape())
			}
		}
	})
}

// grid returns a dictionary [2 3] with a leaf, a nested one and data.
func grid() *tdict.TensorDict {
	return dict([]int{2, 3}, entry{"a", count(2, 3, 4)}, entry{"n/b", count(2, 3)},
		entry{"s", tensor.Must(tdict.DataFrom([]string{"a", "b", "c", "d", "e", "f"}, 2, 3))})
}

func TestGatherRefusals(t *testing.T) {
	type (
		dictionary = *tdict.TensorDict
		ints       = []int
	)
	index := func(v ...int64) *tensor.Tensor { return tensor.Must(tensor.From(v, 1, len(v))) }
	starts := tensor.Vector[int64](0, 1)
	refuse(t, grid, []refusal{
		{"no such batch dim", func(td dictionary) error { return testkit.Err(td.Gather(2, index(0))) }, shapeops.ErrDim},
		{"an index of the leaf's dims", func(td dictionary) error { return testkit.Err(td.Gather(0, tensor.Must(tensor.Zeros[int64](1, 1, 1)))) }, shapeops.ErrShape},
		{"an index of fewer dims", func(td dictionary) error { return testkit.Err(td.Gather(0, starts)) }, shapeops.ErrShape},
		{"a position that is not there", func(td dictionary) error { return testkit.Err(td.Gather(1, index(0, 3))) }, shapeops.ErrIndex},
		{"an index of floats", func(td dictionary) error { return testkit.Err(td.Gather(1, tensor.Must(tensor.Zeros[float32](1, 1)))) }, tensor.ErrDType},
		{"scatter what td lacks", func(td dictionary) error { return td.Scatter(1, index(0), dict([]int{1, 1}, entry{"x", count(1, 1)})) }, tdict.ErrMissing},
		{"scatter another batch shape", func(td dictionary) error { return td.Scatter(1, index(0), dict([]int{2, 1})) }, shapeops.ErrShape},
		{"scatter another dtype", func(td dictionary) error {
			return td.Scatter(1, index(0), dict([]int{1, 1}, entry{"s", oneText("x")}, entry{"n/b", tensor.Must(tensor.Zeros[int8](1, 1))}))
		}, tensor.ErrDType},
		{"take from no such dim", func(td dictionary) error { return testkit.Err(td.Take(-3, starts)) }, shapeops.ErrDim},
		{"take a position that is not there", func(td dictionary) error { return testkit.Err(td.Take(0, tensor.Vector[int64](0, 2))) }, shapeops.ErrIndex},
		{"a mask of integers", func(td dictionary) error { return testkit.Err(td.MaskedSelect(starts)) }, tensor.ErrDType},
		{"a mask of another size", func(td dictionary) error { return testkit.Err(td.MaskedSelect(tensor.Vector(true, true, true))) }, shapeops.ErrIndex},
		{"a mask over more than the batch shape", func(td dictionary) error {
			return testkit.Err(td.MaskedSelect(tensor.Must(tensor.Zeros[bool](2, 3, 4))))
		}, shapeops.ErrIndex},
		{"windows along a dim after the batch shape", func(td dictionary) error { return testkit.Err(shapeops.Window(td, starts, ints{2}, ints{1})) }, shapeops.ErrDim},
		{"a window that leaves the dim", func(td dictionary) error { return testkit.Err(shapeops.Window(td, starts, ints{1}, ints{3})) }, shapeops.ErrIndex},
		{"set windows to another batch shape", func(td dictionary) error { return shapeops.SetWindow(td, td, starts, ints{1}, ints{1}) }, shapeops.ErrShape},
		{"repeat so often that leaves overflow", func(td dictionary) error { return testkit.Err(shapeops.RepeatInterleave(td, 0, math.MaxInt/6)) }, shapeops.ErrShape},
	})
}

// oneText returns data [1 1].
func oneText(v string) *tdict.Data { return tensor.Must(tdict.NewData(v, 1, 1)) }

// A leaf of the destination may lie in the memory of the mask.
func TestIndexIntoTheMask(t *testing.T) {
	mask := tensor.Vector(true, false, true, true)
	src := dict([]int{4}, entry{"a", tensor.Vector(false, true, false, true)})
	dst := dict([]int{3}, entry{"a", tensor.Must(mask.Narrow(0, 0, 3))})
	require.NoError(t, src.IndexInto(dst, tensor.Must(mask.AsMask())))
	require.Equal(t, []bool{false, false, true}, testkit.Elements[bool](t, tensor.Must(dst.Tensor("a"))))
}
