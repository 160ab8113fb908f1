package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
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
			return ones.Ops().AddExecute(tr, dst, plan.NewPass(p))
		},
		"mask": func(tr *tensor.Transfer, dst *tensor.Tensor) error {
			bits := make([]bool, n)
			for i := range bits {
				bits[i] = true
			}
			p := tensor.Must(plan.Index(ones.Shape(), ix.Mask(bits)))
			return ones.Ops().AddExecute(tr, dst, plan.NewPass(p))
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
	require.ErrorIs(t, good.Ops().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, bad}), tensor.ErrDType)
	require.ErrorIs(t, good.Ops().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, nil}), tensor.ErrKind)
	require.ErrorIs(t, good.Ops().AddJoin(&tr, dst, nil, []*tensor.Tensor{good, good}), tensor.ErrKind)
	require.NoError(t, tr.Run())
	require.Equal(t, []int32{0, 0, 0, 0}, testkit.Elements[int32](t, dst))
	require.NoError(t, good.Ops().AddJoin(&tr, dst, stack, []*tensor.Tensor{good, good}))
	require.NoError(t, tr.Run())
	require.Equal(t, []int32{1, 2, 1, 2}, testkit.Elements[int32](t, dst))

	const n = 64<<20 + 1
	large, one := tensor.Must(tensor.Zeros[int8](2, n)), tensor.Must(tensor.Full[int8](1, n))
	every := tensor.Must(tensor.Must(large.Flatten(0, 1)).Index(ix.All.Step(2)))
	stack = &plan.Pass{Join: joinPlan(t, one, one)}
	tr.Reset()
	require.ErrorIs(t, one.Ops().AddJoin(&tr, large, stack, []*tensor.Tensor{one, every}), tensor.ErrOverlap)
	require.NoError(t, tr.Run())
	require.Zero(t, tensor.Must(tensor.Item[int8](large, 0, 0)), "the first value was not added")
}

// All copies of a Transfer share what may be copied first: beyond that none happens.
func TestOverlapIsBounded(t *testing.T) {
	const n = 20 << 20
	var xs []*tensor.Tensor
	var tr tensor.Transfer
	for i := range 4 {
		xs = append(xs, tensor.Must(tensor.Zeros[int8](n)))
		require.NoError(t, xs[i].CopyFrom(tensor.Scalar(int8(i))))
		require.NoError(t, tr.Copy(xs[i], tensor.Must(tensor.Scalar(int8(9)).Expand(n))))
	}
	for i, x := range xs[:3] {
		require.NoError(t, tr.Copy(tensor.Must(tensor.Zeros[int8](n)), x), i)
	}
	require.NoError(t, tr.Run())
	for i, x := range xs {
		require.NoError(t, x.CopyFrom(tensor.Scalar(int8(i))))
	}
	require.NoError(t, tr.Copy(tensor.Must(tensor.Zeros[int8](n)), xs[3]))
	require.ErrorIs(t, tr.Run(), tensor.ErrOverlap)
	require.Equal(t, int8(1), tensor.Must(tensor.Item[int8](xs[1], 5)), "nothing has changed")
}

// What lies evenly on both sides is copied in an order that needs no memory, whichever way.
func TestShiftsTakeNoMemory(t *testing.T) {
	const rows, width = 1 << 10, 80 << 10 // 80 MiB
	x := tensor.Must(tensor.Zeros[int32](rows, width/4))
	number := func() {
		require.NoError(t, x.CopyFrom(tensor.Must(tensor.Must(tensor.Arange[int32](0, rows, 1)).Unsqueeze(1))))
	}
	at := func(row, column int) int32 { return tensor.Must(tensor.Item[int32](x, row, column)) }
	part := func(expr ...ix.Index) *tensor.Tensor { return tensor.Must(x.Index(expr...)) }
	testkit.MaxBytes(t, 1<<20, func() {
		number()
		require.NoError(t, part(ix.Range(1, rows)).CopyFrom(part(ix.Range(0, rows-1))))
		require.Equal(t, []int32{0, 0, 1, rows - 2}, []int32{at(0, 3), at(1, 0), at(2, 9), at(-1, -1)})
		number()
		require.NoError(t, part(ix.Range(0, rows-1)).CopyFrom(part(ix.Range(1, rows))))
		require.Equal(t, []int32{1, 2, rows - 1, rows - 1}, []int32{at(0, 3), at(1, 0), at(-2, 9), at(-1, -1)})
		number()
		require.NoError(t, part(ix.Range(2, rows), ix.Range(1, 9)).CopyFrom(part(ix.Range(0, rows-2), ix.Range(0, 8))))
		require.Equal(t, []int32{0, 2, 0, rows - 3, rows - 1}, []int32{at(0, 3), at(2, 0), at(2, 1), at(-1, 8), at(-1, 9)})
	})
}

// joinPlan returns the plan by which Stack joins xs.
func joinPlan(t *testing.T, xs ...*tensor.Tensor) *plan.Join {
	t.Helper()
	j, err := plan.Stack(len(xs), func(i int) shapeops.Shape { return xs[i].Shape() }, 0)
	require.NoError(t, err)
	return j
}
