package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// raggedRows cuts the days of all visits into one row for each patient.
func raggedRows(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	groups := tensor.Must(arith.GroupBy(tensor.Must(ds.Tensor("patient"))))
	offsets := tensor.Must(tensor.Of[int64](groups.Splits))
	days := tensor.Must(ragged.FromOffsets(tensor.Must(ds.Tensor("day")), offsets))
	fmt.Println(days.Shape(), days.DType(), "offsets", offsets[:5])

	four := tensor.Must(days.Range(0, 4)) // of the first four patients
	fmt.Println(four)
	fmt.Println("visits of each:", tensor.Must(four.Counts(1)))
	fmt.Println("last day of each:", tensor.Must(four.Reduce(-1, arith.Max)))

	recent := tensor.Must(four.IndexLevel(1, ix.Range(-3, ix.End)))
	dense, masks, err := recent.DensifyMasked(ragged.DensifyOptions{Left: true})
	check(err)
	fmt.Println("the last three, padded on the left:", dense)
	fmt.Println("where there is a visit:", masks[0])
}
