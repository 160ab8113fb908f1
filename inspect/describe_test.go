package inspect_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var quantiles = []float64{0, 0.25, 0.5, 0.9, 1}

// describe is Describe that must succeed.
func describe(t testing.TB, td *tdict.TensorDict, opt inspect.DescribeOptions) []inspect.Summary {
	t.Helper()
	if opt.Schema == nil {
		opt.Schema = maskedByName(td)
	}
	got, err := inspect.Describe(context.Background(), td, opt)
	require.NoError(t, err)
	return got
}

// maskedByName returns a schema with KEY_mask as the mask of KEY.
func maskedByName(td *tdict.TensorDict) (s tdict.Schema) {
	for key := range td.Leaves() {
		if td.Has(key + "_mask") {
			s = append(s, tdict.Spec{Key: key, Mask: key + "_mask"})
		}
	}
	return s
}

// numbersOf returns elements as float64, row-major: of complex ones the absolute values.
func numbersOf(t testing.TB, x *tensor.Tensor) []float64 {
	if !x.DType().IsComplex() {
		return testkit.Elements[float64](t, tensor.Must(x.Cast(tensor.Float64)))
	}
	var all []float64
	for _, z := range testkit.Elements[complex128](t, tensor.Must(x.Cast(tensor.Complex128))) {
		if math.IsNaN(real(z)) || math.IsNaN(imag(z)) {
			all = append(all, math.NaN())
		} else {
			all = append(all, cmplx.Abs(z))
		}
	}
	return all
}

// naively describes numbers, of which some are there, in loops. Sum and quantiles are those of
// arith.
func naively(t testing.TB, s inspect.Summary, numbers []float64, there []bool) inspect.Summary {
	var kept []float64
	low, high := math.Inf(1), math.Inf(-1)
	for i, v := range numbers {
		if there != nil && !there[i] {
			s.Missing++
			continue
		}
		if s.Count++; v != v {
			s.NaN++
			continue
		}
		if math.IsInf(v, 0) {
			s.Inf++
		}
		if v == 0 {
			s.Zeros++
		}
		kept, low, high = append(kept, v), min(low, v), max(high, v)
	}
	if s.DType == tensor.Bool {
		s.True = s.Count - s.Zeros
	}
	s.Mean, s.Std, s.Distinct = math.NaN(), math.NaN(), -1
	if len(kept) == 0 {
		return s
	}
	x := tensor.Vector(kept...)
	s.Min, s.Max = low, high
	s.Mean = tensor.Must(tensor.Item[float64](tensor.Must(arith.Mean(x, arith.Whole))))
	s.Std = tensor.Must(tensor.Item[float64](tensor.Must(arith.Std(x, arith.Whole, arith.VarOptions{}))))
	for _, q := range quantiles {
		s.Quantiles = append(s.Quantiles, tensor.Must(tensor.Item[float64](tensor.Must(arith.Quantile(x, arith.Whole, q)))))
	}
	return s
}

// same compares two summaries; exact integers, Std and, of masked sums, Mean are compared apart.
func same(t testing.TB, want, got inspect.Summary) {
	t.Helper()
	near := func(a, b float64) bool {
		return a == b || a != a && b != b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
	}
	require.Truef(t, near(want.Mean, got.Mean), "mean: got %v, want %v", got.Mean, want.Mean)
	require.Truef(t, near(want.Std, got.Std) || math.IsInf(want.Std, 0) || math.IsNaN(want.Std), "std: got %v, want %v", got.Std, want.Std)
	require.Equal(t, number(want.Min), number(got.Min))
	require.Equal(t, number(want.Max), number(got.Max))
	for i := range min(len(want.Quantiles), len(got.Quantiles)) { // 0 and -0 have no order
		want.Quantiles[i], got.Quantiles[i] = want.Quantiles[i]+0, got.Quantiles[i]+0
	}
	want.Mean, want.Std, want.Min, want.Max = 0, 0, nil, nil
	got.Mean, got.Std, got.Min, got.Max = 0, 0, nil, nil
	require.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)) // NaN equals NaN
}

// number returns an extreme as float64.
func number(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v
}

// maskOf returns a random mask over the first dims of a shape, and which elements it shows.
func maskOf(t testing.TB, r *rand.Rand, layout string, shape []int, dims int) (*tensor.Tensor, []bool) {
	mask := randomLike(t, r, tensor.Bool, layout, shape[:dims]...)
	inner := 1
	for _, n := range shape[dims:] {
		inner *= n
	}
	var there []bool
	for _, bit := range testkit.Elements[bool](t, mask) {
		there = append(there, slices.Repeat([]bool{bit}, inner)...)
	}
	return mask, there
}

func TestDescribeEqualsLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dtype := range tensor.DTypes() {
		for layout := range layouts {
			for _, shape := range [][]int{{}, {0}, {1}, {5}, {3, 0, 2}, {2, 3, 4}, {7, 9, 13}} {
				for dims := -1; dims <= len(shape); dims++ {
					x := randomLike(t, r, dtype, layout, shape...)
					td := tdict.New(shape[:min(1, len(shape))]...)
					require.NoError(t, td.Set("x", x))
					opt := inspect.DescribeOptions{Keys: []nestedkey.Key{"x"}, Quantiles: quantiles}
					var there []bool
					if dims >= min(1, len(shape)) {
						var mask *tensor.Tensor
						mask, there = maskOf(t, r, layout, shape, dims)
						require.NoError(t, td.Set("x_mask", mask))
						if dims < len(shape) {
							opt.Mask = "x_mask"
						}
					}
					got := describe(t, td, opt)
					require.Len(t, got, 1)
					same(t, naively(t, inspect.Summary{Key: "x", DType: dtype}, numbersOf(t, x), there), got[0])
				}
			}
		}
	}
}

func TestDescribeByColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for layout := range layouts {
		for _, shape := range [][]int{{4, 5, 3, 2}, {0, 2, 3, 1}, {1, 5000, 70}, {2, 3}} {
			x := randomLike(t, r, tensor.Float32, layout, shape...)
			mask, there := maskOf(t, r, layout, shape, len(shape)-1)
			inner := tdict.New(shape[:2]...)
			require.NoError(t, inner.Set("x", x))
			td := tdict.New(shape[:1]...)
			require.NoError(t, td.Set("m", mask))
			require.NoError(t, td.Set("in", inner))
			opt := inspect.DescribeOptions{Keys: []nestedkey.Key{"in/x"}, ByColumn: true}
			opt.Mask = "m"
			features := shapeops.Shape(shape[2:])
			got := describe(t, td, opt)
			require.Len(t, got, features.Size())
			numbers := numbersOf(t, x)
			for f := range features.Size() {
				var column []float64
				var bits []bool
				for i := f; i < len(numbers); i += features.Size() {
					column = append(column, numbers[i])
					bits = append(bits, there[i])
				}
				want := naively(t, inspect.Summary{Key: "in/x", DType: tensor.Float32, Column: features.Position(f)}, column, bits)
				want.Quantiles = nil
				same(t, want, got[f])
			}
		}
	}
}

// TestDescribeInParts has leaves of several parts: without mask and NaN the mean is that of arith
// bit for bit, and workers change nothing.
func TestDescribeInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 3*(1<<17) + 12345
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(r.NormFloat64()*3 + 1000)
	}
	for name, x := range map[string]*tensor.Tensor{
		"vector": tensor.Vector(values...),
		"wide":   tensor.Must(tensor.Must(tensor.From(values[:300000], 3, 100000)).Transpose(0, 1)),
		"long":   tensor.Must(tensor.Must(tensor.From(values[:300000], 100000, 3)).Transpose(0, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			td := tdict.New()
			require.NoError(t, td.Set("x", x))
			require.NoError(t, td.Set("mask", randomLike(t, r, tensor.Bool, "transposed", x.Shape()...)))
			got := describe(t, td, inspect.DescribeOptions{Keys: []nestedkey.Key{"x"}})[0]
			in64 := tensor.Must(x.Cast(tensor.Float64))
			require.Equal(t, tensor.Must(tensor.Item[float64](tensor.Must(arith.Mean(in64, arith.Whole)))), got.Mean)
			want := tensor.Must(tensor.Item[float64](tensor.Must(arith.Std(in64, arith.Whole, arith.VarOptions{}))))
			require.InEpsilon(t, want, got.Std, 1e-12)

			opt := inspect.DescribeOptions{Mask: "mask", Quantiles: quantiles, Workers: 1}
			first := describe(t, td, opt)
			for opt.Workers = 2; opt.Workers < 5; opt.Workers++ {
				require.Equal(t, fmt.Sprintf("%+v", first), fmt.Sprintf("%+v", describe(t, td, opt)))
			}
		})
	}
}

// TestDescribeIntegersExactly has integers that a float64 does not hold.
func TestDescribeIntegersExactly(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("i", tensor.Vector[int64](math.MinInt64, math.MaxInt64, 1<<53+1)))
	require.NoError(t, td.Set("u", tensor.Vector[uint64](math.MaxUint64-1, 1<<53+1)))
	require.NoError(t, td.Set("b", tensor.Vector(true, false, true)))
	got := describe(t, td, inspect.DescribeOptions{})
	require.Equal(t, []any{int64(math.MinInt64), int64(math.MaxInt64)}, []any{got[0].Min, got[0].Max})
	require.Equal(t, []any{uint64(1<<53 + 1), uint64(math.MaxUint64 - 1)}, []any{got[1].Min, got[1].Max})
	require.Equal(t, []any{int64(0), int64(1), 2, 1}, []any{got[2].Min, got[2].Max, got[2].True, got[2].Zeros})
}

