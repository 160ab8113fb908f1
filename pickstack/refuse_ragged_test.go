package pickstack_test

import (
	"math"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestRaggedCallRefusals: what a plan of many problems cannot do changes nothing.
func TestRaggedCallRefusals(t *testing.T) {
	rows := func(lengths ...int64) *ragged.Tensor {
		n := 0
		for _, l := range lengths {
			n += int(l)
		}
		return tensor.Must(ragged.FromLengths(tensor.Must(tensor.Full(float32(3), n, 1)), lengths))
	}
	index := tensor.Must(ragged.From[int64]([][]int64{{0}, {1, 1}}))
	x, out := rows(1, 2), rows(1, 2)
	plan := tensor.Must(pickstack.NewRaggedPick(list(index), list(x.Layout()), pickstack.PickOptions{}))
	flat := tensor.Must(ragged.FromLengths(tensor.Vector[float32](1, 2, 3), []int64{1, 2}))
	ints := tensor.Must(ragged.FromLengths(tensor.Must(tensor.Zeros[int32](3, 1)), []int64{1, 2}))
	testkit.Refuse(t, func() *ragged.Tensor { return out }, func(_ testing.TB, x *ragged.Tensor) string { return x.String() }, []testkit.Refusal[*ragged.Tensor]{
		{Name: "the zero plan", Op: func(out *ragged.Tensor) error { return (&pickstack.RaggedPlan{}).ForwardInto(out, x) }, Is: tensor.ErrKind},
		{Name: "the gradient of the zero plan", Op: func(out *ragged.Tensor) error { return (&pickstack.RaggedPlan{}).GradientInto(list(out), x, x) }, Is: tensor.ErrKind},
		{Name: "no input", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out) }, Is: shapeops.ErrShape},
		{Name: "a nil input", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, nil) }, Is: tensor.ErrKind},
		{Name: "a nil output", Op: func(*ragged.Tensor) error { return plan.ForwardInto(nil, x) }, Is: tensor.ErrKind},
		{Name: "an input of other lengths", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, rows(2, 1)) }, Is: ragged.ErrLengths},
		{Name: "an input of other problems", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, rows(1, 2, 0)) }, Is: ragged.ErrLengths},
		{Name: "an input without channels", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, flat) }, Is: shapeops.ErrDim},
		{Name: "an input of integers", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, ints) }, Is: tensor.ErrDType},
		{Name: "an output of other lengths", Op: func(*ragged.Tensor) error { return plan.ForwardInto(rows(2, 1), x) }, Is: ragged.ErrLengths},
		{Name: "an output that is the input", Op: func(out *ragged.Tensor) error { return plan.ForwardInto(out, out) }, Is: tensor.ErrOverlap},
		{Name: "a gradient of other lengths", Op: func(out *ragged.Tensor) error { return plan.GradientInto(list(out), rows(2, 1), x) }, Is: ragged.ErrLengths},
		{Name: "a nil gradient", Op: func(out *ragged.Tensor) error { return plan.GradientInto(list(out), nil, x) }, Is: tensor.ErrKind},
		{Name: "no destination", Op: func(*ragged.Tensor) error { return plan.GradientInto(nil, x, x) }, Is: shapeops.ErrShape},
		{Name: "a destination that is the gradient", Op: func(out *ragged.Tensor) error { return plan.AddGradient(list(out), out, x) }, Is: tensor.ErrOverlap},
	})
}

// TestRaggedPlanRefusals: plans of many problems that cannot be.
func TestRaggedPlanRefusals(t *testing.T) {
	index := func(lists ...[]int64) *ragged.Tensor { return tensor.Must(ragged.FromDepth[int64](lists, 1)) }
	lengths := func(n ...int64) *ragged.Layout {
		return tensor.Must(ragged.LayoutOf(shapeops.Shape{len(n)}, n))
	}
	pools := func(lists ...[][]int64) *ragged.Tensor { return tensor.Must(ragged.FromDepth[int64](lists, 2)) }
	pick := func(indices []*ragged.Tensor, inputs ...*ragged.Layout) error {
		return testkit.Err(pickstack.NewRaggedPick(indices, inputs, pickstack.PickOptions{}))
	}
	pool := func(opt pickstack.PoolOptions, pools []*ragged.Tensor, inputs ...*ragged.Layout) error {
		return testkit.Err(pickstack.NewRaggedPool(pools, inputs, opt))
	}
	one, two := index([]int64{0}, []int64{1, 0}), lengths(1, 2)
	deep := tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, []int64{1}, []int64{1}))
	runRefused(t, []refused{
		{"no input", pick(nil), shapeops.ErrShape},
		{"fewer inputs than indices", pick(list(one, one), two), shapeops.ErrShape},
		{"other problems", pick(list(one), lengths(1)), shapeops.ErrShape},
		{"indices of unequal lengths", pick(list(one, index([]int64{0}, []int64{0})), two, two), ragged.ErrLengths},
		{"a skip connection of other lengths", pick(list(one, nil), two, lengths(2, 1)), ragged.ErrLengths},
		{"a nil layout", pick(list(one), nil), tensor.ErrKind},
		{"inputs of depth 2", pick(list(index([]int64{0})), deep), shapeops.ErrDim},
		{"problems of unequal numbers of pools", pool(pickstack.PoolOptions{}, list(pools(nil, [][]int64{nil}), pools([][]int64{nil}, nil)), two, two), ragged.ErrLengths},
		{"an index of depth 2", pick(list(pools([][]int64{{0}})), lengths(1)), shapeops.ErrDim},
		{"pools of depth 1", pool(pickstack.PoolOptions{}, list(one), two), shapeops.ErrDim},
		{"an index of floats", pick(list(tensor.Must(ragged.From[float32]([][]float32{{0}}))), lengths(1)), tensor.ErrDType},
		{"a row of the next problem", pick(list(index([]int64{0}, []int64{1, 2}, []int64{0})), lengths(1, 2, 3)), shapeops.ErrIndex},
		{"a row of the problem before", pick(list(index([]int64{0}, []int64{-1})), two), shapeops.ErrIndex},
		{"the least int64", pick(list(index([]int64{math.MinInt64}, nil)), two), shapeops.ErrIndex},
		{"the greatest int64", pick(list(index(nil, []int64{math.MaxInt64})), two), shapeops.ErrIndex},
		{"an entry of the next problem", pool(pickstack.PoolOptions{}, list(pools([][]int64{{0, 1}}, nil)), two), shapeops.ErrIndex},
		{"an unknown reduction", pool(pickstack.PoolOptions{Reduction: 9}, list(pools(nil, nil)), two), pickstack.ErrOptions},
	})
}
