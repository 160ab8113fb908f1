package mapping_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

func Example() {
	dir, err := os.MkdirTemp("", "mapping")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "reward.memmap")
	if err := os.WriteFile(path, []byte{1, 0, 2, 0}, 0o666); err != nil {
		log.Fatal(err)
	}

	m, err := open(path, 4)
	if err != nil {
		log.Fatal(err)
	}
	sum := 0
	if err := read(m, func(data []byte) { sum = int(data[0]) + int(data[2]) }); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum, m.Close(), m.Close())
	// Output: 3 <nil> mapping closed
}

// open maps the first size bytes of the file at path.
func open(path string, size int) (*mapping.Mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapping.Map(f, size, mapping.ReadOnly)
}

// read calls fn with the bytes of m, for the time of the call.
func read(m *mapping.Mapping, fn func([]byte)) error {
	data, err := m.Acquire()
	if err != nil {
		return err
	}
	defer m.Release()
	return mapping.Guard(func() { fn(data) })
}
