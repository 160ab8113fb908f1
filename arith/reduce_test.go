package arith_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A reducer is an operation over dims, and a function that computes its result for one bucket.
type reducer struct {
	name string
	of   func(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error)
	want func(t testing.TB, d tensor.DType, b bucket) any
	not  func(d tensor.DType) bool // dtypes that it refuses
}

func never(tensor.DType) bool       { return false }
func notReal(d tensor.DType) bool   { return d == tensor.Bool || d.IsComplex() }
func notBool(d tensor.DType) bool   { return d != tensor.Bool }
func notNumber(d tensor.DType) bool { return d == tensor.Bool }

// ofQuantile and others fix what reducers have besides.
func ofStd(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
	return arith.Std(x, over, arith.VarOptions{})
}
func ofVar(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
	return arith.Var(x, over, arith.VarOptions{Correction: 1})
}
func ofQuantile(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
	return arith.Quantile(x, over, 0.3)
}

var reducers = []reducer{
	{"sum", arith.Sum[*tensor.Tensor], sumBy, never},
	{"prod", arith.Prod[*tensor.Tensor], prodBy, notNumber},
	{"mean", arith.Mean[*tensor.Tensor], meanBy, never},
	{"norm", arith.Norm[*tensor.Tensor], normBy, notReal},
	{
		"var", ofVar,
		func(t testing.TB, d tensor.DType, b bucket) any { return varBy(t, d, b, 1, false) }, notReal,
	},
	{
		"std", ofStd,
		func(t testing.TB, d tensor.DType, b bucket) any { return varBy(t, d, b, 0, true) }, notReal,
	},
	{
		"quantile", ofQuantile,
		func(t testing.TB, d tensor.DType, b bucket) any { return quantileBy(t, d, b, 0.3) }, notReal,
	},
	{"min", arith.Min[*tensor.Tensor], extremeOf(false), notReal},
	{"max", arith.Max[*tensor.Tensor], extremeOf(true), notReal},
	{"arg min", arith.ArgMin[*tensor.Tensor], positionOf(false), notReal},
	{"arg max", arith.ArgMax[*tensor.Tensor], positionOf(true), notReal},
	{
		"all", arith.All[*tensor.Tensor],
		func(_ testing.TB, _ tensor.DType, b bucket) any { return !slices.Contains(b.values, any(false)) }, notBool,
	},
	{
		"any", arith.Any[*tensor.Tensor],
		func(_ testing.TB, _ tensor.DType, b bucket) any { return slices.Contains(b.values, any(true)) }, notBool,
	},
	{
		"count", arith.Count[*tensor.Tensor],
		func(_ testing.TB, _ tensor.DType, b bucket) any { return int64(len(b.values)) }, never,
	},
}

// What stands for arith.ErrEmpty and tensor.ErrDType among results.
const (
	noElement = "no element"
	tooMuch   = "too much"
)

func extremeOf(max bool) func(t testing.TB, d tensor.DType, b bucket) any {
	return func(t testing.TB, d tensor.DType, b bucket) any {
		switch i := extremeBy(b, d, max); {
		case i >= 0 && toFloat(b.values[i]) == 0 && d.IsFloat():
			return zeroOf(t, d, b, max)
		case i >= 0:
			return b.values[i]
		case d.IsFloat():
			return rounded(t, d, nan)
		}
		return noElement
	}
}

// zeroOf returns the zero of b with the sign that decides.
func zeroOf(t testing.TB, d tensor.DType, b bucket, max bool) any {
	minus := func(v any) bool { return toFloat(v) == 0 && math.Signbit(toFloat(v)) != max }
	if i := slices.IndexFunc(b.values, minus); i >= 0 {
		return b.values[i]
	}
	if max {
		return rounded(t, d, negZero)
	}
	return rounded(t, d, 0)
}

func positionOf(max bool) func(t testing.TB, d tensor.DType, b bucket) any {
	return func(_ testing.TB, d tensor.DType, b bucket) any {
		if i := extremeBy(b, d, max); i >= 0 {
			return b.at[i]
		}
		return noElement
	}
}

