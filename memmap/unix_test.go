//go:build unix

package memmap_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
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

// TestPathsThatAreNoDirectories wants an answer, and ErrForeign of what opens.
func TestPathsThatAreNoDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("PK"), 0o666))
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o666))
	for _, path := range []string{file, fifo} {
		for name, try := range map[string]func() error{
			"Open":     func() error { return testkit.Err(memmap.Open(path)) },
			"Writable": func() error { return testkit.Err(memmap.OpenWith(path, memmap.OpenOptions{Writable: true})) },
			"OpenLive": func() error { return testkit.Err(memmap.OpenLive(path, memmap.LiveOptions{})) },
			"Verify":   func() error { return testkit.Err(memmap.Verify(t.Context(), path, memmap.VerifyOptions{})) },
			"Save":     func() error { return memmap.Save(path, steps()) },
			"Create":   func() error { return testkit.Err(memmap.Create(path, steps(), memmap.CreateOptions{})) },
			"NewWriter": func() error {
				return testkit.Err(memmap.NewWriter(path, rows(t, 0), memmap.WriterOptions{Resume: true}))
			},
		} {
			done := make(chan error, 1)
			go func() { done <- try() }()
			select {
			case err := <-done:
				require.Error(t, err, name)
				if name == "Open" || name == "Writable" {
					require.ErrorIs(t, err, memmap.ErrForeign, name)
				}
			case <-time.After(20 * time.Second):
				require.Fail(t, name+" hangs")
			}
		}
	}
}

// TestWriterRefusesPipes: opening one would wait for a reader.
func TestWriterRefusesPipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 3)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "reward.memmap")))
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "reward.memmap"), 0o666))
	done := make(chan error, 1)
	go func() { done <- testkit.Err(memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})) }()
	select {
	case err := <-done:
		require.Error(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits")
	}
}
