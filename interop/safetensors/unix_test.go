//go:build unix

package safetensors_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFileCut cuts a mapped file, within its last page and before it.
func TestFileCut(t *testing.T) {
	for _, left := range []int64{0, 100, 1 << 20} {
		td := tdict.New()
		require.NoError(t, td.Set("a/x", tensor.Must(tensor.Zeros[float64](1<<18))))
		path := saved(t, td)
		f := open(t, path)
		require.NoError(t, os.Truncate(path, left))
		err := testkit.Err(tensor.Must(f.Tensor("a/x")).Clone())
		require.ErrorIs(t, err, safetensors.ErrFault)
		require.ErrorContains(t, err, path+": a.x: ")
		other := filepath.Join(t.TempDir(), "other")
		require.ErrorIs(t, safetensors.Save(other, f.TensorDict), safetensors.ErrFault)
		require.NoFileExists(t, other)
	}
}

// TestTruncated cuts a file after each of its bytes before it is opened.
func TestTruncated(t *testing.T) {
	file, dir := written(t, batch(t)), t.TempDir()
	for n := range len(file) {
		_, err := safetensors.Open(put(t, dir, "x", file[:n]))
		require.ErrorIs(t, err, safetensors.ErrCorrupt, "%d bytes", n)
	}
}

func TestSaveKeepsPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "data"), filepath.Join(dir, "link")
	require.NoError(t, safetensors.Save(path, batch(t)))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Symlink("data", link))
	other := tdict.New()
	require.NoError(t, other.Set("x", tensor.Scalar(1.5)))
	require.NoError(t, safetensors.Save(link, other))
	require.Equal(t, os.FileMode(0o640), tensor.Must(os.Lstat(path)).Mode())
	require.Equal(t, os.ModeSymlink, tensor.Must(os.Lstat(link)).Mode().Type())
	require.True(t, other.Equal(open(t, path).TensorDict))

	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dead")))
	require.ErrorIs(t, safetensors.Save(filepath.Join(dir, "dead"), other), os.ErrExist)
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	require.ErrorIs(t, safetensors.Save(filepath.Join(dir, "pipe"), other), os.ErrExist)
}
