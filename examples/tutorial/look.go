package main

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// look prints the dataset at dir, and the files that it consists of.
func look(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	fmt.Println(ds)
	fmt.Println(ds.Head(3))

	files := os.DirFS(dir)
	check(fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			fmt.Printf("%-21s %6d bytes\n", path, tensor.Must(entry.Info()).Size())
		}
		return err
	}))
}
