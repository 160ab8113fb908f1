package joint_test

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// clinic returns patients, with their visits and the codes of these.
func clinic() *joint.Joint {
	return tensor.Must(joint.New(
		joint.Field{Name: "age", Tensor: tensor.Must(ragged.From[uint8]([]uint8{70, 80, 90}))},
		joint.Field{Name: "code", Tensor: tensor.Must(ragged.From[uint8]([][][]uint8{{{1}, {2, 3}}, {{4, 5}}, {}}))},
		joint.Field{Name: "day", Tensor: tensor.Must(ragged.From[uint8]([][]uint8{{5, 2}, {3}, {}}))},
	))
}

// fields prints the fields of a collection.
func fields(j *joint.Joint) {
	for f := range j.Fields() {
		fmt.Print(f.Name, ": ")
		for level := 1; level <= f.Tensor.Depth(); level++ {
			fmt.Print("lengths ", tensor.Must(f.Tensor.Layout().Lengths(level)), " ")
		}
		fmt.Println("values", elements(tensor.Must(f.Tensor.Values())))
	}
}

func elements(x *tensor.Tensor) []int64 {
	return slices.Collect(tensor.Must(tensor.Elements[int64](tensor.Must(x.Cast(tensor.Int64)))))
}

func ExampleJoint() {
	fmt.Println(clinic())
	// Output:
	// joint {
	//   age: uint8 [3]
	//   code: uint8 [3 * *]
	//   day: uint8 [3 *]
	// }
}

func ExampleNew() {
	day := tensor.Must(ragged.From[int64]([][]int64{{5, 2}, {3}}))
	lab := tensor.Must(ragged.From[float32]([][]float32{{0.5}, {0.25}}))
	_, err := joint.New(joint.Field{Name: "day", Tensor: day}, joint.Field{Name: "lab", Tensor: lab})
	fmt.Println(err)
	j, err := joint.New(joint.Field{Name: "day", Tensor: day}, joint.Field{Name: "lab", Tensor: lab, Tree: "labs"})
	fmt.Println(j, err)
	// Output:
	// field "lab": lengths differ: level 1, row 0 has length 2, other 1 in field "day"
	// joint {
	//   day: int64 [2 *]
	//   lab: float32 [2 *] of labs
	// } <nil>
}

func ExampleJoint_Row() {
	patient := tensor.Must(clinic().Row(0)) // whose visits are the rows
	fields(patient)
	fmt.Println("from visit 1 on")
	fields(tensor.Must(patient.Range(1, 2)))
	// Output:
	// age: values [70]
	// code: lengths [1 2] values [1 2 3]
	// day: values [5 2]
	// from visit 1 on
	// age: values [70]
	// code: lengths [2] values [2 3]
	// day: values [2]
}

func ExampleJoint_Index() {
	fields(tensor.Must(clinic().Index(ix.Take(1, 0))))
	// Output:
	// age: values [80 70]
	// code: lengths [1 2] lengths [2 1 2] values [4 5 1 2 3]
	// day: lengths [1 2] values [3 5 2]
}

func ExampleJoint_IndexLevel() {
	fields(tensor.Must(clinic().IndexLevel(1, ix.Range(0, 1)))) // the first visit of each patient
	// Output:
	// age: values [70 80 90]
	// code: lengths [1 1 0] lengths [1 2] values [1 4 5]
	// day: lengths [1 1 0] values [5 3]
}

func ExampleJoint_MaskedSelect() {
	j := clinic()
	day := tensor.Must(j.Tensor("day"))
	late := tensor.Must(day.MapValues(func(v *tensor.Tensor) (*tensor.Tensor, error) { return arith.Greater(v, 2) }))
	fields(tensor.Must(j.MaskedSelect(late)))
	// Output:
	// age: values [70 80 90]
	// code: lengths [1 1 0] lengths [1 2] values [1 4 5]
	// day: lengths [1 1 0] values [5 3]
}

func ExampleJoint_Pick() {
	j := clinic()
	order := tensor.Must(tensor.Must(j.Tensor("day")).ArgSort(arith.SortOptions{}))
	fields(tensor.Must(j.Pick(order))) // visits by day
	// Output:
	// age: values [70 80 90]
	// code: lengths [2 1 0] lengths [2 1 2] values [2 3 1 4 5]
	// day: lengths [2 1 0] values [2 5 3]
}

func ExampleJoint_FlattenLevel() {
	fields(tensor.Must(clinic().FlattenLevel(1, joint.Repeat))) // visits with the age of the patient
	fields(tensor.Must(clinic().FlattenLevel(2, joint.First)))  // the day of a visit at its first code
	// Output:
	// age: values [70 70 80]
	// code: lengths [1 2 2] values [1 2 3 4 5]
	// day: values [5 2 3]
	// age: values [70 80 90]
	// code: lengths [3 2 0] values [1 2 3 4 5]
	// day: lengths [3 2 0] values [5 2 0 3 0]
}

func ExampleJoint_Densify() {
	d, err := clinic().Densify(ragged.DensifyOptions{Masks: "masks"})
	if err != nil {
		panic(err)
	}
	for key, x := range d.Tensors() {
		fmt.Println(key, x.DType(), x.Shape())
	}
	fmt.Println(tensor.Must(d.Tensor("day")))
	// Output:
	// age uint8 [3]
	// code uint8 [3 2 2]
	// day uint8 [3 2]
	// masks/code/1 bool [3 2]
	// masks/code/2 bool [3 2 2]
	// masks/day bool [3 2]
	// uint8 [3 2]
	// [[5 2]
	//  [3 0]
	//  [0 0]]
}

func ExampleCollate() {
	j := clinic()
	var batch []*joint.Joint
	for _, i := range []int{1, 0} {
		patient := tensor.Must(j.Row(i))
		batch = append(batch, tensor.Must(patient.Range(0, 2)))
	}
	d, err := joint.Collate(batch, ragged.DensifyOptions{Widths: []int{2, 2}})
	if err != nil {
		panic(err)
	}
	for name, x := range d.Tensors() {
		fmt.Println(name, x.Shape(), elements(x))
	}
	// Output:
	// age [2] [80 70]
	// code [2 2 2] [4 5 0 0 1 0 2 3]
	// day [2 2] [3 0 5 2]
}

func ExampleConcat() {
	j := clinic()
	fields(tensor.Must(joint.Concat([]*joint.Joint{tensor.Must(j.Range(1, 2)), j}, 0)))
	// Output:
	// age: values [80 70 80 90]
	// code: lengths [1 2 1 0] lengths [2 1 2 2] values [4 5 1 2 3 4 5]
	// day: lengths [1 2 1 0] values [3 5 2 3]
}

func ExampleVstack() {
	j := clinic()
	rows := []*joint.Joint{tensor.Must(j.Row(1)), tensor.Must(j.Row(0))}
	fields(tensor.Must(joint.Vstack(rows)))
	// Output:
	// age: values [80 70]
	// code: lengths [1 2] lengths [2 1 2] values [4 5 1 2 3]
	// day: lengths [1 2] values [3 5 2]
}
