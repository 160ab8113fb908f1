package tensorclass_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Visit is a row.
type Visit struct {
	Patient string
	Pos     [2]float32
	Codes   []int64
	Weight  *float64 `td:"weight,mask=weight_mask"`
}

// A Step is a struct of columns.
type Step struct {
	Obs    tensorclass.Leaf[float32] `td:"obs/pos" shape:"3"`
	Action tensorclass.Leaf[int64]
	Next   *Step `td:",optional"`
}

var weight = 61.5

func visitsOfTwo() []Visit {
	return []Visit{
		{Patient: "ann", Pos: [2]float32{1, 2}, Codes: []int64{7, 8}, Weight: &weight},
		{Patient: "bob", Codes: []int64{9}},
	}
}

func stepOf() *Step {
	return &Step{
		Obs:    tensorclass.Leaf[float32]{Tensor: tensor.Must(tensor.Zeros[float32](2, 3))},
		Action: tensorclass.Leaf[int64]{Tensor: tensor.Vector[int64](1, 0)},
	}
}

func Example() {
	td := tensor.Must(tensorclass.FromRows(visitsOfTwo()))
	fmt.Println(td)
	for v, err := range tensorclass.Rows[Visit](td) {
		if err != nil {
			panic(err)
		}
		fmt.Println(v.Patient, v.Pos, v.Codes, v.Weight != nil)
	}
	// Output:
	// TensorDict(
	//     fields={
	//         patient: Ragged(shape=[2 *], dtype=uint8),
	//         pos: Tensor(shape=[2 2], dtype=float32),
	//         codes: Ragged(shape=[2 *], dtype=int64),
	//         weight: Tensor(shape=[2], dtype=float64),
	//         weight_mask: Tensor(shape=[2], dtype=bool)},
	//     batch=[2])
	// ann [1 2] [7 8] true
	// bob [0 0] [9] false
}

func ExampleFromRows() {
	type point struct{ X, Y float32 }
	td := tensor.Must(tensorclass.FromRows([]point{{1, 2}, {3, 4}}))
	fmt.Println(tensor.Must(tdict.Slice[float32](td, "y")))
	// Output: [2 4]
}

func ExampleToRows() {
	type point struct{ X, Y float32 }
	td := tdict.New(2)
	_ = td.Set("x", tensor.Vector[float32](1, 3))
	_ = td.Set("y", tensor.Vector[float32](2, 4))
	fmt.Println(tensorclass.ToRows[point](td))
	_ = td.Set("y", tensor.Vector(2.0, 4.0))
	fmt.Println(tensorclass.ToRows[point](td))
	// Output:
	// [{1 2} {3 4}] <nil>
	// [] to rows "y": field tensorclass_test.point.Y: schema mismatch: got tensor float64 [2], want tensor float32 [2]
}

func ExampleRows() {
	td := tensor.Must(tensorclass.FromRows(visitsOfTwo()))
	codes := 0
	for v, err := range tensorclass.Rows[Visit](td) {
		if err != nil {
			panic(err)
		}
		codes += len(v.Codes)
	}
	fmt.Println(codes)
	// Output: 3
}

func ExampleRow() {
	td := tensor.Must(tensorclass.FromRows(visitsOfTwo()))
	var v Visit
	fmt.Println(tensorclass.Row(td, -1, &v), v.Patient)
	// Output: <nil> bob
}

func ExampleSetRow() {
	td := tensor.Must(tensorclass.FromRows(visitsOfTwo()))
	_ = tensorclass.SetRow(td, 0, &Visit{Patient: "cleo"})
	fmt.Println(tensor.Must(tensorclass.ToRows[Visit](td))[0])
	// Output: {cleo [0 0] [] <nil>}
}

// rowsOf collects dictionaries, as a memmap.Writer appends them to files.
type rowsOf struct{ all []*tdict.TensorDict }

