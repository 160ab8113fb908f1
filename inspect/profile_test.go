package inspect_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// profiles is Profiles that must succeed.
func profiles(t testing.TB, td *tdict.TensorDict, opt inspect.ProfileOptions) []inspect.Profile {
	t.Helper()
	if opt.Schema == nil {
		opt.Schema = maskedByName(td)
	}
	got, err := inspect.Profiles(context.Background(), td, opt)
	require.NoError(t, err)
	return got
}

// profileOf returns the profile of a tensor and of its mask, which may be nil.
func profileOf(t testing.TB, x, mask *tensor.Tensor, workers int) inspect.Profile {
	t.Helper()
	td := tdict.New()
	require.NoError(t, td.Set("x", x))
	opt := inspect.ProfileOptions{Keys: []nestedkey.Key{"x"}, Workers: workers}
	if mask != nil {
		require.NoError(t, td.Set("m", mask))
		opt.Mask = "m"
	}
	return profiles(t, td, opt)[0]
}

// valuesOf returns elements, row-major, in the types of a Bar.
func valuesOf(t testing.TB, x *tensor.Tensor) (all []any) {
	switch dtype := x.DType(); {
	case dtype == tensor.Uint64:
		for _, v := range testkit.Elements[uint64](t, x) {
			all = append(all, v)
		}
	case dtype.IsInteger() || dtype == tensor.Bool:
		for _, v := range testkit.Elements[int64](t, tensor.Must(x.Cast(tensor.Int64))) {
			all = append(all, v)
		}
	default:
		for _, v := range numbersOf(t, x) {
			all = append(all, v)
		}
	}
	return all
}

func ratOf(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case uint64:
		return new(big.Rat).SetUint64(v)
	}
	return new(big.Rat).SetFloat64(v.(float64))
}

// sorted are all finite numbers of the formats with 16 bits.
var sorted = map[tensor.DType][]float64{
	tensor.Float16:  allOf(func(i uint16) float64 { return tensor.F16(i).Float64() }),
	tensor.BFloat16: allOf(func(i uint16) float64 { return tensor.BF16(i).Float64() }),
}

