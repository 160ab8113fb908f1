//go:build unix

package memmap_test

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCloseSaysWhichFile unmaps a leaf under the feet of its dataset.
func TestCloseSaysWhichFile(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	want := "close " + dir + ": reward.memmap: invalid argument"
	s := tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("reward"))))
	require.NoError(t, unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 32)))
	require.EqualError(t, ds.Close(), want)
	require.EqualError(t, ds.CloseWait(t.Context()), want, "again")
}

// TestOpenRefusesPipes: opening one would wait for a writer.
func TestOpenRefusesPipes(t *testing.T) {
	for _, name := range []string{"reward.memmap", "meta.json"} {
		dir := saved(t)
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, name), 0o666))
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "open "+dir+": "+name+": corrupt: got a special file")
	}
}
