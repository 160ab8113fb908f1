package pickstack_test

import (
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// column returns a tensor [1 P 1].
func column(v ...float64) *tensor.Tensor {
	return tensor.Must(tensor.From(v, 1, len(v), 1))
}

// A key that is an input and the output: the gradient of the new value makes that of the old, and
// is not in it.
func TestApplyGradientOfAnInputThatIsReplaced(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64](2, 0, 0)}, []int{3}, pickstack.PickOptions{}))
	td, grads := tdict.New(1), tdict.New(1)
	require.NoError(t, td.Set("h", column(1, 2, 3)))
	require.NoError(t, grads.Set("h", column(1, 10, 100)))
	require.NoError(t, plan.ApplyGradient(grads, td, "h", "h"))
	require.True(t, column(110, 0, 1).Equal(tensor.Must(grads.Tensor("h"))))

	require.NoError(t, grads.Set("h", column(1, 10, 100)))
	both := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil}, []int{3}, pickstack.PickOptions{}))
	require.NoError(t, both.Apply(td, "h", "h"))
	require.NoError(t, both.ApplyGradient(grads, td, "h", "h"))
	require.True(t, column(1, 10, 100).Equal(tensor.Must(grads.Tensor("h"))))
}

// Values are not taken for gradients.
func TestApplyGradientWantsTwoDictionaries(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64](0)}, []int{1}, pickstack.PickOptions{}))
	td := tdict.New(1)
	require.NoError(t, td.Set("x", column(1)))
	require.NoError(t, plan.Apply(td, "y", "x"))
	testkit.Fails(t, tensor.ErrOverlap, plan.ApplyGradient(td, td, "y", "x"))
	require.True(t, column(1).Equal(tensor.Must(td.Tensor("x"))))
}

// A gradient is not written over an input, though a pick does not look at that.
func TestGradientsAreNotWrittenOverInputs(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64](0, 0)}, []int{2}, pickstack.PickOptions{}))
	x := column(1, 2)
	testkit.Fails(t, tensor.ErrOverlap, plan.GradientInto([]*tensor.Tensor{x}, column(3, 4), x))
	require.True(t, column(1, 2).Equal(x))
}

// A finite MinValue that a dtype holds as infinite only is refused for that dtype; an infinite one
// is what it is.
func TestMinValueMustFitTheDType(t *testing.T) {
	pools := []*ragged.Tensor{tensor.Must(ragged.From[int64]([][]int64{{0}}))}
	for _, tt := range []struct {
		name  string
		value float64
		dtype tensor.DType
		want  error
	}{
		{"float16", 1e6, tensor.Float16, pickstack.ErrOptions},
		{"float32", -1e300, tensor.Float32, pickstack.ErrOptions},
		{"float64", -1e300, tensor.Float64, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := tensor.Must(pickstack.NewPool(pools, []int{1}, pickstack.PoolOptions{MinValue: &tt.value}))
			x := tensor.Must(column(1).Cast(tt.dtype))
			err := testkit.Err(plan.Forward(x))
			require.ErrorIs(t, testkit.Err(plan.Gradient(x, x)), tt.want)
			if tt.want != nil {
				testkit.Fails(t, tt.want, err)
			}
		})
	}
}

// What options point to may change once the plan is made.
func TestPlansKeepTheirOptions(t *testing.T) {
	pools := []*ragged.Tensor{tensor.Must(ragged.From[int64]([][]int64{{0}, {}}))}
	least, empty := -1.0, 7.0
	plan := tensor.Must(pickstack.NewPool(pools, []int{1}, pickstack.PoolOptions{MinValue: &least, Empty: &empty}))
	least, empty = 5, 5
	require.True(t, column(-1, 7).Equal(tensor.Must(plan.Forward(column(-3)))))
}

// Errors count pools, and their entries, from the first of the problem.
func TestErrorsSayWhichPool(t *testing.T) {
	pools := tensor.Must(ragged.From[int64]([][][]int64{{{0}, {}}, {{}, {0, 1}, {1, 0, 2}}}))
	rows := tensor.Must(ragged.LayoutOf([]int{2}, []int64{1, 2}))
	testkit.Fails(t, shapeops.ErrIndex, testkit.Err(pickstack.NewRaggedPool([]*ragged.Tensor{pools}, []*ragged.Layout{rows}, pickstack.PoolOptions{})))
}