// An over is an Over of a tensor, and what the oracle is told of it.
type over struct {
	arith.Over
	name   string
	dims   []bool
	splits []int64
	keep   bool
}

// someOver returns an Over of a shape.
func someOver(r *rand.Rand, shape []int) over {
	o := over{dims: make([]bool, len(shape))}
	switch kind := r.IntN(6); {
	case kind == 0:
		o.Over, o.name = arith.Whole, "whole"
	case kind == 1:
		o.Over, o.name = arith.Features, "features"
	case kind == 2 && len(shape) > 0:
		o.splits = someSplits(r, shape[0])
		o.Over, o.name = arith.BySplits(tensor.Vector(o.splits...)), fmt.Sprint("splits ", o.splits)
		o.dims[0] = true
		return o
	case len(shape) == 0:
		o.name = "zero"
	default:
		var dims []int
		for _, dim := range r.Perm(len(shape))[:1+r.IntN(len(shape))] {
			o.dims[dim] = true
			dims = append(dims, dim-len(shape)*r.IntN(2))
		}
		o.Over, o.name = arith.Dims(dims...), fmt.Sprint("dims ", dims)
		return o.maybeKept(r)
	}
	for dim := range o.dims {
		o.dims[dim] = true
	}
	return o.maybeKept(r)
}

func (o over) maybeKept(r *rand.Rand) over {
	if r.IntN(2) == 0 {
		o.Over, o.keep = o.Over.Keep(), true
	}
	return o
}

// someSplits returns splits of n rows, some groups empty.
func someSplits(r *rand.Rand, n int) []int64 {
	splits := []int64{0, int64(n)}
	for range r.IntN(4) {
		splits = append(splits, int64(r.IntN(n+1)))
	}
	slices.Sort(splits)
	return splits
}

// shape returns the shape of what is made of a shape.
func (o over) shape(of []int) []int {
	out := []int{}
	for dim, n := range of {
		switch {
		case !o.dims[dim]:
			out = append(out, n)
		case o.splits != nil:
			out = append(out, len(o.splits)-1)
		case o.keep:
			out = append(out, 1)
		}
	}
	return out
}

var reducedShapes = [][]int{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {2, 1, 3}, {2, 3, 4}, {150}, {3, 70}, {70, 3}, {5, 2, 3, 2}, {1, 20, 1}}

// TestReduceIsNaive compares with loops over dtypes, shapes, layouts, memories, dims and masks.
func TestReduceIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			t.Run(m.Name+"/"+l.Name, func(t *testing.T) {
				for _, d := range tensor.DTypes() {
					for _, shape := range reducedShapes {
						for _, v := range reducers {
							if longtests.On() || r.IntN(8) == 0 {
								checkReducer(t, r, v, someNumbers(t, r, d, shape, l, m))
							}
						}
					}
				}
			})
		}
	}
}

// someNumbers is a specimen of small numbers, so that products fit, and now and then NaN.
func someNumbers(t testing.TB, r *rand.Rand, d tensor.DType, shape []int, l testkit.Layout, m testkit.Memory) testkit.Specimen {
	s := testkit.Make(t, d, shape, l, m, 0)
	values, odd := make([]float64, len(s.Mem)/d.Size()), r.IntN(3) == 0
	for i := range values {
		switch values[i] = float64(r.IntN(3)); {
		case d.IsFloat():
			values[i] = r.NormFloat64()
			if odd && r.IntN(50) == 0 {
				values[i] = one(r, []float64{nan, inf, -inf, 0, negZero})
			}
		case d == tensor.Bool:
			values[i] = float64(r.IntN(20) / 19)
			if odd {
				values[i] = 1 - values[i]
			}
		case d >= tensor.Int8 && d <= tensor.Int64:
			values[i]--
		}
	}
	copy(s.Mem, testkit.Content(t, tensor.Must(tensor.Vector(values...).Cast(d))))
	return s
}

