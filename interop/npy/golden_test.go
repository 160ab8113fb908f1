package npy_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// golden returns the folders of files that NumPy wrote whose names match a pattern.
func golden(t testing.TB, pattern string) []string {
	dirs := []string{filepath.Join("..", "..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	var all []string
	for _, dir := range dirs {
		all = append(all, tensor.Must(filepath.Glob(filepath.Join(dir, pattern)))...)
	}
	require.NotEmpty(t, all)
	return all
}

// An expectedArray is what NumPy loads.
type expectedArray struct {
	Kind  string
	DType string
	Shape []int
	Hex   string
}

func (e expectedArray) equal(t *testing.T, x *tensor.Tensor) {
	require.Equal(t, e.DType, x.DType().String())
	require.Equal(t, e.Shape, []int(x.Shape()))
	require.Equal(t, e.Hex, hex.EncodeToString(testkit.Content(t, x)))
}

// expected reads the part "root" of a description.
func expected[T any](t *testing.T, folder string) T {
	var want struct{ Root T }
	require.NoError(t, json.Unmarshal(tensor.Must(os.ReadFile(filepath.Join(folder, "expected.json"))), &want))
	return want.Root
}

// TestGoldenArrays opens and reads each array of NumPy's, and writes it again.
func TestGoldenArrays(t *testing.T) {
	for _, folder := range golden(t, "npy*") {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			want := expected[expectedArray](t, folder)
			path := filepath.Join(folder, "data.npy")
			file := tensor.Must(os.ReadFile(path))
			if want.Kind != "tensor" { // it is structured, or holds no numbers
				d, err := npy.OpenDict(path)
				require.True(t, err == nil || errors.Is(err, npy.ErrUnsupported), "%v", err)
				_ = d.Close()
				return
			}
			f := open(t, path)
			want.equal(t, f.Tensor)
			x := tensor.Must(npy.Read(bytes.NewReader(file)))
			want.equal(t, x)
			if f.Lender() == nil || file[6] != 1 {
				return // the other byte order, or a version that is not written
			}
			for _, x := range []*tensor.Tensor{f.Tensor, x} {
				require.Equal(t, string(file), string(written(t, x)))
			}
		})
	}
}

// TestGoldenArchives opens each archive of NumPy's, and writes it again.
func TestGoldenArchives(t *testing.T) {
	for _, folder := range golden(t, "npz*") {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			want := expected[struct {
				Order   []nestedkey.Key
				Tensors map[nestedkey.Key]expectedArray
			}](t, folder)
			path := filepath.Join(folder, "data.npz")
			d := openDict(t, path)
			require.Equal(t, want.Order, testkit.Keys(d.Tensors()))
			require.True(t, d.Locked())
			mapped := true
			for key, x := range d.Tensors() {
				want.Tensors[key].equal(t, x)
				mapped = mapped && x.Lender() != nil
			}
			again := filepath.Join(t.TempDir(), "again.npz")
			require.NoError(t, npy.SaveDictWith(t.Context(), again, d.TensorDict, npy.SaveDictOptions{Unaligned: true}))
			requireEqual(t, d.TensorDict, openDict(t, again).TensorDict)
			if mapped { // neither deflated nor in the other byte order
				require.Equal(t, string(tensor.Must(os.ReadFile(path))), string(tensor.Must(os.ReadFile(again))))
			}
		})
	}
}

// written returns the file of an array.
func written(t testing.TB, x *tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, npy.Write(&b, x))
	return b.Bytes()
}

// open opens a file until the end of the test.
func open(t testing.TB, path string) *npy.File {
	t.Helper()
	f, err := npy.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // it may be closed
	return f
}

// openDict opens a dictionary until the end of the test.
func openDict(t testing.TB, path string) *npy.Dict {
	t.Helper()
	d, err := npy.OpenDict(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() }) // it may be closed
	return d
}

// put returns the path of a file of some bytes.
func put(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, content, 0o666))
	return path
}

// saved returns the path of an archive of a dictionary.
func saved(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npz")
	require.NoError(t, npy.SaveDict(path, td))
	return path
}
