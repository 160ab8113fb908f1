// Queries runs the Go lines that docs/tables.md has beside lines of pandas and of SQL.
//
//	go run ./examples/queries
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

type keys = []nestedkey.Key

var (
	ctx  = context.Background()
	none forms.Options
)

func main() {
	dir, err := os.MkdirTemp("", "queries-")
	check(err)
	defer os.RemoveAll(dir)
	check(os.Chdir(dir))
	table, err := data.VisitsCSV()
	check(err)
	text, err := io.ReadAll(table)
	check(err)
	check(os.WriteFile("visits.csv", text, 0o666))
	check(os.WriteFile("arms.csv", []byte("trt,arm\n1,drug\n"), 0o666))

	check(forms.Convert(ctx, "visits", []string{"visits.csv"}, none))
	ds, err := memmap.Open("visits")
	check(err)
	defer ds.Close()
	columns(ds)
	conditions(ds)
	summaries(ds)
	files()
	hints()
	changed(ds.TensorDict, tensor.Must(kept(ds, `day < 5000`)))
}

// kept returns the rows of ds for which a condition holds.
func kept(ds *memmap.Dataset, condition string) (*tdict.TensorDict, error) {
	cond, err := where.Parse(condition)
	if err != nil {
		return nil, err
	}
	filter, err := cond.Bind(ds) // with the masks of its schema
	if err != nil {
		return nil, err
	}
	mask, err := filter.Mask(ds)
	if err != nil {
		return nil, err
	}
	return ds.MaskedSelect(mask)
}

// columns takes some columns, and rows by their numbers.
func columns(ds *memmap.Dataset) {
	fmt.Println(len(ds.Schema()), "entries")
	fmt.Println(ds.Schema().Head(tensor.Must(ds.Select("id", "sex")), 3))
	shown("two columns", tensor.Must(ds.Select("id", "chol", "chol_mask")))
	shown("without one", ds.Exclude("sex"))
	shown("some rows", tensor.Must(ds.Index(ix.Range(100, 200))))
}

// conditions takes rows by their values.
func conditions(ds *memmap.Dataset) {
	shown("high", tensor.Must(kept(ds, `chol > 250`)))
	shown("both", tensor.Must(kept(ds, `age >= 60 and sex == "f"`)))
	shown("listed", tensor.Must(kept(ds, `stage in (3, 4)`)))
	shown("missing", tensor.Must(kept(ds, `missing(chol)`)))
	shown("present", tensor.Must(kept(ds, `not missing(chol)`)))
	shown("not high", tensor.Must(kept(ds, `not chol > 250`)))
}

// summaries prints means.
func summaries(ds *memmap.Dataset) {
	all, err := inspect.Describe(ctx, ds, inspect.DescribeOptions{Keys: keys{"age", "chol"}})
	check(err)
	for _, s := range all {
		fmt.Printf("%s: %d values, %d missing, mean %.2f\n", s.Key, s.Count, s.Missing, s.Mean)
	}
	means, err := ds.Schema().Aggregate(ds, arith.Mean, keys{"sex"}, "age", "chol")
	check(err)
	fmt.Println(ds.Schema().Head(means, 2))
}

// files makes files of files, and needs no memory for their rows.
func files() {
	to := "o.csv"
	check(forms.Convert(ctx, to, []string{"visits"}, forms.Options{Select: forms.Selection{Rename: [][2]nestedkey.Key{{"trt", "group"}}}}))
	opened(to)
	check(forms.Sort(ctx, to, "visits", forms.SortOptions{By: keys{"bili"}, Descending: true}))
	opened(to)
	check(forms.Sort(ctx, to, "visits", forms.SortOptions{By: keys{"chol"}}))
	opened(to)
	check(forms.Join(ctx, to, "visits", "arms.csv", forms.JoinOptions{On: keys{"trt"}}))
	opened(to)
	check(forms.Join(ctx, to, "visits", "arms.csv", forms.JoinOptions{On: keys{"trt"}, Left: true}))
	opened(to)
	check(forms.Convert(ctx, to, []string{"visits", "visits.csv"}, none))
	opened(to)
	check(forms.Sample(ctx, to, "visits", forms.SampleOptions{N: 100, Seed: 1}))
	opened(to)
	check(forms.Convert(ctx, to, []string{"visits"}, none))
	opened(to)
	to = "o.jsonl"
	check(forms.Convert(ctx, to, []string{"visits"}, none))
	opened(to)
}

// hints reads a table with hints.
func hints() {
	read := func(h csv.Hints) forms.Options { return forms.Options{Open: forms.OpenOptions{Hints: h}} }
	to := "coded"
	check(forms.Convert(ctx, to, []string{"visits.csv"}, read(csv.Hints{Categories: map[nestedkey.Key]bool{"sex": true}})))
	opened(to)
	to = "small"
	check(forms.Convert(ctx, to, []string{"visits.csv"}, read(csv.Hints{Float32: true})))
	opened(to)
}

// changed prints how many rows differ.
func changed(a, b *tdict.TensorDict) {
	rows := 0
	for _, err := range inspect.RowDifferences(ctx, a, b, inspect.RowDifferencesOptions{By: keys{"id", "day"}}) {
		check(err)
		rows++
	}
	fmt.Println(rows, "rows differ")
}

// shown prints how many rows and leaves there are.
func shown(what string, td *tdict.TensorDict) { fmt.Println(what, td.Shape(), td.NumEntries()) }

// opened prints what a file holds, and makes way for the next one.
func opened(path string) {
	in, err := forms.Open(path, forms.OpenOptions{})
	check(err)
	rows := 0
	for chunk, err := range in.Chunks(ctx) {
		check(err)
		rows += chunk.Shape()[0]
	}
	fmt.Println(path, rows, "rows,", len(in.Schema), "columns")
	check(in.Close())
	check(os.RemoveAll(path))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