// TestReduceInPieces copies what has gaps a few elements at a time.
func TestReduceInPieces(t *testing.T) {
	defer arith.SetPieceBytes(arith.SetPieceBytes(100))
	r := rand.New(rand.NewPCG(61, 62))
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			for _, shape := range reducedShapes {
				for _, v := range reducers {
					for range longtests.Times(1, 2) {
						d := one(r, []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Int16, tensor.Bool})
						checkReducer(t, r, v, someNumbers(t, r, d, shape, l, m))
					}
				}
			}
		}
	}
}

// checkReducer checks what an operation makes of x over some dims, with a mask or without.
func checkReducer(t *testing.T, r *rand.Rand, v reducer, x testkit.Specimen) {
	t.Helper()
	shape := x.Array.Shape
	o := someOver(r, shape)
	if r.IntN(2) == 0 {
		checkOver(t, r, v, x, o, nil)
		return
	}
	mask := someMask(t, r, shape[:r.IntN(len(shape)+1)])
	checkOver(t, r, v, x, o, &mask)
}

// checkOver checks what an operation makes of x, with a mask unless that is nil.
func checkOver(t *testing.T, r *rand.Rand, v reducer, x testkit.Specimen, o over, mask *testkit.Specimen) {
	t.Helper()
	shape := x.Array.Shape
	counts := slices.Repeat([]bool{true}, naive.Size(shape))
	about := fmt.Sprintf("%s of %v over %s", v.name, x, o.name)
	if mask != nil {
		about += fmt.Sprint(" mask ", mask)
		o.Over = o.Where(mask.Tensor)
		counts = spreadOver(testkit.Elements[bool](t, mask.Tensor), shape)
	}
	before := slices.Clone(x.Mem)
	got, err := v.of(x.Tensor, o.Over)
	require.Equal(t, before, x.Mem, about)
	if v.not(x.DType()) {
		require.ErrorIs(t, err, tensor.ErrDType, about)
		return
	}
	want := []any{}
	for _, b := range bucketsOf(shape, o.dims, o.splits, anysOf(t, x.Tensor), counts) {
		want = append(want, v.want(t, x.DType(), b))
	}
	for mark, is := range map[any]error{noElement: arith.ErrEmpty, tooMuch: tensor.ErrDType} {
		if slices.Contains(want, mark) {
			require.ErrorIs(t, err, is, about)
			return
		}
	}
	require.NoError(t, err, about)
	requireBits(t, o.shape(shape), want, got, about)
}

// requireBits fails the test unless x has the shape, and elements with the bits of want.
func requireBits(t *testing.T, shape []int, want []any, x *tensor.Tensor, about string) {
	t.Helper()
	require.Equal(t, fmt.Sprint(shape), fmt.Sprint(x.Shape()), about)
	got := anysOf(t, x)
	require.Len(t, got, len(want), about)
	for i := range want {
		if bitsOf(want[i]) != bitsOf(got[i]) || fmt.Sprintf("%T", want[i]) != fmt.Sprintf("%T", got[i]) {
			t.Fatalf("%s: element %d: got %T %v, want %T %v", about, i, got[i], got[i], want[i], want[i])
		}
	}
}

// spreadOver repeats bits over leading dims for all elements of a shape.
func spreadOver(bits []bool, shape []int) []bool {
	out := make([]bool, 0, naive.Size(shape))
	per := naive.Size(shape) / max(1, len(bits))
	for _, b := range bits {
		out = append(out, slices.Repeat([]bool{b}, per)...)
	}
	return out
}