func (r *rowsOf) Append(td *tdict.TensorDict) error {
	r.all = append(r.all, td)
	return nil
}

func ExampleAppendRows() {
	var w rowsOf
	_ = tensorclass.AppendRows(&w, visitsOfTwo())
	_ = tensorclass.AppendRows(&w, visitsOfTwo()[:1])
	fmt.Println(tensor.Must(shapeops.Cat(w.all, 0)).Shape())
	// Output: [3]
}

func ExampleSchemaFor() {
	fmt.Println(tensor.Must(tensorclass.SchemaFor[Visit]()))
	// Output:
	// key          kind    dtype    shape  doc
	// patient      text             []
	// pos          tensor  float32  [2]
	// codes        ragged  int64    [*]
	// weight       tensor  float64  []     mask weight_mask
	// weight_mask  tensor  bool     []
}

func ExampleView() {
	td := tdict.New(2)
	_ = td.Set("obs/pos", tensor.Must(tensor.Zeros[float32](2, 3)))
	_ = td.Set("action", tensor.Vector[int64](1, 0))
	s := tensor.Must(tensorclass.View[Step](td))
	_ = s.Action.Write(func(a []int64) { a[1] = 5 })
	fmt.Println(tensor.Must(tdict.Slice[int64](td, "action")), s.Next == nil)
	// Output: [1 5] true
}

func ExampleDict() {
	s := stepOf()
	s.Next = stepOf()
	fmt.Println(tensor.Must(tensorclass.Dict(shapeops.Shape{2}, s)))
	// Output:
	// TensorDict(
	//     fields={
	//         obs: TensorDict(
	//             fields={
	//                 pos: Tensor(shape=[2 3], dtype=float32)},
	//             batch=[2]),
	//         action: Tensor(shape=[2], dtype=int64),
	//         next: TensorDict(
	//             fields={
	//                 obs: TensorDict(
	//                     fields={
	//                         pos: Tensor(shape=[2 3], dtype=float32)},
	//                     batch=[2]),
	//                 action: Tensor(shape=[2], dtype=int64)},
	//             batch=[2])},
	//     batch=[2])
}

func ExampleUpdate() {
	td := tensor.Must(tensorclass.Dict(shapeops.Shape{2}, stepOf()))
	s := tensor.Must(tensorclass.View[Step](td))
	s.Action.Tensor = tensor.Vector[int64](3, 4)
	fmt.Println(tensorclass.Update(td, &s), tensor.Must(tdict.Slice[int64](td, "action")))
	s.Action.Tensor = tensor.Vector[int64](1, 2, 3)
	fmt.Println(tensorclass.Update(td, &s))
	// Output:
	// <nil> [3 4]
	// update "action": field tensorclass_test.Step.Action: shape mismatch: got [3], want a shape that begins with [2]
}

func ExampleLeaf() {
	l := tensorclass.Leaf[float32]{Tensor: tensor.Vector[float32](1, 2, 3)}
	fmt.Println(tensor.Must(l.Slice()), tensor.Must(l.At(-1)), l.Shape())
	// Output: [1 2 3] 3 [3]
}

// This example reads a table in chunks, and each chunk as structs.
func ExampleRows_csv() {
	type person struct {
		Name string
		Age  *int64 `td:"age,mask=age_mask"` // missing where the field is NA or empty
	}
	schema := tdict.Schema{
		{Key: "name", Kind: tdict.KindText},
		{Key: "age", DType: tensor.Int64, Optional: true},
	}
	table := strings.NewReader("name,age\nann,41\nbob,NA\n")
	for chunk, err := range csv.Read(context.Background(), table, schema, csv.ReadOptions{}) {
		if err != nil {
			panic(err)
		}
		for p, err := range tensorclass.Rows[person](chunk) {
			if err != nil {
				panic(err)
			}
			fmt.Println(p.Name, p.Age != nil)
		}
	}
	// Output:
	// ann true
	// bob false
}
