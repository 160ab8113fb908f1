package arith_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// reductions are the reductions of tensors and dictionaries.
var reductions = map[string]struct {
	ofDict   func(*tdict.TensorDict, arith.Over) (*tdict.TensorDict, error)
	ofTensor func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error)
}{
	"sum":      {arith.Sum[*tdict.TensorDict], arith.Sum[*tensor.Tensor]},
	"prod":     {arith.Prod[*tdict.TensorDict], arith.Prod[*tensor.Tensor]},
	"mean":     {arith.Mean[*tdict.TensorDict], arith.Mean[*tensor.Tensor]},
	"norm":     {arith.Norm[*tdict.TensorDict], arith.Norm[*tensor.Tensor]},
	"min":      {arith.Min[*tdict.TensorDict], arith.Min[*tensor.Tensor]},
	"max":      {arith.Max[*tdict.TensorDict], arith.Max[*tensor.Tensor]},
	"argmin":   {arith.ArgMin[*tdict.TensorDict], arith.ArgMin[*tensor.Tensor]},
	"argmax":   {arith.ArgMax[*tdict.TensorDict], arith.ArgMax[*tensor.Tensor]},
	"count":    {arith.Count[*tdict.TensorDict], arith.Count[*tensor.Tensor]},
	"std":      {stdOf[*tdict.TensorDict], stdOf[*tensor.Tensor]},
	"quantile": {medianOf[*tdict.TensorDict], medianOf[*tensor.Tensor]},
}

func stdOf[T arith.Reducible[T]](x T, over arith.Over) (T, error) {
	return arith.Std(x, over, arith.VarOptions{Correction: 1})
}

func medianOf[T arith.Reducible[T]](x T, over arith.Over) (T, error) {
	return arith.Quantile(x, over, 0.5)
}

// maskedTable returns a random table of n rows, and the masks of some of its leaves: of one column
// nothing counts, one has NaN where its mask hides, and one has no mask.
func maskedTable(r *rand.Rand, n int) (td, masks *tdict.TensorDict) {
	bits := func(size int, shown float64) []bool {
		b := make([]bool, size)
		for i := range b {
			b[i] = r.Float64() < shown
		}
		return b
	}
	td, masks = tdict.New(n), tdict.New(n)
	set := func(d *tdict.TensorDict, key nestedkey.Key, v tdict.Value) { tensor.Must(0, d.Set(key, v)) }
	numbers := func(size int) []float64 {
		x := make([]float64, size)
		for i := range x {
			x[i] = math.Round(r.NormFloat64()*100) / 8
		}
		return x
	}
	x, there := numbers(n), bits(n, 0.6)
	for i := range x {
		if !there[i] {
			x[i] = math.NaN()
		}
	}
	set(td, "nan", tensor.Vector(x...))
	set(masks, "nan", tensor.Vector(there...))
	set(td, "whole", tensor.Vector(numbers(n)...))
	set(td, "none", tensor.Vector(numbers(n)...))
	set(masks, "none", tensor.Vector(make([]bool, n)...))
	set(td, "in/wide", tensor.Must(tensor.Must(tensor.From(numbers(n*3), n, 3)).Cast(tensor.Float32)))
	set(masks, "in/wide", tensor.Must(tensor.From(bits(n*3, 0.7), n, 3)))
	set(td, "in/rows", tensor.Must(tensor.From(numbers(n*2), n, 2)))
	set(masks, "in/rows", tensor.Vector(bits(n, 0.5)...))
	set(td, "in/deep/whole", tensor.Must(tensor.From(numbers(n*2), n, 2)))
	set(td, "apart/whole", tensor.Vector(numbers(n)...))
	set(masks, "elsewhere", tensor.Vector(bits(n, 0.5)...))
	return td, masks
}

// sameTensors compares dtypes, shapes and elements; a NaN equals a NaN.
func sameTensors(t testing.TB, want, got *tensor.Tensor, text string, args ...any) {
	t.Helper()
	require.Equal(t, want.DType(), got.DType())
	same, err := want.AllClose(got, tensor.Tolerance{EqualNaN: true})
	require.NoError(t, err)
	require.True(t, same, append([]any{text + ": want %v, got %v"}, append(args, want, got)...)...)
}

