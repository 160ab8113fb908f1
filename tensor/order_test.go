package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Whatever is added to a Transfer happens in that order: what writes a place last stays.
func TestTransferKeepsTheOrderOfAllKinds(t *testing.T) {
	const n = 300 // a mask of so many narrow rows is moved without a list
	ones := tensor.Must(tensor.Full[int32](1, n))
	kernel := &tensor.Kernel{
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return xs[0].DType(), xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error { copy(b.Dst, b.Src[0].Bytes); return nil },
	}
	adds := map[string]func(tr *tensor.Transfer, dst *tensor.Tensor) error{
		"copy": func(tr *tensor.Transfer, dst *tensor.Tensor) error { return tr.Copy(dst, ones) },
		"list": func(tr *tensor.Transfer, dst *tensor.Tensor) error {
			p := tensor.Must(plan.Take(ones.Shape(), 0, make([]int, n), shapeops.Shape{n}))
			return ones.Verbs().AddExecute(tr, dst, plan.NewPass(p))
		},
		"mask": func(tr *tensor.Transfer, dst *tensor.Tensor) error {
			bits := make([]bool, n)
			for i := range bits {
				bits[i] = true
			}
			p := tensor.Must(plan.Index(ones.Shape(), ix.Mask(bits)))
			return ones.Verbs().AddExecute(tr, dst, plan.NewPass(p))
		},
		"kernel": func(tr *tensor.Transfer, dst *tensor.Tensor) error {
			return tensor.NewKernelPass(kernel).To(tr, dst, ones, 0, nil)
		},
	}
	for name, add := range adds {
		t.Run(name, func(t *testing.T) {
			dst := tensor.Must(tensor.Zeros[int32](n))
			var tr tensor.Transfer
			require.NoError(t, tr.Fill(dst, tensor.Scalar[int32](3)))
			require.NoError(t, add(&tr, dst))
			require.NoError(t, tr.Fill(tensor.Must(dst.Narrow(0, 0, 1)), tensor.Scalar[int32](-7)))
			for range 2 { // Run leaves the list as it is
				require.NoError(t, tr.Run())
				require.Equal(t, []int32{-7, 1, 1}, testkit.Elements[int32](t, dst)[:3])
			}
		})
	}
}

// A join that does not fit adds nothing: what was added before runs alone.
func TestJoinToAddsAllOrNothing(t *testing.T) {
	good, bad := tensor.Vector[int32](1, 2), tensor.Vector[float32](1, 2)
	stack := &plan.Pass{Join: joinPlan(t, good, good)}
	dst := tensor.Must(tensor.Zeros[int32](2, 2))
	var tr tensor.Transfer
	require.ErrorIs(t, good.Verbs().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, bad}), tensor.ErrDType)
	require.ErrorIs(t, good.Verbs().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, nil}), tensor.ErrKind)
	require.ErrorIs(t, good.Verbs().AddJoin(&tr, dst, nil, []*tensor.Tensor{good, good}), tensor.ErrKind)
	overlapping := tensor.Must(tensor.Must(dst.Flatten(0, 1)).Narrow(0, 1, 2))
	require.ErrorIs(t, good.Verbs().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, overlapping}), tensor.ErrOverlap)
	require.NoError(t, tr.Run())
	require.Equal(t, []int32{0, 0, 0, 0}, testkit.Elements[int32](t, dst))
	require.NoError(t, good.Verbs().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, good}))
	require.NoError(t, tr.Run())
	require.Equal(t, []int32{1, 2, 1, 2}, testkit.Elements[int32](t, dst))
}

// joinPlan returns the plan by which Stack joins xs.
func joinPlan(t *testing.T, xs ...*tensor.Tensor) *plan.Join {
	t.Helper()
	j, err := plan.Stack(len(xs), func(i int) shapeops.Shape { return xs[i].Shape() }, 0)
	require.NoError(t, err)
	return j
}
