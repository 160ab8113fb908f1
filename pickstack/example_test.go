package pickstack_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Two inputs, of three and of two rows; three rows are made.
func Example() {
	blocks := tensor.Must(tensor.From([]float32{11, 12, 13, 14, 15, 16}, 1, 3, 2))
	tables := tensor.Must(tensor.From([]float32{0.1, 0.2}, 1, 2, 1))

	plan, err := pickstack.NewPick([]*tensor.Tensor{
		tensor.Vector[int64](2, 0, 1), // rows of blocks
		tensor.Vector[int64](1, 1, 0), // rows of tables
	}, []int{3, 2}, pickstack.PickOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := plan.Forward(blocks, tables)
	fmt.Println(out, err)

	g := tensor.Must(tensor.Full[float32](1, 1, 3, 3))
	dxs, err := plan.Gradient(g, blocks, tables)
	fmt.Println(dxs[1], err) // row 1 of tables is picked twice
	// Output:
	// float32 [1 3 3]
	// [[[ 15  16 0.2]
	//   [ 11  12 0.2]
	//   [ 13  14 0.1]]] <nil>
	// float32 [1 2 1]
	// [[[1]
	//   [2]]] <nil>
}

func ExampleNewPool() {
	x := tensor.Must(tensor.From([]float32{-2, 3, 0, 1, -1, 2}, 1, 3, 2))
	pools := tensor.Must(ragged.From[int64]([][]int64{{0}, {}, {1, 2}}))

	// After ELU nothing is below -1, and so an empty pool is that.
	plan := tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools}, []int{3}, pickstack.PoolOptions{MinValue: new(-1.0)}))
	fmt.Println(plan.Forward(x))
	// Output:
	// float32 [1 3 2]
	// [[[-1  3]
	//   [-1 -1]
	//   [ 0  2]]] <nil>
}

func ExampleFromSplits() {
	values, splits := tensor.Vector[int32](0, 1, 2), tensor.Vector[int32](0, 1, 1, 3)
	pools, err := pickstack.FromSplits(values, splits)
	fmt.Println(pools, err)
	_, err = pickstack.FromSplits(values, tensor.Vector[int32](0, 2, 1, 3))
	fmt.Println(err)
	// Output:
	// ragged int32 [3 *]
	// [[0]
	//  []
	//  [1 2]] <nil>
	// row splits: level 1, row 1: bad offsets: got 1 after 2, want them never to decrease
}

// A skip connection: each row is passed on beside the greatest of its pool.
func ExampleNewPool_skip() {
	x := tensor.Must(tensor.From([]float64{1, 5, 3}, 1, 3, 1))
	neighbours := tensor.Must(ragged.From[int64]([][]int64{{1}, {0, 2}, {1}}))
	plan := tensor.Must(pickstack.NewPool([]*ragged.Tensor{nil, neighbours}, []int{3, 3}, pickstack.PoolOptions{}))
	out, err := plan.Forward(x, x)
	fmt.Println(out, err)
	// Output:
	// float64 [1 3 2]
	// [[[1 5]
	//   [5 3]
	//   [3 5]]] <nil>
}

func ExamplePlan_Gradient() {
	x := tensor.Must(tensor.From([]float64{1, 2, 3, 4}, 1, 4, 1))
	g := tensor.Must(tensor.From([]float64{.5, .25, 2}, 1, 3, 1))
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64](3, 3, 1)}, []int{4}, pickstack.PickOptions{}))
	dxs, err := plan.Gradient(g, x)
	fmt.Println(dxs[0], err)
	// Output:
	// float64 [1 4 1]
	// [[[   0]
	//   [   2]
	//   [   0]
	//   [0.75]]] <nil>
}

// Three entries attain the maximum.
func ExampleTies() {
	x := tensor.Must(tensor.From([]float64{3, 3, 1, 3}, 1, 4, 1))
	g := tensor.Must(tensor.From([]float64{6}, 1, 1, 1))
	all := tensor.Must(ragged.From[int64]([][]int64{{0, 1, 2, 3}}))
	for _, ties := range []pickstack.Ties{pickstack.TieEven, pickstack.TieFirst, pickstack.TieAll} {
		plan := tensor.Must(pickstack.NewPool([]*ragged.Tensor{all}, []int{4}, pickstack.PoolOptions{Ties: ties}))
		dxs, err := plan.Gradient(g, x)
		fmt.Println(ties, dxs[0], err)
	}
	// Output:
	// even float64 [1 4 1]
	// [[[2]
	//   [2]
	//   [0]
	//   [2]]] <nil>
	// first float64 [1 4 1]
	// [[[6]
	//   [0]
	//   [0]
	//   [0]]] <nil>
	// all float64 [1 4 1]
	// [[[6]
	//   [6]
	//   [0]
	//   [6]]] <nil>
}

