package inspect_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// visitsTable returns the visits of the pbcseq data: columns of float64, of int64 if all values are
// integers, with masks where values are missing.
func visitsTable(t testing.TB) *tdict.TensorDict {
	f, err := os.Open(filepath.Join("..", "examples", "internal", "data", "pbcseq.csv.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	table, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
	td := tdict.New(len(table) - 1)
	for column, name := range table[0] {
		if name == "sex" {
			continue
		}
		numbers, there := make([]float64, len(table)-1), make([]bool, len(table)-1)
		for i, row := range table[1:] {
			if numbers[i], err = strconv.ParseFloat(row[column], 64); err == nil {
				there[i] = true
			}
		}
		x := tensor.Vector(numbers...)
		if !slices.ContainsFunc(numbers, func(v float64) bool { return v != math.Trunc(v) }) {
			x = tensor.Must(x.Cast(tensor.Int64))
		}
		require.NoError(t, td.Set(nestedkey.Key(name), x))
		if slices.Contains(there, false) {
			require.NoError(t, td.Set(nestedkey.Key(name+"_mask"), tensor.Vector(there...)))
		}
	}
	return td
}

// TestBinsOfVisits has the histograms that the design of the page shows.
func TestBinsOfVisits(t *testing.T) {
	got := map[nestedkey.Key]inspect.Profile{}
	for _, p := range profiles(t, visitsTable(t), inspect.ProfileOptions{}) {
		got[p.Key] = p
	}
	tests := []struct {
		key          nestedkey.Key
		form         inspect.HistogramForm
		bars         int
		width        any
		above        int
		missing      int
		median       float64
		at           int // a bar
		from, to     any
		count, first int
	}{
		{"id", inspect.EqualBins, 32, int64(10), 0, 0, 126, 31, int64(310), int64(319), 14, 56},
		{"futime", inspect.EqualBins, 27, int64(200), 0, 0, 2963, 0, int64(0), int64(199), 13, 13},
		{"status", inspect.EachValue, 3, nil, 0, 0, 0, 2, int64(2), int64(2), 725, 1073},
		{"age", inspect.EqualBins, 27, 2., 0, 0, 48.870636550308, 26, 78., 80., 8, 3},
		{"edema", inspect.EachValue, 3, nil, 0, 0, 0, 1, 0.5, 0.5, 379, 1401},
		{"bili", inspect.EqualBins, 27, 1., 20, 0, 1.4, 26, 26., 27., 1, 696},
		{"chol", inspect.EqualBins, 22, int64(50), 8, 821, 281, 4, int64(250), int64(299), 287, 2},
		{"albumin", inspect.EqualBins, 33, 0.1, 15, 0, 3.44, 32, 4.3, 4.4, 15, 1},
		{"stage", inspect.EachValue, 4, nil, 0, 0, 3, 3, int64(4), int64(4), 972, 95},
	}
	for _, tt := range tests {
		t.Run(string(tt.key), func(t *testing.T) {
			h := got[tt.key].Values
			require.Equal(t, tt.form, h.Form)
			require.Len(t, h.Bars, tt.bars)
			require.Equal(t, tt.width, h.Width)
			require.Equal(t, []int{0, tt.above, tt.missing}, []int{h.Below, h.Above, h.Missing})
			require.Equal(t, inspect.Bar{From: tt.from, To: tt.to, Count: tt.count}, h.Bars[tt.at])
			require.Equal(t, tt.first, h.Bars[0].Count)
			require.Equal(t, tt.median, h.Quantiles[2])
			require.Equal(t, 1945, sumOf(h))
		})
	}
	require.Equal(t, int64(50), got["chol"].Values.Bars[0].From, "a multiple of the width")
	require.Equal(t, int64(1149), got["chol"].Values.Bars[21].To)
}

// ramp returns n integers, one after the other from first on.
func ramp[T tensor.Number](first T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = first + T(i)
	}
	return all
}

// TestRuleForBins has a row for each rule of the package documentation.
func TestRuleForBins(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	few := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1e300}
	steps := []float64{60000, 60000}
	for i := range 249 {
		steps = append(steps, 2136-2*float64(min(i, 40)))
	}
	between := tensor.Must(tensor.Vector(steps...).Cast(tensor.Float16)) // p99 is 2135, of which the nearest is 2136
	tests := []struct {
		name string
		x    *tensor.Tensor
		form inspect.HistogramForm
		bars int
		from any // of the first bar
		to   any // of the last bar
	}{
		{"no element", tensor.Must(tensor.New(tensor.Float32, 0)), inspect.NoValue, 0, nil, nil},
		{"no finite number", tensor.Vector(nan, inf, -inf), inspect.NoValue, 0, nil, nil},
		{"one value", tensor.Vector[uint8](5, 5, 5), inspect.OneValue, 1, int64(5), int64(5)},
		{"one value and infinities", tensor.Vector(inf, 5, -inf, nan, 5), inspect.OneValue, 1, 5., 5.},
		{"0 and -0", tensor.Vector(math.Copysign(0, -1), 0), inspect.OneValue, 1, 0., 0.},
		{"bool", tensor.Vector(true, false, true), inspect.EachValue, 2, int64(0), int64(1)},
		{"4 integers far apart", tensor.Vector[int64](math.MinInt64, -7, 9, math.MaxInt64), inspect.EachValue, 4, int64(math.MinInt64), int64(math.MaxInt64)},
		{"5 integers within 48", tensor.Vector[int32](-40, 1, 2, 3, 7), inspect.EachInteger, 48, int64(-40), int64(7)},
		{"5 integers, 48 apart", tensor.Vector[int32](-40, 1, 2, 3, 8), inspect.EqualBins, 25, int64(-40), int64(9)},
		{"12 floats", tensor.Vector(few...), inspect.EachValue, 12, 1., 1e300},
		{"13 floats", tensor.Vector(append(few, 1e299)...), inspect.EqualBins, 10, 0., 1e300},
		{"12 complex numbers", tensor.Vector(3+4i, 4+3i, -5), inspect.OneValue, 1, 5., 5.},
		{"the greatest integers", tensor.Vector(ramp[uint64](math.MaxUint64-99, 100)...), inspect.EqualBins, 21, uint64(math.MaxUint64 - 100), uint64(math.MaxUint64)},
		{"the least integers", tensor.Vector(ramp[int64](math.MinInt64, 100)...), inspect.EqualBins, 21, int64(math.MinInt64), int64(math.MinInt64 + 102)},
		{"all of int8", tensor.Vector(ramp[int8](-128, 256)...), inspect.EqualBins, 14, int64(-128), int64(127)},
		{"the maximum is an edge", tensor.Vector(ramp[float64](0, 101)...), inspect.EqualBins, 10, 0., 100.},
		{"p99 is an edge", tensor.Vector(append(ramp[float64](0, 99), 100, 1000)...), inspect.EqualBins, 11, 0., 110.},
		{"p99 lies between numbers of the dtype, and its edge is above it", between, inspect.EqualBins, 16, 2056., 2136.},
		{"integers: the maximum is an edge", tensor.Vector(ramp[int16](0, 101)...), inspect.EqualBins, 11, int64(0), int64(109)},
		{"13 floats, the maximum is an edge", tensor.Vector(ramp[float64](0, 13)...), inspect.EqualBins, 12, 0., 12.},
	}
	var subnormal []float64
	for i := range 30 {
		subnormal = append(subnormal, math.Float64frombits(uint64(i)))
	}
	h := checkBins(t, tensor.Vector(subnormal...), nil, nil, 1).Values
	require.Len(t, h.Bars, 15, "of two numbers each")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := checkBins(t, tt.x, nil, nil, 1).Values
			require.Equal(t, tt.form, h.Form, "%v", h.Bars)
			require.Len(t, h.Bars, tt.bars)
			if tt.bars > 0 {
				require.Equal(t, []any{tt.from, tt.to}, []any{h.Bars[0].From, h.Bars[tt.bars-1].To})
			}
		})
	}
}

