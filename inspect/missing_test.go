package inspect_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// A missingTable is a random table with missing values, and what loops find in it.
type missingTable struct {
	td     *tdict.TensorDict
	schema tdict.Schema
	shown  map[string][]float64 // the values that are present, by key and column: "wide[1]"
	hidden map[string]int       // how many are not
	group  []string             // of each row; "" if it is missing
	byRow  map[string][]float64 // of each row of a column of one number; NaN where it is missing
}

// newMissingTable returns a table of n rows. Masks hide NaN, infinities and large numbers.
func newMissingTable(t testing.TB, r *rand.Rand, n int) *missingTable {
	m := &missingTable{tdict.New(n), nil, map[string][]float64{}, map[string]int{}, make([]string, n), map[string][]float64{}}
	poison := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300}
	// column returns size numbers, and which are present.
	column := func(size, columns int, key string, share float64) (x []float64, there []bool) {
		for i := range size {
			name := key
			if columns > 1 {
				name = fmt.Sprintf("%s[%d]", key, i%columns)
			}
			if is := r.Float64() < share; is {
				v := float64(r.IntN(2000)-1000) / 8
				x, there, m.shown[name] = append(x, v), append(there, true), append(m.shown[name], v)
			} else {
				x, there = append(x, poison[r.IntN(len(poison))]), append(there, false)
				m.hidden[name]++
			}
		}
		return x, there
	}
	set := func(key nestedkey.Key, v, mask tdict.Value) {
		require.NoError(t, m.td.Set(key, v))
		spec := tdict.SchemaOf(tensor.Must(m.td.Select(key)))[0]
		if mask != nil {
			spec.Mask = "masks/" + key
			require.NoError(t, m.td.Set(spec.Mask, mask))
		}
		m.schema = append(m.schema, spec)
	}
	one := func(key string, share float64) {
		x, there := column(n, 1, key, share)
		for i, v := range x {
			if !there[i] {
				v = math.NaN()
			}
			m.byRow[key] = append(m.byRow[key], v)
		}
		var mask tdict.Value
		if share < 1 {
			mask = tensor.Vector(there...)
		}
		set(nestedkey.Key(key), tensor.Vector(x...), mask)
	}
	one("some", 0.6)
	one("none", 0)
	one("whole", 1)
	x, there := column(3*n, 3, "wide", 0.7)
	set("wide", tensor.Must(tensor.Must(tensor.From(x, n, 3)).Cast(tensor.Float32)), tensor.Must(tensor.From(there, n, 3)))
	lengths := make([]int64, n)
	values := 0
	for i := range lengths {
		lengths[i] = int64(r.IntN(4))
		values += int(lengths[i])
	}
	x, there = column(values, 1, "each", 0.5)
	set("each", tensor.Must(ragged.FromLengths(tensor.Vector(x...), lengths)), tensor.Must(ragged.FromLengths(tensor.Vector(there...), lengths)))
	m.rows(r, lengths, set)
	codes, told := make([]int32, n), make([]bool, n)
	for i := range codes {
		if codes[i], told[i] = int32(r.IntN(3)), r.IntN(4) > 0; told[i] {
			m.group[i] = fmt.Sprint(codes[i])
		}
	}
	set("group", tensor.Vector(codes...), tensor.Vector(told...))
	return m
}

// rows sets a ragged leaf with a mask of rows. Rows that are missing are empty, as csv and jsonl
// read them.
func (m *missingTable) rows(r *rand.Rand, lengths []int64, set func(nestedkey.Key, tdict.Value, tdict.Value)) {
	var values []float64
	there, lengths := make([]bool, len(lengths)), slices.Clone(lengths)
	for i := range lengths {
		if there[i] = r.IntN(3) > 0; !there[i] {
			lengths[i] = 0
			m.hidden["rows"]++
		}
		for range lengths[i] {
			values = append(values, float64(r.IntN(100)))
		}
	}
	m.shown["rows"] = values
	set("rows", tensor.Must(ragged.FromLengths(tensor.Vector(values...), lengths)), tensor.Vector(there...))
}

// naiveStatistics are the statistics that loops find.
type naiveStatistics struct{ Count, Sum, Mean, Std, Min, Max, Median float64 }

func naiveOf(x []float64) naiveStatistics {
	n := float64(len(x))
	s := naiveStatistics{Count: n, Min: math.NaN(), Max: math.NaN(), Median: math.NaN()}
	for i, v := range x {
		s.Sum += v
		if i == 0 || v < s.Min {
			s.Min = v
		}
		if i == 0 || v > s.Max {
			s.Max = v
		}
	}
	s.Mean = s.Sum / n
	for _, v := range x {
		s.Std += (v - s.Mean) * (v - s.Mean)
	}
	s.Std = math.Sqrt(s.Std / n)
	if sorted := slices.Sorted(slices.Values(x)); len(x) > 0 {
		s.Median = (sorted[(len(x)-1)/2] + sorted[len(x)/2]) / 2
	}
	return s
}