// The output and the gradients lie in memory that the caller keeps: nothing is allocated.
func ExamplePlan_ForwardInto() {
	x := tensor.Must(tensor.From([]float32{1, 2, 3}, 1, 3, 1))
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector[int64](2, 0)}, []int{3}, pickstack.PickOptions{}))
	out, dx := tensor.Must(tensor.Zeros[float32](1, 2, 1)), tensor.Must(tensor.Zeros[float32](1, 3, 1))
	for range 2 {
		if err := plan.ForwardInto(out, x); err != nil {
			fmt.Println(err)
		}
		if err := plan.AddGradient([]*tensor.Tensor{dx}, out, x); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(out)
	fmt.Println(dx)
	// Output:
	// float32 [1 2 1]
	// [[[3]
	//   [1]]]
	// float32 [1 3 1]
	// [[[2]
	//   [0]
	//   [6]]]
}

// Two problems: of three rows, of which two are picked, and of one row, picked three times.
func ExampleRaggedPlan() {
	rows := tensor.Must(tensor.From([]float32{1, 2, 3, 4}, 4, 1))
	x := tensor.Must(ragged.FromLengths(rows, []int64{3, 1}))
	indices := tensor.Must(ragged.From[int64]([][]int64{{2, 0}, {0, 0, 0}}))
	plan, err := pickstack.NewRaggedPick([]*ragged.Tensor{indices}, []*ragged.Layout{x.Layout()}, pickstack.PickOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Forward(x))
	// Output:
	// ragged float32 [2 * 1]
	// [[[3] [1]]
	//  [[4] [4] [4]]] <nil>
}

func ExampleNewRaggedPool() {
	rows := tensor.Must(tensor.From([]float32{1, 2, 3, 4}, 4, 1))
	x := tensor.Must(ragged.FromLengths(rows, []int64{3, 1}))
	pools := tensor.Must(ragged.From[int64]([][][]int64{{{0, 1}, {2}}, {{0}}}))
	plan := tensor.Must(pickstack.NewRaggedPool([]*ragged.Tensor{pools}, []*ragged.Layout{x.Layout()}, pickstack.PoolOptions{}))
	out, err := plan.Forward(x)
	fmt.Println(out, err)
	fmt.Println(plan.Layout())
	// Output:
	// ragged float32 [2 * 1]
	// [[[2] [3]]
	//  [[4]]] <nil>
	// [2 *]
}

// What an action reads: its own vector, and those of the two propositions that it is about.
func ExamplePlan_Apply() {
	td := tdict.New(1)
	_ = td.Set("act/move", tensor.Must(tensor.From([]float32{7, 8}, 1, 2, 1)))
	_ = td.Set("prop/at", tensor.Must(tensor.From([]float32{1, 2, 3}, 1, 3, 1)))
	plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{nil, tensor.Vector[int64](0, 1), tensor.Vector[int64](1, 2)},
		[]int{2, 3, 3}, pickstack.PickOptions{}))
	fmt.Println(plan.Apply(td, "in/move", "act/move", "prop/at", "prop/at"))
	fmt.Println(td.Tensor("in/move"))

	grads := tdict.New(1)
	_ = grads.Set("in/move", tensor.Must(tensor.Full[float32](1, 1, 2, 3)))
	fmt.Println(plan.ApplyGradient(grads, td, "in/move", "act/move", "prop/at", "prop/at"))
	fmt.Println(grads.Tensor("prop/at"))
	// Output:
	// <nil>
	// float32 [1 2 3]
	// [[[7 1 2]
	//   [8 2 3]]] <nil>
	// <nil>
	// float32 [1 3 1]
	// [[[1]
	//   [2]
	//   [1]]] <nil>
}
