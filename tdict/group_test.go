package tdict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// patients has the missing values of a table: what masks hide is poison.
func patients(t testing.TB) (*tdict.TensorDict, tdict.Schema) {
	t.Helper()
	nan := math.NaN()
	td, err := tdict.FromMap(shapeops.Shape{6}, tdict.Entries{
		"sex":        tensor.Must(ragged.FromStrings([]string{"m", "f", "??", "f", "m", "!!"})),
		"told":       tensor.Vector(true, true, false, true, true, false),
		"stage":      tensor.Vector[int8](2, 1, 1, 1, 99, 1),
		"staged":     tensor.Vector(true, true, true, true, false, true),
		"age":        tensor.Vector[float32](50, 60, 70, 99, 30, 90),
		"aged":       tensor.Vector(true, true, true, false, true, true),
		"lab/bili":   tensor.Vector(1, nan, 3, nan, nan, 5),
		"lab/there":  tensor.Vector(true, false, true, false, false, true),
		"lab/weight": tensor.Must(tensor.From([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 6, 2)),
	})
	require.NoError(t, err)
	return td, tdict.Schema{
		{Key: "sex", Kind: tdict.KindText, Mask: "told"}, {Key: "stage", DType: tensor.Int8, Mask: "staged"},
		{Key: "age", DType: tensor.Float32, Mask: "aged"}, {Key: "lab/bili", DType: tensor.Float64, Mask: "lab/there"},
	}
}

func TestAggregate(t *testing.T) {
	td, schema := patients(t)
	mean := func(by []nestedkey.Key, keys ...nestedkey.Key) *tdict.TensorDict {
		return tensor.Must(schema.Aggregate(td, arith.Mean, by, keys...))
	}
	bySex := mean([]nestedkey.Key{"sex"})
	require.Equal(t, "[sex told age lab/bili lab/weight stage]", fmt.Sprint(columnKeys(bySex)))
	require.Equal(t, []string{"f", "m", "??"}, tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](bySex, "sex")))), "missing last")
	require.Equal(t, []bool{true, true, false}, tensor.Must(tdict.Slice[bool](bySex, "told")))
	require.Equal(t, []float32{60, 40, 80}, tensor.Must(tdict.Slice[float32](bySex, "age")))
	require.Equal(t, []float64{1, 2, 1}, tensor.Must(tdict.Slice[float64](bySex, "stage")))
	require.Equal(t, "[NaN 1 4]", fmt.Sprint(tensor.Must(tdict.Slice[float64](bySex, "lab/bili"))), "nobody counts")
	require.Equal(t, []float64{5, 6, 5, 6, 8, 9}, tensor.Must(tdict.Slice[float64](bySex, "lab/weight")))

	both := mean([]nestedkey.Key{"sex", "stage"}, "age")
	require.Equal(t, "[sex stage staged told age]", fmt.Sprint(columnKeys(both)))
	require.Equal(t, []float32{60, 50, 30, 80}, tensor.Must(tdict.Slice[float32](both, "age")))
	require.Equal(t, []bool{true, true, false, true}, tensor.Must(tdict.Slice[bool](both, "staged")))

	count := tensor.Must(schema.Aggregate(td, arith.Count, []nestedkey.Key{"sex"}, "age", "lab"))
	require.Equal(t, []int64{1, 2, 2}, tensor.Must(tdict.Slice[int64](count, "age")))
	require.Equal(t, []int64{0, 1, 2}, tensor.Must(tdict.Slice[int64](count, "lab/bili")))
	plain := tensor.Must(tdict.Schema(nil).Aggregate(td, arith.Sum, []nestedkey.Key{"stage"}, "age"))
	require.Equal(t, []float32{319, 50, 30}, tensor.Must(tdict.Slice[float32](plain, "age")), "without a schema nothing is missing")
}

func columnKeys(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for key := range td.Leaves() {
		keys = append(keys, key)
	}
	return keys
}

