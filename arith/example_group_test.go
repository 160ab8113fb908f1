package arith_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Visits of several patients, in no order, become a batch with a row for each patient, padded to
// the longest, with masks that say what is padding.
func ExampleGroupBy() {
	visits := tdict.New(5)
	_ = visits.Set("patient", tensor.Vector[int64](31, 7, 31, 7, 31))
	_ = visits.Set("day", tensor.Vector[int32](20, 4, 10, 1, 15))
	_ = visits.Set("pulse", tensor.Vector[float32](62, 80, 60, 81, 61))

	patient, day := tensor.Must(visits.Tensor("patient")), tensor.Must(visits.Tensor("day"))
	rows := tensor.Must(arith.Lexsort(patient, day)) // by patient, each patient's by day
	visits = tensor.Must(visits.Take(0, rows))
	groups := tensor.Must(arith.GroupBy(tensor.Must(visits.Tensor("patient"))))
	parts := tensor.Must(shapeops.Split(visits, 0, groups.Sizes()...)) // share its memory
	batch, masks, err := shapeops.PadSequenceMasked(parts, shapeops.PadSequenceOptions{Fill: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch.Shape())
	fmt.Println(batch.Head(2))
	fmt.Println(masks.Tensor("pulse"))
	// Output:
	// [2 3]
	// patient     day         pulse
	// [7 7 -1]    [1 4 -1]    [81 80 -1]
	// [31 31 31]  [10 15 20]  [60 61 62]
	// bool [2 3]
	// [[ true  true false]
	//  [ true  true  true]] <nil>
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

// Means and last values of each patient: rows are put in the order of patients first, each group's
// splits say which are whose, and Of brings what is of a group back to its rows.
func ExampleGroups() {
	visits := tdict.New(5)
	_ = visits.Set("patient", tensor.Vector[int64](31, 7, 31, 7, 31))
	_ = visits.Set("day", tensor.Vector[int64](20, 4, 10, 1, 15))
	_ = visits.Set("pulse", tensor.Vector[float32](62, 80, 60, 82, 61))
	patient, day := tensor.Must(visits.Tensor("patient")), tensor.Must(visits.Tensor("day"))
	visits = tensor.Must(visits.Take(0, tensor.Must(arith.Lexsort(patient, day))))
	groups := tensor.Must(arith.GroupBy(tensor.Must(visits.Tensor("patient"))))

	pulse := tensor.Must(visits.Tensor("pulse"))
	mean := tensor.Must(arith.Mean(pulse, arith.BySplits(groups.Splits)))
	last := tensor.Must(pulse.Take(0, groups.Lasts()))
	above := tensor.Must(arith.Sub(pulse, tensor.Must(mean.Take(0, groups.Of))))
	fmt.Println(mean)
	fmt.Println(last)
	fmt.Println(above)
	// Output:
	// float32 [2]
	// [81 61]
	// float32 [2]
	// [80 62]
	// float32 [5]
	// [ 1 -1 -1  0  1]
}
