package tdict_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// intoKinds are values of each kind for the batch shape [3 2], none of them zeros.
var intoKinds = []struct {
	name  string
	value func() tdict.Value
}{
	{"dense", func() tdict.Value { return tensor.Must(arith.Add(count(3, 2, 2), 1)) }},
	{"dense NaN", func() tdict.Value { return tensor.Must(tensor.Full(math.NaN(), 3, 2)) }},
	{"dense view", func() tdict.Value { return tensor.Must(count(2, 3).Transpose(0, 1)) }},
	{"dense repeated", func() tdict.Value { return tensor.Must(count(3, 1).Expand(3, 2)) }},
	{"ragged", func() tdict.Value {
		l := tensor.Must(ragged.LayoutOf(shapeops.Shape{3, 2}, []int64{2, 0, 1, 1, 0, 3}))
		return tensor.Must(ragged.New(count(7), l))
	}},
	{"ragged, two levels", func() tdict.Value {
		l := tensor.Must(ragged.LayoutOf(shapeops.Shape{3, 2}, []int64{2, 0, 1, 1, 0, 0}, []int64{1, 0, 2, 1}))
		return tensor.Must(ragged.New(tensor.Must(tensor.Full(math.NaN(), 4, 2)), l))
	}},
	{"ragged without levels", func() tdict.Value {
		return tensor.Must(ragged.New(count(6), tensor.Must(ragged.NewLayout(shapeops.Shape{3, 2}))))
	}},
	{"ragged repeated", func() tdict.Value {
		l := tensor.Must(ragged.LayoutOf(shapeops.Shape{3, 1}, []int64{2, 0, 1}))
		column := dict([]int{3, 1}, entry{"v", tensor.Must(ragged.New(count(3), l))})
		return tensor.Must(tensor.Must(column.Expand(3, 2)).Get("v"))
	}},
	{"data, one per row", func() tdict.Value {
		return tensor.Must(tdict.DataFrom([]any{"a", 1, nil, math.Inf(1), "e", []any{"f"}}, 3, 2))
	}},
	{"uniform data", func() tdict.Value { return data("x", 3, 2) }},
	{"data repeated", func() tdict.Value {
		column := dict([]int{3, 1}, entry{"v", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3, 1))})
		return tensor.Must(tensor.Must(column.Expand(3, 2)).Get("v"))
	}},
	{"unbatched", func() tdict.Value { return unbatched(count(4)) }},
	{"unbatched NaN", func() tdict.Value { return unbatched(tensor.Vector(1, math.NaN())) }},
	{"nested", func() tdict.Value {
		return dict([]int{3, 2, 2}, entry{"x", count(3, 2, 2, 1)}, entry{"name", data("y", 3, 2, 2)}, entry{"w", unbatched(tensor.Scalar(math.NaN()))})
	}},
	{"empty nested", func() tdict.Value { return tdict.New(3, 2) }},
}

// An intoForm is an operation, plain and into a destination that has the plain one's batch shape.
type intoForm struct {
	name  string
	plain func(td *tdict.TensorDict) (*tdict.TensorDict, error)
	into  func(dst, td *tdict.TensorDict) error
}

// ends are td and a part of it, for what joins dictionaries of several lengths.
func ends(td dictionary) []dictionary {
	return []dictionary{td, tensor.Must(td.Narrow(0, 1, 2)), tensor.Must(td.Narrow(0, 0, 0))}
}

// cloneChunk returns a chunk with data and structure of its own.
func cloneChunk(_ context.Context, chunk dictionary) (dictionary, error) { return chunk.Clone() }

var (
	padFirst = shapeops.PadSequenceOptions{}
	leftDim1 = shapeops.PadSequenceOptions{Dim: 1, Left: true, Length: 4}
	indices  = tensor.Must(tensor.From([]int64{2, 0, 1, 1}, 2, 2))
	bools    = tensor.Vector(true, false, true)
)