func nearly(t testing.TB, want, got float64, text string, args ...any) {
	t.Helper()
	ok := want == got || math.IsNaN(want) && math.IsNaN(got) || math.Abs(want-got) <= 1e-5*(1+math.Abs(want))
	require.True(t, ok, append([]any{text + ": want %v, got %v"}, append(args, want, got)...)...)
}

// TestMissingEqualsLoops compares all statistics under masks with loops over the values that are
// present.
func TestMissingEqualsLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 6))
	for range 50 {
		m := newMissingTable(t, r, 1+r.IntN(60))
		m.checkReductions(t)
		m.checkDescribe(t)
		m.checkStandard(t)
		m.checkGroups(t)
	}
}

// dense are the keys of the columns that are tensors of floats.
var dense = []nestedkey.Key{"some", "none", "whole", "wide"}

// columnsOf returns the elements of a reduced leaf by the name of their column.
func columnsOf(t testing.TB, td *tdict.TensorDict) map[string]float64 {
	out := map[string]float64{}
	for key, x := range td.Tensors() {
		for i, v := range testkit.Elements[float64](t, tensor.Must(x.Cast(tensor.Float64))) {
			name := string(key)
			if x.Size() > 1 {
				name = fmt.Sprintf("%s[%d]", key, i)
			}
			out[name] = v
		}
	}
	return out
}

func (m *missingTable) checkReductions(t *testing.T) {
	type dict = *tdict.TensorDict
	masks := tensor.Must(m.schema.Masks(m.td))
	columns := tensor.Must(m.td.Select(dense...))
	for name, reduce := range map[string]struct {
		of   func(dict, arith.Over) (dict, error)
		want func(naiveStatistics) float64
	}{
		"count":  {arith.Count[dict], func(s naiveStatistics) float64 { return s.Count }},
		"sum":    {arith.Sum[dict], func(s naiveStatistics) float64 { return s.Sum }},
		"mean":   {arith.Mean[dict], func(s naiveStatistics) float64 { return s.Mean }},
		"min":    {arith.Min[dict], func(s naiveStatistics) float64 { return s.Min }},
		"max":    {arith.Max[dict], func(s naiveStatistics) float64 { return s.Max }},
		"std":    {func(x dict, o arith.Over) (dict, error) { return arith.Std(x, o, arith.VarOptions{}) }, func(s naiveStatistics) float64 { return s.Std }},
		"median": {func(x dict, o arith.Over) (dict, error) { return arith.Quantile(x, o, 0.5) }, func(s naiveStatistics) float64 { return s.Median }},
	} {
		for column, got := range columnsOf(t, tensor.Must(reduce.of(columns, arith.Dims(0).Masked(masks)))) {
			nearly(t, reduce.want(naiveOf(m.shown[column])), got, "%s of %s", name, column)
		}
	}
}

func (m *missingTable) checkDescribe(t *testing.T) {
	opt := inspect.DescribeOptions{Schema: m.schema, ByColumn: true, Quantiles: []float64{0.5}, Keys: append(slices.Clone(dense), "each", "rows")}
	all := describe(t, m.td, opt)
	require.Len(t, all, 8)
	for _, s := range all {
		name := string(s.Key)
		if len(s.Column) > 0 {
			name += fmt.Sprint(s.Column)
		}
		want := naiveOf(m.shown[name])
		require.Equal(t, []int{int(want.Count), m.hidden[name], 0}, []int{s.Count, s.Missing, s.NaN}, name)
		nearly(t, want.Mean, s.Mean, "mean of %s", name)
		nearly(t, want.Std, s.Std, "std of %s", name)
		if want.Count > 0 {
			require.Equal(t, []any{want.Min, want.Max}, []any{s.Min, s.Max}, name)
			nearly(t, want.Median, s.Quantiles[0], "median of %s", name)
		}
	}
}

// checkStandard: a column without a value stays as it is, and a constant one has the deviation 1.
func (m *missingTable) checkStandard(t *testing.T) {
	s := tensor.Must(transform.FitStandard(m.td, m.schema))
	std := columnsOf(t, s.Std())
	for name, mean := range columnsOf(t, s.Mean()) {
		want := naiveOf(m.shown[name])
		if want.Count == 0 {
			want.Mean = 0
		}
		if !(want.Std > 0) {
			want.Std = 1
		}
		nearly(t, want.Mean, mean, "mean of %s", name)
		nearly(t, want.Std, std[name], "std of %s", name)
	}
}

