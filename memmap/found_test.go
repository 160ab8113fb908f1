package memmap_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What hostile testing has found, each as a test.

// pair returns a dictionary of two leaves, x and y, at the top and in the dictionary n.
func pair(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(4)
	for _, key := range []nestedkey.Key{"x", "y", "n/x"} {
		require.NoError(t, td.Set(key, tensor.Vector[int64](0, 0, 0, 0)))
	}
	return td
}

// TestAddLeafTakesNoFileOfAnother adds entries whose files are those of entries that are there.
func TestAddLeafTakesNoFileOfAnother(t *testing.T) {
	tests := []struct {
		name  string
		have  nestedkey.Key
		add   nestedkey.Key
		value tdict.Leaf
	}{
		{"a leaf where a dictionary is", "a.memmap/x", "a", tensor.Vector[int8](1, 2)},
		{"a dictionary where a leaf is", "a", "a.memmap/x", tensor.Vector[int8](1, 2)},
		{"data where a leaf is", "a", "a.memmap", tensor.Must(tdict.NewData("x"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, td := filepath.Join(t.TempDir(), "d"), tdict.New(2)
			require.NoError(t, td.Set(tt.have, tensor.Vector[int64](1, 2)))
			require.NoError(t, memmap.Save(dir, td))
			require.ErrorIs(t, writable(t, dir).AddLeaf(tt.add, tt.value), memmap.ErrName)
			requireSame(t, td, open(t, dir).TensorDict)
			requireSound(t, dir)
		})
	}
}

// TestAddLeafKeepsDatasetsBesideIt adds an entry whose directory is a dataset of its own.
func TestAddLeafKeepsDatasetsBesideIt(t *testing.T) {
	dir := saved(t)
	require.NoError(t, os.Rename(saved(t), filepath.Join(dir, "more")))
	write(t, dir, "left.memmap", "of an addition that was cut short")
	ds := writable(t, dir)
	require.ErrorIs(t, ds.AddLeaf("more/x", tensor.Vector[int8](1, 2, 3, 4)), memmap.ErrForeign)
	requireSame(t, steps(), open(t, filepath.Join(dir, "more")).TensorDict)
	require.NoError(t, ds.AddLeaf("left", tensor.Vector[int8](1, 2, 3, 4)))
	require.NoError(t, ds.Close())
	requireSound(t, dir)
}

// TestCloseBesideAddLeaf runs with the race detector too.
func TestCloseBesideAddLeaf(t *testing.T) {
	for range 20 {
		ds := writable(t, saved(t))
		var wg sync.WaitGroup
		wg.Go(func() { _ = ds.AddLeaf("more", tensor.Vector[int8](1, 2, 3, 4)) }) // or ErrClosed
		wg.Go(func() { _ = ds.Flush() })
		require.NoError(t, ds.Close())
		wg.Wait()
	}
}

// TestSaveAndWriterOnOnePath begins a Writer while a save is writing.
func TestSaveAndWriterOnOnePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	var w *memmap.Writer
	err := memmap.SaveWith(t.Context(), dir, pair(t), memmap.SaveOptions{Progress: func(_, _ int64) {
		if w == nil {
			w = newWriter(t, dir)
			require.NoError(t, w.Append(rows(t, 0, 3)))
			require.NoError(t, w.Commit())
		}
	}})
	require.ErrorIs(t, err, memmap.ErrBusy)
	require.NoError(t, w.Append(rows(t, 3, 2)))
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 5), open(t, dir).TensorDict)
}

// TestWriterWhoseDirectoryWasReplaced moves its directory away and saves another in its place.
func TestWriterWhoseDirectoryWasReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 3)))
	require.NoError(t, w.Commit())
	require.NoError(t, os.Rename(dir, dir+".bak"))
	require.NoError(t, memmap.Save(dir, pair(t)))
	require.NoError(t, w.Append(rows(t, 3)))
	require.ErrorIs(t, w.Commit(), memmap.ErrReplaced)
	require.Error(t, w.Finish())
	requireSame(t, pair(t), open(t, dir).TensorDict)
	requireSame(t, rows(t, 0, 3), open(t, dir+".bak").TensorDict)
}

