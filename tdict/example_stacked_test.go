package tdict_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Stacked episodes keep their memory: writing to the stack writes to them.
func ExampleLazyStack() {
	short, long := tdict.New(2), tdict.New(3)
	_ = short.Set("reward", tensor.Vector[float32](1, 2))
	_ = long.Set("reward", tensor.Vector[float32](3, 4, 5))
	_ = long.Set("goal", tensor.Vector(false, false, true))

	td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{short, long}, 0))
	fmt.Println(td)
	_ = td.SetIndex(tensor.Must(tensor.Full[float32](9)), ix.At(0))
	fmt.Println(tensor.Must(short.Tensor("reward")))
	// Output:
	// TensorDict(
	//     fields={
	//         reward: Stacked(shape=[2 *], dim=0, dtype=float32),
	//         goal: Stacked(shape=[2 3], dim=0, dtype=bool, missing=1)},
	//     batch=[2])
	// float32 [2]
	// [9 9]
}

func ExampleMembers() {
	a, b := tdict.New(2), tdict.New(3)
	_ = a.Set("x", tensor.Vector[int8](1, 2))
	_ = b.Set("x", tensor.Vector[int8](1, 2, 3))
	td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a, b}, 0))

	_, members, _ := tdict.Members(td)
	more := tensor.Must(tdict.LazyStack(append(members, a), 0))
	fmt.Println(more.Shape(), members[1].Shape())
	// Output:
	// [3] [3]
}

func ExampleMaybeDense() {
	a, b := tdict.New(), tdict.New()
	_ = a.Set("id", tensor.Must(tensor.Full[int64](1)))
	_ = b.Set("id", tensor.Must(tensor.Full[int64](2)))
	_ = a.Set("image", tensor.Must(tensor.Zeros[uint8](2, 3)))
	_ = b.Set("image", tensor.Must(tensor.Zeros[uint8](4, 3)))
	fmt.Println(tensor.Must(tdict.MaybeDense([]*tdict.TensorDict{a, b}, 0)))
	// Output:
	// TensorDict(
	//     fields={
	//         id: Tensor(shape=[2], dtype=int64),
	//         image: Stacked(shape=[2 * 3], dim=0, dtype=uint8)},
	//     batch=[2])
}

func ExampleStacked_Padded() {
	a, b := tdict.New(), tdict.New()
	_ = a.Set("x", tensor.Vector[int32](1, 2))
	_ = b.Set("x", tensor.Vector[int32](3, 4, 5))
	td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a, b}, 0))
	x := tensor.Must(tdict.Get[*tdict.Stacked](td, "x"))

	padded, mask, _ := x.Padded(tdict.PaddedOptions{Fill: -1, Mask: true})
	fmt.Println(padded)
	fmt.Println(mask)
	fmt.Println(tensor.Must(x.Ragged()).Text())
	// Output:
	// int32 [2 3]
	// [[ 1  2 -1]
	//  [ 3  4  5]]
	// bool [2 3]
	// [[ true  true false]
	//  [ true  true  true]]
	// ragged int32 [2 *]
}
