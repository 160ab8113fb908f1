package arith_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An operand is a dictionary by key, a tensor over the batch dims, or a number.
func ExampleAdd() {
	td := steps()
	show(arith.Add(td, td))
	show(arith.Add(td, tensor.Vector[float32](100, 200, 300)))
	show(arith.Add(tensor.Must(td.Select("reward")), 1))
	// Output:
	// obs float32 [3 2]
	// [[ 2  4]
	//  [ 6  8]
	//  [10 12]]
	// reward float32 [3]
	// [14 16 18]
	// obs float32 [3 2]
	// [[101 102]
	//  [203 204]
	//  [305 306]]
	// reward float32 [3]
	// [107 208 309]
	// reward float32 [3]
	// [ 8  9 10]
}

// Nothing wraps around.
func ExampleAddInto_itself() {
	x := tensor.Vector[uint8](1, 250)
	fmt.Println(arith.AddInto(x, x, 5), x)
	fmt.Println(arith.AddInto(x, x, 5))
	fmt.Println(x)
	// Output:
	// <nil> uint8 [2]
	// [  6 255]
	// add: dtype mismatch: the result for [255 5] overflows uint8: Cast to a wider signed dtype first
	// uint8 [2]
	// [  6 255]
}

func ExampleAddInto() {
	x, y := tensor.Vector[float32](1, 2), tensor.Vector[float32](10, 20)
	dst := tensor.Must(tensor.Zeros[float32](2))
	fmt.Println(arith.AddInto(dst, x, y), dst)
	// Output:
	// <nil> float32 [2]
	// [11 22]
}

// Integers are divided to whole numbers, downwards, as in Python.
func ExampleFloorDiv() {
	x := tensor.Vector[int64](7, -7)
	fmt.Println(arith.FloorDiv(x, 2))
	fmt.Println(arith.Mod(x, 2))
	_, err := arith.Div(x, 2)
	fmt.Println(err)
	// Output:
	// int64 [2]
	// [ 3 -4] <nil>
	// int64 [2]
	// [1 1] <nil>
	// div: dtype mismatch: got int64, want floating-point or complex: Cast first, or call FloorDiv
}

func ExampleClamp() {
	fmt.Println(arith.Clamp(tensor.Vector(-3, 0.5, 9), 0, 1))
	// Output:
	// float64 [3]
	// [  0 0.5   1] <nil>
}

func ExampleLerp() {
	fmt.Println(arith.Lerp(tensor.Vector(0.0, 10), tensor.Vector(10.0, 20), 0.25))
	// Output:
	// float64 [2]
	// [ 2.5 12.5] <nil>
}

func ExampleSigmoid() {
	x := tensor.Vector(-1000.0, 0, 1000)
	fmt.Println(arith.Sigmoid(x))
	// Output:
	// float64 [3]
	// [  0 0.5   1] <nil>
}

// Comparisons make masks, which Where, MaskedFill and MaskedSelect take.
func ExampleGreater() {
	td := steps()
	good := tensor.Must(arith.Greater(tensor.Must(td.Tensor("reward")), 7))
	show(td.MaskedSelect(good))
	// Output:
	// obs float32 [2 2]
	// [[3 4]
	//  [5 6]]
	// reward float32 [2]
	// [8 9]
}

// What was measured: neither NaN nor negative.
func ExampleNot() {
	x := tensor.Vector[float64](1, -1, 0)
	missing := tensor.Must(arith.Or(tensor.Must(arith.IsNaN(x)), tensor.Must(arith.Less(x, 0))))
	fmt.Println(arith.Not(missing))
	// Output:
	// bool [3]
	// [ true false  true] <nil>
}

// Pixels of bytes become numbers below 1, in one pass.
func ExampleCastScale() {
	pixels := tensor.Vector[uint8](0, 64, 255)
	fmt.Println(arith.CastScale(pixels, tensor.Float32, 1./256, 0))
	// Output:
	// float32 [3]
	// [         0       0.25 0.99609375] <nil>
}

func ExampleOneHot() {
	td := tdict.New(3)
	_ = td.Set("label", tensor.Vector[int64](2, 0, 1))
	show(arith.OneHot(td, 3, tensor.Float32))
	// Output:
	// label float32 [3 3]
	// [[0 0 1]
	//  [1 0 0]
	//  [0 1 0]]
}

// What is done in place to a selection of leaves is done to the whole: they are shared.
func ExampleMulInto_selection() {
	td := steps()
	rewards := tensor.Must(td.Select("reward"))
	show(td, arith.MulInto(rewards, rewards, 10))
	// Output:
	// obs float32 [3 2]
	// [[1 2]
	//  [3 4]
	//  [5 6]]
	// reward float32 [3]
	// [70 80 90]
}
