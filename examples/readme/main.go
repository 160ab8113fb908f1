// Readme is the program that docs/start.md shows.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

func main() {
	images, err := tensor.From(make([]uint8, 100*8*8), 100, 8, 8) // adopts the slice
	check(err)
	td := tdict.New(100) // the batch shape, with which every value begins
	check(td.Set("image", images))
	check(td.Set("meta/label", tensor.Vector(make([]int64, 100)...))) // "meta" is a dictionary in it

	check(memmap.Save("images", td)) // atomic: a crash leaves the old save or the new one
	ds, err := memmap.Open("images") // no element is read yet
	check(err)
	defer ds.Close()
	fmt.Println(ds) // a tree of keys, shapes and dtypes
	src, err := loader.FromDataset(ds)
	check(err)
	l, err := loader.New(src, loader.Options{
		Batch: 32, Sampler: sampler.Random(), Seed: 1,
		Transform: transform.OnKeys(transform.CastScale(tensor.Float32, 1./16, 0), "image"),
	})
	check(err)
	for l.Epoch() < 3 { // each in another order
		for batch, err := range l.Batches(context.Background()) { // valid until the next one
			check(err)
			images, err := tdict.Slice[float32](batch, "image") // a Go slice, to read
			check(err)
			_ = images // train on them
		}
		fmt.Println(l.Stats()) // rows and bytes a second, and how long the loop has waited
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
