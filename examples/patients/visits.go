package main

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// collate pads the last eight visits of some patients on the left, straight from the mapped file,
// and prints the batch.
func collate(all *joint.Joint, some []int) {
	var items []*joint.Joint
	for _, patient := range some {
		items = append(items, tensor.Must(all.Row(patient)))
	}
	batch := tensor.Must(joint.Collate(items, ragged.DensifyOptions{
		Widths: []int{8}, KeepLast: true, Left: true, Masks: "masks",
	}))
	fmt.Println("\na batch of last visits:")
	for name, x := range batch.Exclude("masks").Tensors() {
		fmt.Printf("  %-8s %-8v %v\n", name, x.DType(), x.Shape())
	}
	fmt.Printf("\nday: %v\nmask: %v\n", tensor.Must(batch.Tensor("day")), tensor.Must(batch.Tensor("masks/day")))
}

// values returns the values of one lab: [N * *]. Each visit has at most one.
func values(j *joint.Joint, lab string) *ragged.Tensor {
	is := tensor.Must(arith.Equal(tensor.Must(j.Tensor("lab")), slices.Index(data.Labs, lab)))
	return tensor.Must(tensor.Must(j.Tensor("value")).MaskedSelect(is))
}

// byVisit prints a line for each visit of a patient.
func byVisit(patient *joint.Joint) {
	all := tensor.Must(patient.Tensor("value")) // [N *], N visits
	measured := list[int64](tensor.Must(all.Counts(1)))
	bili := list[float32](tensor.Must(values(patient, "bili").Reduce(1, arith.Mean)))
	chol := list[float32](tensor.Must(values(patient, "chol").Reduce(1, arith.Mean))) // or NaN
	fmt.Printf("\nthe visits of patient %d:\n", list[int32](tensor.Must(patient.Tensor("id")))[0])
	fmt.Println("    day  measured  bilirubin  cholesterol")
	for i, day := range list[int32](tensor.Must(patient.Tensor("day"))) {
		fmt.Printf("%7d  %8d  %9.1f  %11.0f\n", day, measured[i], bili[i], chol[i])
	}
}

// byPatient prints a line for each patient.
func byPatient(some *joint.Joint) {
	all := tensor.Must(some.Tensor("value")) // [N * *]
	visits := list[int64](tensor.Must(all.Counts(1)))
	measured := list[float64](tensor.Must(tensor.Must(all.Counts(2)).Reduce(1, arith.Mean)))
	bili := values(some, "bili")
	means := list[float32](tensor.Must(bili.Reduce(1, arith.Mean)))
	highest := list[float32](tensor.Must(bili.Reduce(1, arith.Max)))
	ages := list[float32](tensor.Must(some.Tensor("age")))
	fmt.Println("\npatient   age  visits  measured, mean  bilirubin, mean  highest")
	for i, id := range list[int32](tensor.Must(some.Tensor("id"))) {
		fmt.Printf("%7d  %4.1f  %6d  %14.1f  %15.1f  %7.1f\n", id, ages[i], visits[i], measured[i], means[i], highest[i])
	}
}

// list returns the values of all rows.
func list[T tensor.Elem](t *ragged.Tensor) []T {
	return tensor.Must(tensor.Of[T](tensor.Must(t.Values())))
}
