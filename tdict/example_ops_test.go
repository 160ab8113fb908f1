package tdict_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// This example pads a batch to a fixed size. Labels are padded with -1.
func ExampleTensorDict_Pad() {
	td := tdict.New(2)
	_ = td.Set("x", tensor.Vector[float32](0.5, 1.5))
	_ = td.Set("label", tensor.Vector[int64](7, 8))
	padded, err := td.Pad(tdict.PadOptions{Fills: map[nestedkey.Key]any{"label": -1}}, 0, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(padded.Head(4))
	// Output:
	// x    label
	// 0.5  7
	// 1.5  8
	// 0    -1
	// 0    -1
}

func ExampleTensorDict_MaskedSelect() {
	td := tdict.New(3)
	_ = td.Set("reward", tensor.Vector[float32](0, 1, 2))
	done := tensor.Vector(true, false, true)
	fmt.Println(tensor.Must(td.MaskedSelect(done)).Head(3))
	// Output:
	// reward
	// 0
	// 2
}

func ExampleTensorDict_Take() {
	td := tdict.New(3)
	_ = td.Set("reward", tensor.Vector[float32](0, 1, 2))
	shuffled := tensor.Must(td.Take(0, tensor.Vector[int64](2, 0, 1)))
	fmt.Println(shuffled.Head(3))
	// Output:
	// reward
	// 2
	// 0
	// 1
}

// This example refers to dims by name.
func ExampleTensorDict_SetNames() {
	td := tdict.New(8, 16)
	_ = td.Set("reward", tensor.Must(tensor.Zeros[float32](8, 16)))
	fmt.Println(td.SetNames("batch", "time"))
	timeFirst := tensor.Must(td.Transpose(0, 1))
	fmt.Printf("%q\n", timeFirst.Names())
	fmt.Println(timeFirst.DimOf("batch"))
	_, err := td.DimOf("channel")
	fmt.Println(err)
	// Output:
	// <nil>
	// ["time" "batch"]
	// 1 <nil>
	// dim of: bad name: got "channel", want one of ["batch" "time"]
}

func ExampleTensorDict_RenameDims() {
	td := tdict.New(8, 16)
	fmt.Println(td.RefineNames("batch", ""), td.RenameDims(map[string]string{"batch": "env"}))
	fmt.Printf("%q\n", td.Names())
	// Output:
	// <nil> <nil>
	// ["env" ""]
}
