// Missing reads a table with missing values, saves it, and computes statistics that leave them out.
//
//	go run ./examples/missing
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/transform"
	"github.com/go-tensordict/tensordict/where"
)

var ctx = context.Background()

const table = `sex,age,bili,chol
f,50,1.0,NA
m,61,NA,260
f,NA,3.5,300
NA,44,1.5,NA
`

func main() {
	dir, err := os.MkdirTemp("", "missing-")
	check(err)
	defer os.RemoveAll(dir)
	save(filepath.Join(dir, "patients"))

	ds, err := memmap.Open(filepath.Join(dir, "patients"))
	check(err)
	defer ds.Close()
	describe(ds)
	statistics(ds)
	rows(ds)
}

// save makes a dataset of the table. Its schema says which entries are masks.
func save(dir string) {
	schema, err := csv.Infer(strings.NewReader(table), 0, csv.Format{})
	check(err)
	saved, err := csv.ChunkSchema(schema, csv.Format{}) // with a mask for each optional column
	check(err)
	chunks := csv.Read(ctx, strings.NewReader(table), schema, csv.ReadOptions{})
	check(memmap.SaveRows(ctx, dir, chunks, memmap.SaveOptions{Schema: saved}))
}

// describe counts missing values.
func describe(ds *memmap.Dataset) {
	all, err := inspect.Describe(ctx, ds, inspect.DescribeOptions{Keys: []nestedkey.Key{"sex", "age", "bili", "chol"}})
	check(err)
	for _, s := range all {
		fmt.Printf("%-4s  %d values, %d missing\n", s.Key, s.Count, s.Missing)
	}
}

// statistics computes means: of columns, of groups, and for training.
func statistics(ds *memmap.Dataset) {
	masks, err := ds.Schema().Masks(ds)
	check(err)
	columns, err := ds.Select("age", "bili", "chol")
	check(err)
	means, err := arith.Mean(columns, arith.Dims(0).Masked(masks))
	check(err)
	fmt.Println(means.Head(1))

	groups, err := ds.Schema().Aggregate(ds, arith.Mean, []nestedkey.Key{"sex"}, "age", "chol")
	check(err)
	fmt.Println(groups.Head(3)) // f, m, and the row whose sex is missing

	standard, err := transform.FitStandard(ds, nil) // by the schema of ds
	check(err)
	fmt.Println(standard.Mean().Tensor("bili"))
}

// rows selects rows, and writes the table.
func rows(ds *memmap.Dataset) {
	condition, err := where.Parse("chol > 250 or missing(age)")
	check(err)
	filter, err := condition.Bind(ds)
	check(err)
	mask, err := filter.Mask(ds)
	check(err)
	some, err := ds.MaskedSelect(mask)
	check(err)
	one := func(yield func(*tdict.TensorDict, error) bool) { yield(some, nil) }
	check(csv.Write(ctx, os.Stdout, ds.Schema(), one, csv.Format{}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
