package tensor_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// The rows of a table, each with a limit of its own.
func ExampleMap2() {
	limits := tensor.Must(tensor.From([]float64{2, 3.5}, 2, 1))
	over := func(v int32, limit float64) bool { return float64(v) > limit }
	printed(tensor.Map2(table(2, 3), limits, over))
	// Output:
	// bool [2 3]
	// [[false false false]
	//  [false  true  true]]
}

// A function that panics gives an error, which says where it did.
func ExampleMap2_panic() {
	quotient := func(v, w int32) int32 { return v / w }
	_, err := tensor.Map2(table(2, 3), tensor.Vector[int32](1, 2, 0), quotient)
	fmt.Println(err)
	// Output: element [0 2]: panic: runtime error: integer divide by zero
}

func ExampleMap3() {
	mask := tensor.Vector(true, false, true)
	choose := func(v, w int32, first bool) int32 {
		if first {
			return v
		}
		return w
	}
	printed(tensor.Map3(table(2, 3), tensor.Scalar[int32](-1), mask, choose))
	// Output:
	// int32 [2 3]
	// [[ 0 -1  2]
	//  [ 3 -1  5]]
}

func ExampleMapInto() {
	x := tensor.Vector(1.0, 4, 9)
	dst := tensor.Must(tensor.Zeros[bool](3))
	fmt.Println(tensor.MapInto(dst, x, func(v float64) bool { return v > 3 }))
	fmt.Println(dst)
	fmt.Println(tensor.MapInto(x, x, func(v float64) float64 { return -v })) // in place
	fmt.Println(x)
	// Output:
	// <nil>
	// bool [3]
	// [false  true  true]
	// <nil>
	// float64 [3]
	// [-1 -4 -9]
}

func ExampleTensor_CastInto() {
	pixels := tensor.Vector[uint8](0, 128, 255)
	batch := tensor.Must(tensor.Zeros[float32](2, 3))
	row := tensor.Must(batch.Index(ix.At(1))) // shares memory with batch
	fmt.Println(pixels.CastInto(row))
	fmt.Println(batch)
	// Output:
	// <nil>
	// float32 [2 3]
	// [[  0   0   0]
	//  [  0 128 255]]
}