// TestDescribeQuantiles compares ranks of a sketch with the numbers.
func TestDescribeQuantiles(t *testing.T) {
	n := longtests.Times(300_000, 3_000_000)
	r := rand.New(rand.NewPCG(7, 8))
	orders := map[string]func(i int) float64{
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(n - i) },
		"random":     func(int) float64 { return r.Float64() },
		"heavy tail": func(int) float64 { return math.Exp(5 * r.NormFloat64()) },
		"outwards":   func(i int) float64 { return float64(i*(1-2*(i&1))) / 2 },
		"few":        func(i int) float64 { return float64(i % 3) },
		"one":        func(int) float64 { return 42 },
	}
	qs := []float64{0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1025, 50_000, n} {
				numbers := make([]float64, size)
				for i := range numbers {
					numbers[i] = order(i)
				}
				td := tdict.New()
				require.NoError(t, td.Set("x", tensor.Vector(slices.Clone(numbers)...)))
				got := describe(t, td, inspect.DescribeOptions{Quantiles: qs})[0].Quantiles
				slices.Sort(numbers)
				for i, q := range qs {
					lo, _ := slices.BinarySearch(numbers, got[i])
					hi, _ := slices.BinarySearch(numbers, math.Nextafter(got[i], math.Inf(1)))
					rank := min(max(q*float64(size-1), float64(lo)), float64(hi))
					require.InDelta(t, q*float64(size-1), rank, 0.01*float64(size), "q %v of %d: got %v", q, size, got[i])
				}
				require.Equal(t, []float64{numbers[0], numbers[size-1]}, []float64{got[0], got[len(got)-1]})
			}
		})
	}
}

// TestDescribeFewNumbers has exact quantiles of few numbers among many that are NaN or hidden.
func TestDescribeFewNumbers(t *testing.T) {
	const n = 1<<20 + 1<<18
	for _, few := range []int{1, 2, 50, 1024} {
		var numbers []float64
		x, there := slices.Repeat([]float64{math.NaN()}, n), make([]bool, n)
		for i := range few {
			at := n - 1 - i*(n/few)
			numbers = append(numbers, float64(i))
			x[at], there[at] = float64(i), true
		}
		want := make([]float64, len(quantiles))
		for i, q := range quantiles {
			want[i] = tensor.Must(tensor.Item[float64](tensor.Must(arith.Quantile(tensor.Vector(numbers...), arith.Whole, q))))
		}
		td := tensor.Must(tdict.FromMap([]int{n}, tdict.Entries{"nan": tensor.Vector(x...), "hidden": tensor.Vector(x...), "hidden_mask": tensor.Vector(there...)}))
		for _, s := range describe(t, td, inspect.DescribeOptions{Keys: []nestedkey.Key{"nan", "hidden"}, Quantiles: quantiles}) {
			require.Equal(t, want, s.Quantiles, "%d numbers, %s", few, s.Key)
		}
	}
}

