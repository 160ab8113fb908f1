package shapeops_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Sentences of different lengths become a batch, padded with -1.
func ExamplePadSequence() {
	sentences := []*tensor.Tensor{tensor.Vector[int32](5, 6, 7), tensor.Vector[int32](8)}
	batch, err := shapeops.PadSequence(sentences, shapeops.PadSequenceOptions{Fill: -1})
	fmt.Println(batch, err)
	// Output:
	// int32 [2 3]
	// [[ 5  6  7]
	//  [ 8 -1 -1]] <nil>
}

// A batch is reused, at a fixed length, with the padding on the left.
func ExamplePadSequenceInto() {
	batch := tensor.Must(tensor.Zeros[int32](2, 4))
	sentences := []*tensor.Tensor{tensor.Vector[int32](5, 6, 7), tensor.Vector[int32](8)}
	fmt.Println(shapeops.PadSequenceInto(batch, sentences, shapeops.PadSequenceOptions{Left: true, Length: 4}))
	fmt.Println(batch)
	// Output:
	// <nil>
	// int32 [2 4]
	// [[0 5 6 7]
	//  [0 0 0 8]]
}

// Each leaf is padded to its own longest, and has its own mask.
func ExamplePadSequenceMasked() {
	row := func(tokens, boxes int) *tdict.TensorDict {
		td := tdict.New()
		_ = td.Set("tokens", tensor.Must(tensor.Zeros[int32](tokens)))
		_ = td.Set("boxes", tensor.Must(tensor.Zeros[float32](boxes, 4)))
		return td
	}
	batch, masks, err := shapeops.PadSequenceMasked([]*tdict.TensorDict{row(3, 1), row(2, 2)}, shapeops.PadSequenceOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for key, leaf := range batch.Tensors() {
		fmt.Println(key, leaf.Shape(), tensor.Must(masks.Tensor(key)))
	}
	// Output:
	// tokens [2 3] bool [2 3]
	// [[ true  true  true]
	//  [ true  true false]]
	// boxes [2 2 4] bool [2 2]
	// [[ true false]
	//  [ true  true]]
}