// TestMaskedEqualsWhere: each leaf of a dictionary is reduced as the leaf alone, with its mask if
// it has one.
func TestMaskedEqualsWhere(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 2))
	for range 40 {
		n := 1 + r.IntN(30)
		td, masks := maskedTable(r, n)
		splits := []int64{0, int64(n / 3), int64(n / 3), int64(n)}
		for name, over := range map[string]arith.Over{
			"rows": arith.Dims(0), "kept rows": arith.Dims(0).Keep(), "whole": arith.Whole,
			"splits": arith.BySplits(tensor.Vector(splits...)),
		} {
			for op, reduce := range reductions {
				got, err := reduce.ofDict(td, over.Masked(masks))
				if op == "argmin" || op == "argmax" {
					require.ErrorIs(t, err, arith.ErrEmpty, "%s over %s: nothing counts", op, name)
					continue
				}
				require.NoError(t, err, "%s over %s", op, name)
				for key, x := range td.Tensors() {
					one := over
					if mask, err := masks.Tensor(key); err == nil {
						one = over.Where(mask)
					}
					want, err := reduce.ofTensor(x, one)
					require.NoError(t, err)
					sameTensors(t, want, tensor.Must(got.Tensor(key)), "%s of %s over %s", op, key, name)
				}
			}
		}
	}
}

// TestMaskedFeatures has masks of rows and of values, of leaves that are dense and ragged.
func TestMaskedFeatures(t *testing.T) {
	layout := tensor.Must(ragged.NewLayout(shapeops.Shape{3}, []int64{0, 2, 2, 3}))
	td, masks := tdict.New(3), tdict.New(3)
	pairs := tensor.Must(tensor.From([]float64{1, 3, 5, 7, 9, 11}, 3, 2))
	for key, v := range (tdict.Entries{
		"dense": pairs, "each": pairs, "whole": pairs,
		"lists": tensor.Must(ragged.New(pairs, layout)), "values": tensor.Must(ragged.New(pairs, layout)),
		"elements": tensor.Must(ragged.New(pairs, layout)), "all": tensor.Must(ragged.New(pairs, layout)),
	}) {
		require.NoError(t, td.Set(key, v))
	}
	bits := tensor.Must(tensor.From([]bool{true, false, false, false, true, true}, 3, 2))
	for key, v := range (tdict.Entries{
		"dense": tensor.Vector(true, false, true), "each": bits, "lists": tensor.Vector(false, true, true),
		"values": tensor.Must(ragged.New(tensor.Vector(true, false, true), layout)), "elements": tensor.Must(ragged.New(bits, layout)),
	}) {
		require.NoError(t, masks.Set(key, v))
	}
	got := tensor.Must(arith.Mean(td, arith.Features.Masked(masks)))
	nan := math.NaN()
	for key, want := range map[nestedkey.Key][]float64{
		"dense": {2, nan, 10}, "each": {1, nan, 10}, "whole": {2, 6, 10},
		"lists": {nan, nan, 10}, "values": {2, nan, 10}, "elements": {1, nan, 10}, "all": {2, 6, 10},
	} {
		v := tensor.Must(got.Get(key))
		x, _ := v.(*tensor.Tensor)
		if lists, ok := v.(*ragged.Tensor); ok {
			require.NoError(t, lists.Layout().CheckEqual(layout))
			x = tensor.Must(lists.Values())
		}
		sameTensors(t, tensor.Vector(want...), x, "%s", key)
	}
}