// TestWriterRefusesWhatItCouldNotFinish has names that only the nested form refuses.
func TestWriterRefusesWhatItCouldNotFinish(t *testing.T) {
	for _, keys := range [][]nestedkey.Key{{"n/shape"}, {"n/_go"}, {"shape/x"}, {"meta.json/x"}, {"a", "a.memmap/x"}, {".lock/x"}, {".meta-next/x"}} {
		row := tdict.New()
		for _, key := range keys {
			require.NoError(t, row.Set(key, tensor.Scalar(1.5)))
		}
		dir := filepath.Join(t.TempDir(), "d")
		_, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
		require.ErrorIs(t, err, memmap.ErrName, keys)
		require.Empty(t, names(t, filepath.Dir(dir)), "nothing was made")
	}
}

// TestWriterOfRowsWithABatchShape has an unbatched tensor, and NaN, in rows of batch shape [2].
func TestWriterOfRowsWithABatchShape(t *testing.T) {
	row := tdict.New(2)
	require.NoError(t, row.Set("x", tensor.Vector[int64](1, 2)))
	require.NoError(t, row.Set("u", tensor.Must(tdict.NewUnbatched(tensor.Vector(1, math.NaN())))))
	require.NoError(t, row.Set("d", tensor.Must(tdict.NewData(math.NaN()))))
	dir := filepath.Join(t.TempDir(), "d")
	for range 2 {
		w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Append(row))
		require.NoError(t, w.Commit())
		require.NoError(t, w.Close())
	}
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Finish())
	ds := open(t, dir)
	require.Equal(t, []int{2, 2}, []int(ds.Shape()))
	require.Equal(t, []int{2, 2, 2}, []int(tensor.Must(ds.Get("u")).Shape()))
	requireSound(t, dir)
}

// TestWriterGoesOnWithoutALockFile continues a copy that has no dot files.
func TestWriterGoesOnWithoutALockFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 3)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, ".lock")))
	w = newWriter(t, dir)
	require.Equal(t, 3, w.Len())
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 3), open(t, dir).TensorDict)
}

// TestSaveOntoADirectoryOfDatasets would remove them all.
func TestSaveOntoADirectoryOfDatasets(t *testing.T) {
	top := t.TempDir()
	require.NoError(t, memmap.Save(filepath.Join(top, "train"), steps()))
	require.ErrorIs(t, memmap.Save(top, steps()), memmap.ErrForeign)
	require.True(t, steps().Equal(open(t, filepath.Join(top, "train")).TensorDict))
}

func TestNamesOfWhatIsRemoved(t *testing.T) {
	for _, name := range []string{".saving-ABCDEFGH"} {
		require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), name), steps()), fs.ErrInvalid)
		td := tdict.New()
		require.NoError(t, td.Set(nestedkey.Of(name), tdict.New()))
		require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td), memmap.ErrName)
	}
}

func TestLiveWithATinyInterval(t *testing.T) {
	live, err := memmap.OpenLive(saved(t), memmap.LiveOptions{Interval: 1})
	require.NoError(t, err)
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, live.Close())
}

// TestMetaThatBecameALink does not make a writer wait for ever.
func TestMetaThatBecameALink(t *testing.T) {
	dir := saved(t)
	ds := writable(t, dir)
	meta := filepath.Join(dir, "meta.json")
	require.NoError(t, os.Rename(meta, meta+".real"))
	require.NoError(t, os.Symlink("meta.json.real", meta))
	reward := tensor.Must(ds.Tensor("reward"))
	require.ErrorIs(t, reward.SetIndex(tensor.Scalar[int64](1), ix.At(0)), memmap.ErrCorrupt)
}
