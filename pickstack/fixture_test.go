package pickstack_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	floats     = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16}
	reductions = []pickstack.Reduction{pickstack.Max, pickstack.Min, pickstack.Mean, pickstack.Sum, pickstack.LogSumExp}
	allTies    = []pickstack.Ties{pickstack.TieEven, pickstack.TieFirst, pickstack.TieAll}
	threeDims  = []ix.Index{odd, odd, odd}
	odd        = ix.Range(1, ix.End).Step(2)
)

// A layout shows a tensor of three dims within a larger one.
type layout struct {
	name string
	base func(a, b, c int) []int // the shape of the larger one
	view func(whole *tensor.Tensor, shape []int) (*tensor.Tensor, error)
}

var layouts = []layout{
	{"contiguous", func(a, b, c int) []int { return []int{a, b, c} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole, nil }},
	{"stepped rows", func(a, b, c int) []int { return []int{a, 2*b + 1, c} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole.Index(ix.All, odd) }},
	{"columns", func(a, b, c int) []int { return []int{a, b, c + 3} },
		func(whole *tensor.Tensor, s []int) (*tensor.Tensor, error) { return whole.Narrow(2, 1, s[2]) }},
	{"stepped", func(a, b, c int) []int { return []int{2*a + 1, 2*b + 1, 2*c + 1} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole.Index(threeDims...) }},
	{"rows first", func(a, b, c int) []int { return []int{b, a, c} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole.Permute(1, 0, 2) }},
	{"channels first", func(a, b, c int) []int { return []int{a, c, b} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole.Permute(0, 2, 1) }},
	{"reversed dims", func(a, b, c int) []int { return []int{c, b, a} },
		func(whole *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return whole.Permute(2, 1, 0) }},
}

// expanded has one row of the batch, which stands for all.
var expanded = layout{"expanded batch", func(_, b, c int) []int { return []int{1, b, c} },
	func(whole *tensor.Tensor, s []int) (*tensor.Tensor, error) { return whole.Expand(s...) }}

// memories are those that indices lie in, and aligned those for numbers.
var (
	aligned  = []testkit.Memory{testkit.Go, testkit.Lent}
	memories = append(aligned, testkit.Unaligned)
)

// A laid is a tensor with what is around it.
type laid struct {
	*tensor.Tensor
	whole *tensor.Tensor
}

// lay returns a tensor of three dims that holds the numbers. An expanded one has the first row.
func lay(t testing.TB, d tensor.DType, shape []int, numbers []float64, l layout, m testkit.Memory) laid {
	t.Helper()
	whole := testkit.Make(t, d, l.base(shape[0], shape[1], shape[2]), testkit.Contiguous, m, 5).Tensor
	view, err := l.view(whole, shape)
	require.NoError(t, err)
	require.Equal(t, shape, []int(view.Shape().Clone()))
	value := dense(d, shape, numbers)
	if l.name != expanded.name {
		require.NoError(t, view.CopyFrom(value))
	} else if shape[0] > 0 {
		require.NoError(t, whole.CopyFrom(tensor.Must(value.Narrow(0, 0, 1))))
	}
	return laid{view, whole}
}

// locked returns x, whose memory is lent, and must not be written any more.
func (x laid) locked() laid {
	x.Lender().(*testkit.Lender).Locked = true
	return x
}

// around returns what is around x: all memory, with x's own elements zero.
func (x laid) around(t testing.TB) []byte {
	t.Helper()
	own, err := x.Clone()
	require.NoError(t, err)
	zero := tensor.Must(tensor.New(x.DType()))
	require.NoError(t, x.CopyFrom(zero))
	all := testkit.Content(t, x.whole)
	require.NoError(t, x.CopyFrom(own))
	return all
}

// dense returns a contiguous tensor of the numbers.
func dense(d tensor.DType, shape []int, numbers []float64) *tensor.Tensor {
	return tensor.Must(tensor.Must(tensor.From(slices.Clone(numbers), shape...)).Cast(d))
}

// listed returns the elements of x, row-major.
func listed(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	require.NotNil(t, x)
	wide, err := x.Cast(tensor.Float64)
	require.NoError(t, err)
	return testkit.Elements[float64](t, wide)
}

// slack is how far a number may be off that exp and log are in, of a dtype.
func slack(d tensor.DType, v float64) float64 {
	eps := map[tensor.DType]float64{
		tensor.Float64: 0x1p-48, tensor.Float32: 0x1p-19, tensor.Float16: 0x1p-10, tensor.BFloat16: 0x1p-7,
	}[d]
	return eps * (1 + math.Abs(v))
}

