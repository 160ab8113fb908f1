//go:build unix

package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
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

// TestShardCut cuts a mapped shard: the error names it.
func TestShardCut(t *testing.T) {
	path := sharded(t, t.TempDir(), layer(t, 0), layer(t, 1))
	f := open(t, path)
	shard := filepath.Join(filepath.Dir(path), "model-00002-of-00002.safetensors")
	require.NoError(t, os.Truncate(shard, 100))
	err := testkit.Err(tensor.Must(f.Tensor("layers/1/weight")).Clone())
	require.ErrorIs(t, err, safetensors.ErrFault)
	require.ErrorContains(t, err, shard+": layers.1.weight: ")
}

// TestSetWithFewDescriptors: an open set holds no descriptors, however many shards it has.
func TestSetWithFewDescriptors(t *testing.T) {
	path := manyShards(t, 150)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	few := old
	few.Cur = 60
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	f, err := safetensors.Open(path)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, err)
	defer f.Close()
	for i := range 150 {
		require.Equal(t, float64(i), tensor.Must(tensor.Item[float64](tensor.Must(f.Tensor(nestedkey.Of(fmt.Sprint(i)))))))
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
