package shapeops_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleFlip() {
	printed(shapeops.Flip(table(2, 3), 1))
	// Output:
	// int32 [2 3]
	// [[2 1 0]
	//  [5 4 3]]
}

// A tensor is flipped in place.
func ExampleFlipInto() {
	x := tensor.Vector[int32](1, 2, 3)
	fmt.Println(shapeops.FlipInto(x, x))
	fmt.Println(x)
	// Output:
	// <nil>
	// int32 [3]
	// [3 2 1]
}

func ExampleRoll() {
	printed(shapeops.Roll(tensor.Vector[int32](1, 2, 3, 4), 0, 1))
	printed(shapeops.Roll(tensor.Vector[int32](1, 2, 3, 4), 0, -1))
	// Output:
	// int32 [4]
	// [4 1 2 3]
	// int32 [4]
	// [2 3 4 1]
}

func ExampleRot90() {
	printed(shapeops.Rot90(table(2, 3), 0, 1, 1))
	// Output:
	// int32 [3 2]
	// [[2 5]
	//  [1 4]
	//  [0 3]]
}

func ExampleUnfold() {
	windows := tensor.Must(shapeops.Unfold(tensor.Vector[int32](1, 2, 3, 4, 5), 0, 3, 1))
	fmt.Println(windows)
	fmt.Println(windows.CopyFrom(tensor.Scalar[int32](0)))
	// Output:
	// int32 [3 3]
	// [[1 2 3]
	//  [2 3 4]
	//  [3 4 5]]
	// copy from: unsuitable layout: windows share elements: call Clone first
}

func ExampleAtLeast() {
	fmt.Println(tensor.Must(shapeops.AtLeast(tensor.Vector[int32](1, 2, 3), 3)).Shape())
	// Output: [1 1 3]
}

func ExampleRepeat() {
	printed(shapeops.Repeat(tensor.Vector[int32](1, 2), 3))
	// Output:
	// int32 [6]
	// [1 2 1 2 1 2]
}

func ExampleTile() {
	printed(shapeops.Tile(tensor.Vector[int32](1, 2), 2, 2))
	// Output:
	// int32 [2 4]
	// [[1 2 1 2]
	//  [1 2 1 2]]
}

func ExampleRepeatInterleave() {
	printed(shapeops.RepeatInterleave(tensor.Vector[int32](1, 2), 0, 3))
	// Output:
	// int32 [6]
	// [1 1 1 2 2 2]
}

// Each label is repeated for as many frames as its clip has.
func ExampleRepeatEach() {
	labels := tensor.Vector[int32](7, 8, 9)
	printed(shapeops.RepeatEach(labels, 0, []int{2, 0, 3}))
	// Output:
	// int32 [5]
	// [7 7 9 9 9]
}

func ExampleWindow() {
	starts := tensor.Vector[int64](0, 1)
	printed(shapeops.Window(table(2, 3), starts, []int{1}, []int{2}))
	// Output:
	// int32 [2 2]
	// [[0 1]
	//  [4 5]]
}

// A square of each image is erased, each at a place of its own.
func ExampleSetWindow() {
	images := tensor.Must(tensor.Full[uint8](9, 2, 3, 3))
	corners := tensor.Must(tensor.From([]int64{0, 0, 1, 1}, 2, 2))
	fmt.Println(shapeops.SetWindow(images, tensor.Scalar[uint8](0), corners, []int{1, 2}, []int{2, 2}))
	fmt.Println(images)
	// Output:
	// <nil>
	// uint8 [2 3 3]
	// [[[0 0 9]
	//   [0 0 9]
	//   [9 9 9]]
	//
	//  [[9 9 9]
	//   [9 0 0]
	//   [9 0 0]]]
}

// A random crop: image and mask of a row have the same corner.
func ExampleWindow_dictionary() {
	td, r := images(), rand.New(rand.NewPCG(1, 2))
	corners := make([]int64, 2*2)
	for i := range corners {
		corners[i] = r.Int64N(4 - 2 + 1)
	}
	crops, err := shapeops.Window(td, tensor.Must(tensor.From(corners, 2, 2)), []int{1, 2}, []int{2, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	image, mask := tensor.Must(crops.Tensor("image")), tensor.Must(crops.Tensor("mask"))
	fmt.Println(image.Shape(), mask.Equal(tensor.Must(image.Cast(tensor.Int32))))
	// Output: [2 2 2] true
}

// Image and mask are mirrored alike.
func ExampleFlip_dictionary() {
	flipped := tensor.Must(shapeops.Flip(images(), -1))
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

// A destination is made once, and filled again and again.
func ExampleFlipInto_dictionary() {
	td := tdict.New(3)
	_ = td.Set("frame", tensor.Vector[uint8](1, 2, 3))
	backwards := tensor.Must(td.NewZeros(td.Shape()...))
	for range 2 {
		if err := shapeops.FlipInto(backwards, td, 0); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tdict.Slice[uint8](backwards, "frame"))
		_ = arith.FillInPlace(td, 7)
	}
	// Output:
	// [3 2 1] <nil>
	// [7 7 7] <nil>
}

// table returns the numbers 0, 1, 2 ... in rows and columns.
func table(rows, columns int) *tensor.Tensor {
	x := tensor.Must(tensor.Arange[int32](0, int32(rows*columns), 1))
	return tensor.Must(x.Reshape(rows, columns))
}

// printed prints a tensor, or the error.
func printed(x *tensor.Tensor, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x)
}

// images returns 2 images of 4 by 4 pixels, numbered, and the same as masks.
func images() *tdict.TensorDict {
	td := tdict.New(2, 4, 4)
	pixels := tensor.Must(tensor.Must(tensor.Arange[int16](0, 32, 1)).Reshape(2, 4, 4))
	_ = td.Set("image", pixels)
	_ = td.Set("mask", tensor.Must(pixels.Cast(tensor.Int32)))
	return td
}