// TestDecimalEdges has values that are edges: 4.3 is in the bin that begins at 4.3, in each dtype.
func TestDecimalEdges(t *testing.T) {
	var tenths []float64
	for i := range 30 {
		tenths = append(tenths, must(strconv.ParseFloat(fmt.Sprintf("%d.%d", 4+(3+i)/10, (3+i)%10), 64)))
	}
	for _, dtype := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		x := tensor.Must(tensor.Vector(slices.Repeat(tenths, 40)...).Cast(dtype))
		h := checkBins(t, x, nil, nil, 1).Values
		for i, b := range h.Bars {
			if i < len(h.Bars)-1 {
				require.Equal(t, 40, b.Count, "%v: %v", dtype, b)
			}
			want := tensor.Must(tensor.Vector(tenths[i]).Cast(dtype))
			require.Equal(t, numbersOf(t, want)[0], b.From)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestNumberOfBins has random columns, of which the bins are from 10 to 52.
func TestNumberOfBins(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range longtests.Times(20, 200) {
		n := []int{100, 999, 1000, 3000}[r.IntN(4)]
		scale, shape := math.Pow(10, float64(r.IntN(12)-6)), 1+r.Float64()*4
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * math.Copysign(math.Pow(r.Float64(), shape), r.Float64()-0.3)
		}
		h := checkBins(t, tensor.Vector(x...), nil, nil, 2).Values
		least := 10
		if n >= 1000 {
			least = 20
		}
		require.GreaterOrEqual(t, len(h.Bars), least)
		require.Equal(t, inspect.EqualBins, h.Form)
	}
}

// TestProfilesOfMasked has masks over the leading dims, and several goroutines.
func TestProfilesOfMasked(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for layout := range layouts {
		for _, dtype := range tensor.DTypes() {
			for dims := range 4 {
				shape := []int{11, 7, 3}
				x := randomLike(t, r, dtype, layout, shape...)
				mask, there := maskOf(t, r, layout, shape, dims)
				checkBins(t, x, mask, there, 1+dims)
			}
		}
	}
}

// TestProfilesInParts has leaves of several parts: workers change nothing, and the summary is that
// which Describe returns.
func TestProfilesInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	const n = 2*(1<<17) + 12344
	x, whole := make([]float32, n), make([]int64, n)
	for i := range x {
		x[i], whole[i] = float32(r.NormFloat64()), int64(r.Uint32())
	}
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Vector(x...)))
	require.NoError(t, td.Set("i", tensor.Vector(whole...)))
	require.NoError(t, td.Set("x_mask", randomLike(t, r, tensor.Bool, "contiguous", n)))
	for i := range 20 { // small leaves, which several goroutines read
		require.NoError(t, td.Set(nestedkey.Join("small", nestedkey.Key(fmt.Sprint(i))), tensor.Vector(x[i*1000:][:5000]...)))
	}
	require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings(slices.Repeat([]string{"a", "b", "ccc"}, n/3)))))
	first := profiles(t, td, inspect.ProfileOptions{Workers: 1})
	for workers := 2; workers < 5; workers++ {
		require.Equal(t, values(first), values(profiles(t, td, inspect.ProfileOptions{Workers: workers})))
	}
	want := describe(t, td, inspect.DescribeOptions{Quantiles: []float64{0.01, 0.25, 0.5, 0.75, 0.99}})
	require.Len(t, first, len(want))
	for i, p := range first {
		if p.Values != nil {
			require.Equal(t, []any{p.Min, p.Max}, []any{p.Values.Min, p.Values.Max})
			require.Equal(t, p.Read, sumOf(p.Values))
		}
		require.Equal(t, values([]inspect.Profile{{Summary: want[i]}}), values([]inspect.Profile{{Summary: p.Summary}}))
	}
}

