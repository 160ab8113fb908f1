package pickstack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
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