// TestReduceLarge has tensors that are spread over cores, lie otherwise than they are reduced, and
// are copied in pieces: the results have the bits of the oracle for any number of cores.
func TestReduceLarge(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(31, 32))
	shapes := [][]int{{70_007}, {3, 20_001}, {20_001, 3}, {300, 200}, {7, 900, 9}, {2, 3, 6000}}
	layouts := []testkit.Layout{testkit.Contiguous, testkit.Transposed, testkit.Stepped}
	dtypes := []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Int16}
	for _, shape := range shapes {
		for _, v := range reducers {
			d := one(r, dtypes)
			if v.not(d) || !longtests.On() && r.IntN(4) > 0 {
				continue
			}
			runtime.GOMAXPROCS(1 + r.IntN(4))
			checkReducer(t, r, v, someNumbers(t, r, d, shape, one(r, layouts), one(r, testkit.Memories)))
		}
	}
	runtime.GOMAXPROCS(3)
	for _, v := range reducers {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.Uint64, tensor.Bool} {
			x := someNumbers(t, r, d, []int{longtests.Times(20_003, 40_003)}, testkit.Contiguous, testkit.Go)
			checkOver(t, r, v, x, over{Over: arith.Whole, dims: []bool{true}, name: "whole"}, nil)
		}
	}
}

// TestMaskedSumIsBlended: a masked sum is, bit for bit, the sum of the operand with 0 in the place
// of the elements that do not count, on any number of cores. A masked NaN does not count.
func TestMaskedSumIsBlended(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(41, 42))
	for _, shape := range [][]int{{1000}, {1000, 7}, {700, 3, 2}, {3, 5000}, {90_000}, {30, 3000}} {
		for dims := range len(shape) + 1 {
			runtime.GOMAXPROCS(1 + r.IntN(3))
			d := one(r, []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Complex64})
			x := someNumbers(t, r, d, shape, one(r, testkit.Layouts[:3]), testkit.Go)
			mask := someMask(t, r, shape[:dims])
			blended := tensor.Must(arith.Where(mask.Tensor, x.Tensor, 0))
			for _, o := range []arith.Over{arith.Whole, arith.Dims(0), arith.Dims(-1), arith.BySplits(tensor.Vector(someSplits(r, shape[0])...))} {
				want := tensor.Must(arith.Sum(blended, o))
				got := tensor.Must(arith.Sum(x.Tensor, o.Where(mask.Tensor)))
				requireBits(t, want.Shape(), anysOf(t, want), got, fmt.Sprint(d, shape, dims))
			}
		}
	}
	x, mask := tensor.Vector(nan, 1, inf, 2), tensor.Vector(false, true, false, true)
	for _, v := range reducers[:9] {
		got := tensor.Must(v.of(x, arith.Whole.Where(mask)))
		require.Equal(t, anysOf(t, tensor.Must(v.of(tensor.Vector(1.0, 2), arith.Whole))), anysOf(t, got), v.name)
	}
}

var nan, inf, negZero = math.NaN(), math.Inf(1), math.Copysign(0, -1)

// TestMeanOfEqualNumbers: it is that number, and the deviation is 0, in lines, rows, groups, under
// masks, and where cores share a line.
func TestMeanOfEqualNumbers(t *testing.T) {
	for _, v := range []float64{0.1, 14.62, 538512.198638, 20150515061816532, 3e38, -1e-300, 1e308} {
		for _, n := range []int{1, 3, 64, 65, 410, 500, 5000, 300_000} {
			for _, d := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Int64} {
				if d != tensor.Float64 && (math.Abs(v) > 3e38 || v < 0) || d == tensor.Int64 && v != 20150515061816532 {
					continue
				}
				if !longtests.On() && n == 300_000 && d != tensor.Float64 && d != tensor.Int64 {
					continue
				}
				one := tensor.Must(tensor.Must(tensor.Scalar(v).Cast(d)).Expand(n))
				x := tensor.Must(one.Clone())
				two := tensor.Must(shapeops.Stack([]*tensor.Tensor{x, tensor.Must(tensor.Must(tensor.Arange[int64](0, int64(n), 1)).Cast(d))}, 1))
				mask := tensor.Must(tensor.Full(true, n))
				want := tensor.Must(tensor.Item[float64](tensor.Must(one.Cast(tensor.Float64)), 0))
				for name, over := range map[string]struct {
					x *tensor.Tensor
					o arith.Over
				}{
					"a line": {x, arith.Whole}, "rows": {two, arith.Dims(0)}, "a mask": {x, arith.Whole.Where(mask)},
					"groups": {x, arith.BySplits(tensor.Vector(0, int64(n)/2, int64(n)))}, "lines": {tensor.Must(x.Unsqueeze(0)), arith.Dims(1)},
				} {
					if name == "groups" && n == 1 {
						continue
					}
					mean := tensor.Must(tensor.Must(tensor.Must(arith.Mean(over.x, over.o)).Cast(tensor.Float64)).Reshape(-1))
					std := tensor.Must(tensor.Must(tensor.Must(arith.Std(over.x, over.o, arith.VarOptions{})).Cast(tensor.Float64)).Reshape(-1))
					require.Equal(t, want, tensor.Must(tensor.Item[float64](mean, 0)), "%v %d %v %s", v, n, d, name)
					require.Zero(t, tensor.Must(tensor.Item[float64](std, 0)), "%v %d %v %s", v, n, d, name)
				}
			}
		}
	}
}

