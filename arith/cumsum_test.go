package arith_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/longtests"
	"github.com/go-tensordict/tensordict/internal/testkit"
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

// plainSum adds the values of a bucket, one after the other.
func plainSum(t *testing.T, d tensor.DType, b bucket) any {
	switch d {
	case tensor.Float16, tensor.BFloat16:
		return rounded(t, d, float64(added(widened(b))))
	case tensor.Float32:
		return added(as[float32](b))
	case tensor.Float64:
		return added(as[float64](b))
	case tensor.Complex64:
		return added(as[complex64](b))
	case tensor.Complex128:
		return added(as[complex128](b))
	}
	return sumBy(t, d, b)
}

func added[T float32 | float64 | complex64 | complex128](s []T) (sum T) {
	for _, v := range s {
		sum += v
	}
	return sum
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
