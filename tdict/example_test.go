package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// This example builds, indexes and stacks four frames of a game with their rewards.
func Example() {
	pixels := tensor.Must(tensor.Zeros[uint8](4, 8, 8))
	frames := tdict.New(4) // the batch shape; the shape of every value begins with it
	if err := errors.Join(
		frames.Set("obs/pixels", pixels),
		frames.Set("reward", tensor.Vector[float32](0, 1, 0, 2)),
	); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(frames)

	tail := tensor.Must(frames.Index(ix.Range(-2, ix.End)))
	for key, leaf := range tail.Tensors() {
		fmt.Println(key, leaf.DType(), leaf.Shape())
	}
	both := tensor.Must(shapeops.Stack([]*tdict.TensorDict{tail, tail}, 0))
	fmt.Println(tensor.Must(both.Tensor("reward")))
	// Output:
	// TensorDict(
	//     fields={
	//         obs: TensorDict(
	//             fields={
	//                 pixels: Tensor(shape=[4 8 8], dtype=uint8)},
	//             batch=[4]),
	//         reward: Tensor(shape=[4], dtype=float32)},
	//     batch=[4])
	// obs/pixels uint8 [2 8 8]
	// reward float32 [2]
	// float32 [2 2]
	// [[0 2]
	//  [0 2]]
}

// steps returns a dictionary for the examples: two time steps of three games.
func steps() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{3, 2}, map[nestedkey.Key]tdict.Value{
		"act":     tensor.Must(tensor.From([]int64{0, 1, 2, 3, 4, 5}, 3, 2)),
		"obs/pos": tensor.Must(tensor.Zeros[float32](3, 2, 4)),
	}))
}

// show prints the batch shape of a result and the actions in it.
func show(td *tdict.TensorDict, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(td.Shape(), tensor.Must(td.Tensor("act")))
}

func ExampleNew() {
	fmt.Println(tdict.New(4, 3).Shape(), tdict.New().Shape())
	fmt.Println(tdict.New(4).Set("act", tensor.Vector[int64](1, 2, 3)))
	// Output:
	// [4 3] []
	// set "act": shape mismatch: got [3], want a shape that begins with [4]
}

func ExampleFromMap() {
	td, err := tdict.FromMap(shapeops.Shape{2}, map[nestedkey.Key]tdict.Value{
		"reward":  tensor.Vector[float32](0, 1),
		"obs/pos": tensor.Must(tensor.Zeros[float32](2, 3)),
	})
	for key := range td.NestedKeys() {
		fmt.Println(key)
	}
	fmt.Println(err)
	// Output:
	// obs
	// obs/pos
	// reward
	// <nil>
}

// This example makes one sample from Go values.
func ExampleFromValues() {
	sample, err := tdict.FromValues(nil, tdict.Values{
		"obs/pos": []float32{0.5, -1}, "action": int64(2), "done": false, "task": "reach",
	})
	fmt.Println(sample, err)
	_, err = tdict.FromValues(nil, tdict.Values{"action": 2})
	fmt.Println(err)
	// Output:
	// TensorDict(
	//     fields={
	//         action: Tensor(shape=[], dtype=int64),
	//         done: Tensor(shape=[], dtype=bool),
	//         obs: TensorDict(
	//             fields={
	//                 pos: Tensor(shape=[2], dtype=float32)},
	//             batch=[]),
	//         task: Data(shape=[], value="reach")},
	//     batch=[]) <nil>
	// set "action": wrong kind of value: got int, whose size differs between machines: use int64 or int32
}

func ExampleTensorDict_Set() {
	td := tdict.New(2)
	fmt.Println(td.Set("next/done", tensor.Vector(false, true))) // creates "next"
	fmt.Println(td.Has("next"), td.Has("next/done"), td.Has("done"))
	fmt.Println(td.Set("next/done/why", tensor.Vector(false, true)))
	// Output:
	// <nil>
	// true true false
	// set "next/done/why": not a dictionary: "done" is bool [2]: for a name that contains "/", use nestedkey.Of("next", "done/why")
}

