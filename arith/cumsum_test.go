package arith_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCumSumIsNaive compares with the sums of what comes before, one after the other.
func TestCumSumIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			t.Run(m.Name+"/"+l.Name, func(t *testing.T) {
				for _, d := range tensor.DTypes() {
					for _, shape := range reducedShapes {
						if len(shape) > 0 && (longtests.On() || r.IntN(4) == 0) {
							checkCumSum(t, r, someNumbers(t, r, d, shape, l, m))
							checkCumSum(t, r, someNumbers(t, r, d, shape, l, m))
						}
					}
				}
			})
		}
	}
	checkCumSum(t, r, someNumbers(t, r, tensor.Float32, []int{300, 200}, testkit.Contiguous, testkit.Go))
	checkCumSum(t, r, someNumbers(t, r, tensor.Int64, []int{200, 300}, testkit.Transposed, testkit.Lent))
}

func checkCumSum(t *testing.T, r *rand.Rand, x testkit.Specimen) {
	t.Helper()
	shape, d := x.Array.Shape, x.DType()
	dim := r.IntN(len(shape))
	o, splits := arith.Dims(dim-len(shape)*r.IntN(2)), []int64{0, int64(shape[dim])}
	if r.IntN(2) == 0 {
		dim, splits = 0, someSplits(r, shape[0])
		o = arith.BySplits(tensor.Vector(splits...))
	}
	about := fmt.Sprintf("%v dim %d splits %v", x, dim, splits)
	values := anysOf(t, x.Tensor)
	counts := slices.Repeat([]bool{true}, len(values))
	if r.IntN(2) == 0 {
		mask := someMask(t, r, shape[:r.IntN(len(shape)+1)])
		o, counts = o.Where(mask.Tensor), spreadOver(testkit.Elements[bool](t, mask.Tensor), shape)
	}
	got, err := arith.CumSum(x.Tensor, o)
	require.NoError(t, err, about)
	want := cumSumBy(t, d, shape, dim, splits, values, counts)
	requireBits(t, shape, want, got, about)
	into := testkit.Make(t, got.DType(), shape, one(r, writableLayouts), one(r, writableMemories), 0)
	require.NoError(t, arith.CumSumInto(into.Tensor, x.Tensor, o), about)
	requireBits(t, shape, want, into.Tensor, about)
	if got.DType() == d && !x.Expanded && !x.ReadOnly {
		require.NoError(t, arith.CumSumInto(x.Tensor, x.Tensor, o), about)
		requireBits(t, shape, want, x.Tensor, about)
	}
}

// cumSumBy is the oracle of CumSum.
func cumSumBy(t *testing.T, d tensor.DType, shape []int, dim int, splits []int64, values []any, counts []bool) []any {
	lines, out, i := map[string]*bucket{}, []any{}, 0
	positionsOf(shape, func(at []int) {
		line := slices.Clone(at)
		for line[dim] = 0; splits[line[dim]+1] <= int64(at[dim]); line[dim]++ {
		}
		b := lines[fmt.Sprint(line)]
		if b == nil {
			b = &bucket{}
			lines[fmt.Sprint(line)] = b
		}
		if counts[i] {
			b.values = append(b.values, values[i])
		}
		out = append(out, plainSum(t, d, *b))
		i++
	})
	return out
}

// plainSum adds the values of a bucket, one after the other: float64 with all bits, and float32 in
// float64.
func plainSum(t *testing.T, d tensor.DType, b bucket) any {
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return rounded(t, d, float64(float32(added(as64(widened(b))))))
	case tensor.Float32:
		return float32(added(as64(as[float32](b))))
	case tensor.Float64:
		return exactly(as[float64](b))
	case tensor.Complex64:
		var sum complex128
		for _, v := range as[complex64](b) {
			sum += complex128(v)
		}
		return complex64(sum)
	case tensor.Complex128:
		var re, im []float64
		for _, v := range as[complex128](b) {
			re, im = append(re, real(v)), append(im, imag(v))
		}
		return complex(exactly(re), exactly(im))
	}
	return sumBy(t, d, b)
}

func as64(s []float32) (wide []float64) {
	for _, v := range s {
		wide = append(wide, float64(v))
	}
	return wide
}

func added(s []float64) (sum float64) {
	for _, v := range s {
		sum += v
	}
	return sum
}

// exactly returns the sum of s, rounded once, or the plain sum if that is not finite.
func exactly(s []float64) float64 {
	plain, exact := added(s), new(big.Float).SetPrec(3000)
	if math.IsNaN(plain) || math.IsInf(plain, 0) {
		return plain
	}
	for _, v := range s {
		exact.Add(exact, big.NewFloat(v))
	}
	sum, _ := exact.Float64()
	return sum + 0 // -0 becomes 0
}

