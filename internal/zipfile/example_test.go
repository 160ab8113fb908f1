package zipfile_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func Example() {
	var file memory // an io.Writer and io.WriterAt, such as an *os.File
	w := zipfile.NewWriter(&file)
	for _, name := range []string{"obs/pixels.memmap", "reward.memmap"} {
		err := w.Add(zipfile.Header{Name: name, Perm: 0o644, Aligned: true}, func(payload io.Writer) error {
			_, err := fmt.Fprintf(payload, "elements of %s", name)
			return err
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(w.Close())

	a, err := zipfile.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), zipfile.MaxEntries)
	fmt.Println(err)
	for _, e := range a.Entries {
		text, err := io.ReadAll(e.Reader(bytes.NewReader(file.Bytes())))
		fmt.Printf("%s at %d: %s, %v\n", e.Name, e.Offset, text, err)
	}
	// Output:
	// <nil>
	// <nil>
	// obs/pixels.memmap at 128: elements of obs/pixels.memmap, <nil>
	// reward.memmap at 256: elements of reward.memmap, <nil>
}