// TestRange: results that are in range, of sums and squares that are not.
func TestRange(t *testing.T) {
	item := func(x *tensor.Tensor, err error) float64 {
		require.NoError(t, err)
		return tensor.Must(tensor.Item[float64](tensor.Must(x.Cast(tensor.Float64))))
	}
	std := func(x *tensor.Tensor) float64 { return item(arith.Std(x, arith.Whole, arith.VarOptions{})) }
	near := func(want, got float64) {
		t.Helper()
		require.InEpsilon(t, want, got, 1e-6)
	}
	near(8e38/3, item(arith.Mean(tensor.Vector[float32](3e38, 2e38, 3e38), arith.Whole)))
	bfloat16 := tensor.Must(tensor.Vector(0x1.8p127, 0x1p127, -0x1p126, 0x1.8p127).Cast(tensor.BFloat16))
	require.Equal(t, 0x1.cp126, item(arith.Mean(bfloat16, arith.Whole)), "bfloat16")
	require.Equal(t, 0x1.4p127, item(arith.Mean(bfloat16, arith.Whole.Where(tensor.Vector(true, true, false, false)))), "bfloat16, a mask")
	near(1.2e308, item(arith.Mean(tensor.Vector(1.7e308, 1.7e308, 0.2e308), arith.Whole)))
	near(-1.65e308, item(arith.Mean(tensor.Vector(-1.7e308, -1.6e308), arith.Whole)))
	near(2e200, item(arith.Norm(tensor.Vector(1e200, -1e200, 1e200, 1e200), arith.Whole)))
	near(2e-200, item(arith.Norm(tensor.Vector(1e-200, 1e-200, -1e-200, 1e-200), arith.Whole)))
	near(2e-160, item(arith.Norm(tensor.Vector(1e-160, 1e-160, -1e-160, 1e-160), arith.Whole)))
	near(1e200, std(tensor.Vector(1e200, -1e200)))
	near(1e-200, std(tensor.Vector(1e-200, -1e-200)))
	near(5e155, std(tensor.Vector(1e156, 0)))
	require.Zero(t, std(tensor.Vector(1e-200, 1e-200)))
	require.Zero(t, item(arith.Norm(tensor.Vector(0., 0), arith.Whole)))
	require.True(t, math.IsInf(item(arith.Norm(tensor.Vector(math.Inf(-1), 0), arith.Whole)), 1))
	require.True(t, math.IsInf(item(arith.Mean(tensor.Vector(math.Inf(-1), 0), arith.Whole)), -1))
	require.True(t, math.IsNaN(std(tensor.Vector(math.Inf(1), 0))))
	require.True(t, math.IsInf(item(arith.Norm(tensor.Vector(1.7e308, 1.7e308), arith.Whole)), 1), "the result is out of range")
	rows := tensor.Must(tensor.From([]float64{1e200, 1e-200, 3, 1e200, 1e-200, 4}, 2, 3))
	got := testkit.Elements[float64](t, tensor.Must(arith.Norm(rows, arith.Dims(0))))
	near(math.Sqrt2*1e200, got[0])
	near(math.Sqrt2*1e-200, got[1])
	require.Equal(t, 5.0, got[2], "others stay")
}
