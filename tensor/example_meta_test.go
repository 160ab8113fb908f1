package tensor_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// How large would a hundred million images be?
func ExampleNewMeta() {
	image := tensor.Must(tensor.NewMeta(tensor.Uint8, 224, 224, 3))
	images, err := image.Expand(100_000_000, 224, 224, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	floats, err := images.Cast(tensor.Float32)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(floats.DType(), floats.Shape(), floats.ByteSize()>>40, "TiB")
	// Output:
	// float32 [100000000 224 224 3] 54 TiB
}

// A destination for what an operation will make, without making it first.
func ExampleTensor_ToMeta() {
	x := tensor.Vector[int16](1, 2, 3)
	plan := tensor.Must(x.ToMeta())
	both := tensor.Must(shapeops.Stack([]*tensor.Tensor{plan, plan}, 0))
	dst := tensor.Must(both.Materialize())
	err := shapeops.StackInto(dst, []*tensor.Tensor{x, x}, 0)
	fmt.Println(both.Device(), dst.Device())
	fmt.Println(dst, err)
	// Output:
	// meta cpu
	// int16 [2 3]
	// [[1 2 3]
	//  [1 2 3]] <nil>
}

func ExampleTensor_Reinterpret() {
	colors := tensor.Must(tensor.From([]uint8{255, 0, 0, 255, 0, 255, 0, 255}, 2, 4))
	packed, err := colors.Reinterpret(tensor.Uint32)
	fmt.Println(packed.Shape(), err)
	_ = packed.CopyFrom(tensor.Scalar[uint32](0)) // the same memory
	fmt.Println(colors)
	// Output:
	// [2 1] <nil>
	// uint8 [2 4]
	// [[0 0 0 0]
	//  [0 0 0 0]]
}

// A kernel of one's own: how many bits of each element are set.
func ExampleTensor_Ops() {
	count := &tensor.Kernel{
		Op: "count bits",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			if d := xs[0].DType(); d.Size() != 1 {
				return 0, nil, fmt.Errorf("%w: got %v, want bytes", tensor.ErrDType, d)
			}
			return tensor.Uint8, xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error {
			from := b.Src[0] // of as many elements as the block, unless an operand was broadcast
			for i := range b.Dst {
				v := from.Bytes[i*len(from.Bytes)/len(b.Dst)]
				b.Dst[i] = 0
				for ; v > 0; v &= v - 1 {
					b.Dst[i]++
				}
			}
			return nil
		},
	}
	fmt.Println(tensor.Vector[uint8](0, 1, 3, 255).Ops().Leafwise(count))
	fmt.Println(tensor.Vector(1.5).Ops().Leafwise(count))
	// Output:
	// uint8 [4]
	// [0 1 2 8] <nil>
	// <nil> count bits: dtype mismatch: got float64, want bytes
}