// values returns profiles with histograms in place of pointers to them.
func values(all []inspect.Profile) (out []string) {
	for _, p := range all {
		h, l, rows := p.Values, p.Lengths, p.Rows
		p.Values, p.Lengths, p.Rows = nil, nil, nil
		out = append(out, fmt.Sprintf("%+v %+v %+v %+v", p, rows, h, l))
	}
	return out
}

func TestProfilesByColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	x := randomLike(t, r, tensor.Int16, "stepped", 60, 5, 20)
	td := tdict.New(60)
	require.NoError(t, td.Set("x", x))
	require.NoError(t, td.Set("y", randomLike(t, r, tensor.Int16, "stepped", 60)))
	all := profiles(t, td, inspect.ProfileOptions{ByColumn: true})
	require.Len(t, all, 101)
	for i, p := range all[:100] {
		require.Equal(t, []int{i / 20, i % 20}, p.Column)
		column := tensor.Must(tensor.Must(x.Narrow(1, i/20, 1)).Narrow(2, i%20, 1))
		require.Equal(t, *p.Values, histogramOf(tensor.Int16, false, valuesOf(t, column), 0, p.Values.Quantiles))
	}
	tests := []struct {
		first, columns int
		want           []inspect.Profile
	}{
		{0, 3, all[:3]},
		{70, 10, all[70:80]},
		{95, 0, all[95:100]},
		{95, 99, all[95:100]},
		{100, 1, nil},
		{math.MaxInt, math.MaxInt, nil},
	}
	for _, tt := range tests {
		got := profiles(t, td, inspect.ProfileOptions{Keys: []nestedkey.Key{"x"}, ByColumn: true, First: tt.first, Columns: tt.columns})
		require.Equal(t, values(tt.want), values(got), "%d columns from %d on", tt.columns, tt.first)
	}
}

