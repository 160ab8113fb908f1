package tdarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A file becomes a dataset, batch by batch.
func Example() {
	ctx := context.Background()
	dir := tensor.Must(os.MkdirTemp("", "tdarrow"))
	defer os.RemoveAll(dir)
	path, visits := filepath.Join(dir, "visits.arrow"), filepath.Join(dir, "visits")
	check(os.WriteFile(path, exampleFile(), 0o666)) // or a file of pandas, Polars or DuckDB

	schema := tensor.Must(tdarrow.InferFile(path, tdarrow.Options{}))
	chunks := tdarrow.ReadFile(ctx, path, tdarrow.Options{Schema: schema})
	check(memmap.SaveRows(ctx, visits, chunks, memmap.SaveOptions{Schema: schema}))

	ds := tensor.Must(memmap.Open(visits))
	defer ds.Close()
	fmt.Println(ds.Schema().Head(ds.TensorDict, 5))
	// Output:
	// id  name   day
	// 7   "ann"  2024-05-01
	// 8   "bob"  2024-05-03
}

// exampleFile returns a file of two rows.
func exampleFile() []byte {
	td := tdict.New(2)
	check(td.Set("id", tensor.Vector[int64](7, 8)))
	check(td.Set("name", tensor.Must(ragged.FromStrings([]string{"ann", "bob"}, 2))))
	check(td.Set("day", tensor.Vector[int64](19844, 19846)))
	schema := tdict.Schema{
		{Key: "id", DType: tensor.Int64},
		{Key: "name", Kind: tdict.KindText},
		{Key: "day", DType: tensor.Int64, Unit: "d", Time: "2006-01-02"},
	}
	var b bytes.Buffer
	check(tdarrow.Write(context.Background(), &b, schema, once(td), tdarrow.WriteOptions{}))
	return b.Bytes()
}

// Of a stream, one entry is read, in chunks of one row.
func ExampleRead() {
	opt := tdarrow.Options{Keys: []nestedkey.Key{"id"}, Rows: 1}
	for td, err := range tdarrow.Read(context.Background(), bytes.NewReader(exampleFile()), opt) {
		check(err)
		fmt.Println(tensor.Must(td.Get("id")))
	}
	// Output:
	// int64 [1]
	// [7]
	// int64 [1]
	// [8]
}

// A stream can be read while it is written.
func ExampleWrite() {
	td := tdict.New(3)
	check(td.Set("x", tensor.Vector[float32](0.5, 1, 2)))
	var b bytes.Buffer
	opt := tdarrow.WriteOptions{Stream: true, Compression: "zstd"}
	check(tdarrow.Write(context.Background(), &b, tdict.SchemaOf(td), once(td), opt))
	fmt.Println(tensor.Must(tdarrow.Infer(&b, tdarrow.Options{})))
	// Output:
	// key  kind    dtype    shape  doc
	// x    tensor  float32  []
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
