package arith_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleSum() {
	td := tdict.New(2, 3)
	_ = td.Set("reward", tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)))
	fmt.Println(tensor.Must(tensor.Must(arith.Sum(td, arith.Dims(1))).Tensor("reward")))
	fmt.Println(tensor.Must(tensor.Must(arith.Sum(td, arith.Whole)).Tensor("reward")))
	// Output:
	// float32 [2]
	// [ 6 15]
	// float32 [] 21
}

func ExampleMean() {
	x := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 90, 90}, 3, 2))
	valid := tensor.Vector(true, true, false)
	fmt.Println(tensor.Must(arith.Mean(x, arith.Dims(0).Where(valid))))
	// Output:
	// float32 [2]
	// [2 3]
}

func ExampleBySplits() {
	rewards := tensor.Vector[float32](1, 2, 3, 4, 5)
	episodes := arith.BySplits(tensor.Vector[int64](0, 2, 5))
	fmt.Println(tensor.Must(arith.Sum(rewards, episodes)))
	fmt.Println(tensor.Must(arith.CumSum(rewards, episodes)))
	fmt.Println(tensor.Must(arith.ArgMax(rewards, episodes)))
	// Output:
	// float32 [2]
	// [ 3 12]
	// float32 [5]
	// [ 1  3  3  7 12]
	// int64 [2]
	// [1 2]
}

func ExampleStd() {
	x := tensor.Vector[float64](1, 2, 3, 4)
	fmt.Println(tensor.Must(arith.Var(x, arith.Whole, arith.VarOptions{})))
	fmt.Println(tensor.Must(arith.Std(x, arith.Whole.Keep(), arith.VarOptions{})).Shape())
	// Output:
	// float64 [] 1.25
	// [1]
}

func ExampleMax() {
	x := tensor.Must(tensor.From([]int64{1, 9, 4, 7}, 2, 2))
	fmt.Println(tensor.Must(arith.Max(x, arith.Dims(-1))))
	fmt.Println(tensor.Must(arith.ArgMax(x, arith.Whole)))
	// Output:
	// int64 [2]
	// [9 7]
	// int64 [] 1
}

func ExampleAny() {
	done := tensor.Must(tensor.From([]bool{false, true, false, false}, 2, 2))
	fmt.Println(tensor.Must(arith.Any(done, arith.Dims(1))))
	fmt.Println(tensor.Must(arith.All(done, arith.Whole)))
	// Output:
	// bool [2]
	// [ true false]
	// bool [] false
}

func ExampleQuantile() {
	x := tensor.Vector[float64](4, 1, 3, 2)
	fmt.Println(tensor.Must(arith.Quantile(x, arith.Whole, 0.5)))
	// Output:
	// float64 [] 2.5
}

// Steps of two episodes that lie side by side, one of which is over: its last step does not count.
func ExampleCumSum() {
	reward := tensor.Must(tensor.From([]float32{1, 10, 2, 20, 3, 30}, 3, 2))
	fmt.Println(tensor.Must(arith.CumSum(reward, arith.Dims(0))))
	alive := tensor.Must(tensor.From([]bool{true, true, true, true, true, false}, 3, 2))
	fmt.Println(tensor.Must(arith.CumSum(reward, arith.Dims(0).Where(alive))))
	// Output:
	// float32 [3 2]
	// [[ 1 10]
	//  [ 3 30]
	//  [ 6 60]]
	// float32 [3 2]
	// [[ 1 10]
	//  [ 3 30]
	//  [ 6 30]]
}
