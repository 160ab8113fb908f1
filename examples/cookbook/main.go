// Cookbook runs the tasks of docs/cookbook.md: all, or the tasks that the arguments name.
//
//	go run ./examples/cookbook
//	go run ./examples/cookbook "Split by patient"
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// A task is a section of the page.
type task struct {
	name string
	run  func()
}

var (
	ctx   = context.Background()
	tasks = slices.Concat(getDataIn, lookAndClean, change, splitAndSample, sequences, training, serveAndShare, repair)
)

func main() {
	for _, arg := range os.Args[1:] {
		if !slices.ContainsFunc(tasks, func(t task) bool { return t.name == arg }) {
			log.Fatalf("got %q, want the heading of a task", arg)
		}
	}
	leave := enter()
	defer leave()
	for _, t := range tasks {
		if len(os.Args) == 1 || slices.Contains(os.Args[1:], t.name) {
			fmt.Println("---", t.name)
			t.run()
		}
	}
}

// enter makes a temporary directory the current one and puts the data of all tasks there: the table
// visits.csv, and the datasets visits, digits and patients.
func enter() (leave func()) {
	dir, err := os.MkdirTemp("", "cookbook-")
	check(err)
	check(os.Chdir(dir))
	table, err := data.VisitsCSV()
	check(err)
	text, err := io.ReadAll(table)
	check(err)
	check(os.WriteFile("visits.csv", text, 0o666))
	floats := map[nestedkey.Key]tensor.DType{"chol": tensor.Float64, "alk.phos": tensor.Float64, "platelet": tensor.Float64}
	opt := forms.Options{Open: forms.OpenOptions{Hints: csv.Hints{DTypes: floats}}, NoSync: true}
	check(forms.Convert(ctx, "visits", []string{"visits.csv"}, opt))
	digits, err := data.Digits()
	check(err)
	check(memmap.SaveWith(ctx, "digits", digits, memmap.SaveOptions{NoSync: true}))
	ds := open("visits")
	defer ds.Close()
	check(memmap.SaveWith(ctx, "patients", rowsOfPatients(ds), memmap.SaveOptions{NoSync: true}))
	return func() { check(errors.Join(os.Chdir(os.TempDir()), os.RemoveAll(dir))) }
}

// open opens a dataset.
func open(path string) *memmap.Dataset {
	ds, err := memmap.Open(path)
	check(err)
	return ds
}

// check ends the program if there is an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
