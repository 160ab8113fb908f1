// Dataset shows the life of datasets on disk, with real data. The visits of 312 patients are
// appended one by one, while a reader sees the committed ones. A dataset of patients is created on
// disk and filled by four goroutines, and read while it is replaced. Both are verified, before and
// after a byte was changed. Any error ends it: see Must.
//
//	go run ./examples/dataset [-dir DIR]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	dir := flag.String("dir", "", "where to make the datasets; by default a temporary directory")
	flag.Parse()
	if *dir == "" {
		*dir = tensor.Must(os.MkdirTemp("", "dataset-"))
		defer os.RemoveAll(*dir)
	}
	run(*dir)
}

// run makes the datasets in dir.
func run(dir string) {
	visits, patients := filepath.Join(dir, "visits"), filepath.Join(dir, "patients")
	grow(visits)
	fill(patients, visits)
	serve(patients)
	verify(visits)
	verify(patients)
	damage(filepath.Join(visits, "day.memmap"))
	verify(visits)
}

// verify reads a whole dataset and compares it with its checksums.
func verify(dir string) {
	report, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	if !errors.Is(err, memmap.ErrCorrupt) {
		check(err)
	}
	fmt.Printf("verified %s: %d leaves, %d bytes, damaged: %d\n",
		filepath.Base(dir), report.Leaves, report.Bytes, len(report.Damage))
	for _, damage := range report.Damage {
		fmt.Println("  ", damage)
	}
}

// damage changes a byte of a file.
func damage(path string) {
	f := tensor.Must(os.OpenFile(path, os.O_WRONLY, 0))
	_, err := f.WriteAt([]byte{0xff}, 100)
	check(errors.Join(err, f.Close()))
	fmt.Println("changed a byte of", filepath.Base(path))
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
