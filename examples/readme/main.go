// Readme is the program that README.md shows.
package main

import (
	"fmt"
	"log"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	images, err := tensor.From(make([]uint8, 100*8*8), 100, 8, 8) // adopts the slice
	check(err)
	td := tdict.New(100) // the batch shape, with which every value begins
	check(td.Set("image", images))
	check(td.Set("meta/label", tensor.Vector(make([]int64, 100)...))) // "meta" is a dictionary in it

	check(memmap.Save("digits", td)) // atomic: a crash leaves the old save or the new one
	ds, err := memmap.Open("digits") // no leaf is read yet
	check(err)
	defer ds.Close()
	fmt.Println(ds) // a tree of keys, shapes and dtypes

	last, err := ds.Index(ix.Range(-10, ix.End)) // the last ten rows of every leaf, a view
	check(err)
	batch, err := ds.Index(ix.Take(3, 1, 4)) // these rows, copied
	check(err)
	check(ds.IndexInto(batch, ix.Take(1, 5, 9))) // others, into the same memory
	both, err := shapeops.Stack([]*tdict.TensorDict{batch, batch}, 0)
	check(err)
	fmt.Println(last.Shape(), batch.Shape(), both.Shape()) // [10] [3] [2 3]

	labels, err := tdict.Slice[int64](ds.TensorDict, "meta/label") // a Go slice, to read
	check(err)
	pixels, err := tdict.Get[*tensor.Tensor](batch, "image")
	check(err)
	scaled, err := tensor.Map(pixels, func(v uint8) float32 { return float32(v) / 16 })
	check(err)
	fmt.Println(len(labels), scaled.Shape()) // 100 [3 8 8]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