func ExampleTensorDict_Get() {
	td := steps()
	act, err := td.Get("act") // a tensor or a dictionary
	fmt.Println(act.Shape(), err)
	pos, err := td.Tensor("obs/pos") // a tensor
	fmt.Println(pos.DType(), err)
	obs, err := td.Dict("obs") // the dictionary itself, not a copy
	fmt.Println(obs.NumEntries(), err)
	_, err = td.Get("obs/vel")
	fmt.Println(err)
	// Output:
	// [3 2] <nil>
	// float32 <nil>
	// 1 <nil>
	// get "obs/vel": in "obs": missing key: have "pos"
}

func ExampleTensorDict_Delete() {
	td := steps()
	fmt.Println(td.Delete("obs/pos"), td.Has("obs")) // the empty dictionary stays
	act, err := td.Pop("act")
	fmt.Println(act.Shape(), err, td.NumEntries())
	// Output:
	// <nil> true
	// [3 2] <nil> 1
}

func ExampleTensorDict_Rename() {
	td := steps()
	fmt.Println(td.Rename("act", "action"))
	fmt.Println(td.Rename("obs/pos", "action"))
	pos, err := td.Pop("obs/pos")
	fmt.Println(err, td.Set("action", pos)) // replaces the value
	for key, leaf := range td.Tensors() {
		fmt.Println(key, leaf.DType())
	}
	// Output:
	// <nil>
	// rename "obs/pos": key exists: "action": Delete it first
	// <nil> <nil>
	// action float32
}

func ExampleTensorDict_Update() {
	td, news := steps(), tdict.New(3, 2)
	_ = news.Set("obs/vel", tensor.Must(tensor.Zeros[float32](3, 2, 4)))
	fmt.Println(td.Update(news)) // merges "obs", in which td keeps "pos"
	for key := range td.Leaves() {
		fmt.Println(key)
	}
	// Output:
	// <nil>
	// act
	// obs/pos
	// obs/vel
}

// All lists the entries, Leaves the leaves at any depth.
func ExampleTensorDict_All() {
	for key, value := range steps().All() {
		_, nested := value.(*tdict.TensorDict)
		fmt.Println(key, value.Shape(), nested)
	}
	for key, leaf := range steps().Tensors() {
		fmt.Println(key, leaf.DType(), leaf.Shape())
	}
	// Output:
	// act [3 2] false
	// obs [3 2] true
	// act int64 [3 2]
	// obs/pos float32 [3 2 4]
}

func ExampleTensorDict_Keys() {
	td := steps()
	fmt.Println(slices.Collect(td.Keys()), slices.Collect(td.NestedKeys()))
	for key := range td.Leaves() {
		fmt.Println(key)
	}
	// Output:
	// [act obs] [act obs obs/pos]
	// act
	// obs/pos
}

func ExampleTensorDict_Index() {
	td := steps()
	show(td.Index(ix.At(-1)))
	show(td.Index(ix.All, ix.At(0)))
	show(td.Index(ix.Mask([]bool{true, false, true})))
	show(td.Index(ix.At(0), ix.At(0), ix.At(0))) // an index cannot select features
	// Output:
	// [2] int64 [2]
	// [4 5]
	// [3] int64 [3]
	// [0 2 4]
	// [2 2] int64 [2 2]
	// [[0 1]
	//  [4 5]]
	// index: bad index: got an index expression over 3 dims, want at most the 2 dims of [3 2]
}

// This example draws batches into the same memory.
func ExampleTensorDict_IndexInto() {
	data := steps()
	batch := tensor.Must(tensor.Must(data.Index(ix.Range(0, 2))).Clone())
	for _, rows := range [][]int{{2, 0}, {1, 1}} {
		if err := data.IndexInto(batch, ix.Take(rows...)); err != nil {
			fmt.Println(err)
		}
		show(batch, nil)
	}
	// Output:
	// [2 2] int64 [2 2]
	// [[4 5]
	//  [0 1]]
	// [2 2] int64 [2 2]
	// [[2 3]
	//  [2 3]]
}