func TestDescribeRagged(t *testing.T) {
	td := tdict.New(4)
	require.NoError(t, td.Set("r", tensor.Must(ragged.From[int32]([][]int32{{1, 2}, {}, {7}, {5, 0, -3}}))))
	require.NoError(t, td.Set("t", tensor.Must(ragged.FromStrings([]string{"a", "", "née", "a"}))))
	require.NoError(t, td.Set("d", tensor.Must(tdict.DataFrom([]any{"a", nil, int64(3), "b"}, 4))))
	tests := []struct {
		name       string
		mask       []bool
		r, t, d    inspect.Summary
		rows, text inspect.Lengths
	}{
		{
			"no mask", nil,
			inspect.Summary{Count: 6, Zeros: 1, Min: int64(-3), Max: int64(7), Mean: 2}, inspect.Summary{Count: 4, Distinct: 3},
			inspect.Summary{Count: 3, Missing: 1},
			inspect.Lengths{Count: 4, Min: 0, Max: 3, Mean: 1.5}, inspect.Lengths{Count: 4, Min: 0, Max: 4, Mean: 1.5},
		},
		{
			"an empty row is hidden", []bool{true, false, true, true},
			inspect.Summary{Count: 6, Missing: 1, Zeros: 1, Min: int64(-3), Max: int64(7), Mean: 2}, inspect.Summary{Count: 3, Missing: 1, Distinct: 2},
			inspect.Summary{Count: 3, Missing: 1},
			inspect.Lengths{Count: 3, Min: 1, Max: 3, Mean: 2}, inspect.Lengths{Count: 3, Min: 1, Max: 4, Mean: 2},
		},
		{
			"a row with values is hidden", []bool{true, true, true, false},
			inspect.Summary{Count: 3, Missing: 1, Min: int64(1), Max: int64(7), Mean: 10. / 3}, inspect.Summary{Count: 3, Missing: 1, Distinct: 3},
			inspect.Summary{Count: 2, Missing: 2},
			inspect.Lengths{Count: 3, Min: 0, Max: 2, Mean: 1}, inspect.Lengths{Count: 3, Min: 0, Max: 4, Mean: 5. / 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := inspect.DescribeOptions{Keys: []nestedkey.Key{"r", "t", "d"}}
			if tt.mask != nil {
				opt.Mask = "there"
				require.NoError(t, td.Set("there", tensor.Vector(tt.mask...)))
			}
			got := describe(t, td, opt)
			for i, s := range got {
				if i > 0 {
					require.True(t, math.IsNaN(s.Mean))
					got[i].Mean = 0
				}
				got[i].Std = 0
			}
			tt.r.Key, tt.r.Kind, tt.r.DType, tt.r.Rows, tt.r.Distinct = "r", tdict.KindRagged, tensor.Int32, &tt.rows, -1
			tt.t.Key, tt.t.Kind, tt.t.DType, tt.t.Rows = "t", tdict.KindText, tensor.Uint8, &tt.text
			tt.d.Key, tt.d.Kind, tt.d.Distinct = "d", tdict.KindData, -1
			require.Equal(t, []inspect.Summary{tt.r, tt.t, tt.d}, got)
		})
	}
}

// TestDescribeManyTexts has more distinct texts than are counted.
func TestDescribeManyTexts(t *testing.T) {
	for n, want := range map[int]int{1024: 1024, 1025: -1, 20000: -1} {
		texts := make([]string, 3*n)
		for i := range texts {
			texts[i] = fmt.Sprint("text ", i%n)
		}
		td := tdict.New(3 * n)
		require.NoError(t, td.Set("t", tensor.Must(ragged.FromStrings(texts))))
		require.Equal(t, want, describe(t, td, inspect.DescribeOptions{})[0].Distinct)
	}
}

func TestDescribeErrors(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("x", tensor.Vector[float32](1, 2)))
	require.NoError(t, td.Set("x_mask", tensor.Must(tensor.New(tensor.Bool, 2, 7)))) // not x's
	require.NoError(t, td.Set("n", tensor.Must(tensor.NewMeta(tensor.Int8, 2))))
	key := func(keys ...nestedkey.Key) []nestedkey.Key { return keys }
	tests := []struct {
		name string
		td   *tdict.TensorDict
		opt  inspect.DescribeOptions
		want error
	}{
		{"no dictionary", nil, inspect.DescribeOptions{}, tdict.ErrKind},
		{"a key that is not there", td, inspect.DescribeOptions{Keys: key("y")}, tdict.ErrMissing},
		{"a mask that is not there", td, inspect.DescribeOptions{Mask: "y"}, tdict.ErrMissing},
		{"a mask that is no bool", td, inspect.DescribeOptions{Mask: "x"}, tensor.ErrDType},
		{"a mask that does not fit", td, inspect.DescribeOptions{Keys: key("x"), Mask: "x_mask"}, shapeops.ErrShape},
		{"a mask of a schema that does not fit", td, inspect.DescribeOptions{Keys: key("x"), Schema: maskedByName(td)}, shapeops.ErrShape},
		{"a mask of a schema that is no bool", td, inspect.DescribeOptions{Keys: key("x"), Schema: tdict.Schema{{Key: "x", Mask: "n"}}}, tensor.ErrDType},
		{"a quantile beyond 1", td, inspect.DescribeOptions{Quantiles: []float64{1.1}}, tdict.ErrKind},
		{"a quantile that is NaN", td, inspect.DescribeOptions{Quantiles: []float64{math.NaN()}}, tdict.ErrKind},
		{"elements that are nowhere", td, inspect.DescribeOptions{Keys: key("n")}, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := inspect.Describe(context.Background(), tt.td, tt.opt)
			testkit.Fails(t, tt.want, err)
		})
	}
	require.Equal(t, 0, describe(t, td, inspect.DescribeOptions{Keys: key("x"), Schema: tdict.Schema{}})[0].Missing, "a name makes no mask")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := inspect.Describe(ctx, td, inspect.DescribeOptions{Keys: key("x")})
	require.ErrorIs(t, err, context.Canceled)
}