func TestProfilesOfRagged(t *testing.T) {
	td := tdict.New(4)
	require.NoError(t, td.Set("r", tensor.Must(ragged.From[int32]([][]int32{{1, 2}, {}, {7}, {5, 0, -3}}))))
	require.NoError(t, td.Set("hidden", tensor.Must(ragged.From[int32]([][]int32{{1, 2}, {}, {7}, {5, 0, -3}}))))
	require.NoError(t, td.Set("hidden_mask", tensor.Vector(true, true, true, false)))
	require.NoError(t, td.Set("part", tensor.Must(ragged.From[float32]([][]float32{{1, 2}, {}, {7}, {5, 0, -3}}))))
	require.NoError(t, td.Set("part_mask", tensor.Must(ragged.From[bool]([][]bool{{true, false}, {}, {true}, {true, false, true}}))))
	require.NoError(t, td.Set("deep", tensor.Must(ragged.From[int8]([][][]int8{{{1, 2}, {}}, {}, {{7}}, {{5, 0, -3}}}))))
	tests := []struct {
		key             nestedkey.Key
		values, lengths []any
		missing         [3]int // of the summary, of values and of lengths
	}{
		{"r", []any{int64(1), int64(2), int64(7), int64(5), int64(0), int64(-3)}, []any{int64(2), int64(0), int64(1), int64(3)}, [3]int{0, 0, 0}},
		{"hidden", []any{int64(1), int64(2), int64(7)}, []any{int64(2), int64(0), int64(1)}, [3]int{1, 3, 1}},
		{"part", []any{1., 7., 5., -3.}, []any{int64(2), int64(0), int64(1), int64(3)}, [3]int{2, 2, 0}},
		{"deep", []any{int64(1), int64(2), int64(7), int64(5), int64(0), int64(-3)}, []any{int64(2), int64(0), int64(1), int64(3)}, [3]int{0, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(string(tt.key), func(t *testing.T) {
			p := profiles(t, td, inspect.ProfileOptions{Keys: []nestedkey.Key{tt.key}})[0]
			require.Equal(t, histogramOf(p.DType, false, tt.values, tt.missing[1], p.Values.Quantiles), *p.Values)
			require.Equal(t, histogramOf(tensor.Int64, true, tt.lengths, tt.missing[2], p.Lengths.Quantiles), *p.Lengths)
			require.Equal(t, tt.missing[0], p.Missing)
			require.Equal(t, []int{6, 6, 6}, []int{p.Read, p.Total, sumOf(p.Values)})
			require.Equal(t, inspect.EachInteger, p.Lengths.Form, "lengths are never a list of values")
		})
	}
}

func TestProfilesOfText(t *testing.T) {
	number := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%05d", i))
		}
		return all
	}
	tests := []struct {
		name              string
		texts             []string
		first             inspect.TextCount
		listed, others    int
		different, notUTF int
		distinct          int
	}{
		{"no text", nil, inspect.TextCount{}, 0, 0, 0, 0, 0},
		{"by frequency, then by bytes", []string{"b", "c", "a", "c", "b", ""}, inspect.TextCount{Text: "b", Count: 2}, 4, 0, 4, 0, 4},
		{"not UTF-8", []string{"\xff", "née", "\xff"}, inspect.TextCount{Text: "\xff", Count: 2}, 2, 0, 2, 2, 2},
		{"more than 20", append(number(1024), "zz", "00007"), inspect.TextCount{Text: "00007", Count: 2}, 20, 1005, 1025, 0, -1},
		{"10,000", number(10_000), inspect.TextCount{Text: "00000", Count: 1}, 20, 9980, 10_000, 0, -1},
		{"more than 10,000", append(number(10_001), "\xff"), inspect.TextCount{}, 0, 0, -1, 1, -1},
		{"1 MiB", []string{strings.Repeat("a", 1<<20), ""}, inspect.TextCount{Text: "", Count: 1}, 2, 0, 2, 0, -1},
		{"more than 1 MiB", []string{strings.Repeat("a", 1<<20), "b"}, inspect.TextCount{}, 0, 0, -1, 0, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tdict.New(len(tt.texts))
			require.NoError(t, td.Set("t", tensor.Must(ragged.FromStrings(tt.texts))))
			p := profiles(t, td, inspect.ProfileOptions{})[0]
			require.Equal(t, tdict.KindText, p.Kind)
			require.Equal(t, []int{tt.listed, tt.others, tt.different, tt.notUTF, tt.distinct},
				[]int{len(p.Texts), p.Others, p.Different, p.NotUTF8, p.Distinct})
			require.Equal(t, tt.different < 0, p.TooMany)
			require.Equal(t, []int{len(tt.texts), len(tt.texts), len(tt.texts)}, []int{p.Read, p.Total, sumOf(p.Lengths)})
			if tt.listed > 0 {
				require.Equal(t, tt.first, p.Texts[0])
			}
			require.True(t, slices.IsSortedFunc(p.Texts, func(a, b inspect.TextCount) int {
				if a.Count != b.Count {
					return b.Count - a.Count
				}
				return strings.Compare(a.Text, b.Text)
			}))
		})
	}
}