func ExampleTensorDict_SetIndex() {
	td := tdict.New(3)
	_ = td.Set("reward", tensor.Vector[float32](1, 2, 3))
	fmt.Println(td.SetIndex(tensor.Scalar[float32](9), ix.At(0))) // to every leaf

	row := tdict.New()
	_ = row.Set("reward", tensor.Scalar[float32](7))
	_ = row.Set("done", tensor.Scalar(true))
	fmt.Println(td.SetIndex(row, ix.At(-1)))                                          // leaf by leaf
	fmt.Println(td.SetIndexWith(row, tdict.SetIndexOptions{Create: true}, ix.At(-1))) // "done" is created
	fmt.Println(tensor.Must(td.Tensor("reward")))
	fmt.Println(tensor.Must(td.Tensor("done")))
	// Output:
	// <nil>
	// set index "done": missing key: have "reward"
	// <nil>
	// float32 [3]
	// [9 2 7]
	// bool [3]
	// [false false  true]
}

// A plan for a batch shape fits every value whose shape begins with it.

func ExampleTensorDict_Reshape() {
	show(steps().Reshape(2, shapeops.Infer))
	show(steps().Reshape(5))
	// Output:
	// [2 3] int64 [2 3]
	// [[0 1 2]
	//  [3 4 5]]
	// reshape: shape mismatch: got [5], want 6 elements as in [3 2]
}

func ExampleTensorDict_Flatten() {
	flat := tensor.Must(steps().Flatten(0, -1))
	show(flat, nil)
	fmt.Println(tensor.Must(flat.Tensor("obs/pos")).Shape()) // features stay
	fmt.Println(tensor.Must(flat.Unflatten(0, 3, shapeops.Infer)).Shape())
	// Output:
	// [6] int64 [6]
	// [0 1 2 3 4 5]
	// [6 4]
	// [3 2]
}

func ExampleTensorDict_Permute() {
	show(steps().Permute(1, 0))
	td := tensor.Must(steps().Transpose(0, -1)) // the last batch dim, not the last of a leaf
	fmt.Println(td.Shape(), tensor.Must(td.Tensor("obs/pos")).Shape())
	// Output:
	// [2 3] int64 [2 3]
	// [[0 2 4]
	//  [1 3 5]]
	// [2 3] [2 3 4]
}

func ExampleTensorDict_Squeeze() {
	td := tensor.Must(steps().Unsqueeze(-1)) // the last batch dim; features stay last
	fmt.Println(td.Shape(), tensor.Must(td.Tensor("obs/pos")).Shape())
	fmt.Println(tensor.Must(td.Squeeze()).Shape(), tensor.Must(td.Squeeze(0)).Shape())
	// Output:
	// [3 2 1] [3 2 1 4]
	// [3 2] [3 2 1]
}

func ExampleTensorDict_Expand() {
	td := tensor.Must(steps().Expand(5, 3, 2))
	fmt.Println(td.Shape(), tensor.Must(td.Tensor("act")).View().Strides)
	fmt.Println(td.SetIndex(steps()))
	// Output:
	// [5 3 2] [0 2 1]
	// set index "act": unsuitable layout: expanded dim 0 repeats its elements: call Clone first
}

// shapeops.Stack adds a batch dim, shapeops.Cat joins along one.
func Example_join() {
	td := tensor.Must(steps().Index(ix.At(0)))
	show(shapeops.Stack([]*tdict.TensorDict{td, td, td}, 1))
	show(shapeops.Cat([]*tdict.TensorDict{td, td}, 0))
	other := tensor.Must(td.Clone())
	_ = other.Delete("obs/pos")
	show(shapeops.Stack([]*tdict.TensorDict{td, other}, 0))
	// Output:
	// [2 3] int64 [2 3]
	// [[0 0 0]
	//  [1 1 1]]
	// [4] int64 [4]
	// [0 1 0 1]
	// stack "obs/pos": value 1: missing key: the dictionary is empty
}

