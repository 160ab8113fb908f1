package memmap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// A name that ends in .tdz makes one file, which Python's tensordict loads too.
func ExampleSave_archive() {
	dir := temp()
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "steps.tdz")
	if err := memmap.Save(file, steps()); err != nil {
		fmt.Println(err)
		return
	}
	ds := tensor.Must(memmap.Open(file))
	defer ds.Close()
	fmt.Println(ds.Shape(), ds.Equal(steps()))
	// Output:
	// [4] true
}

// An archive is not changed in place. A copy in the other form can be.
func ExampleCopy() {
	dir := temp()
	defer os.RemoveAll(dir)
	file, copied := filepath.Join(dir, "steps.tdz"), filepath.Join(dir, "steps")
	if err := memmap.Save(file, steps()); err != nil {
		fmt.Println(err)
		return
	}
	if err := memmap.Copy(context.Background(), file, copied, memmap.CopyOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	ds := tensor.Must(memmap.OpenWith(copied, memmap.OpenOptions{Writable: true}))
	fmt.Println(ds.AddLeaf("extra", tensor.Must(tensor.New(tensor.Int8, ds.Shape()...))), ds.Close())
	// Output:
	// <nil> <nil>
}
