//go:build unix

package nrt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFileCut cuts a mapped file, within its last page and before it.
func TestFileCut(t *testing.T) {
	for _, left := range []int64{0, 100, 1 << 20} {
		x := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[float64](1<<18)), tensor.Must(ragged.NewLayout([]int{1 << 18}))))
		path := saved(t, tensor.Must(joint.New(joint.Field{Name: "x", Tensor: x})))
		f := open(t, path)
		require.NoError(t, os.Truncate(path, left))
		values := tensor.Must(tensor.Must(f.Tensor("x")).Values())
		require.ErrorIs(t, testkit.Err(values.Clone()), nrt.ErrFault)
		other := filepath.Join(t.TempDir(), "other")
		require.ErrorIs(t, nrt.Save(other, f.Joint), nrt.ErrFault)
		require.NoFileExists(t, other)
	}
}

// TestOpenRefusesPipes: opening one would wait for a writer.
func TestOpenRefusesPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(path, 0o666))
	require.ErrorIs(t, testkit.Err(nrt.Open(path)), nrt.ErrCorrupt)
	require.ErrorIs(t, nrt.Save(path, visits()), os.ErrExist)
}

func TestSaveKeepsPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "data.nrt"), filepath.Join(dir, "link")
	require.NoError(t, nrt.Save(path, visits()))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Symlink("data.nrt", link))
	f := open(t, link)
	require.NoError(t, nrt.Save(link, mixed()))

	info := tensor.Must(os.Lstat(path))
	require.Equal(t, os.FileMode(0o640), info.Mode())
	require.Equal(t, os.ModeSymlink, tensor.Must(os.Lstat(link)).Mode().Type())
	require.True(t, mixed().Equal(open(t, path).Joint))
	require.True(t, visits().Equal(f.Joint), "who has the old file open keeps it")

	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dead")))
	require.ErrorIs(t, nrt.Save(filepath.Join(dir, "dead"), mixed()), os.ErrExist)
}
