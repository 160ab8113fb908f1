package tdict_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Room for batches, made once.
func ExampleTensorDict_NewZeros() {
	td := steps()
	batch := tensor.Must(td.NewZeros(2))
	fmt.Println(batch.Shape(), tensor.Must(batch.Tensor("act")).Shape())
	batch, err := tensor.Must(td.Index(ix.At(0))).NewZeros(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(batch, td.IndexInto(batch, ix.At(2)))
	// Output:
	// [2] [2]
	// [2] int64 [2]
	// [4 5]
}

// The structure of a batch, without its elements.
func ExampleTensorDict_ToMeta() {
	plan := tensor.Must(steps().ToMeta())
	long, err := plan.Expand(1_000_000, 3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.Must(long.Tensor("obs/pos")).Shape())
	row := tensor.Must(tensor.Must(long.Index(ix.At(0))).Materialize())
	fmt.Println(tensor.Must(row.Tensor("act")))
	// Output:
	// [1000000 3 2 4]
	// int64 [3 2]
	// [[0 0]
	//  [0 0]
	//  [0 0]]
}

// A kernel of one's own, for each leaf: bytes upside down.
func ExampleTensorDict_Leafwise() {
	invert := &tensor.Kernel{
		Op: "invert",
		Check: func(xs []*tensor.Tensor) (tensor.DType, shapeops.Shape, error) {
			return xs[0].DType(), xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) {
			for i := range b.Dst {
				b.Dst[i] = 255 - b.Src[0].Bytes[i*len(b.Src[0].Bytes)/len(b.Dst)]
			}
		},
	}
	td := tdict.New(2)
	_ = td.Set("image", tensor.Must(tensor.From([]uint8{0, 1, 254, 255}, 2, 2)))
	inverted, err := td.Leafwise(invert)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.Must(inverted.Tensor("image")))
	// Output:
	// uint8 [2 2]
	// [[255 254]
	//  [  1   0]]
}
