package tdict_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// add returns the sum of two tensors of float32.
func add(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) {
	b, err := tensor.Of[float32](xs[1])
	if err != nil {
		return nil, err
	}
	sum := make([]float32, len(b))
	for i, v := range tensor.Must(tensor.Of[float32](xs[0])) {
		sum[i] = v + b[i]
	}
	return tensor.From(sum, xs[0].Shape()...)
}

// This example adds gradients to weights in place. A layer without gradients stays as it is.
func ExampleApplyOptions() {
	weights, grads := tdict.New(), tdict.New()
	err := errors.Join(
		weights.Set("in/w", tensor.Vector[float32](1, 2)),
		weights.Set("out/w", tensor.Vector[float32](3)),
		grads.Set("in/w", tensor.Vector[float32](0.5, -0.5)),
	)
	weights.Lock()
	_, err2 := tdict.Apply(context.Background(), []*tdict.TensorDict{weights, grads}, add, tdict.ApplyOptions{
		InPlace: true,
		Default: 0, // for "out/w"
		Workers: 2,
	})
	fmt.Println(errors.Join(err, err2))
	fmt.Println(tensor.Must(tdict.Slice[float32](weights, "in/w")), tensor.Must(tdict.Slice[float32](weights, "out/w")))
	// Output:
	// <nil>
	// [1.5 1.5] [3]
}

func ExampleMapElems() {
	halved, err := tdict.MapElems(steps(), func(v int64) float32 { return float32(v) / 2 })
	show(halved, err)
	pos := tensor.Must(halved.Tensor("obs/pos"))
	fmt.Println(pos.DType(), pos.Shape()) // unchanged: it has no int64
	// Output:
	// [3 2] float32 [3 2]
	// [[  0 0.5]
	//  [  1 1.5]
	//  [  2 2.5]]
	// float32 [3 2 4]
}

func ExamplePanicError() {
	_, err := steps().Apply(func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		panic("not now")
	})
	fmt.Println(err)
	if p, ok := errors.AsType[*tdict.PanicError](err); ok {
		fmt.Println(p.Value, len(p.Stack) > 0)
	}
	// Output:
	// apply "act": panic: not now
	// not now true
}

// This example passes the tensors of a dictionary to an optimizer that takes a list.
func ExampleTensorDict_Tree() {
	params := tdict.New()
	err := errors.Join(
		params.Set("in/w", tensor.Vector[float32](1, 2)),
		params.Set("in/b", tensor.Scalar[float32](3)),
		params.Set("name", tensor.Must(tdict.NewData("net"))),
	)
	leaves, tree := params.Tree()
	for i, x := range leaves {
		leaves[i] = tensor.Must(tensor.Map(x, func(v float32) float32 { return v / 2 }))
	}
	halved, err2 := tree.Build(leaves)
	fmt.Println(errors.Join(err, err2))
	fmt.Println(halved)
	// Output:
	// <nil>
	// TensorDict(
	//     fields={
	//         in: TensorDict(
	//             fields={
	//                 w: Tensor(shape=[2], dtype=float32),
	//                 b: Tensor(shape=[], dtype=float32)},
	//             batch=[]),
	//         name: Data(shape=[], value="net")},
	//     batch=[])
}