func ExampleTensorDict_Clone() {
	td := steps()
	view, copied := tensor.Must(td.Index()), tensor.Must(td.Clone())
	_ = tensor.Must(td.Tensor("act")).SetIndex(tensor.Scalar[int64](9))
	fmt.Println(view.Equal(td), copied.Equal(td))
	_ = view.Rename("act", "action")
	fmt.Println(view.Equal(td)) // other keys
	// Output:
	// true false
	// false
}

func ExampleTensorDict_Select() {
	td := steps()
	obs, err := td.Select("obs")
	fmt.Println(obs.Has("obs/pos"), obs.Has("act"), err)
	_, err = td.Select("obs", "reward")
	fmt.Println(err)
	fmt.Println(td.SelectPresent("obs", "reward").NumEntries(), td.Exclude("obs", "reward").NumEntries())
	// Output:
	// true false <nil>
	// select "reward": missing key: have "act", "obs"
	// 1 1
}

func ExampleTensorDict_FlattenKeys() {
	flat := tensor.Must(steps().FlattenKeys("."))
	fmt.Println(flat.Has("obs.pos"))
	back := tensor.Must(flat.UnflattenKeys("."))
	fmt.Println(back.Has("obs/pos"))
	// Output:
	// true
	// true
}

func ExampleTensorDict_Lock() {
	td := steps()
	td.Lock()
	fmt.Println(td.Set("obs/vel", tensor.Must(tensor.Zeros[float32](3, 2))))
	fmt.Println(td.SetIndex(steps())) // elements may be written

	obs := tensor.Must(td.Dict("obs"))
	fmt.Println(obs.Locked(), obs.Unlock())
	fmt.Println(td.Unlock(), obs.Locked())
	// Output:
	// set "obs/vel": locked: Unlock it, or change a Copy
	// <nil>
	// true unlock: locked: this is an entry of a locked dictionary: Unlock the outer one
	// <nil> false
}

func ExampleTensorDict_Apply() {
	halved, err := steps().Apply(func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		if key.HasPrefix("obs") {
			return nil, nil // leaves it out
		}
		return tensor.Map(x, func(v int64) float32 { return float32(v) / 2 })
	})
	show(halved, err)
	fmt.Println(halved.Has("obs"), halved.Has("obs/pos"))
	// Output:
	// [3 2] float32 [3 2]
	// [[  0 0.5]
	//  [  1 1.5]
	//  [  2 2.5]]
	// true false
}

func ExampleApply() {
	twice := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Cat(xs, 1) }
	td := steps()
	longer, err := tdict.Apply(context.Background(), []*tdict.TensorDict{td, td}, twice, tdict.ApplyOptions{
		Workers:  2,
		Batch:    shapeops.Shape{3, 4},
		Progress: func(done, total int) { fmt.Println(done, "of", total) },
	})
	fmt.Println(longer.Shape(), err)
	// Output:
	// 1 of 2
	// 2 of 2
	// [3 4] <nil>
}

func ExampleKeyError() {
	td := steps()
	_, err := td.Tensor("obs/vel")

	fmt.Println(errors.Is(err, tdict.ErrMissing))
	if ke, ok := errors.AsType[*tdict.KeyError](err); ok {
		fmt.Println(ke.Op, ke.Key, "|", ke.Err)
	}
	var ke *tdict.KeyError
	fmt.Println(errors.As(td.Set("act/x", tdict.New(3, 2)), &ke), ke)
	// Output:
	// true
	// get obs/vel | in "obs": missing key: have "pos"
	// true set "act/x": not a dictionary: "act" is int64 [3 2]: for a name that contains "/", use nestedkey.Of("act/x")
}