// intoForms move rows, whatever kind of value has them.
var intoForms = []intoForm{
	{"index a part",
		func(td dictionary) (dictionary, error) { return td.Index(ix.Range(1, 3)) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.Range(1, 3)) }},
	{"index a row",
		func(td dictionary) (dictionary, error) { return td.Index(ix.At(0)) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.At(0)) }},
	{"index one position",
		func(td dictionary) (dictionary, error) { return td.Index(ix.At(0), ix.At(1)) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.At(0), ix.At(1)) }},
	{"index a list",
		func(td dictionary) (dictionary, error) { return td.Index(ix.Take(2, 2, 0, 1)) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.Take(2, 2, 0, 1)) }},
	{"index a mask",
		func(td dictionary) (dictionary, error) { return td.Index(ix.Mask([]bool{false, true, true})) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.Mask([]bool{false, true, true})) }},
	{"index nothing",
		func(td dictionary) (dictionary, error) { return td.Index(ix.Take()) },
		func(dst, td dictionary) error { return td.IndexInto(dst, ix.Take()) }},
	{"index all",
		func(td dictionary) (dictionary, error) { return td.Index() },
		func(dst, td dictionary) error { return td.IndexInto(dst) }},
	{"gather",
		func(td dictionary) (dictionary, error) { return td.Gather(0, indices) },
		func(dst, td dictionary) error { return td.GatherInto(dst, 0, indices) }},
	{"take",
		func(td dictionary) (dictionary, error) { return td.Take(1, tensor.Vector[int64](1, 1, 0)) },
		func(dst, td dictionary) error { return td.TakeInto(dst, 1, tensor.Vector[int64](1, 1, 0)) }},
	{"masked select",
		func(td dictionary) (dictionary, error) { return td.MaskedSelect(bools) },
		func(dst, td dictionary) error { return td.IndexInto(dst, tensor.Must(bools.AsMask())) }},
	{"flip",
		func(td dictionary) (dictionary, error) { return shapeops.Flip(td, 0, 1) },
		func(dst, td dictionary) error { return shapeops.FlipInto(dst, td, 0, 1) }},
	{"pad",
		func(td dictionary) (dictionary, error) { return td.Pad(tdict.PadOptions{Fill: 1}, 1, 0, -1, 2) },
		func(dst, td dictionary) error { return td.PadInto(dst, tdict.PadOptions{Fill: 1}, 1, 0, -1, 2) }},
	{"stack",
		func(td dictionary) (dictionary, error) { return shapeops.Stack([]dictionary{td, td}, 1) },
		func(dst, td dictionary) error { return shapeops.StackInto(dst, []dictionary{td, td}, 1) }},
	{"stack of clones",
		func(td dictionary) (dictionary, error) {
			return shapeops.Stack([]dictionary{td, tensor.Must(td.Clone())}, 0)
		},
		func(dst, td dictionary) error {
			return shapeops.StackInto(dst, []dictionary{td, tensor.Must(td.Clone())}, 0)
		}},
	{"cat",
		func(td dictionary) (dictionary, error) { return shapeops.Cat(ends(td), 0) },
		func(dst, td dictionary) error { return shapeops.CatInto(dst, ends(td), 0) }},
	{"pad sequence",
		func(td dictionary) (dictionary, error) { return shapeops.PadSequence(ends(td), padFirst) },
		func(dst, td dictionary) error { return shapeops.PadSequenceInto(dst, ends(td), padFirst) }},
	{"pad sequence on the left",
		func(td dictionary) (dictionary, error) { return shapeops.PadSequence([]dictionary{td, td}, leftDim1) },
		func(dst, td dictionary) error { return shapeops.PadSequenceInto(dst, []dictionary{td, td}, leftDim1) }},
	{"map",
		func(td dictionary) (dictionary, error) {
			return tdict.MapChunks(context.Background(), td, cloneChunk, tdict.MapChunksOptions{ChunkSize: 2})
		},
		func(dst, td dictionary) error {
			_, err := tdict.MapChunks(context.Background(), td, cloneChunk, tdict.MapChunksOptions{ChunkSize: 2, Into: dst})
			return err
		}},
	{"set index of all",
		func(td dictionary) (dictionary, error) { return td, nil },
		func(dst, td dictionary) error { return dst.SetIndex(td) }},
	{"update in place",
		func(td dictionary) (dictionary, error) { return td, nil },
		func(dst, td dictionary) error { return dst.UpdateInPlace(td) }},
}

