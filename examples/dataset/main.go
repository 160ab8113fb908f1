// Dataset shows the life of datasets on disk with real ones: the visits of 312 patients are
// appended as they come, while another goroutine reads what is committed; a table of patients is
// made on disk and filled by four goroutines; it is served to readers while it is replaced; and
// both are verified, before and after a byte was changed.
//
//	go run ./examples/dataset [-dir DIR]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
)

var dir = flag.String("dir", "", "where to make the datasets, a directory that is not there yet; by default a temporary one")

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(*dir); err != nil {
		log.Fatal("dataset: ", err)
	}
}

// run makes the datasets in dir, or in a temporary directory if that is empty.
func run(dir string) (err error) {
	if dir == "" {
		top, failed := os.MkdirTemp("", "dataset-")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
		dir = top
	}
	visits, patients := filepath.Join(dir, "visits"), filepath.Join(dir, "patients")
	if err := grow(visits); err != nil {
		return err
	}
	if err := makePatients(patients, visits); err != nil {
		return err
	}
	if err := serve(patients); err != nil {
		return err
	}
	return verify(visits, patients)
}

// verify verifies both datasets, changes a byte, and verifies again.
func verify(visits, patients string) error {
	for _, dir := range []string{visits, patients} {
		report, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
		if err != nil {
			return err
		}
		fmt.Printf("verified %s: %d leaves, %d bytes, %d faults\n", filepath.Base(dir), report.Leaves, report.Bytes, len(report.Faults))
	}
	f, err := os.OpenFile(filepath.Join(visits, "day.memmap"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt([]byte{0xff}, 100); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	report, err := memmap.Verify(context.Background(), visits, memmap.VerifyOptions{})
	if !errors.Is(err, memmap.ErrCorrupt) {
		return fmt.Errorf("a changed byte was not found: %w", err)
	}
	for _, fault := range report.Faults {
		fmt.Println("after a byte was changed:", fault)
	}
	return nil
}