// TestCumSumDoesNotDrift adds 0.1 ten million times, as torch.cumsum does, in lines and side by
// side.
func TestCumSumDoesNotDrift(t *testing.T) {
	n := longtests.Times(1_000_000, 10_000_000)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128, tensor.BFloat16} {
		for _, shape := range [][]int{{n}, {n / 2, 2}} {
			x := tensor.Must(tensor.Must(tensor.Full(0.1, shape...)).Cast(d))
			sums := tensor.Must(arith.CumSum(x, arith.Dims(0)))
			one := tensor.Must(tensor.Must(tensor.Must(tensor.Scalar(0.1).Cast(d)).Cast(tensor.Float64)).Reshape())
			exact := tensor.Must(tensor.Item[float64](one)) * float64(shape[0])
			want := tensor.Must(tensor.Must(tensor.Scalar(exact).Cast(d)).Cast(tensor.Float64))
			last := tensor.Must(tensor.Must(sums.Index(ix.At(-1))).Cast(tensor.Float64))
			got := tensor.Must(tensor.Must(last.Reshape(-1)).Index(ix.At(0)))
			require.Equal(t, tensor.Must(tensor.Item[float64](want)), tensor.Must(tensor.Item[float64](got)), "%v %v", d, shape)
		}
	}
}

// TestCumSumAscends: the running sums of numbers that are not negative do not descend.
func TestCumSumAscends(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 300_000)
	for i := range x {
		x[i] = math.Abs(r.NormFloat64()) * math.Pow(10, float64(r.IntN(34)-17))
	}
	for _, d := range []tensor.DType{tensor.Float64, tensor.Float32} {
		sums := tensor.Must(arith.CumSum(tensor.Must(tensor.Vector(x...).Cast(d)), arith.Dims(0)))
		require.True(t, slices.IsSorted(testkit.Elements[float64](t, tensor.Must(sums.Cast(tensor.Float64)))))
	}
}

// TestCumSumThatDoesNotFit: a running sum that does not fit is an error, though the next would, in
// lines that lie side by side as in one that lies by itself.
func TestCumSumThatDoesNotFit(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	tests := []struct {
		name string
		x    *tensor.Tensor
		over arith.Over
		want *tensor.Tensor // or nil: a sum does not fit
	}{
		{"one line", tensor.Vector[int64](most, 1, -1), arith.Dims(0), nil},
		{"the second of two lines", columns[int64](0, most, 0, 1, 0, -1), arith.Dims(0), nil},
		{"the first of two lines", columns[int64](most, 0, 1, 0, -1, 0), arith.Dims(0), nil},
		{"the last row", columns[int64](1, 1, 1, 1, 1, most), arith.Dims(0), nil},
		{"below the least", columns[int64](0, least, 0, -1, 0, 1), arith.Dims(0), nil},
		{"unsigned", columns[uint64](0, math.MaxUint64, 0, 1, 0, 0), arith.Dims(0), nil},
		{"within a group", columns[int64](0, most, 0, 1, 0, 0), bySplits(0, 2, 3), nil},
		{"the most and the least", columns[int64](most-1, least+1, 1, -1, -5, 5), arith.Dims(0), columns[int64](most-1, least+1, most, least, most-5, least+5)},
		{"the most unsigned", columns[uint64](0, math.MaxUint64-1, 0, 1, 0, 0), arith.Dims(0), columns[uint64](0, math.MaxUint64-1, 0, math.MaxUint64, 0, math.MaxUint64)},
		{"along the other dim", columns[int64](0, most, 0, 1, 0, -1), arith.Dims(1), columns[int64](0, most, 0, 1, 0, -1)},
		{"in two groups", columns[int64](0, most, 0, 1, 0, -1), bySplits(0, 1, 3), columns[int64](0, most, 0, 1, 0, 0)},
		{"what does not count", columns[int64](0, most, 0, 1, 0, -1), arith.Dims(0).Where(mask3), columns[int64](0, most, 0, most, 0, most-1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := arith.CumSum(tt.x, tt.over)
			if tt.want == nil {
				require.ErrorIs(t, err, tensor.ErrDType)
				require.Nil(t, got)
				return
			}
			require.NoError(t, err)
			require.True(t, tt.want.Equal(got), "got %v, want %v", got, tt.want)
		})
	}
}

// columns returns a tensor of two columns.
func columns[T tensor.Elem](s ...T) *tensor.Tensor { return tensor.Must(tensor.From(s, len(s)/2, 2)) }
