package tensor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	x, err := tensor.From([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	last, _ := x.Index(ix.All, ix.At(-1))        // shares memory with x
	rows, _ := x.Index(ix.Take(1, 1, 0))         // a copy
	_ = last.CopyFrom(tensor.Scalar[float32](9)) // broadcast
	all, err := tensor.Of[float32](rows)
	fmt.Println(x)
	fmt.Println(all, err)
	// Output:
	// float32 [2 3]
	// [[0 1 9]
	//  [3 4 9]]
	// [3 4 5 3 4 5 0 1 2] <nil>
}

func ExampleNew() {
	x, err := tensor.New(tensor.BFloat16, 2, 3) // the dtype is known when the program runs
	fmt.Println(x.DType(), x.Shape(), x.Size(), x.ByteSize(), err)
	// Output: bfloat16 [2 3] 6 12 <nil>
}

func ExampleZeros() {
	fmt.Println(tensor.Zeros[int64](3))
	fmt.Println(tensor.Full(true, 2))
	fmt.Println(tensor.Arange(0, 1, 0.25))
	fmt.Println(tensor.Vector[int8](1, -1))
	fmt.Println(tensor.Scalar(2.5))
	// Output:
	// int64 [3]
	// [0 0 0] <nil>
	// bool [2]
	// [true true] <nil>
	// float64 [4]
	// [   0 0.25  0.5 0.75] <nil>
	// int8 [2]
	// [ 1 -1]
	// float64 [] 2.5
}

func ExampleFrom() {
	data := []uint8{1, 2, 3, 4}
	x, err := tensor.From(data, 2, 2)
	data[0] = 9 // x has no copy
	fmt.Println(x, err)

	_, err = tensor.From(data, 3)
	fmt.Println(err, errors.Is(err, shapeops.ErrShape))
	// Output:
	// uint8 [2 2]
	// [[9 2]
	//  [3 4]] <nil>
	// tensor from: shape mismatch: got 4 elements, want 3 for [3] true
}

func ExampleFromBytes() {
	var file bytes.Buffer
	_, _ = tensor.Vector[int32](5, -6).WriteTo(&file)
	fmt.Println(tensor.FromBytes(tensor.Int32, file.Bytes(), 2))
	// Output:
	// int32 [2]
	// [ 5 -6] <nil>
}

// fixed is a Lender of memory that never goes away.
type fixed []byte

func (f *fixed) Borrow() ([]byte, error) { return *f, nil }
func (f *fixed) Return()                 {}
func (f *fixed) Pin() ([]byte, error)    { return *f, nil }
func (f *fixed) ReadOnly() bool          { return true }

func ExampleFromLender() {
	x, err := tensor.FromLender(tensor.Uint8, &fixed{1, 2, 3}, 0, 3)
	fmt.Println(x, err)
	fmt.Println(x.CopyFrom(tensor.Scalar[uint8](0)))
	// Output:
	// uint8 [3]
	// [1 2 3] <nil>
	// copy from: read-only memory: Clone the tensor, or open the dataset with Writable
}

func ExampleOf() {
	x := tensor.Vector(1.0, 2, 3)
	s, err := tensor.Of[float64](x)
	s[0] = 9 // s is x's own memory
	fmt.Println(x, err)
	_, err = tensor.Of[float32](x)
	fmt.Println(err)
	// Output:
	// float64 [3]
	// [9 2 3] <nil>
	// dtype mismatch: got float64 [3], want float32
}

func ExampleElements() {
	x, _ := tensor.From([]int16{1, 2, 3, 4}, 2, 2)
	turned, _ := x.Transpose(0, 1)
	all, err := tensor.Elements[int16](turned)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range all {
		fmt.Print(v, " ")
	}
	fmt.Println(tensor.Item[float64](tensor.Scalar(math.Pi))) // the only one
	// Output: 1 3 2 4 3.141592653589793 <nil>
}

func ExampleItem() {
	x, _ := tensor.From([]int16{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(tensor.Item[int16](x, 0, -1))
	fmt.Println(tensor.Item[int16](x, 2, 0))
	// Output:
	// 3 <nil>
	// 0 bad index: got position 2 of dim 0, which has size 2
}

func ExampleMap() {
	fmt.Println(tensor.Map(tensor.Vector[int8](-1, 0, 4), func(v int8) bool { return v > 0 }))
	// Output:
	// bool [3]
	// [false false  true] <nil>
}

func ExampleDTypes() {
	for _, d := range tensor.DTypes() {
		if d.IsFloat() {
			fmt.Print(d, ":", d.Size(), " ")
		}
	}
	fmt.Println(tensor.DTypeOf[tensor.BF16]())
	fmt.Println(tensor.ParseDType("float16"))
	// Output:
	// float16:2 bfloat16:2 float32:4 float64:8 bfloat16
	// float16 <nil>
}

func ExampleF16Of() {
	h, b := tensor.F16Of(0.1), tensor.BF16Of(0.1)
	fmt.Println(h.Float64(), b.Float64())
	// Output: 0.0999755859375 0.10009765625
}

func ExampleTensor_Index() {
	x, _ := tensor.Arange[int8](0, 6, 1)
	x, _ = x.Reshape(2, 3)
	column, _ := x.Index(ix.All, ix.At(0))
	picked, _ := x.Index(ix.Mask([]bool{false, true}))
	fmt.Println(column, x.SharesMemory(column))
	fmt.Println(picked, x.SharesMemory(picked))
	// Output:
	// int8 [2]
	// [0 3] true
	// int8 [1 3]
	// [[3 4 5]] false
}

func ExampleTensor_IndexInto() {
	x, _ := tensor.Arange[int8](0, 10, 1)
	batch, _ := tensor.Zeros[int8](3)
	for _, rows := range [][]int{{7, 1, 4}, {0, 9, 2}} { // batch is used again and again
		err := x.IndexInto(batch, ix.Take(rows...))
		fmt.Println(batch, err)
	}
	// Output:
	// int8 [3]
	// [7 1 4] <nil>
	// int8 [3]
	// [0 9 2] <nil>
}

func ExampleTensor_SetIndex() {
	x, _ := tensor.Zeros[int8](3, 2)
	_ = x.SetIndex(tensor.Vector[int8](1, 2), ix.At(0))
	_ = x.SetIndex(tensor.Scalar[int8](7), ix.Take(2, 1), ix.At(-1)) // broadcast
	fmt.Println(x)
	// Output:
	// int8 [3 2]
	// [[1 2]
	//  [0 7]
	//  [0 7]]
}

func ExampleTensor_AsIndex() {
	x := tensor.Vector(0.5, -1, 2)
	negative, _ := tensor.Map(x, func(v float64) bool { return v < 0 })
	where, err := negative.AsIndex()
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = x.SetIndex(tensor.Scalar(0.0), where)
	fmt.Println(where, x)
	// Output:
	// mask[FTF] float64 [3]
	// [0.5   0   2]
}

func ExampleTensor_Reshape() {
	x, _ := tensor.Arange[int8](0, 6, 1)
	square, err := x.Reshape(2, shapeops.Infer)
	fmt.Println(square.Shape(), square.SharesMemory(x), err)

	turned, _ := square.Transpose(0, 1)
	flat, err := turned.Flatten(0, 1) // no strides tell this order
	fmt.Println(flat, flat.SharesMemory(x), err)

	again, err := flat.Unflatten(0, 3, 2)
	fmt.Println(again.Shape(), err)
	// Output:
	// [2 3] true <nil>
	// int8 [6]
	// [0 3 1 4 2 5] false <nil>
	// [3 2] <nil>
}

func ExampleTensor_Permute() {
	x, _ := tensor.Zeros[uint8](8, 8, 3) // height, width, channel
	planes, err := x.Permute(2, 0, 1)
	fmt.Println(planes.Shape(), planes.View().Strides, err)
	// Output: [3 8 8] [1 24 3] <nil>
}

func ExampleTensor_Squeeze() {
	x, _ := tensor.Zeros[uint8](1, 3, 1)
	all, _ := x.Squeeze()
	last, _ := x.Squeeze(-1)
	back, _ := all.Unsqueeze(0)
	fmt.Println(all.Shape(), last.Shape(), back.Shape())
	// Output: [3] [1 3] [1 3]
}

func ExampleTensor_Expand() {
	x, _ := tensor.From([]int8{1, 2}, 2, 1)
	wide, _ := x.Expand(2, 3)
	fmt.Println(wide, wide.SharesMemory(x))
	fmt.Println(wide.CopyFrom(x))
	// Output:
	// int8 [2 3]
	// [[1 1 1]
	//  [2 2 2]] true
	// copy from: unsuitable layout: expanded dim 1 repeats its elements: call Clone first
}

func ExampleTensor_Contiguous() {
	x, _ := tensor.From([]int8{1, 2, 3, 4}, 2, 2)
	turned, _ := x.Transpose(0, 1)
	_, err := tensor.Of[int8](turned)
	fmt.Println(err)

	turned, _ = turned.Contiguous()
	fmt.Println(tensor.Of[int8](turned))
	same, _ := x.Contiguous()
	copied, _ := x.Clone()
	fmt.Println(same.SharesMemory(x), copied.SharesMemory(x), copied.Equal(x))
	// Output:
	// unsuitable layout: elements are not contiguous: call Contiguous first
	// [1 3 2 4] <nil>
	// true false true
}

func ExampleTensor_CopyFrom() {
	x, _ := tensor.Zeros[int8](2, 3)
	fmt.Println(x.CopyFrom(tensor.Vector[int8](1, 2, 3)), x)
	left, _ := x.Index(ix.All, ix.Range(0, 2))
	right, _ := x.Index(ix.All, ix.Range(1, 3))
	fmt.Println(right.CopyFrom(left), x)
	// Output:
	// <nil> int8 [2 3]
	// [[1 2 3]
	//  [1 2 3]]
	// <nil> int8 [2 3]
	// [[1 1 2]
	//  [1 1 2]]
}

func ExampleTensor_WriteTo() {
	var b bytes.Buffer
	n, err := tensor.Vector[uint8](1, 2, 3).WriteTo(&b)
	fmt.Println(n, err, b.Bytes())
	// Output: 3 <nil> [1 2 3]
}

func ExampleTensor_Cast() {
	x := tensor.Vector(-1.5, 2.9, 300, math.NaN())
	fmt.Println(x.Cast(tensor.Uint8))
	fmt.Println(x.Cast(tensor.Bool))
	// Output:
	// uint8 [4]
	// [  0   2 255   0] <nil>
	// bool [4]
	// [true true true true] <nil>
}

func ExampleTensor_AllClose() {
	x, y := tensor.Vector(1, 1+1e-9), tensor.Scalar(1.0)
	near, err := x.AllClose(y, tensor.Tolerance{Relative: 1e-5, Absolute: 1e-8})
	fmt.Println(near, err, x.Equal(y))
	// Output: true <nil> false
}

func ExampleTensor_String() {
	x, _ := tensor.Arange[int32](0, 5000, 1)
	x, _ = x.Reshape(50, 100)
	fmt.Println(x)
	// Output:
	// int32 [50 100]
	// [[   0    1    2 ...   97   98   99]
	//  [ 100  101  102 ...  197  198  199]
	//  [ 200  201  202 ...  297  298  299]
	//  ...
	//  [4700 4701 4702 ... 4797 4798 4799]
	//  [4800 4801 4802 ... 4897 4898 4899]
	//  [4900 4901 4902 ... 4997 4998 4999]]
}

func ExampleTransfer() {
	obs, _ := tensor.Zeros[float32](4)
	done, _ := tensor.Zeros[bool](4)
	var tr tensor.Transfer
	err := errors.Join(
		tr.Copy(obs, tensor.Scalar[float32](1)),
		tr.Copy(done, tensor.Vector(true, false)), // does not fit
	)
	if err == nil {
		err = tr.Run()
	}
	fmt.Println(err)
	fmt.Println(obs) // not written either
	// Output:
	// shape mismatch: [2] does not broadcast to [4]
	// float32 [4]
	// [0 0 0 0]
}

// The functions of shapeops that put values together and cut them apart work on tensors.
func Example_stackAndCat() {
	x, y := tensor.Vector[int8](1, 2), tensor.Vector[int8](3, 4)
	fmt.Println(shapeops.Stack([]*tensor.Tensor{x, y}, -1))
	fmt.Println(shapeops.Cat([]*tensor.Tensor{x, y}, 0))

	pair, _ := tensor.Zeros[int8](2, 2)
	err := shapeops.StackInto(pair, []*tensor.Tensor{y, x}, 0)
	fmt.Println(pair, err)
	row, _ := pair.Reshape(4)
	fmt.Println(shapeops.CatInto(row, []*tensor.Tensor{x, x}, 0), row)
	// Output:
	// int8 [2 2]
	// [[1 3]
	//  [2 4]] <nil>
	// int8 [4]
	// [1 2 3 4] <nil>
	// int8 [2 2]
	// [[3 4]
	//  [1 2]] <nil>
	// <nil> int8 [4]
	// [1 2 1 2]
}

func Example_split() {
	x, _ := tensor.Arange[int8](0, 7, 1)
	show := func(pieces []*tensor.Tensor, err error) {
		for _, p := range pieces {
			all, _ := tensor.Elements[int8](p)
			fmt.Print(slices.Collect(all))
		}
		fmt.Println("", err)
	}
	show(shapeops.Split(x, 0, 3, 0, 4))
	show(shapeops.SplitBy(x, 0, 3))
	show(shapeops.Chunk(x, 0, 2))
	show(shapeops.Unbind(x, 0))
	// Output:
	// [0 1 2][][3 4 5 6] <nil>
	// [0 1 2][3 4 5][6] <nil>
	// [0 1 2 3][4 5 6] <nil>
	// [0][1][2][3][4][5][6] <nil>
}

// Rows of sequences of different lengths are laid side by side, with a fill value after each.
func ExampleTransfer_Runs() {
	rows := tensor.Vector[int64](1, 2, 3, 4, 5) // sequences of 2 and of 3
	padded, _ := tensor.Zeros[int64](2, 4)
	flat, _ := padded.Reshape(8) // shares padded's memory

	var tr tensor.Transfer
	err := errors.Join(
		tr.Fill(flat, tensor.Scalar[int64](-1)),
		tr.Runs(flat, rows, []shape.Run{{To: 0, From: 0, Len: 2}, {To: 4, From: 2, Len: 3}}),
		tr.Run(),
	)
	fmt.Println(padded, err)
	// Output:
	// int64 [2 4]
	// [[ 1  2 -1 -1]
	//  [ 3  4  5 -1]] <nil>
}

// Read and Write lend the elements for a call, whatever the layout: a column lies with gaps, so it
// is a copy.
func ExampleWrite() {
	x, _ := tensor.From([]float32{1, 2, 3, 4}, 2, 2)
	column, _ := x.Index(ix.All, ix.At(1))
	fmt.Println(tensor.Read(column, func(s []float32) { fmt.Println(s[0] + s[1]) }))
	err := tensor.Write(column, func(s []float32) { s[0], s[1] = 10*s[0], 10*s[1] })
	fmt.Println(x, err)
	// Output:
	// 6
	// <nil>
	// float32 [2 2]
	// [[ 1 20]
	//  [ 3 40]] <nil>
}

// Sums of rows, wherever these lie: here of the columns of x, which is not copied.
func ExampleReadStrided() {
	x := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	columns := tensor.Must(x.Transpose(0, 1))
	err := tensor.ReadStrided(columns, func(s []float32, strides []int) error {
		for row := range 3 {
			at := row * strides[0]
			fmt.Println(s[at] + s[at+strides[1]])
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 5
	// 7
	// 9
	// <nil>
}