func ExampleTensorDict_Format() {
	td := tensor.Must(steps().Transpose(0, 1))
	fmt.Printf("%v\n", td)
	td.Lock()
	fmt.Printf("%+v\n", td)
	// Output:
	// TensorDict(
	//     fields={
	//         act: Tensor(shape=[2 3], dtype=int64),
	//         obs: TensorDict(
	//             fields={
	//                 pos: Tensor(shape=[2 3 4], dtype=float32)},
	//             batch=[2 3])},
	//     batch=[2 3])
	// TensorDict(
	//     fields={
	//         act: Tensor(shape=[2 3], dtype=int64, bytes=48, memory=go, strides=[1 2]),
	//         obs: TensorDict(
	//             fields={
	//                 pos: Tensor(shape=[2 3 4], dtype=float32, bytes=96, memory=go, strides=[4 8 1])},
	//             batch=[2 3],
	//             locked=true)},
	//     batch=[2 3],
	//     locked=true)
}

// Data holds values that are not tensors. Index and Stack apply to it too.
func ExampleData() {
	td := tdict.New(3)
	names, _ := tdict.DataFrom([]any{"left", "right", "jump"}, 3)
	source, _ := tdict.NewData(map[string]any{"game": "pong", "seed": 7})
	_ = errors.Join(td.Set("action", names), td.Set("source", source)) // repeats source

	tail, _ := td.Index(ix.Range(1, 3))
	for key, leaf := range tail.Leaves() {
		fmt.Println(key, leaf)
	}
	last, _ := names.At(-1)
	fmt.Println(last)
	// Output:
	// action data [2] ["right" "jump"]
	// source data [2] {"game":"pong","seed":7}
	// jump
}

// Operations on the batch return unbatched tensors unchanged.
func ExampleUnbatched() {
	codes, _ := tdict.NewUnbatched(tensor.Vector[float32](0.5, 2))
	td := tdict.New(4)
	_ = errors.Join(td.Set("reward", tensor.Vector[float32](0, 1, 0, 2)), td.Set("codes", codes))

	pair, _ := td.Index(ix.Take(2, 0))
	for key, leaf := range pair.Leaves() {
		fmt.Println(key, leaf.Shape())
	}
	same, _ := tdict.Get[*tdict.Unbatched](pair, "codes")
	fmt.Println(same.Tensor() == codes.Tensor())
	// Output:
	// reward [2]
	// codes [2 2]
	// true
}

// Get returns any kind of value, Slice the elements of a tensor.
func ExampleGet() {
	td := tdict.New(2)
	task, _ := tdict.NewData("reach", 2)
	_ = errors.Join(td.Set("obs/pos", tensor.Must(tensor.Zeros[float32](2, 2))), td.Set("task", task))

	pos, err := tdict.Get[*tensor.Tensor](td, "obs/pos")
	fmt.Println(pos.Shape(), err)
	_, err = tdict.Get[*tensor.Tensor](td, "task")
	fmt.Println(err)
	// Output:
	// [2 2] <nil>
	// get "task": wrong kind of value: got data [2], want *tensor.Tensor
}

func ExampleSlice() {
	td := tdict.New(2)
	_ = td.Set("reward", tensor.Vector[float32](1, 2))
	rewards, err := tdict.Slice[float32](td, "reward")
	rewards[0] = 5 // the tensor's own memory
	fmt.Println(rewards, err)
	fmt.Println(td.Tensor("reward"))
	// Output:
	// [5 2] <nil>
	// float32 [2]
	// [5 2] <nil>
}

func ExampleItem() {
	td := steps()
	fmt.Println(tdict.Item[int64](td, "act", 1, -1))
	fmt.Println(tdict.Item[int64](td, "act", 3, 0))
	fmt.Println(tdict.Item[float32](td, "obs/vel", 0, 0, 0))
	// Output:
	// 3 <nil>
	// 0 item "act": bad index: got position 3 of dim 0, which has size 3
	// 0 item "obs/vel": in "obs": missing key: have "pos"
}

// This example adds the sizes of all tensors.
func ExampleTensorDict_Tensors() {
	elements := 0
	for _, x := range steps().Tensors() {
		elements += x.Size()
	}
	fmt.Println(elements)
	// Output: 30
}
