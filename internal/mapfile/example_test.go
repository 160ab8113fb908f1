package mapfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	dir := tensor.Must(os.MkdirTemp("", "mapfile"))
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "image"), []byte{1, 2, 3, 4, 5, 6}, 0o666); err != nil {
		fmt.Println(err)
	}

	s := tensor.Must(mapfile.Open(dir, mapfile.Options{}))
	info := tensor.Must(s.Root().Lstat("image"))
	f := s.Add(s.Top(), "image", info, 6)
	fmt.Println(tensor.Must(tensor.FromLender(tensor.Uint8, f, 0, 2, 3)))

	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	_, err := f.Borrow()
	fmt.Println(err)
	// Output:
	// uint8 [2 3]
	// [[1 2 3]
	//  [4 5 6]]
	// map image: already closed
}

func ExampleOpenSingle() {
	dir := tensor.Must(os.MkdirTemp("", "mapfile"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "both")
	if err := os.WriteFile(path, []byte{1, 2, 3, 4, 5, 6}, 0o666); err != nil {
		fmt.Println(err)
	}

	s := tensor.Must(mapfile.OpenSingle(path, nil))
	defer s.Close()
	p := tensor.Must(s.Lend("the second", 4, 2))
	fmt.Println(tensor.Must(tensor.FromLender(tensor.Uint8, s, 0, 4)))
	fmt.Println(tensor.Must(tensor.FromLender(tensor.Uint8, p, p.Offset(), 2)))
	// Output:
	// uint8 [4]
	// [1 2 3 4]
	// uint8 [2]
	// [5 6]
}
