//go:build unix

package memmap_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFileCutWithinItsLastPage cuts a mapped file where that causes no fault: what was cut reads as
// zeros, which no operation may take for the elements.
func TestFileCutWithinItsLastPage(t *testing.T) {
	operations := []struct {
		name string
		do   func(t *testing.T, ds *memmap.Dataset) error
	}{
		{"a copy of it all", func(_ *testing.T, ds *memmap.Dataset) error { return testkit.Err(ds.Clone()) }},
		{"rows by list", func(_ *testing.T, ds *memmap.Dataset) error { return testkit.Err(ds.Index(ix.Take(3))) }},
		{"stacking", func(_ *testing.T, ds *memmap.Dataset) error {
			return testkit.Err(shapeops.Stack([]*tdict.TensorDict{ds.TensorDict, ds.TensorDict}, 0))
		}},
		{"reading", func(_ *testing.T, ds *memmap.Dataset) error {
			return tensor.Read(tensor.Must(ds.Tensor("reward")), func([]int64) {})
		}},
		{"saving", func(t *testing.T, ds *memmap.Dataset) error {
			other := saved(t)
			err := memmap.Save(other, ds.TensorDict)
			requireSame(t, steps(), open(t, other).TensorDict)
			return err
		}},
		{"appending", func(t *testing.T, ds *memmap.Dataset) error {
			dir := filepath.Join(t.TempDir(), "log")
			w, err := memmap.NewWriter(dir, tensor.Must(steps().Index(ix.At(0))), memmap.WriterOptions{})
			require.NoError(t, err)
			err = w.Append(ds.TensorDict)
			require.Error(t, w.Commit(), "zeros may have been written")
			require.NoError(t, w.Close())
			require.Zero(t, open(t, dir).Shape()[0])
			return err
		}},
	}
	for _, tt := range operations {
		cut := func(t *testing.T, at, file string) {
			ds := open(t, at)
			require.True(t, steps().Equal(ds.TensorDict), "all is mapped")
			require.NoError(t, os.Truncate(file, 16))
			require.ErrorIs(t, tt.do(t, ds), memmap.ErrFault)
		}
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			cut(t, dir, filepath.Join(dir, "reward.memmap"))
		})
		t.Run(tt.name+" of an archive", func(t *testing.T) {
			file := savedArchive(t, steps())
			cut(t, file, file)
		})
	}
}

// TestWritableOnAReadOnlyFileSystem needs the right to mount one.
func TestWritableOnAReadOnlyFileSystem(t *testing.T) {
	dir := saved(t)
	if err := mountReadOnly(dir); err != nil {
		t.Skip("cannot mount: ", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	require.NoError(t, ds.Close())
	_, err = memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
	require.ErrorIs(t, err, unix.EROFS)
	_, ok := errors.AsType[*memmap.DatasetError](err)
	require.True(t, ok)
}

// TestReplacingKeepsModes saves, creates and finishes over a directory whose permissions are of
// somebody's choice.
func TestReplacingKeepsModes(t *testing.T) {
	want := map[string]os.FileMode{
		".": 0o750 | os.ModeSetgid, "obs": 0o700, "obs/pos.memmap": 0o640, "obs/meta.json": 0o604,
		"meta.json": 0o600, "reward.memmap": 0o660,
	}
	ways := map[string]func(dir string) error{
		"save": func(dir string) error { return memmap.Save(dir, steps()) },
		"create": func(dir string) error {
			ds, err := memmap.Create(dir, steps(), memmap.CreateOptions{Replace: true})
			return errors.Join(err, ds.Close())
		},
	}
	for name, replace := range ways {
		t.Run(name, func(t *testing.T) {
			dir := saved(t)
			for at, mode := range want {
				require.NoError(t, os.Chmod(filepath.Join(dir, at), mode))
			}
			require.NoError(t, replace(dir))
			for at, mode := range want {
				info := tensor.Must(os.Stat(filepath.Join(dir, at)))
				require.Equal(t, mode, info.Mode()&^os.ModeDir, at)
			}
		})
	}
}
