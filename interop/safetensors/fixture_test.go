package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// counted returns a tensor of 0, 1, 2 and so on.
func counted(t testing.TB, dtype tensor.DType, shape ...int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i % 100)
	}
	x, err := tensor.Must(tensor.From(v, append([]int{}, shape...)...)).Cast(dtype)
	require.NoError(t, err)
	return x
}

// batch returns a dictionary of batch shape [4] with tensors at two levels.
func batch(t testing.TB) *tdict.TensorDict {
	td := tdict.New(4)
	require.NoError(t, td.Set("obs/pos", counted(t, tensor.Float32, 4, 3)))
	require.NoError(t, td.Set("obs/done", counted(t, tensor.Bool, 4)))
	require.NoError(t, td.Set("reward", counted(t, tensor.Float64, 4)))
	return td
}

// saved returns the path of a file of td.
func saved(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.safetensors")
	require.NoError(t, safetensors.Save(path, td))
	return path
}

// open opens a file until the end of the test.
func open(t testing.TB, path string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // it may be closed
	return f
}

// written returns the file of a dictionary.
func written(t testing.TB, td *tdict.TensorDict) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, td, safetensors.SaveOptions{}))
	return b.Bytes()
}

// fileOf returns a file of a header and data.
func fileOf(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

// put writes a file, and returns its path.
func put(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, content, 0o666))
	return path
}