func (m *missingTable) checkGroups(t *testing.T) {
	by := []nestedkey.Key{"group"}
	means := tensor.Must(m.schema.Aggregate(m.td, arith.Mean, by, dense[:3]...))
	counts := tensor.Must(m.schema.Aggregate(m.td, arith.Count, by, dense[:3]...))
	for g := range means.Shape()[0] {
		group := ""
		if tensor.Must(tdict.Item[bool](means, "masks/group", g)) {
			group = fmt.Sprint(tensor.Must(tdict.Item[int32](means, "group", g)))
		}
		for _, key := range dense[:3] {
			var shown []float64
			for i, v := range m.byRow[string(key)] {
				if m.group[i] == group && v == v {
					shown = append(shown, v)
				}
			}
			want := naiveOf(shown)
			nearly(t, want.Mean, tensor.Must(tdict.Item[float64](means, key, g)), "mean of %s in group %q", key, group)
			require.Equal(t, int64(want.Count), tensor.Must(tdict.Item[int64](counts, key, g)))
		}
	}
}

// TestMissingEqualsPandas compares the statistics of a table, which csv writes, with pandas and its
// nullable dtypes.
func TestMissingEqualsPandas(t *testing.T) {
	if os.Getenv("TENSORDICT_PYTHON") == "" {
		t.Skip("TENSORDICT_PYTHON is not set")
	}
	m := newMissingTable(t, rand.New(rand.NewPCG(53, 7)), 200)
	flat := tensor.Must(m.td.Select("some", "none", "whole", "group", "masks/some", "masks/none", "masks/group"))
	schema := slices.DeleteFunc(slices.Clone(m.schema), func(s tdict.Spec) bool { return !flat.Has(s.Key) })
	path := filepath.Join(t.TempDir(), "table.csv")
	var text strings.Builder
	one := func(yield func(*tdict.TensorDict, error) bool) { yield(flat, nil) }
	require.NoError(t, csv.Write(t.Context(), &text, schema, one, csv.Format{}))
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o666))
	out := processkit.Python(t, `
import sys, json
try:
    import pandas as pd
except ImportError:
    print("null")
    sys.exit()
df = pd.read_csv(sys.argv[1], dtype={"some": "Float64", "none": "Float64", "whole": "Float64", "group": "Int64"})
x = df[["some", "none", "whole"]]
number = lambda v: None if pd.isna(v) else float(v)
rows = lambda g: [[number(v) for v in g[c]] for c in x]
by = df.groupby("group", dropna=False)[list(x)]
print(json.dumps({
    "columns": {c: [number(v) for v in [x[c].count(), x[c].sum(), x[c].mean(), x[c].std(ddof=0), x[c].min(), x[c].max(), x[c].median()]] for c in x},
    "means": rows(by.mean()), "sums": rows(by.sum())}))
`, path)
	var want *struct {
		Columns     map[string][]*float64
		Means, Sums [][]*float64
	}
	require.NoError(t, json.Unmarshal([]byte(out), &want), out)
	if want == nil {
		t.Skip("no pandas")
	}
	m.comparePandas(t, want.Columns, want.Means, want.Sums)
}

func (m *missingTable) comparePandas(t *testing.T, columns map[string][]*float64, means, sums [][]*float64) {
	number := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	for _, s := range describe(t, m.td, inspect.DescribeOptions{Schema: m.schema, Quantiles: []float64{0.5}, Keys: dense[:3]}) {
		want := columns[string(s.Key)]
		require.Equal(t, *want[0], float64(s.Count), s.Key)
		nearly(t, number(want[2]), s.Mean, "mean of %s", s.Key)
		nearly(t, number(want[3]), s.Std, "std of %s", s.Key)
		if s.Count > 0 {
			nearly(t, number(want[4]), s.Min.(float64), "min of %s", s.Key)
			nearly(t, number(want[5]), s.Max.(float64), "max of %s", s.Key)
			nearly(t, number(want[6]), s.Quantiles[0], "median of %s", s.Key)
		}
	}
	masks := tensor.Must(m.schema.Masks(m.td))
	for key, sum := range columnsOf(t, tensor.Must(arith.Sum(tensor.Must(m.td.Select(dense[:3]...)), arith.Dims(0).Masked(masks)))) {
		nearly(t, number(columns[key][1]), sum, "sum of %s", key)
	}
	for name, tt := range map[string]struct {
		want [][]*float64
		got  *tdict.TensorDict
	}{
		"mean": {means, tensor.Must(m.schema.Aggregate(m.td, arith.Mean, []nestedkey.Key{"group"}, dense[:3]...))},
		"sum":  {sums, tensor.Must(m.schema.Aggregate(m.td, arith.Sum, []nestedkey.Key{"group"}, dense[:3]...))},
	} {
		require.Equal(t, shapeops.Shape{4}, tt.got.Shape(), "three groups, and the rows without one")
		for c, key := range dense[:3] {
			for g, v := range tensor.Must(tdict.Slice[float64](tt.got, key)) {
				nearly(t, number(tt.want[c][g]), v, "%s of %s in group %d", name, key, g)
			}
		}
	}
}
