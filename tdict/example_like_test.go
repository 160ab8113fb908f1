package tdict_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// This example makes a destination for batches once.
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

// This example plans with the structure of a batch, without its elements.
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

// This example applies its own kernel to each leaf: it inverts bytes.
func ExampleTensorDict_Ops() {
	invert := &tensor.Kernel{
		Op: "invert",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return xs[0].DType(), xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error {
			for i := range b.Dst {
				b.Dst[i] = 255 - b.Src[0].Bytes[i*len(b.Src[0].Bytes)/len(b.Dst)]
			}
			return nil
		},
	}
	td := tdict.New(2)
	_ = td.Set("image", tensor.Must(tensor.From([]uint8{0, 1, 254, 255}, 2, 2)))
	inverted, err := td.Ops().Leafwise(invert)
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

func ExampleTensorDict_RefineNames() {
	td := tdict.New(4, 16)
	fmt.Printf("%v %q\n", td.RefineNames("", "time"), td.Names())
	fmt.Printf("%v %q\n", td.RefineNames("batch", ""), td.Names())
	fmt.Println(td.RefineNames("rows", ""))
	fmt.Println(td.DimOf("time"))
	fmt.Printf("%v %q\n", td.SetNames("", ""), td.Names())
	// Output:
	// <nil> ["" "time"]
	// <nil> ["batch" "time"]
	// refine names: bad name: got "rows" for dim 0, which has the name "batch": call RenameDims
	// 1 <nil>
	// <nil> ["" ""]
}

func ExampleTensorDict_Cast() {
	td := tdict.New(2)
	_ = td.Set("pixel", tensor.Vector[uint8](0, 255))
	_ = td.Set("label", tensor.Vector[int64](7, 9))
	wide, err := td.Cast(tensor.Float32)
	fmt.Println(err)
	for key, x := range wide.Tensors() {
		fmt.Println(key, x)
	}
	// Output:
	// <nil>
	// pixel float32 [2]
	// [  0 255]
	// label float32 [2]
	// [7 9]
}

func ExampleTensorDict_ByteSize() {
	td := tdict.New(4)
	_ = td.Set("image", tensor.Must(tensor.Zeros[uint8](4, 8, 8)))
	_ = td.Set("meta/label", tensor.Must(tensor.Zeros[int64](4)))
	fmt.Println(td.ByteSize())
	// Output: 288
}