// TestAggregateEqualsLoops compares random tables with loops over their rows.
func TestAggregateEqualsLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 53))
	for range 60 {
		n := r.IntN(40)
		codes, told, names := make([]int32, n), make([]bool, n), make([]string, n)
		x, there := make([]float64, n), make([]bool, n)
		sums, counts := map[string]float64{}, map[string]int{}
		for i := range n {
			codes[i], told[i], names[i] = int32(r.IntN(3)), r.IntN(4) > 0, strings.Repeat("b", r.IntN(3))
			x[i], there[i] = float64(r.IntN(100)), r.IntN(3) > 0
			group := fmt.Sprint(told[i], codes[i], names[i])
			if !told[i] {
				group, codes[i] = fmt.Sprint(false, names[i]), r.Int32() // poison
			}
			if counts[group] += 0; there[i] {
				sums[group] += x[i]
				counts[group]++
			} else {
				x[i] = math.NaN()
			}
		}
		td := tensor.Must(tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
			"code": tensor.Vector(codes...), "told": tensor.Vector(told...), "name": tensor.Must(ragged.FromStrings(names)),
			"x": tensor.Vector(x...), "there": tensor.Vector(there...),
		}))
		schema := tdict.Schema{{Key: "code", Mask: "told"}, {Key: "x", Mask: "there"}}
		by := []nestedkey.Key{"code", "name"}
		sum, count := tensor.Must(schema.Aggregate(td, arith.Sum, by, "x")), tensor.Must(schema.Aggregate(td, arith.Count, by, "x"))
		require.Equal(t, len(counts), sum.Shape()[0])
		var order []string
		for g := range sum.Shape()[0] {
			is := tensor.Must(tdict.Item[bool](sum, "told", g))
			name := tensor.Must(ragged.StringAt(tensor.Must(tdict.Get[*ragged.Tensor](sum, "name")), g))
			code := tensor.Must(tdict.Item[int32](sum, "code", g))
			group := fmt.Sprint(is, code, name)
			if !is {
				code, group = math.MaxInt32, fmt.Sprint(false, name)
			}
			require.Equal(t, sums[group], tensor.Must(tdict.Item[float64](sum, "x", g)))
			require.Equal(t, int64(counts[group]), tensor.Must(tdict.Item[int64](count, "x", g)))
			order = append(order, fmt.Sprintf("%010d %s", code, name))
		}
		require.True(t, slices.IsSorted(order), "%v", order)
	}
}

func TestAggregateRefuses(t *testing.T) {
	td, schema := patients(t)
	require.NoError(t, td.Set("z", tensor.Must(tensor.Zeros[complex64](6))))
	require.NoError(t, td.Set("lists", tensor.Must(ragged.From[int8]([][]int8{{1}, {}, {}, {}, {}, {}}))))
	require.NoError(t, td.Set("each", tensor.Must(ragged.From[bool]([][]bool{{true}, {}, {}, {}, {}, {}}))))
	by := func(keys ...nestedkey.Key) []nestedkey.Key { return keys }
	tests := []struct {
		name   string
		td     *tdict.TensorDict
		schema tdict.Schema
		by     []nestedkey.Key
		keys   []nestedkey.Key
		want   error
	}{
		{"no dictionary", nil, schema, by("sex"), nil, tdict.ErrKind},
		{"no rows", tdict.New(), schema, by("sex"), nil, shapeops.ErrDim},
		{"no key", td, schema, nil, nil, tdict.ErrKind},
		{"no such key", td, schema, by("sx"), nil, tdict.ErrMissing},
		{"a dictionary", td, schema, by("lab"), nil, tdict.ErrKind},
		{"complex numbers", td, schema, by("z"), nil, tensor.ErrDType},
		{"lists", td, schema, by("lists"), nil, tdict.ErrKind},
		{"a mask of another shape", td, tdict.Schema{{Key: "stage", Mask: "lab/weight"}}, by("stage"), nil, tensor.ErrDType},
		{"a column that is a key", td, schema, by("sex", "stage"), by("stage"), tdict.ErrKind},
		{"no such column", td, schema, by("sex"), by("ag"), tdict.ErrMissing},
		{"a column of text", td, schema, by("stage"), by("sex"), tdict.ErrKind},
		{"bools have no mean of squares", td, schema, by("sex"), by("staged"), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reduce := arith.Mean[*tdict.TensorDict]
			if strings.HasPrefix(tt.name, "bools") {
				reduce = arith.Norm[*tdict.TensorDict]
			}
			_, err := tt.schema.Aggregate(tt.td, reduce, tt.by, tt.keys...)
			testkit.Fails(t, tt.want, err)
		})
	}
}

// TestMasksOfDictionaries: the mask of a dictionary is the mask of the leaves in it that have none.
func TestMasksOfDictionaries(t *testing.T) {
	there, each := tensor.Vector(true, false), tensor.Vector(false, true)
	td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{
		"d/a": tensor.Vector(1., 2), "d/in/b": tensor.Vector(3., 4), "d/c": tensor.Vector(5., 6), "e": tensor.Vector(7., 8),
		"there": there, "each": each,
	}))
	schema := tdict.Schema{{Key: "d", Kind: tdict.KindDict, Mask: "there"}, {Key: "d/c", Mask: "each"}, {Key: "e"}, {Key: "gone", Mask: "there"}}
	masks := tensor.Must(schema.Masks(td))
	require.Equal(t, "[d/a d/in/b d/c]", fmt.Sprint(columnKeys(masks)))
	sums := tensor.Must(arith.Sum(tensor.Must(td.Select("d", "e")), arith.Dims(0).Masked(masks)))
	for key, want := range map[nestedkey.Key]float64{"d/a": 1, "d/in/b": 3, "d/c": 6, "e": 15} {
		require.Equal(t, want, tensor.Must(tdict.Item[float64](sums, key)), key)
	}
	testkit.Fails(t, tdict.ErrKind, testkit.Err(schema.Masks(nil)))
}