func TestProfilesOfData(t *testing.T) {
	object := map[string]any{"a": int64(1)}
	td := tdict.New(8)
	require.NoError(t, td.Set("d", tensor.Must(tdict.DataFrom([]any{"a", nil, int64(3), 2.5, true, []any{}, object, "b"}, 8))))
	require.NoError(t, td.Set("d_mask", tensor.Vector(true, true, true, true, true, true, true, false)))
	require.NoError(t, td.Set("same", tensor.Must(tdict.NewData("x", 8))))
	require.NoError(t, td.Set("same_mask", tensor.Vector(true, true, false, false, false, false, false, false)))
	got := profiles(t, td, inspect.ProfileOptions{Keys: []nestedkey.Key{"d", "same"}})
	require.Equal(t, []inspect.TextCount{
		{Text: "number", Count: 2}, {Text: "bool", Count: 1}, {Text: "list", Count: 1}, {Text: "null", Count: 1}, {Text: "object", Count: 1}, {Text: "text", Count: 1},
	}, got[0].Kinds)
	require.Equal(t, []int{6, 2, 8, 8}, []int{got[0].Count, got[0].Missing, got[0].Read, got[0].Total})
	require.Equal(t, []inspect.TextCount{{Text: "text", Count: 2}}, got[1].Kinds)
	require.Equal(t, []int{2, 6, 8, 8}, []int{got[1].Count, got[1].Missing, got[1].Read, got[1].Total})
	require.Nil(t, got[0].Values)
	require.Nil(t, got[0].Lengths)

	huge := tdict.New(1 << 40)
	require.NoError(t, huge.Set("d", tensor.Must(tdict.NewData("x", 1<<40))))
	require.Equal(t, 1<<40, profiles(t, huge, inspect.ProfileOptions{})[0].Count, "rows with one value are not counted one by one")
}

func TestProfileErrors(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("x", tensor.Vector[float32](1, 2)))
	require.NoError(t, td.Set("n", tensor.Must(tensor.NewMeta(tensor.Int8, 2))))
	require.NoError(t, td.Set("n_mask", tensor.Vector(int8(1), 2)))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		opt  inspect.ProfileOptions
		want error
	}{
		{"no dictionary", nil, inspect.ProfileOptions{}, tdict.ErrKind},
		{"a key that is not there", td, inspect.ProfileOptions{Keys: []nestedkey.Key{"y"}}, tdict.ErrMissing},
		{"a mask that is not there", td, inspect.ProfileOptions{Mask: "y"}, tdict.ErrMissing},
		{"a mask that is no bool", td, inspect.ProfileOptions{Mask: "x"}, tensor.ErrDType},
		{"columns below 0", td, inspect.ProfileOptions{Columns: -1}, tdict.ErrKind},
		{"a first column below 0", td, inspect.ProfileOptions{First: -1}, tdict.ErrKind},
		{"bytes below 0", td, inspect.ProfileOptions{MaxBytes: -1}, tdict.ErrKind},
		{"elements that are nowhere", td, inspect.ProfileOptions{Keys: []nestedkey.Key{"n"}}, tensor.ErrMeta},
		{"a stack", runs(t, 4), inspect.ProfileOptions{}, tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := inspect.Profiles(context.Background(), tt.td, tt.opt)
			testkit.Fails(t, tt.want, err)
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := inspect.Profiles(ctx, td, inspect.ProfileOptions{Keys: []nestedkey.Key{"x"}})
	require.ErrorIs(t, err, context.Canceled)
}
