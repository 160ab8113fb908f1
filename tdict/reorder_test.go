package tdict_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// listed returns an integer tensor.
func listed(a naive.Array) *tensor.Tensor {
	list := make([]int64, len(a.At))
	for i, at := range a.At {
		list[i] = int64(at)
	}
	return tensor.Must(tensor.From(list, a.Shape...))
}

// byOnes is what the oracle pads with.
var byOnes = tdict.PadOptions{Fill: 1}

// called returns what a call makes of td.
func called(td *tdict.TensorDict, c naive.Call) (*tdict.TensorDict, error) {
	if made, ok, err := testkit.Do(td, c); ok {
		return made, err
	}
	switch c.Op {
	case "gather":
		return td.Gather(c.N[0], listed(c.Index))
	case "take":
		return td.Take(c.N[0], listed(c.Index))
	case "window":
		return shapeops.Window(td, listed(c.Index), c.Dims, c.Sizes)
	}
	return td.Pad(byOnes, c.N...)
}

// calledInto does a call into dst; an operation without such a form by a plan.
func calledInto(dst, td *tdict.TensorDict, c naive.Call) error {
	n := append(slices.Clone(c.N), 0, 0, 0)
	var p *plan.Plan
	switch c.Op {
	case "flip":
		return shapeops.FlipInto(dst, td, c.N...)
	case "roll":
		p = tensor.Must(plan.Roll(td.Shape(), n[1], n[0]))
	case "rot90":
		p = tensor.Must(plan.Rot90(td.Shape(), n[1], n[2], n[0]))
	case "repeat":
		p = tensor.Must(plan.Repeat(td.Shape(), c.N...))
	case "tile":
		p = tensor.Must(plan.Tile(td.Shape(), c.N...))
	case "repeat interleave":
		p = tensor.Must(plan.RepeatInterleave(td.Shape(), n[1], n[0]))
	case "repeat each":
		p = tensor.Must(plan.RepeatEach(td.Shape(), n[0], c.Index.At))
	case "gather":
		return td.GatherInto(dst, n[0], listed(c.Index))
	case "take":
		return td.TakeInto(dst, n[0], listed(c.Index))
	case "pad":
		return td.PadInto(dst, byOnes, c.N...)
	}
	return td.Ops().ExecuteInto(plan.NewPass(p), dst)
}

// named gives td's batch dims random names, some none.
func (g gen) named(td *tdict.TensorDict) *tdict.TensorDict {
	names := make([]string, len(td.Shape()))
	for i := range names {
		if g.IntN(3) > 0 {
			names[i] = string(rune('p' + i))
		}
	}
	require.NoError(g.t, td.SetNames(names...))
	return td
}

// padded returns rows with one more: what a leaf has where it is padded.
func padded(t testing.TB, rows []string, v tdict.Value, rank int) []string {
	t.Helper()
	gap := ""
	switch x := v.(type) {
	case *tensor.Tensor:
		one := tensor.Must(tensor.ScalarOf(x.DType(), 1))
		gap = fmt.Sprint(testkit.Content(t, tensor.Must(one.Expand(x.Shape()[rank:]...))))
	case *tdict.Data:
		gap = fmt.Sprint(slices.Repeat([]any{nil}, x.Shape()[rank:].Size()))
	case *tdict.Unbatched:
		gap = fmt.Sprint("all ", testkit.Content(t, x.Tensor()))
	}
	return append(slices.Clone(rows), gap)
}

// follows checks that got has, in each leaf, the rows of td, or padding, that want says; data
// follows rows, and dictionaries below share the names of the outer one.
func follows(t *testing.T, got *tdict.TensorDict, want naive.Array, td *tdict.TensorDict) {
	t.Helper()
	rank := len(td.Shape())
	require.Equal(t, keys(td), keys(got))
	require.Equal(t, shapeops.Shape(want.Shape), got.Shape().Clone())
	for _, key := range keys(got) {
		v, was := tensor.Must(got.Get(key)), tensor.Must(td.Get(key))
		require.Equal(t, slices.Concat(shapeops.Shape(want.Shape), was.Shape()[rank:]).String(), v.Shape().String(), key)
		if d, ok := v.(*tdict.TensorDict); ok {
			require.Equal(t, got.Names(), d.Names()[:len(want.Shape)], key)
			require.Equal(t, was.(*tdict.TensorDict).Names()[rank:], d.Names()[len(want.Shape):], key)
			continue
		}
		rows := padded(t, rowsOf(t, was, rank), was, rank)
		after := make([]string, len(want.At))
		for i, at := range want.At {
			if at == naive.Gap {
				at = len(rows) - 1
			}
			after[i] = rows[at]
		}
		require.Equal(t, after, rowsOf(t, v, len(want.Shape)), key)
	}
}

