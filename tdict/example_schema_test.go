package tdict_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// people is the schema of the examples.
var people = tdict.Schema{
	{Key: "name", Kind: tdict.KindText, Doc: "as they write it"},
	{Key: "body/height", DType: tensor.Float32, Doc: "in metres"},
	{Key: "visits", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Doc: "day of each visit"},
	{Key: "photo", DType: tensor.Uint8, Shape: shapeops.Shape{tdict.Any, tdict.Any, 3}, Optional: true},
}

func ExampleSchema() {
	fmt.Println(people)
	// Output:
	// key          kind    dtype    shape    doc
	// name         text             []       as they write it
	// body/height  tensor  float32  []       in metres
	// visits       ragged  int64    [*]      day of each visit
	// photo        tensor  uint8    [? ? 3]  optional
}

// The error lists every entry that does not fit.
func ExampleSchema_Check() {
	td := tdict.New(2)
	err := errors.Join(
		td.Set("name", tensor.Must(ragged.FromStrings([]string{"Ada", "Émilie"}))),
		td.Set("body/height", tensor.Vector(1.62, 1.71)),
		td.Set("age", tensor.Vector[uint8](36, 42)))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = people.Check(td)
	fmt.Println(errors.Is(err, tdict.ErrSchema))
	fmt.Println(err)
	// Output:
	// true
	// check "body/height": schema mismatch: got tensor float64 [2], want tensor float32 [2]
	// check "visits": schema mismatch: got none, want ragged int64 [2 *]
	// check "age": schema mismatch: got uint8 [2], want no such entry
}

func ExampleSchema_Head() {
	td := tdict.New(2)
	if err := td.Set("name", tensor.Must(ragged.FromStrings([]string{"Ada", "Émilie"}))); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(people.Head(td, 2))
	// Output:
	// name
	// "Ada"
	// "Émilie"
}

func ExampleSchema_Zeros() {
	td, err := people[:3].Zeros(2)
	fmt.Println(td, err)
	// Output:
	// TensorDict(
	//     fields={
	//         name: Ragged(shape=[2 *], dtype=uint8),
	//         body: TensorDict(
	//             fields={
	//                 height: Tensor(shape=[2], dtype=float32)},
	//             batch=[2]),
	//         visits: Ragged(shape=[2 *], dtype=int64)},
	//     batch=[2]) <nil>
}

// Meta takes no memory for a billion rows.
func ExampleSchema_Meta() {
	td, err := people[1:2].Meta(1_000_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	height, err := td.Tensor("body/height")
	fmt.Println(height.DType(), height.Shape(), height.Device(), err)
	// Output: float32 [1000000000] meta <nil>
}

func ExampleSchemaOf() {
	td := tdict.New(2)
	if err := td.Set("body/height", tensor.Vector[float32](1.62, 1.71)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tdict.SchemaOf(td).Diff(people))
	// Output:
	// "name": none, other text []
	// "visits": none, other ragged int64 [*]
	// "photo": none, other tensor uint8 [? ? 3], optional
}

func ExampleSchema_MarshalJSON() {
	text, err := json.Marshal(people[2:])
	fmt.Println(string(text), err)
	var again tdict.Schema
	err = json.Unmarshal(text, &again)
	fmt.Println(again.Diff(people[2:]) == "", err)
	// Output:
	// {"version":1,"entries":[{"key":"visits","kind":"ragged","dtype":"int64","depth":1,"doc":"day of each visit"},{"key":"photo","kind":"tensor","dtype":"uint8","shape":[null,null,3],"optional":true}]} <nil>
	// true <nil>
}

// A dictionary can have the name of a Python class.
func ExampleTensorDict_SetClass() {
	td := tdict.New(4)
	if err := td.SetClass("my.module.Frame"); err != nil {
		fmt.Println(err)
		return
	}
	half := tensor.Must(td.Narrow(0, 0, 2))
	fmt.Println(half.Class())
	// Output: my.module.Frame
}
