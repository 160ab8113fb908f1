package memmap_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// FuzzMeta opens directories with any meta.json beside a small file: it is refused with an error
// that names a file, or every leaf can be read in full and is no longer than the file allows.
func FuzzMeta(f *testing.F) {
	golden, _ := filepath.Glob(filepath.Join("..", "testdata", "golden", "td*", "data", "meta.json"))
	for _, file := range golden {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text, []byte("0123456789abcdef"))
		}
	}
	f.Add([]byte(`{"a":{"shape":[2,-3],"dtype":"torch.int8"},"shape":[2],"_type":"TensorDict"}`), []byte("012345"))
	f.Add([]byte(`{"a":{"shape":[4611686018427387904,0],"dtype":"torch.int8"},"shape":[],"_type":"TensorDict"}`), []byte{})
	f.Add([]byte(`{"a":{"type":"TensorDict"},"shape":[],"_type":"TensorDict"}`), []byte{})
	f.Fuzz(func(t *testing.T, meta, leaf []byte) {
		dir := t.TempDir()
		write(t, dir, "meta.json", string(meta))
		write(t, dir, "a.memmap", string(leaf))
		ds, err := memmap.Open(dir)
		if err != nil {
			if _, ok := errors.AsType[*memmap.FileError](err); !ok {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		defer ds.Close()
		for key, l := range ds.Leaves() {
			var b bytes.Buffer
			n, err := l.(*tensor.Tensor).WriteTo(&b)
			if err != nil || n > int64(len(leaf)) {
				t.Fatalf("%q: read %d bytes of %d: %v", key, n, len(leaf), err)
			}
		}
	})
}