func allOf(number func(i uint16) float64) (all []float64) {
	for i := range 1 << 16 {
		if v := number(uint16(i)); v-v == 0 && (v != 0 || i == 0) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// nearestTo returns the float of a dtype nearest to x, ties to even, and at most the greatest one.
func nearestTo(dtype tensor.DType, x *big.Rat) float64 {
	switch dtype {
	case tensor.Float32:
		v, _ := x.Float32()
		return float64(max(-math.MaxFloat32, min(v, math.MaxFloat32)))
	case tensor.Float16, tensor.BFloat16:
		all := sorted[dtype]
		i, found := slices.BinarySearchFunc(all, x, func(v float64, x *big.Rat) int { return ratOf(v).Cmp(x) })
		switch {
		case found || i == 0:
			return all[i]
		case i == len(all):
			return all[i-1]
		}
		below, above := new(big.Rat).Sub(x, ratOf(all[i-1])), new(big.Rat).Sub(ratOf(all[i]), x)
		if c := below.Cmp(above); c < 0 || c == 0 && even(dtype, all[i-1]) {
			return all[i-1]
		}
		return all[i]
	}
	v, _ := x.Float64()
	return max(-math.MaxFloat64, min(v, math.MaxFloat64))
}

func even(dtype tensor.DType, v float64) bool {
	if dtype == tensor.Float16 {
		return tensor.F16Of(v)&1 == 0
	}
	return tensor.BF16Of(v)&1 == 0
}

// gapAt returns the distance from the greatest float of a dtype up to x, at least 0, to the next.
func gapAt(dtype tensor.DType, x float64) float64 {
	switch dtype {
	case tensor.Float32:
		v := float32(x)
		if float64(v) > x {
			v = math.Nextafter32(v, 0)
		}
		next := float64(math.Nextafter32(v, math.MaxFloat32))
		if v == math.MaxFloat32 {
			return float64(v) - float64(math.Nextafter32(v, 0))
		}
		return next - float64(v)
	case tensor.Float16, tensor.BFloat16:
		all := sorted[dtype]
		i, found := slices.BinarySearch(all, x)
		if !found {
			i--
		}
		i = min(i, len(all)-2)
		return all[i+1] - all[i]
	}
	if x == math.MaxFloat64 {
		return x - math.Nextafter(x, 0)
	}
	return math.Nextafter(x, math.Inf(1)) - x
}

// limits returns the least and the greatest integer of a dtype.
func limits(dtype tensor.DType) (low, high *big.Rat) {
	one := big.NewInt(1)
	bits := uint(8 * dtype.Size())
	signed := slices.Contains([]tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64}, dtype)
	if signed {
		bits--
	}
	top := new(big.Int).Lsh(one, bits)
	low, high = new(big.Rat), new(big.Rat).SetInt(new(big.Int).Sub(top, one))
	if signed {
		low.SetInt(new(big.Int).Neg(top))
	}
	return low, high
}

// floorOf returns the greatest integer that is not above x.
func floorOf(x *big.Rat) *big.Int { return new(big.Int).Div(x.Num(), x.Denom()) }

// times returns i times w.
func times(i int64, at *big.Int, w *big.Rat) *big.Rat {
	n := new(big.Rat).SetInt(new(big.Int).Add(at, big.NewInt(i)))
	return n.Mul(n, w)
}

// widthOf returns a width by its number: 1, 2 and 5 times a power of ten.
func widthOf(i int) *big.Rat {
	k := int(math.Floor(float64(i) / 3))
	w, _ := new(big.Rat).SetString(fmt.Sprintf("%de%d", []int{1, 2, 5}[i-3*k], k))
	return w
}

// An oracle counts values by the rule of the package documentation, in plain loops.
type oracle struct {
	dtype   tensor.DType
	lengths bool
	values  []any // ascending, finite
	h       inspect.Histogram
}

func (o oracle) integer() bool { return o.dtype.IsInteger() || o.dtype == tensor.Bool }

// histogramOf returns the histogram of values, given the quantiles of the finite ones.
func histogramOf(dtype tensor.DType, lengths bool, values []any, missing int, quantiles []float64) inspect.Histogram {
	o := oracle{dtype: dtype, lengths: lengths}
	o.h.Missing = missing
	for _, v := range values {
		f, ok := v.(float64)
		switch {
		case ok && f != f:
			o.h.NaN++
		case ok && math.IsInf(f, 1):
			o.h.PosInf++
		case ok && math.IsInf(f, -1):
			o.h.NegInf++
		case ok:
			o.values = append(o.values, f+0)
		default:
			o.values = append(o.values, v)
		}
	}
	if o.h.Count = len(o.values); o.h.Count == 0 {
		return o.h
	}
	slices.SortFunc(o.values, func(a, b any) int { return ratOf(a).Cmp(ratOf(b)) })
	o.h.Min, o.h.Max, o.h.Quantiles = o.values[0], o.values[len(o.values)-1], quantiles
	o.form()
	return o.h
}

func (o *oracle) form() {
	var each []inspect.Bar
	for i, v := range o.values {
		if i == 0 || v != o.values[i-1] {
			each = append(each, inspect.Bar{From: v, To: v})
		}
		each[len(each)-1].Count++
	}
	span := new(big.Rat).Sub(ratOf(o.h.Max), ratOf(o.h.Min))
	switch n := len(each); {
	case n == 1:
		o.h.Form, o.h.Bars = inspect.OneValue, each
	case !o.lengths && (n <= 4 || n <= 12 && !o.integer()):
		o.h.Form, o.h.Bars = inspect.EachValue, each
	case o.integer() && span.Cmp(big.NewRat(48, 1)) < 0:
		o.h.Form = inspect.EachInteger
		o.integerBars(floorOf(ratOf(o.h.Min)), big.NewRat(1, 1), int(span.Num().Int64())+1)
	default:
		o.h.Form = inspect.EqualBins
		o.equalBins()
	}
}

// equalBins finds the width, from the greatest one down.
func (o *oracle) equalBins() {
	low, high := ratOf(o.h.Min), ratOf(o.h.Max)
	p1, p99 := ratOf(o.h.Quantiles[0]), ratOf(o.h.Quantiles[4])
	begin, end, closed := low, high, true
	half := new(big.Rat).Mul(new(big.Rat).Sub(p99, p1), big.NewRat(1, 2))
	if half.Sign() > 0 && new(big.Rat).Sub(p1, low).Cmp(half) > 0 {
		begin = p1
	}
	if half.Sign() > 0 && new(big.Rat).Sub(high, p99).Cmp(half) > 0 {
		end, closed = p99, false
	}
	if o.integer() {
		begin, end = new(big.Rat).SetInt(floorOf(begin)), new(big.Rat).SetInt(floorOf(end))
	}
	want := int64(20)
	if o.h.Count < 1000 {
		want = 10
	}
	least := 0 // 1
	if !o.integer() {
		b, _ := begin.Float64()
		e, _ := end.Float64()
		least = -3 * 325
		for gap := ratOf(gapAt(o.dtype, max(math.Abs(b), math.Abs(e)))); ; least++ {
			if w, _ := widthOf(least).Float64(); ratOf(w).Cmp(gap) >= 0 {
				break
			}
		}
	}
	span, _ := new(big.Rat).Sub(end, begin).Float64()
	i := max(least, 3*int(math.Ceil(math.Log10(min(span, math.MaxFloat64)))+1))
	for {
		covered := new(big.Rat).Quo(new(big.Rat).Sub(end, begin), widthOf(i))
		if covered.Cmp(big.NewRat(want, 1)) >= 0 || i == least {
			first, n := o.number(begin, end, widthOf(i), closed)
			o.bars(first, widthOf(i), int(n), closed)
			return
		}
		i--
	}
}

// edge returns i times w in the dtype.
func (o *oracle) edge(i *big.Int, w *big.Rat) *big.Rat {
	at := times(0, i, w)
	if o.integer() {
		return at
	}
	return ratOf(nearestTo(o.dtype, at))
}

// at returns the number of the bin that has x.
func (o *oracle) at(x, w *big.Rat) *big.Int {
	i := floorOf(new(big.Rat).Quo(x, w))
	one := big.NewInt(1)
	for n := new(big.Int).Add(i, one); o.edge(n, w).Cmp(x) <= 0 && times(0, i, w).Cmp(x) <= 0; n = new(big.Int).Add(i, one) {
		if o.edge(n, w).Cmp(o.edge(i, w)) == 0 {
			break // both are the greatest number
		}
		i = n
	}
	for o.edge(i, w).Cmp(x) > 0 && o.edge(new(big.Int).Sub(i, one), w).Cmp(o.edge(i, w)) < 0 {
		i = new(big.Int).Sub(i, one)
	}
	return i
}

// number returns the first bin from begin to end, and how many there are.
func (o *oracle) number(begin, end, w *big.Rat, closed bool) (first *big.Int, n int64) {
	first = o.at(begin, w)
	last := o.at(end, w)
	n = new(big.Int).Sub(last, first).Int64() + 1
	if closed && n > 1 && !o.integer() && o.edge(last, w).Cmp(end) == 0 {
		n--
	}
	return first, n
}

func (o *oracle) bars(first *big.Int, w *big.Rat, n int, closed bool) {
	switch {
	case o.dtype == tensor.Uint64:
		o.h.Width = w.Num().Uint64()
	case o.integer():
		o.h.Width = w.Num().Int64()
	default:
		o.h.Width, _ = w.Float64()
	}
	if o.integer() {
		o.integerBars(first, w, n)
		return
	}
	for i := range n {
		from, to := nearestTo(o.dtype, times(int64(i), first, w)), nearestTo(o.dtype, times(int64(i+1), first, w))
		o.h.Bars = append(o.h.Bars, inspect.Bar{From: from, To: to})
	}
	for _, v := range o.values {
		v := v.(float64)
		at := slices.IndexFunc(o.h.Bars, func(b inspect.Bar) bool { return b.From.(float64) <= v && v < b.To.(float64) })
		switch {
		case at >= 0:
			o.h.Bars[at].Count++
		case v < o.h.Bars[0].From.(float64):
			o.h.Below++
		case closed && v == o.h.Bars[n-1].To.(float64) && v == o.h.Max.(float64):
			o.h.Bars[n-1].Count++
		default:
			o.h.Above++
		}
	}
}

// integerBars counts integers in n bars, from first times w on.
func (o *oracle) integerBars(first *big.Int, w *big.Rat, n int) {
	least, greatest := limits(o.dtype)
	number := func(x *big.Rat) any {
		if o.dtype == tensor.Uint64 {
			return x.Num().Uint64()
		}
		return x.Num().Int64()
	}
	var ends [][2]*big.Rat
	for i := range n {
		from, to := times(int64(i), first, w), times(int64(i+1), first, w)
		to.Sub(to, big.NewRat(1, 1))
		if from.Cmp(least) < 0 {
			from = least
		}
		if to.Cmp(greatest) > 0 {
			to = greatest
		}
		ends = append(ends, [2]*big.Rat{from, to})
		o.h.Bars = append(o.h.Bars, inspect.Bar{From: number(from), To: number(to)})
	}
	for _, v := range o.values {
		x := ratOf(v)
		at := slices.IndexFunc(ends, func(e [2]*big.Rat) bool { return e[0].Cmp(x) <= 0 && x.Cmp(e[1]) <= 0 })
		switch {
		case at >= 0:
			o.h.Bars[at].Count++
		case x.Cmp(ends[0][0]) < 0:
			o.h.Below++
		default:
			o.h.Above++
		}
	}
}

// sumOf returns the sum of the counts of a histogram.
func sumOf(h *inspect.Histogram) int {
	n := h.Below + h.Above + h.NaN + h.NegInf + h.PosInf + h.Missing
	for _, b := range h.Bars {
		n += b.Count
	}
	return n
}

// checkBins compares the histogram of x with the oracle, and checks what must always hold.
func checkBins(t testing.TB, x, mask *tensor.Tensor, there []bool, workers int) inspect.Profile {
	t.Helper()
	got := profileOf(t, x, mask, workers)
	h := got.Values
	values, missing := valuesOf(t, x), 0
	if there != nil {
		kept := []any{}
		for i, v := range values {
			if there[i] {
				kept = append(kept, v)
			}
		}
		values, missing = kept, len(values)-len(kept)
	}
	want := histogramOf(x.DType(), false, values, missing, h.Quantiles)
	require.Equal(t, want, *h, "%v", x.DType())
	require.Equal(t, x.Size(), sumOf(h))
	require.Equal(t, x.Size(), got.Read)
	require.Equal(t, x.Size(), got.Total)
	checkEdges(t, h)
	checkQuantiles(t, h, values)
	return got
}

// checkEdges checks that bars ascend, and their number.
func checkEdges(t testing.TB, h *inspect.Histogram) {
	t.Helper()
	for i, b := range h.Bars {
		require.LessOrEqual(t, ratOf(b.From).Cmp(ratOf(b.To)), 0)
		if i > 0 {
			require.Positive(t, ratOf(b.From).Cmp(ratOf(h.Bars[i-1].From)))
			require.LessOrEqual(t, ratOf(h.Bars[i-1].To).Cmp(ratOf(b.From)), 0)
		}
		if _, ok := b.From.(float64); ok && h.Form == inspect.EqualBins {
			require.Less(t, b.From, b.To)
		}
	}
	if h.Form == inspect.EqualBins {
		require.LessOrEqual(t, len(h.Bars), 52)
	}
}

// checkQuantiles compares the quantiles of few values, or of values with a bar each, with
// arith.Quantile.
func checkQuantiles(t testing.TB, h *inspect.Histogram, values []any) {
	t.Helper()
	var finite []float64
	for _, v := range values {
		if x, _ := ratOfFinite(v); x != nil {
			f, _ := x.Float64()
			finite = append(finite, f)
		}
	}
	if len(finite) == 0 || len(values) > 1024 && h.Form == inspect.EqualBins {
		return
	}
	for i, q := range []float64{0.01, 0.25, 0.5, 0.75, 0.99} {
		want := tensor.Must(tensor.Item[float64](tensor.Must(arith.Quantile(tensor.Vector(finite...), arith.Whole, q))))
		require.Equal(t, want+0, h.Quantiles[i]+0, "quantile %v", q)
	}
}

// ratOfFinite returns nil for NaN and infinities.
func ratOfFinite(v any) (*big.Rat, bool) {
	if f, ok := v.(float64); ok && f-f != 0 {
		return nil, false
	}
	return ratOf(v), true
}

// spreads are kinds of float64 values of which bins are made.
var spreads = map[string]func(r *rand.Rand) float64{
	"normal":         func(r *rand.Rand) float64 { return r.NormFloat64() },
	"exponential":    func(r *rand.Rand) float64 { return r.ExpFloat64() * 100 },
	"heavy tail":     func(r *rand.Rand) float64 { return math.Exp(20 * r.NormFloat64()) },
	"both tails":     func(r *rand.Rand) float64 { return math.Pow(r.NormFloat64(), 9) },
	"tenths":         func(r *rand.Rand) float64 { return float64(r.IntN(100)) / 10 },
	"integers":       func(r *rand.Rand) float64 { return float64(r.IntN(1000) - 300) },
	"far from 0":     func(r *rand.Rand) float64 { return 1e9 + r.Float64() },
	"neighbours":     func(r *rand.Rand) float64 { return 1 + float64(r.IntN(40))*0x1p-52 },
	"subnormal":      func(r *rand.Rand) float64 { return math.Float64frombits(uint64(r.IntN(1000))) },
	"all of a range": func(r *rand.Rand) float64 { return math.MaxFloat64 * (2*r.Float64() - 1) },
	"any bits":       func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64()) },
	"mostly one": func(r *rand.Rand) float64 {
		if r.IntN(300) > 0 {
			return 3
		}
		return r.NormFloat64() * 1e6
	},
	"infinite or not": func(r *rand.Rand) float64 {
		return []float64{math.Inf(1), math.Inf(-1), math.NaN(), r.NormFloat64()}[r.IntN(4)]
	},
}

// TestBinsEqualLoops compares bins with the oracle, for each dtype and kind of values.
func TestBinsEqualLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for name, spread := range spreads {
		t.Run(name, func(t *testing.T) {
			for _, dtype := range tensor.DTypes() {
				for _, n := range []int{0, 1, 14, 200, 1100} {
					if n > 1000 && r.IntN(6) > 0 && !longtests.On() {
						continue
					}
					values := make([]float64, n)
					for i := range values {
						values[i] = spread(r)
					}
					x := tensor.Vector(values...)
					// Machines cast floats beyond int64 to different integers.
					if dtype.IsInteger() || dtype == tensor.Bool {
						for i, v := range values {
							if !(math.Abs(v) < 1e18) {
								values[i] = float64(int64(math.Float64bits(v)))
							}
						}
						x = tensor.Must(tensor.Vector(values...).Cast(tensor.Int64))
					}
					checkBins(t, tensor.Must(x.Cast(dtype)), nil, nil, 1)
				}
			}
		})
	}
}