// equal fails the test unless x holds the numbers, rounded to its dtype, in the given shape. A zero
// equals one of the other sign unless signs is set; numbers that are off by slack are equal if
// loose is set.
func equal(t testing.TB, want []float64, shape []int, x *tensor.Tensor, loose, signs bool) {
	t.Helper()
	equalSums(t, want, nil, shape, x, loose, signs)
}

// equalSums is equal of sums, which are as precise as the greatest of their terms: terms are the
// sums of their magnitudes, or nil.
func equalSums(t testing.TB, want, terms []float64, shape []int, x *tensor.Tensor, loose, signs bool) {
	t.Helper()
	require.NotNil(t, x)
	require.Equal(t, shape, []int(x.Shape().Clone()))
	got := listed(t, x)
	require.Len(t, got, len(want))
	for i, v := range want {
		w, off := rounded(x.DType(), v), slack(x.DType(), v)
		if terms != nil {
			off += slack(summed(x.DType()), terms[i])
		}
		near := got[i] == w && (!signs || math.Signbit(got[i]) == math.Signbit(w)) || math.IsNaN(w) && math.IsNaN(got[i])
		if !near && (!loose || !(math.Abs(got[i]-v) <= off)) {
			t.Fatalf("element %d: got %v, want %v\nall: %v\nwant %v", i, got[i], w, got, want)
		}
	}
}

// summed returns the dtype that sums of a dtype are computed in.
func summed(d tensor.DType) tensor.DType {
	if d == tensor.Float64 {
		return d
	}
	return tensor.Float32
}

// tensorOf returns integers of a dtype.
func tensorOf(d tensor.DType, list []int) *tensor.Tensor {
	wide := make([]int64, len(list))
	for i, v := range list {
		wide[i] = int64(v)
	}
	return tensor.Must(tensor.Vector(wide...).Cast(d))
}

// poolsOf returns pools [A *] of a dtype.
func poolsOf(d tensor.DType, pools [][]int) *ragged.Tensor {
	lengths := make([]int64, len(pools))
	for a, pool := range pools {
		lengths[a] = int64(len(pool))
	}
	return tensor.Must(ragged.FromLengths(tensorOf(d, slices.Concat(pools...)), lengths))
}

// indices returns the indices of a problem that picks.
func (p problem) indices(d tensor.DType) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(p.index))
	for n, index := range p.index {
		if index != nil {
			out[n] = tensorOf(d, slices.Concat(index...))
		}
	}
	return out
}

// pools returns the pools of a problem that pools.
func (p problem) pools(d tensor.DType) []*ragged.Tensor {
	out := make([]*ragged.Tensor, len(p.index))
	for n, index := range p.index {
		if index != nil {
			out[n] = poolsOf(d, index)
		}
	}
	return out
}

// plan returns the plan of the problem, with indices of a dtype.
func (p problem) plan(t testing.TB, d tensor.DType) *pickstack.Plan {
	t.Helper()
	var plan *pickstack.Plan
	var err error
	if p.pick {
		plan, err = pickstack.NewPick(p.indices(d), p.widths, pickstack.PickOptions{Workers: p.opt.Workers})
	} else {
		plan, err = pickstack.NewPool(p.pools(d), p.widths, p.opt)
	}
	require.NoError(t, err)
	require.NotNil(t, plan)
	return plan
}

// in returns the shape of input n.
func (p problem) in(n int) []int { return []int{p.batch, p.widths[n], p.channels[n]} }

// out returns the shape of the output.
func (p problem) out() []int { return []int{p.batch, p.rows, p.width()} }

// inputs returns the inputs, contiguous.
func (p problem) inputs() []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(p.xs))
	for n, x := range p.xs {
		out[n] = dense(p.dtype, p.in(n), x)
	}
	return out
}

// loose reports whether results are rounded on the way.
func (p problem) loose() bool { return !p.pick && p.opt.Reduction == pickstack.LogSumExp }

// signed reports whether the sign of zeros of the output is defined: numbers are compared, not
// added.
func (p problem) signed() bool { return p.pick || p.opt.Reduction <= pickstack.Min }

// sameForward fails the test unless x is the output.
func (p problem) sameForward(t testing.TB, x *tensor.Tensor) {
	t.Helper()
	equal(t, p.forward(), p.out(), x, p.loose(), p.signed())
}

// sameGradient fails the test unless dxs are the gradients of the inputs, each with old added, if
// there is one; those that are nil are not looked at.
func (p problem) sameGradient(t testing.TB, dxs []*tensor.Tensor, old [][]float64) {
	t.Helper()
	require.Len(t, dxs, len(p.xs))
	terms := p.terms()
	for n, want := range p.gradient() {
		for i := range want {
			if old != nil {
				want[i] += old[n][i]
				terms[n][i] += math.Abs(old[n][i])
			}
		}
		if dxs[n] != nil {
			equalSums(t, want, terms[n], p.in(n), dxs[n], p.loose(), false)
		}
	}
}