// Plans print what they do.
func TestPlansPrint(t *testing.T) {
	pools := tensor.Must(ragged.From[int64]([][]int64{{0}, {}}))
	rows := tensor.Must(ragged.LayoutOf([]int{2}, []int64{1, 0}))
	require.Equal(t, "logsumexp pool of 1 inputs, 2 rows", tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools}, []int{1},
		pickstack.PoolOptions{Reduction: pickstack.LogSumExp})).String())
	require.Equal(t, "pick of 1 inputs, 1 rows of 2 problems", tensor.Must(pickstack.NewRaggedPick([]*ragged.Tensor{pools},
		[]*ragged.Layout{rows}, pickstack.PickOptions{})).String())
}

// A call uses as many goroutines as it is told, if there is enough to do: each borrows the memory.
func TestWorkersAreUsed(t *testing.T) {
	for workers := range 4 {
		l := &testkit.Lender{Bytes: make([]byte, 4<<20)}
		x := tensor.Must(tensor.FromLender(tensor.Float32, l, 0, 16, 1<<12, 16))
		plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil}, []int{1 << 12}, pickstack.PickOptions{Workers: workers}))
		require.NoError(t, testkit.Err(plan.Forward(x)))
		want := workers
		if workers == 0 {
			want = min(9, runtime.GOMAXPROCS(0)) // 8 MB are read and written
		}
		require.Equal(t, want, l.Borrows(), "%d workers", workers)
	}
}

// A call lets go of the tensors that it was given.
func TestCallsLetGo(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil, nil}, []int{2, 2}, pickstack.PickOptions{Workers: 1}))
	var freed atomic.Int32
	func() {
		tensors := []*tensor.Tensor{column(1, 2), column(1, 2), column(1, 2), column(1, 2), tensor.Must(tensor.New(tensor.Float64, 1, 2, 2))}
		for _, x := range tensors {
			runtime.AddCleanup(&tensor.Must(tensor.Of[float64](x))[0], func(int) { freed.Add(1) }, 0)
		}
		require.NoError(t, plan.ForwardInto(tensors[4], tensors[:2]...))
		require.NoError(t, plan.GradientInto(tensors[2:4], tensors[4], tensors[:2]...))
	}()
	require.Eventually(t, func() bool {
		runtime.GC()
		_, err := plan.Forward(column(1, 2), column(3, 4)) // so that the pool is not what lets go
		return err == nil && freed.Load() == 5
	}, time.Minute, time.Millisecond)
}

// An error names its tensor each time that a plan meets one.
func TestErrorsAreNamedEachTime(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil}, []int{2}, pickstack.PickOptions{Workers: 1}))
	meta := tensor.Must(column(1, 2).ToMeta())
	for range 3 {
		require.EqualError(t, testkit.Err(plan.Forward(meta)), "pick: input 0: "+tensor.ErrMeta.Error())
	}
}

// Memory that is not there is an error, though there is nothing to compute.
func TestEmptyResultsNeedMemory(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64]()}, []int{2}, pickstack.PickOptions{}))
	meta := tensor.Must(column(1, 2).ToMeta())
	require.ErrorIs(t, testkit.Err(plan.Forward(meta)), tensor.ErrMeta)
	out := tensor.Must(tensor.NewMeta(tensor.Float64, 1, 0, 1))
	require.ErrorIs(t, plan.ForwardInto(out, column(1, 2)), tensor.ErrMeta)
}