// TestOracleCalls compares the operations that copy, plain and into dictionaries in other layouts,
// and the views beside them, with nested loops.
func TestOracleCalls(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.named(g.dict(naive.Shape(g.Rand, 3), 2))
		testkit.Unchanged(t, td, state, func() {
			for _, verb := range naive.Ops {
				c, ok := naive.Random(g.Rand, verb, td.Shape())
				if !ok {
					continue
				}
				got, err := called(td, c)
				require.NoError(t, err, "%v of %v", c, td.Shape())
				follows(t, got, c.Want, td)
				consistent(t, got)
				if slices.Contains(naive.Copies, verb) {
					dst := g.writable().twin(got, -1, 0)
					require.NoError(t, calledInto(dst, td, c), "%v of %v", c, td.Shape())
					require.True(t, dst.Equal(got), "%v of %v", c, td.Shape())
					require.Equal(t, make([]string, len(dst.Shape())), dst.Names())
				}
				ruin(t, got)
			}
		})
	})
}

// TestOracleInPlace compares operations on a dictionary itself with nested loops.
func TestOracleInPlace(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.writable().dict(naive.Shape(g.Rand, 3), 2)
		td.Lock() // of structure
		c, ok := naive.Random(g.Rand, "flip", td.Shape())
		if !ok {
			return
		}
		before := tensor.Must(td.Clone())
		require.NoError(t, shapeops.FlipInto(td, td, c.N...))
		follows(t, td, c.Want, before)
	})
}

// What every row has in common, NaN as well, does not keep a dictionary from being flipped; what
// cannot be written does, before anything has changed.
func TestInPlaceOfAll(t *testing.T) {
	nan := tensor.Must(tensor.Scalar(0.0).Clone())
	require.NoError(t, tensor.Write(nan, func(s []float64) { s[0] /= s[0] }))
	td := dict([]int{3}, entry{"a", count(3)}, entry{"d", texts("x", "y", "z")}, entry{"u", unbatched(nan)})
	require.NoError(t, shapeops.FlipInto(td, td))
	require.Equal(t, []int64{2, 1, 0}, values(t, td, "a"))
	require.Equal(t, []any{"z", "y", "x"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](td, "d")).All()))

	locked := testkit.Make(t, tensor.Int8, []int{3}, testkit.Contiguous, testkit.LentLocked, 0).Tensor
	for _, bad := range []*tensor.Tensor{locked, tensor.Must(count(1).Expand(3))} {
		refuse(t, func() *tdict.TensorDict {
			return dict([]int{3}, entry{"a", count(3)}, entry{"d", texts("x", "y", "z")}, entry{"n/b", bad})
		}, []refusal{
			{fmt.Sprint("flip with ", bad.DType()), func(td *tdict.TensorDict) error { return shapeops.FlipInto(td, td) }, cause(bad)},
		})
	}
}

func cause(x *tensor.Tensor) error {
	if x.Lender() != nil {
		return tensor.ErrReadOnly
	}
	return tensor.ErrLayout
}

// What cannot be written but need not be does not keep a dictionary from being flipped.
func TestInPlaceLeavesUnbatched(t *testing.T) {
	locked := testkit.Make(t, tensor.Int8, []int{2}, testkit.Contiguous, testkit.LentLocked, 0).Tensor
	td := dict([]int{3}, entry{"a", count(3)}, entry{"u", unbatched(locked)})
	require.NoError(t, shapeops.FlipInto(td, td))
}
