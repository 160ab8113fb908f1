package ix_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

func Example() {
	clip := []ix.Index{ix.At(-1), ix.Range(0, 16).Step(2), ix.Rest}
	fmt.Println(ix.Format(clip...))

	parsed, err := ix.Parse("-1, 0:16:2, ...")
	fmt.Println(parsed, err)
	// Output:
	// -1, 0:16:2, ...
	// [-1 0:16:2 ...] <nil>
}

func ExampleMask() {
	fmt.Println(ix.Mask([]bool{true, false, true}).List())
	// Output: [0 2]
}

func ExampleTakeND() {
	pairs := ix.TakeND([]int{0, 1, 1, 2}, 2, 2) // in place of one dim, two of size 2
	fmt.Println(pairs, pairs.Kind() == ix.KindTake, pairs.List(), pairs.Shape())
	// Output: [0, 1, 1, 2]@2x2 true [0 1 1 2] [2 2]
}

func ExampleIndex_Check() {
	fmt.Println(ix.TakeND([]int{0, 1, 2}, 2, 2).Check())
	// Output: the positions of a take do not fill its shape
}
