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

func ExampleApplyEntries() {
	only, err := tdict.ApplyEntries(steps(), func(name nestedkey.Key, v tdict.Value) (tdict.Value, error) {
		if obs, ok := v.(*tdict.TensorDict); ok {
			return obs.Get("pos") // a dictionary becomes one of its leaves
		}
		return v, nil
	})
	for name, v := range only.All() {
		fmt.Println(name, v.Shape())
	}
	fmt.Println(err)
	// Output:
	// act [3 2]
	// obs [3 2 4]
	// <nil>
}

func ExampleFold() {
	bytes, err := tdict.Fold(steps(), 0, func(n int, _ nestedkey.Key, x *tensor.Tensor) (int, error) {
		return n + x.ByteSize(), nil
	})
	fmt.Println(bytes, err)
	// Output: 144 <nil>
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

func ExampleMapElemsInPlace() {
	td := steps()
	td.Lock() // keeps the structure, not the elements
	fmt.Println(tdict.MapElemsInPlace(td, func(v int64) int64 { return v * v }))
	fmt.Println(tensor.Must(tdict.Slice[int64](td, "act")))
	// Output:
	// <nil>
	// [0 1 4 9 16 25]
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

// This example makes batches of any number of rows from the structure of one prototype.
func ExampleTree_BuildBatch() {
	_, tree := steps().Tree()
	for key := range tree.Keys() {
		fmt.Println(key)
	}
	received := []*tensor.Tensor{tensor.Vector[int64](7, 8), tensor.Must(tensor.Zeros[float32](2, 4))}
	td, err := tree.BuildBatch(received, 2)
	fmt.Println(td.Shape(), tensor.Must(tdict.Slice[int64](td, "act")), err)
	_, err = tree.BuildBatch(received[:1], 2)
	fmt.Println(err)
	// Output:
	// act
	// obs/pos
	// [2] [7 8] <nil>
	// build "obs/pos": shape mismatch: got 1 leaves, want 2
}
