package tdict_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// This example stacks episodes of different lengths without padding.
func ExampleStackRagged() {
	short, long := tdict.New(2), tdict.New(3)
	_ = short.Set("reward", tensor.Vector[int64](1, 0))
	_ = long.Set("reward", tensor.Vector[int64](0, 0, 5))

	episodes := tensor.Must(tdict.StackRagged([]*tdict.TensorDict{short, long}))
	scaled := tensor.Must(arith.Mul(episodes, 2))
	fmt.Println(tensor.Must(scaled.Get("reward")))
	fmt.Println(tensor.Must(tensor.Must(episodes.Index(ix.Take(1, 0, 1))).Get("reward")))
	// Output:
	// ragged int64 [2 *]
	// [[2 0]
	//  [0 0 10]]
	// ragged int64 [3 *]
	// [[0 0 5]
	//  [1 0]
	//  [0 0 5]]
}