func TestMaskedRefuses(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("x", tensor.Vector[int8](1, 2)))
	require.NoError(t, td.Set("in/y", tensor.Vector(1., 2)))
	one := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		masks := tdict.New(v.Shape()[0])
		require.NoError(t, masks.Set(key, v))
		return masks
	}
	tests := []struct {
		name  string
		masks any
		want  error
	}{
		{"no bools", one("x", tensor.Vector[int8](1, 0)), tensor.ErrDType},
		{"another shape", one("in/y", tensor.Vector(true)), shapeops.ErrShape},
		{"a list for a tensor", one("x", tensor.Must(ragged.From[bool]([][]bool{{true}, {}}))), tdict.ErrKind},
		{"a mask for a dictionary", one("in", tensor.Vector(true, true)), tdict.ErrKind},
		{"a nil dictionary", (*tdict.TensorDict)(nil), tensor.ErrKind},
		{"a list", []bool{true, true}, tensor.ErrKind},
		{"nil", nil, tensor.ErrKind},
		{"no integer counts", one("x", tensor.Vector(false, false)), arith.ErrEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := arith.Min(td, arith.Dims(0).Masked(tt.masks))
			testkit.Fails(t, tt.want, err)
		})
	}
	_, err := arith.Sum(td, arith.Dims(0).Masked(one("x", tensor.Vector(true, false))).Where(one("x", tensor.Vector(true, false))))
	require.True(t, errors.Is(err, tdict.ErrMissing), "Where replaces Masked, and wants all masks")
}

// TestByGroupsEqualsBySplits: ByGroups is BySplits of the rows in the order of the groups.
func TestByGroupsEqualsBySplits(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 3))
	for range 40 {
		n := 1 + r.IntN(30)
		td, masks := maskedTable(r, n)
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = int64(r.IntN(4))
		}
		groups := tensor.Must(arith.GroupBy(tensor.Vector(ids...)))
		sorted, sortedMasks := tensor.Must(td.Take(0, groups.Rows)), tensor.Must(masks.Take(0, groups.Rows))
		for op, reduce := range reductions {
			for name, overs := range map[string][2]arith.Over{
				"all":    {arith.ByGroups(groups), arith.BySplits(groups.Splits)},
				"rows":   {arith.ByGroups(groups).Where(tensor.Must(masks.Tensor("nan"))), arith.BySplits(groups.Splits).Where(tensor.Must(sortedMasks.Tensor("nan")))},
				"leaves": {arith.ByGroups(groups).Masked(masks), arith.BySplits(groups.Splits).Masked(sortedMasks)},
			} {
				want, err := reduce.ofDict(sorted, overs[1])
				got, gotErr := reduce.ofDict(td, overs[0])
				if err != nil {
					require.ErrorIs(t, err, arith.ErrEmpty)
					require.ErrorIs(t, gotErr, arith.ErrEmpty, "%s %s", op, name)
					continue
				}
				require.NoError(t, gotErr)
				for key, x := range want.Tensors() {
					sameTensors(t, x, tensor.Must(got.Tensor(key)), "%s of %s: %s", op, key, name)
				}
			}
		}
	}
	empty := tensor.Must(arith.GroupBy(tensor.Vector[int64]()))
	sameTensors(t, tensor.Vector[float64](), tensor.Must(arith.Mean(tensor.Vector[float64](), arith.ByGroups(empty))), "no group")
	sameTensors(t, tensor.Vector[float64](), tensor.Must(arith.Mean(tensor.Vector[float64](), arith.ByGroups(&arith.Groups{}))), "the zero Groups")
}

func TestByGroupsRefuses(t *testing.T) {
	groups := tensor.Must(arith.GroupBy(tensor.Vector[int64](1, 2, 1)))
	x := tensor.Vector(1., 2, 3)
	tests := []struct {
		name string
		x    *tensor.Tensor
		over arith.Over
		want error
	}{
		{"no groups", x, arith.ByGroups(nil), tensor.ErrKind},
		{"a scalar", tensor.Scalar(1.), arith.ByGroups(groups), shapeops.ErrDim},
		{"other rows", tensor.Vector(1., 2), arith.ByGroups(groups), shapeops.ErrShape},
		{"a mask of other rows", x, arith.ByGroups(groups).Where(tensor.Vector(true)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, testkit.Err(arith.Mean(tt.x, tt.over))) })
	}
	_, err := arith.CumSum(x, arith.ByGroups(groups))
	testkit.Fails(t, shapeops.ErrDim, err)
}