// What grads has already is added to, if it has the shape of the input; nothing broadcasts.
func TestApplyGradientAddsToItsOwnShape(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil}, []int{1}, pickstack.PickOptions{}))
	td, grads := tdict.New(1), tdict.New(1)
	require.NoError(t, td.Set("x", column(1)))
	require.NoError(t, grads.Set("o", column(3)))
	require.NoError(t, grads.Set("x", tensor.Must(tensor.New(tensor.Float64, 1, 1, 5))))
	testkit.Fails(t, shapeops.ErrShape, plan.ApplyGradient(grads, td, "o", "x"))

	rows := tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Float64, 2, 1)), []int64{1, 1}))
	wide := tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Float64, 2, 4)), []int64{1, 1}))
	each := tensor.Must(pickstack.NewRaggedPick([]*ragged.Tensor{nil}, []*ragged.Layout{rows.Layout()}, pickstack.PickOptions{}))
	td, grads = tdict.New(2), tdict.New(2)
	require.NoError(t, td.Set("x", rows))
	require.NoError(t, grads.Set("o", rows))
	require.NoError(t, grads.Set("x", wide))
	require.ErrorIs(t, each.ApplyGradient(grads, td, "o", "x"), shapeops.ErrShape)
}

// A leaf that a nested key would lead through is not replaced.
func TestApplyGradientLeavesLeavesInTheWay(t *testing.T) {
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil}, []int{1}, pickstack.PickOptions{}))
	td, grads := tdict.New(1), tdict.New(1)
	require.NoError(t, td.Set("n/x", column(1)))
	require.NoError(t, grads.Set("o", column(3)))
	require.NoError(t, grads.Set("n", column(7)))
	testkit.Fails(t, tdict.ErrNotDict, plan.ApplyGradient(grads, td, "o", "n/x"))
	require.True(t, column(7).Equal(tensor.Must(grads.Tensor("n"))))
}

// An error that names an input is an InputError, whoever meets it.
func TestInputErrors(t *testing.T) {
	pools := tensor.Must(ragged.From[int64]([][]int64{{0}}))
	plan := tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools, pools}, []int{1, 1}, pickstack.PoolOptions{}))
	x, meta, two := column(1), tensor.Must(column(1).ToMeta()), tensor.Must(tensor.New(tensor.Float64, 1, 1, 2))
	for name, err := range map[string]error{
		"forward":       testkit.Err(plan.Forward(x, meta)),
		"forward into":  plan.ForwardInto(two, x, meta),
		"gradient":      testkit.Err(plan.Gradient(two, x, meta)),
		"gradient into": plan.GradientInto([]*tensor.Tensor{nil, nil}, two, x, meta),
		"add":           plan.AddGradient([]*tensor.Tensor{nil, nil}, two, x, meta),
		"plan":          testkit.Err(pickstack.NewPool([]*ragged.Tensor{pools, pools}, []int{1, 0}, pickstack.PoolOptions{})),
	} {
		about, ok := errors.AsType[*pickstack.InputError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, 1, about.Input, name)
	}
}

// Of a LogSumExp that is infinite an entry that is not gets nothing, of an infinite gradient
// either.
func TestInfiniteLogSumExpOfInfiniteGradient(t *testing.T) {
	pools := tensor.Must(ragged.From[int64]([][]int64{{0, 1, 2}}))
	opt := pickstack.PoolOptions{Reduction: pickstack.LogSumExp}
	inf := math.Inf(1)
	dxs, err := tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools}, []int{3}, opt)).Gradient(column(inf), column(1, inf, 2))
	require.NoError(t, err)
	require.True(t, column(0, inf, 0).Equal(dxs[0]), "%v", dxs[0])
}

// Of a finite LogSumExp an entry whose weight is not 0, however small, gets an infinite gradient.
func TestLogSumExpOfInfiniteGradient(t *testing.T) {
	pools := tensor.Must(ragged.From[int64]([][]int64{{0, 1, 2}}))
	opt := pickstack.PoolOptions{Reduction: pickstack.LogSumExp}
	inf := math.Inf(1)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
		x := tensor.Must(column(0, -720, -745).Cast(d))
		g := tensor.Must(column(inf).Cast(d))
		dxs, err := tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools}, []int{3}, opt)).Gradient(g, x)
		require.NoError(t, err)
		require.True(t, tensor.Must(column(inf, inf, inf).Cast(d)).Equal(dxs[0]), "%v", dxs[0])
	}
}
