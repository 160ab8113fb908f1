package arith_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Measurements of several patients become a batch with a row for each patient, padded with zeros.
func ExampleGroupBy() {
	patient := tensor.Vector[int64](31, 7, 31, 7, 31)
	pulse := tensor.Vector[float32](60, 81, 62, 80, 61)

	groups, err := arith.GroupBy(patient)
	if err != nil {
		fmt.Println(err)
		return
	}
	byPatient := tensor.Must(pulse.Index(tensor.Must(groups.Rows.AsIndex())))
	pieces := tensor.Must(shapeops.Split(byPatient, 0, groups.Sizes()...)) // share its memory

	batch := tensor.Must(tensor.Zeros[float32](groups.Len(), 3))
	for i, piece := range pieces {
		_ = batch.SetIndex(piece, ix.At(i), ix.Range(0, piece.Size()))
	}
	fmt.Println(tensor.Must(patient.Index(tensor.Must(groups.Firsts().AsIndex()))))
	fmt.Println(batch)
	// Output:
	// int64 [2]
	// [ 7 31]
	// float32 [2 3]
	// [[81 80  0]
	//  [60 62 61]]
}

func ExampleLexsort() {
	patient := tensor.Vector[int64](31, 7, 31, 7)
	hour := tensor.Vector[float32](9, 12, 8.5, 10)
	rows, err := arith.Lexsort(patient, hour) // by patient, each patient's by hour
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows)
	fmt.Println(hour.Index(tensor.Must(rows.AsIndex())))
	// Output:
	// int64 [4]
	// [3 1 2 0]
	// float32 [4]
	// [ 10  12 8.5   9] <nil>
}

func ExampleUnique() {
	moves, _ := tensor.From([]int8{1, 0, -1, 1, 1, 0}, 3, 2)
	u, err := arith.Unique(moves)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.Values)
	fmt.Println(u.Inverse)
	fmt.Println(u.Counts)
	// Output:
	// int8 [2 2]
	// [[-1  1]
	//  [ 1  0]]
	// int64 [3]
	// [1 0 1]
	// int64 [2]
	// [1 2]
}
