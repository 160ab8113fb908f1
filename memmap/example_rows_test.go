package memmap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Ragged leaves with equal lengths share a layout when they are opened.
func ExampleSave_ragged() {
	dir := tensor.Must(os.MkdirTemp("", "memmap"))
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "patients")

	visits := tensor.Must(ragged.NewLayout(shapeops.Shape{3}, []int64{0, 2, 2, 3}))
	td := tdict.New(3)
	_ = td.Set("day", tensor.Must(ragged.New(tensor.Vector[int32](1, 9, 4), visits)))
	_ = td.Set("dose", tensor.Must(ragged.New(tensor.Vector[float32](0.5, 1, 2), visits)))
	fmt.Println(memmap.Save(at, td))

	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	day := tensor.Must(tdict.Get[*ragged.Tensor](ds.TensorDict, "day"))
	dose := tensor.Must(tdict.Get[*ragged.Tensor](ds.TensorDict, "dose"))
	fmt.Println(day.Layout(), day.Layout() == dose.Layout(), tensor.Must(dose.Values()))
	for _, file := range tensor.Must(filepath.Glob(filepath.Join(at, "day", "*"))) {
		fmt.Println(filepath.Base(file))
	}
	// Output:
	// <nil>
	// [3 *] true float32 [3]
	// [0.5   1   2]
	// @lengths.memmap
	// @pool.memmap
	// @row.memmap
	// meta.json
}

// Rows of any length are appended; readers see those that were committed.
func ExampleNewWriter_ragged() {
	dir := tensor.Must(os.MkdirTemp("", "memmap"))
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "events")

	events := func(codes ...[]int32) *tdict.TensorDict {
		td := tdict.New(len(codes))
		_ = td.Set("codes", tensor.Must(ragged.From[int32](codes)))
		return td
	}
	first := events([]int32{7, 8, 9}, nil)
	row := tensor.Must(first.Index(ix.At(0))) // what one is like, whatever its length
	w := tensor.Must(memmap.NewWriter(at, row, memmap.WriterOptions{}))
	_ = w.Append(first)
	fmt.Println(w.Commit())
	_ = w.Append(events([]int32{5}))

	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	fmt.Println(tensor.Must(tdict.Get[*ragged.Tensor](ds.TensorDict, "codes")))
	fmt.Println(w.Finish())
	now := tensor.Must(ds.Refresh())
	defer now.Close()
	fmt.Println(tensor.Must(tdict.Get[*ragged.Tensor](now.TensorDict, "codes")))
	// Output:
	// <nil>
	// ragged int32 [2 *]
	// [[7 8 9]
	//  []]
	// <nil>
	// ragged int32 [3 *]
	// [[7 8 9]
	//  []
	//  [5]]
}

// What an iterator yields in chunks becomes a dataset, whole or not at all.
func ExampleSaveRows() {
	dir := tensor.Must(os.MkdirTemp("", "memmap"))
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "numbers")

	chunks := func(yield func(*tdict.TensorDict, error) bool) {
		for _, x := range []*tensor.Tensor{tensor.Vector[int32](1, 2), tensor.Vector[int32](3)} {
			td := tdict.New(x.Shape()...)
			if err := td.Set("n", x); !yield(td, err) {
				return
			}
		}
	}
	fmt.Println(memmap.SaveRows(context.Background(), at, chunks, memmap.SaveOptions{}))
	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	fmt.Println(tensor.Must(ds.Tensor("n")))
	// Output:
	// <nil>
	// int32 [3]
	// [1 2 3]
}
