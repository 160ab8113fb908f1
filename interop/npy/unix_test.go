//go:build unix

package npy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFileCut cuts mapped files, within their last page and before it.
func TestFileCut(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float64](1 << 18))
	td := tdict.New()
	require.NoError(t, td.Set("x", x))
	for _, left := range []int64{0, 100, 1 << 20, 1<<21 + 100} {
		path, archive := put(t, written(t, x)), saved(t, td)
		f, d := open(t, path), openDict(t, archive)
		for _, p := range []string{path, archive} {
			require.NoError(t, os.Truncate(p, left))
		}
		require.ErrorIs(t, testkit.Err(f.Clone()), npy.ErrFault)
		require.ErrorIs(t, testkit.Err(d.Clone()), npy.ErrFault)
		other := filepath.Join(t.TempDir(), "other")
		require.ErrorIs(t, npy.Save(other, f.Tensor), npy.ErrFault)
		err := npy.SaveDict(other, d.TensorDict)
		require.ErrorIs(t, err, npy.ErrFault)
		require.ErrorContains(t, err, `"x.npy"`)
		require.NoFileExists(t, other)
	}
}

// TestFileReplaced: whoever has the old file open keeps it.
func TestFileReplaced(t *testing.T) {
	path := put(t, written(t, tensor.Vector(1.0, 2)))
	f := open(t, path)
	require.NoError(t, npy.Save(path, tensor.Vector(3.0)))
	require.True(t, f.Equal(tensor.Vector(1.0, 2)))
	require.True(t, open(t, path).Equal(tensor.Vector(3.0)))
}

// TestOpenRefusesPipes: opening one would wait for a writer.
func TestOpenRefusesPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(path, 0o666))
	require.ErrorIs(t, testkit.Err(npy.Open(path)), npy.ErrCorrupt)
	require.ErrorIs(t, testkit.Err(npy.OpenDict(path)), npy.ErrCorrupt)
	require.ErrorIs(t, npy.Save(path, tensor.Vector(1.0)), os.ErrExist)
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, dead := filepath.Join(dir, "x.npy"), filepath.Join(dir, "link"), filepath.Join(dir, "dead")
	require.NoError(t, npy.Save(path, tensor.Vector(1.0)))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Symlink("x.npy", link))
	require.NoError(t, os.Symlink("nowhere", dead))
	require.NoError(t, npy.Save(link, tensor.Vector(2.0)))
	require.True(t, open(t, link).Equal(tensor.Vector(2.0)))
	require.Equal(t, os.FileMode(0o640), tensor.Must(os.Lstat(path)).Mode())
	require.Equal(t, os.ModeSymlink, tensor.Must(os.Lstat(link)).Mode().Type())
	require.ErrorIs(t, testkit.Err(npy.Open(dead)), os.ErrNotExist)
	require.ErrorIs(t, npy.Save(dead, tensor.Vector(2.0)), os.ErrExist)
}
