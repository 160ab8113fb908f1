package npy_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FuzzHeader reads a header with some elements after it. An array that is read is written and read
// again.
func FuzzHeader(f *testing.F) {
	for _, file := range tensor.Must(filepath.Glob(filepath.Join(brokenDir, "*.txt"))) {
		text := string(tensor.Must(os.ReadFile(file)))
		if i := bytes.IndexByte([]byte(text), '{'); i >= 0 {
			f.Add(text[i:], byte(1), 8)
		}
	}
	f.Add("{'descr': '>c8', 'fortran_order': True, 'shape': (2, 1, 3)}", byte(3), 48)
	f.Fuzz(func(t *testing.T, text string, version byte, n int) {
		file := append(testkit.NpyHeader(version, text), make([]byte, min(max(n, 0), 1<<12))...)
		var x *tensor.Tensor
		var err error
		if testkit.Allocated(func() { x, err = npy.Read(bytes.NewReader(file)) }) > 4<<20 {
			t.Fatal("much memory")
		}
		if err != nil {
			classified(t, err)
			return
		}
		again := tensor.Must(npy.Read(bytes.NewReader(written(t, x))))
		require.Equal(t, x.Shape(), again.Shape())
		require.Equal(t, testkit.Content(t, x), testkit.Content(t, again))
	})
}

// FuzzOpenDict opens archives and structured arrays, and reads every element of what it gets.
func FuzzOpenDict(f *testing.F) {
	f.Add(array("[('a', '<i4'), ('n', [('b', '>f8', (2,)), ('c', '|b1')], (2,))]", "True", "(2, 3)", 228))
	f.Add(tensor.Must(os.ReadFile(saved(f, visits(f)))))
	f.Add(testkit.Archive(f, testkit.Packed("a.npy", array("'<f4'", "False", "(2,)", 8)), testkit.Stored("r.npy", array("[('x', '<f4')]", "False", "(2,)", 8))))
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, file []byte) {
		require.NoError(t, os.WriteFile(path, file, 0o666))
		var d *npy.Dict
		var err error
		if testkit.Allocated(func() { d, err = npy.OpenDictWith(path, npy.DictOptions{MaxCopy: 1 << 20}) }) > 16<<20 {
			t.Fatal("much memory")
		}
		if err != nil {
			classified(t, err)
			return
		}
		defer d.Close()
		for _, x := range d.Tensors() {
			var b bytes.Buffer
			if n, err := x.WriteTo(&b); err != nil { // a member differs from its CRC-32
				classified(t, err)
			} else {
				require.EqualValues(t, x.ByteSize(), n)
			}
		}
	})
}

// classified checks that an error names the file and one of the reasons that there are.
func classified(t *testing.T, err error) {
	e, ok := errors.AsType[*npy.FileError](err)
	require.True(t, ok, "%v", err)
	for _, reason := range []error{npy.ErrCorrupt, npy.ErrUnsupported, tdict.ErrExists, tdict.ErrDepth, shapeops.ErrShape} {
		if errors.Is(e, reason) {
			return
		}
	}
	t.Fatalf("unclassified error %v", err)
}
