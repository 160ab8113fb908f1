package tdparquet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// visits writes three visits to a file.
func visits(dir string) (path string) {
	td := tensor.Must(tdict.FromMap([]int{3}, tdict.Entries{
		"age": tensor.Vector(54., 61, 47), "chol": tensor.Vector[int64](261, 0, 302), "chol_mask": tensor.Vector(true, false, true),
	}))
	schema := tdict.Schema{{Key: "age", DType: tensor.Float64}, {Key: "chol", DType: tensor.Int64, Mask: "chol_mask"}, {Key: "chol_mask", DType: tensor.Bool}}
	path = filepath.Join(dir, "visits.parquet")
	file := tensor.Must(os.Create(path))
	defer file.Close()
	one := func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
	if err := tdparquet.Write(context.Background(), file, schema, one, tdparquet.WriteOptions{Compression: "zstd"}); err != nil {
		log.Fatal(err)
	}
	return path
}

// Example makes a dataset of a file.
func Example() {
	dir := tensor.Must(os.MkdirTemp("", "example"))
	defer os.RemoveAll(dir)
	path := visits(dir)

	schema, err := tdparquet.InferFile(path, tdparquet.Options{})
	if err != nil {
		log.Fatal(err)
	}
	chunks := tdparquet.ReadFile(context.Background(), path, tdparquet.Options{Schema: schema})
	err = memmap.SaveRows(context.Background(), filepath.Join(dir, "visits"), chunks, memmap.SaveOptions{Schema: schema})
	if err != nil {
		log.Fatal(err)
	}
	ds := tensor.Must(memmap.Open(filepath.Join(dir, "visits")))
	defer ds.Close()
	fmt.Println(ds.Schema().Head(ds.TensorDict, 3))
	// Output:
	// age  chol
	// 54   261
	// 61   NA
	// 47   302
}
