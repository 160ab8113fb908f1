// Tutorial is the program of docs/tutorial.md, which explains it step by step. It turns a table of
// visits of patients into a dataset on disk, looks at it, trains a classifier on it, stops and
// resumes the training, serves the dataset over HTTP while it grows, and shares it with Python.
// Any error ends it: see tensor.Must.
//
//	go run ./examples/tutorial [-dir DIR]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/tensor"
)

// steps are the steps of the tutorial, in order. Each takes the directory of the dataset.
var steps = []struct {
	name string
	run  func(dir string)
}{
	{"convert", convert},
	{"look", look},
	{"index", index},
	{"normalise", normalise},
	{"ragged", raggedRows},
	{"batches", batches},
	{"train", train},
	{"resume", resume},
	{"serve", serve},
	{"python", python},
}

func main() {
	dir := flag.String("dir", "", "where to make the dataset; by default a temporary directory")
	flag.Parse()
	if *dir == "" {
		*dir = tensor.Must(os.MkdirTemp("", "tutorial-"))
		defer os.RemoveAll(*dir)
	}
	for i, step := range steps {
		fmt.Printf("--- %d. %s\n", i+1, step.name)
		step.run(filepath.Join(*dir, "visits"))
	}
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
