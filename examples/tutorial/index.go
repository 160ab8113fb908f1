package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// index picks rows by number, by range, by list, and by a mask.
func index(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()

	first := tensor.Must(ds.Index(ix.At(0)))
	fmt.Println("one row:      ", first.Shape(), tensor.Must(first.Tensor("labs")))
	last := tensor.Must(ds.Index(ix.Range(-5, ix.End)))
	fmt.Println("the last five:", last.Shape(), tensor.Must(last.Tensor("day")))
	some := tensor.Must(ds.Index(ix.Take(900, 4, 4)))
	fmt.Println("three by list:", some.Shape(), tensor.Must(some.Tensor("patient")))

	bilirubin := tensor.Must(tensor.Must(ds.Tensor("labs")).Index(ix.All, ix.At(0))) // [N]
	high := tensor.Must(ds.MaskedSelect(tensor.Must(arith.Greater(bilirubin, 20))))
	fmt.Println("by a mask:    ", high.Shape(), "visits with bilirubin above 20")
	fmt.Println("one number:   ", tensor.Must(tdict.Item[float32](high, "labs", 0, 0)))
}
