package memmap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOpenSaysWhatIsThere opens what is not a dataset.
func TestOpenSaysWhatIsThere(t *testing.T) {
	tests := []struct {
		name  string
		files []string // names that end in a slash are directories
		text  string
		err   error
	}{
		{"an empty directory", nil, "is empty", os.ErrNotExist},
		{"files", []string{"a.npy", "b.csv"}, `holds "a.npy", "b.csv"`, os.ErrNotExist},
		{"datasets", []string{"test/", "train/"}, `holds directory "test", directory "train"`, os.ErrNotExist},
		{"many files", []string{"a", "b", "c", "d", "e", "f", "g"}, `holds "a", "b", "c", "d", "e" and 2 more`, os.ErrNotExist},
		{"a long name", []string{strings.Repeat("x", 250)}, `holds "` + strings.Repeat("x", 100) + `"...`, os.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.files {
				if strings.HasSuffix(name, "/") {
					require.NoError(t, memmap.Save(filepath.Join(dir, name), steps()))
				} else {
					write(t, dir, name, "x")
				}
			}
			for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
				_, err := memmap.OpenWith(dir, opt)
				require.EqualError(t, err, "open "+dir+": meta.json: missing: not a saved dictionary: the directory "+tt.text)
				require.ErrorIs(t, err, memmap.ErrForeign)
				require.ErrorIs(t, err, tt.err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "f.npz")
	require.NoError(t, os.WriteFile(file, []byte("PK"), 0o666))
	_, err := memmap.Open(file)
	require.EqualError(t, err, "open "+file+": not a saved dictionary: got a file of 2 bytes, want a directory or an archive")
	require.ErrorIs(t, err, memmap.ErrForeign)
}

// TestClosedSaysSo uses what was closed or finished.
func TestClosedSaysSo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	w := newWriter(t, dir)
	require.NoError(t, w.Finish())
	require.EqualError(t, w.Commit(), "append "+dir+": already closed")
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{})
	require.NoError(t, err)
	require.NoError(t, live.Close())
	_, err = live.Acquire()
	require.ErrorContains(t, err, "already closed")
	ds := open(t, dir)
	require.NoError(t, ds.Close())
	require.EqualError(t, ds.Flush(), "already closed")
}

// TestAddLeafSaysWhatAnotherAdded adds leaves to one new dictionary through two datasets.
func TestAddLeafSaysWhatAnotherAdded(t *testing.T) {
	dir := saved(t)
	one, two := writable(t, dir), writable(t, dir)
	four := tensor.Vector[int64](1, 2, 3, 4)
	require.NoError(t, one.AddLeaf("new/deep/x", four))
	require.EqualError(t, two.AddLeaf("new/deep/y", four),
		"add "+dir+`: key exists: another process has added "new": Refresh, then add "new/deep/y" to it`)
	require.EqualError(t, two.AddLeaf("new/deep/x", four),
		"add "+dir+`: key exists: another process has added "new": Refresh, then add "new/deep/x" to it`)
	require.NoError(t, one.AddLeaf("obs/z", four))
	require.EqualError(t, two.AddLeaf("obs/z", four), "add "+dir+`: key exists: another process has added "obs/z"`)
	again, err := two.Refresh()
	require.NoError(t, err)
	require.NoError(t, again.AddLeaf("new/y", four))
	require.NoError(t, again.Close())
}
