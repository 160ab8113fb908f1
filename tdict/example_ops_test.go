package tdict_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// images returns 2 images of 4 by 4 pixels, numbered, and the same as masks.
func images() *tdict.TensorDict {
	td := tdict.New(2, 4, 4)
	pixels := tensor.Must(tensor.Must(tensor.Arange[int16](0, 32, 1)).Reshape(2, 4, 4))
	_ = td.Set("image", pixels)
	_ = td.Set("mask", tensor.Must(pixels.Cast(tensor.Int32)))
	return td
}

// A random crop: image and mask of a row have the same corner.
func ExampleTensorDict_Window() {
	td, r := images(), rand.New(rand.NewPCG(1, 2))
	corners := make([]int64, 2*2)
	for i := range corners {
		corners[i] = r.Int64N(4 - 2 + 1)
	}
	crops, err := td.Window(tensor.Must(tensor.From(corners, 2, 2)), []int{1, 2}, []int{2, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	image, mask := tensor.Must(crops.Tensor("image")), tensor.Must(crops.Tensor("mask"))
	fmt.Println(image.Shape(), mask.Equal(tensor.Must(image.Cast(tensor.Int32))))
	// Output: [2 2 2] true
}

// Image and mask are mirrored alike.
func ExampleTensorDict_Flip() {
	flipped := tensor.Must(images().Flip(-1))
	fmt.Println(tensor.Must(flipped.Tensor("mask")))
	// Output:
	// int32 [2 4 4]
	// [[[ 3  2  1  0]
	//   [ 7  6  5  4]
	//   [11 10  9  8]
	//   [15 14 13 12]]
	//
	//  [[19 18 17 16]
	//   [23 22 21 20]
	//   [27 26 25 24]
	//   [31 30 29 28]]]
}

// A batch of a fixed size: labels of what is padded are -1.
func ExampleTensorDict_Pad() {
	td := tdict.New(2)
	_ = td.Set("x", tensor.Vector[float32](0.5, 1.5))
	_ = td.Set("label", tensor.Vector[int64](7, 8))
	padded, err := td.Pad(tdict.PadOptions{Values: map[nestedkey.Key]any{"label": -1}}, 0, 2)
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

// Dims go by name once they have one.
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
	// dim of: bad name of a dim: got "channel", want one of ["batch" "time"]
}

func ExampleTensorDict_RenameDims() {
	td := tdict.New(8, 16)
	fmt.Println(td.RefineNames("batch", ""), td.RenameDims(map[string]string{"batch": "env"}))
	fmt.Printf("%q\n", td.Names())
	// Output:
	// <nil> <nil>
	// ["env" ""]
}
