// Csv converts a CSV file with a header to a dataset, and prints its schema and its first rows.
//
//	go run ./examples/readme/csv FILE.csv DIR
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/memmap"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: csv FILE.csv DIR")
	}
	file, err := os.Open(os.Args[1])
	check(err)
	defer file.Close()

	schema, err := csv.Infer(file, 0, csv.Format{}) // 0: look at all rows
	check(err)
	fmt.Println(schema)
	_, err = file.Seek(0, io.SeekStart)
	check(err)
	ctx := context.Background()
	chunks := csv.Read(ctx, file, schema, csv.ReadOptions{})
	check(memmap.SaveRows(ctx, os.Args[2], chunks, memmap.SaveOptions{}))

	ds, err := memmap.Open(os.Args[2])
	check(err)
	defer ds.Close()
	fmt.Println(schema.Head(ds.TensorDict, 5)) // reads these rows from the mapped files
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