// intoValues look at elements; values that have none pass through.
var intoValues = []intoForm{
	{"add",
		func(td dictionary) (dictionary, error) { return arith.Add(td, 1) },
		func(dst, td dictionary) error { return arith.AddInto(dst, td, 1) }},
	{"less",
		func(td dictionary) (dictionary, error) { return arith.Less(td, td) },
		func(dst, td dictionary) error { return arith.LessInto(dst, td, td) }},
	{"is NaN",
		func(td dictionary) (dictionary, error) { return arith.IsNaN(td) },
		func(dst, td dictionary) error { return arith.IsNaNInto(dst, td) }},
	{"masked fill",
		func(td dictionary) (dictionary, error) { return arith.MaskedFill(td, bools2(), 1) },
		func(dst, td dictionary) error { return arith.MaskedFillInto(dst, td, bools2(), 1) }},
	{"where",
		func(td dictionary) (dictionary, error) { return arith.Where(bools2(), td, tensor.Must(td.Clone())) },
		func(dst, td dictionary) error { return arith.WhereInto(dst, bools2(), td, tensor.Must(td.Clone())) }},
	{"cast and scale",
		func(td dictionary) (dictionary, error) { return arith.CastScale(td, tensor.Float32, 2, 1) },
		func(dst, td dictionary) error { return arith.CastScaleInto(dst, td, tensor.Float32, 2, 1) }},
	{"cumulative sum",
		func(td dictionary) (dictionary, error) { return arith.CumSum(td, arith.Dims(0)) },
		func(dst, td dictionary) error { return arith.CumSumInto(dst, td, arith.Dims(0)) }},
	{"sort",
		func(td dictionary) (dictionary, error) { return arith.Sort(td, 0, arith.SortOptions{}) },
		func(dst, td dictionary) error { return arith.SortInto(dst, td, 0, arith.SortOptions{}) }},
	{"scatter add",
		func(td dictionary) (dictionary, error) {
			return arith.ScatterAdd(td, 0, indices, tensor.Must(td.Narrow(0, 0, 2)))
		},
		func(dst, td dictionary) error {
			return arith.ScatterAddInto(dst, td, 0, indices, tensor.Must(td.Narrow(0, 0, 2)))
		}},
}

func bools2() *tensor.Tensor {
	return tensor.Must(tensor.From([]bool{true, false, false, true, true, false}, 3, 2))
}

// holding returns a dictionary with two values of a kind, of which one is under two keys.
func holding(make func() tdict.Value) *tdict.TensorDict {
	v := make()
	return dict([]int{3, 2}, entry{"v", v}, entry{"d/v", make()}, entry{"d/e/v", v})
}

// Whatever a dictionary holds, NewZeros makes a destination for the Into form of each operation,
// which then holds what the plain form returns.
func TestIntoNewZeros(t *testing.T) {
	for _, kind := range intoKinds {
		for _, form := range intoForms {
			t.Run(form.name+"/"+kind.name, func(t *testing.T) {
				td := holding(kind.value)
				want, err := form.plain(td)
				require.NoError(t, err)
				dst := tensor.Must(td.NewZeros(want.Shape()...))
				for _, about := range []string{"into zeros", "into what it holds"} {
					require.NoError(t, form.into(dst, td), about)
					require.Equal(t, state(t, want), state(t, dst), about)
				}
			})
		}
	}
}

// So it is for operations on elements, whose results may have other dtypes and features: the
// destination is made of a result. What the plain form refuses, the Into form does too.
func TestValuesIntoNewZeros(t *testing.T) {
	for _, kind := range intoKinds {
		for _, form := range intoValues {
			t.Run(form.name+"/"+kind.name, func(t *testing.T) {
				td := holding(kind.value)
				want, err := form.plain(td)
				if err != nil {
					require.ErrorIs(t, err, tdict.ErrKind)
					require.Error(t, form.into(tensor.Must(td.NewZeros(td.Shape()...)), td))
					return
				}
				dst := tensor.Must(want.NewZeros(want.Shape()...))
				require.NoError(t, form.into(dst, td))
				require.Equal(t, state(t, want), state(t, dst))
			})
		}
	}
}
