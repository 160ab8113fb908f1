package arith_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// steps returns three steps of an episode.
func steps() *tdict.TensorDict {
	td := tdict.New(3)
	_ = td.Set("obs", tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	_ = td.Set("reward", tensor.Vector[float32](7, 8, 9))
	return td
}

// show prints the tensors in td.
func show(td *tdict.TensorDict, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	for key, x := range td.Tensors() {
		fmt.Println(key, x)
	}
}

// A finished episode begins again: its step comes from the one that a reset gave.
func ExampleWhere() {
	done := tensor.Vector(false, true, false)
	reset := tensor.Must(steps().NewZeros(3))
	show(arith.Where(done, reset, steps()))
	// Output:
	// obs float32 [3 2]
	// [[1 2]
	//  [0 0]
	//  [5 6]]
	// reward float32 [3]
	// [7 0 9]
}

func ExampleWhere_missing() {
	known := tensor.Vector(true, false, true)
	guess := tdict.New(3)
	_ = guess.Set("obs", tensor.Must(tensor.Full[float32](-1, 3, 2)))
	show(arith.Where(known, steps(), guess, arith.WhereOptions{Missing: 0}))
	// Output:
	// obs float32 [3 2]
	// [[ 1  2]
	//  [-1 -1]
	//  [ 5  6]]
	// reward float32 [3]
	// [7 0 9]
}

func ExampleWhereInto() {
	x := tensor.Vector[float32](5, 60, 7)
	small := tensor.Vector(true, false, true)
	err := arith.WhereInto(x, small, x, 10) // 10 where it is not small
	fmt.Println(x, err)
	// Output:
	// float32 [3]
	// [ 5 10  7] <nil>
}

func ExampleMaskedFill() {
	missing := tensor.Vector(false, false, true)
	show(arith.MaskedFill(steps(), missing, 0))
	// Output:
	// obs float32 [3 2]
	// [[1 2]
	//  [3 4]
	//  [0 0]]
	// reward float32 [3]
	// [7 8 0]
}

func ExampleMaskedFillInto() {
	td := steps()
	fmt.Println(arith.MaskedFillInto(td, td, tensor.Vector(true, false, false), -1))
	show(td.Select("reward"))
	// Output:
	// <nil>
	// reward float32 [3]
	// [-1  8  9]
}

func ExampleSort() {
	x := tensor.Must(tensor.From([]int64{3, 1, 2, 6, 5, 4}, 2, 3))
	fmt.Println(arith.Sort(x, 1, arith.SortOptions{}))
	// Output:
	// int64 [2 3]
	// [[1 2 3]
	//  [4 5 6]] <nil>
}

func ExampleSortInto() {
	x := tensor.Vector[int64](3, 1, 2)
	err := arith.SortInto(x, x, 0, arith.SortOptions{Descending: true})
	fmt.Println(x, err)
	// Output:
	// int64 [3]
	// [3 2 1] <nil>
}

// The rows of a dictionary by one of its columns.
func ExampleArgSort() {
	td := steps()
	reward := tensor.Must(td.Tensor("reward"))
	best := tensor.Must(arith.ArgSort(reward, 0, arith.SortOptions{Descending: true}))
	show(td.Take(0, best))
	// Output:
	// obs float32 [3 2]
	// [[5 6]
	//  [3 4]
	//  [1 2]]
	// reward float32 [3]
	// [9 8 7]
}

// The gradient of a lookup: rows that were looked up twice get both.
func ExampleScatterAdd() {
	table := tensor.Must(tensor.Zeros[float32](4))
	looked := tensor.Vector[int64](3, 1, 3)
	fmt.Println(arith.ScatterAdd(table, 0, looked, tensor.Vector[float32](1, 2, 3)))
	// Output:
	// float32 [4]
	// [0 2 0 4] <nil>
}
