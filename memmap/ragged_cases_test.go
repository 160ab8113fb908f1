package memmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A raggedCase is a kind of dataset with ragged leaves. Datasets of one case have the same lengths;
// their values count from first.
type raggedCase struct {
	name string
	make func(t testing.TB, first int) *tdict.TensorDict
}

// raggedLeaf is a ragged leaf to be made.
type raggedLeaf struct {
	key      nestedkey.Key
	dtype    tensor.DType
	batch    shapeops.Shape
	features shapeops.Shape
	lengths  [][]int64 // of each level
}

// tensor returns the leaf with values that count from first.
func (l raggedLeaf) tensor(t testing.TB, first int) *ragged.Tensor {
	t.Helper()
	layout, err := ragged.LayoutOf(l.batch, l.lengths...)
	require.NoError(t, err)
	n := tensor.Must(layout.NumRows(-1))
	shape := append(shapeops.Shape{n}, l.features...)
	values := numbered(tensor.Int64, first, shape...)
	if l.dtype == tensor.Bool {
		values = tensor.Must(tensor.Map(values, func(v int64) bool { return v%2 == 0 }))
	} else {
		values = tensor.Must(values.Cast(l.dtype))
	}
	return tensor.Must(ragged.New(values, layout))
}

// leaves returns a case of ragged leaves only.
func leaves(name string, batch shapeops.Shape, all ...raggedLeaf) raggedCase {
	return raggedCase{name, func(t testing.TB, first int) *tdict.TensorDict {
		t.Helper()
		td := tdict.New(batch...)
		for _, l := range all {
			require.NoError(t, td.Set(l.key, l.tensor(t, first)))
		}
		return td
	}}
}

// raggedCases are the kinds of datasets with ragged leaves.
func raggedCases() []raggedCase {
	type lengths = [][]int64
	one, three, four, six := shapeops.Shape{1}, shapeops.Shape{3}, shapeops.Shape{4}, shapeops.Shape{3, 2}
	mixed := lengths{{5, 0, 6, 1}}
	twice := lengths{{2, 0, 1, 3}, {2, 0, 1, 3, 0, 1}}
	thrice := lengths{{1, 0, 2, 1}, {2, 0, 3, 1}, {1, 2, 0, 4, 1, 1}}
	var ints, floats []raggedLeaf
	for _, d := range []tensor.DType{tensor.Int8, tensor.Int16, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64} {
		ints = append(ints, raggedLeaf{nestedkey.Of(d.String()), d, four, nil, mixed})
	}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64} { // Python consolidates no complex128
		floats = append(floats, raggedLeaf{nestedkey.Of(d.String()), d, four, nil, mixed})
	}
	return []raggedCase{
		leaves("one level", four, raggedLeaf{"x", tensor.Int64, four, nil, mixed}),
		leaves("features", four, raggedLeaf{"x", tensor.Float32, four, shapeops.Shape{2, 3}, mixed}),
		leaves("no features", four, raggedLeaf{"x", tensor.Float32, four, shapeops.Shape{0}, mixed}),
		leaves("two levels", four, raggedLeaf{"x", tensor.Int32, four, nil, twice}),
		leaves("three levels", four, raggedLeaf{"x", tensor.Float64, four, shapeops.Shape{2}, thrice}),
		leaves("batch [3 2]", six, raggedLeaf{"x", tensor.Int16, six, nil, lengths{{1, 3, 0, 2, 2, 1}}}),
		leaves("a longer batch", three, raggedLeaf{"x", tensor.Int16, six, nil, lengths{{1, 3, 0, 2, 2, 1}}}),
		leaves("two levels in a longer batch", three, raggedLeaf{"x", tensor.Int8, six, nil, lengths{{1, 0, 2, 0, 1, 1}, {2, 0, 1, 3, 1}}}),
		leaves("no batch", nil, raggedLeaf{"x", tensor.Int64, nil, nil, lengths{{3}}}, raggedLeaf{"y", tensor.Int64, four, nil, mixed}),
		leaves("two levels, no batch", nil, raggedLeaf{"x", tensor.Int64, nil, nil, lengths{{3}, {1, 0, 2}}}),
		leaves("no rows", shapeops.Shape{0}, raggedLeaf{"x", tensor.Int64, shapeops.Shape{0}, nil, lengths{{}}}, raggedLeaf{"y", tensor.Int64, shapeops.Shape{0}, nil, lengths{{}, {}}}),
		leaves("no values", three, raggedLeaf{"x", tensor.Int64, three, nil, lengths{{0, 0, 0}}}, raggedLeaf{"y", tensor.Int8, three, nil, lengths{{0, 0, 0}, {}}}),
		leaves("no values below", three, raggedLeaf{"y", tensor.Int64, three, nil, lengths{{0, 2, 0}, {0, 0}}}),
		leaves("one row", one, raggedLeaf{"x", tensor.Int64, one, nil, lengths{{3}}}, raggedLeaf{"y", tensor.Int64, one, nil, lengths{{2}, {1, 2}}}),
		leaves("equal lengths", four, raggedLeaf{"x", tensor.Int64, four, nil, lengths{{2, 2, 2, 2}}}, raggedLeaf{"y", tensor.Int64, four, nil, lengths{{2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}}),
		leaves("bool", four, raggedLeaf{"x", tensor.Bool, four, nil, mixed}),
		leaves("nested", four, raggedLeaf{"obs/in/x", tensor.Int64, four, nil, mixed}, raggedLeaf{"obs/y", tensor.Uint8, four, nil, twice},
			raggedLeaf{"obs/in/odd key", tensor.Float32, four, nil, mixed}, raggedLeaf{"z", tensor.Int64, four, nil, mixed}),
		leaves("integers", four, ints...),
		leaves("floats", four, floats...),
		{"text", func(t testing.TB, first int) *tdict.TensorDict {
			td := tdict.New(3)
			texts := [][]string{{"hello", "", "wörld"}, {"HELLO", "", "WÖRLD"}}[min(first, 1)]
			require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings(texts, 3))))
			return td
		}},
		{"beside others", func(t testing.TB, first int) *tdict.TensorDict {
			td := leaves("", four, raggedLeaf{"obs/x", tensor.Int64, four, nil, mixed}).make(t, first)
			require.NoError(t, td.Set("dense", numbered(tensor.Float32, 0, 4, 2)))
			require.NoError(t, td.Set("obs/n", numbered(tensor.Int64, 0, 4)))
			require.NoError(t, td.Set("data", tensor.Must(tdict.NewData("all", 4))))
			require.NoError(t, td.Set("shared", tensor.Must(tdict.NewUnbatched(numbered(tensor.Int8, 0, 4, 3)))))
			return td
		}},
	}
}
