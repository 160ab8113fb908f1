package memmap_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// store writes v to the first element of a leaf.
func store(t testing.TB, ds *memmap.Dataset, v int64) {
	t.Helper()
	reward := tensor.Must(ds.Tensor("reward"))
	require.NoError(t, reward.SetIndex(tensor.Scalar(v), ix.At(0)))
}

// replaceInner puts another directory in the place of one in a dataset, as another tool may.
func replaceInner(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Rename(dir, dir+".moved")) // which keeps its inode number
	require.NoError(t, os.Mkdir(dir, 0o777))
}

// TestNothingIsLostSilently replaces a directory, or part of it, that is open to be written.
func TestNothingIsLostSilently(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string, ds *memmap.Dataset)
		err    error // of Flush and of Close
	}{
		{"nothing happened", func(*testing.T, string, *memmap.Dataset) {}, nil},
		{"another saved there", func(t *testing.T, dir string, _ *memmap.Dataset) {
			require.NoError(t, memmap.Save(dir, steps()))
		}, memmap.ErrReplaced},
		{"it was saved onto itself", func(t *testing.T, dir string, ds *memmap.Dataset) {
			require.NoError(t, memmap.Save(dir, ds.TensorDict))
		}, memmap.ErrReplaced},
		{"a directory in it was replaced, of which nothing was written", func(t *testing.T, dir string, _ *memmap.Dataset) {
			replaceInner(t, filepath.Join(dir, "obs"))
		}, nil},
		{"a directory in it was replaced", func(t *testing.T, dir string, ds *memmap.Dataset) {
			pos := tensor.Must(ds.Tensor("obs/pos"))
			require.NoError(t, pos.SetIndex(tensor.Scalar[float32](5), ix.At(0)))
			replaceInner(t, filepath.Join(dir, "obs"))
		}, memmap.ErrReplaced},
		{"it was removed", func(t *testing.T, dir string, _ *memmap.Dataset) {
			require.NoError(t, os.RemoveAll(dir))
		}, memmap.ErrReplaced},
		{"it was moved away", func(t *testing.T, dir string, _ *memmap.Dataset) {
			require.NoError(t, os.Rename(dir, dir+"2"))
		}, memmap.ErrReplaced},
		{"a file was removed", func(t *testing.T, dir string, _ *memmap.Dataset) {
			require.NoError(t, os.Remove(filepath.Join(dir, "reward.memmap")))
		}, memmap.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			ds := writable(t, dir)
			store(t, ds, 7)
			tt.change(t, dir, ds)
			require.ErrorIs(t, ds.Flush(), tt.err)
			require.ErrorIs(t, ds.Close(), tt.err)
			require.ErrorIs(t, ds.Close(), memmap.ErrClosed, "it closes all the same")
		})
	}
}

func TestStale(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	yes, err := ds.Stale()
	require.NoError(t, err)
	require.False(t, yes)
	require.NoError(t, memmap.Save(dir, steps()))
	yes, err = ds.Stale()
	require.NoError(t, err)
	require.True(t, yes)
	require.NoError(t, os.RemoveAll(dir))
	_, err = ds.Stale()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, ds.Close())
	_, err = ds.Stale()
	require.ErrorIs(t, err, memmap.ErrClosed)
}

// TestLeafThatIsGoneIsCorrupt wants a leaf for the first time.
func TestLeafThatIsGoneIsCorrupt(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		err    error
	}{
		{"the file was removed", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "obs", "pos.memmap")))
		}, memmap.ErrCorrupt},
		{"another file has its name", func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "obs", "pos.memmap"), filepath.Join(dir, "kept")))
			write(t, dir, "obs/pos.memmap", "01234567012345670123456701234567")
		}, memmap.ErrCorrupt},
		{"the directory was replaced", func(t *testing.T, dir string) { require.NoError(t, memmap.Save(dir, steps())) }, memmap.ErrReplaced},
		{"the directory that it is in was replaced", func(t *testing.T, dir string) {
			replaceInner(t, filepath.Join(dir, "obs"))
		}, memmap.ErrReplaced},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			ds := open(t, dir)
			tt.change(t, dir)
			_, err := ds.Clone()
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "read "+dir+": obs/pos.memmap: ")
		})
	}
}

func TestZeroAndNilDatasetsAreClosed(t *testing.T) {
	for name, ds := range map[string]*memmap.Dataset{"zero": new(memmap.Dataset), "nil": nil} {
		t.Run(name, func(t *testing.T) {
			_, stale := ds.Stale()
			_, refresh := ds.Refresh()
			for _, err := range []error{
				ds.Flush(), ds.Close(), ds.CloseWait(t.Context()), ds.Advise(memmap.Random),
				ds.AddLeaf("x", tensor.Scalar(1.5)), stale, refresh,
			} {
				require.ErrorIs(t, err, memmap.ErrClosed)
			}
		})
	}
}

func TestRows(t *testing.T) {
	dir := saved(t)
	ds := writable(t, dir)
	store(t, ds, 7)
	require.NoError(t, ds.Prefetch(3, 0, 1))
	require.ErrorIs(t, ds.Prefetch(4), shapeops.ErrIndex)
	for _, a := range []memmap.Advice{memmap.Normal, memmap.Random, memmap.Sequential, memmap.WillNeed} {
		require.NoError(t, ds.Advise(a))
	}
	scalar := filepath.Join(t.TempDir(), "scalar")
	require.NoError(t, memmap.Save(scalar, tensor.Must(steps().Index(ix.At(0)))))
	require.ErrorIs(t, open(t, scalar).Prefetch(0), shapeops.ErrDim)
}

// TestPathsAreTheSystems saves and opens where the system would look.
func TestPathsAreTheSystems(t *testing.T) {
	top := tensor.Must(filepath.EvalSymlinks(t.TempDir()))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "far", "inner"), 0o777))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "near"), 0o777))
	require.NoError(t, os.Symlink(filepath.Join(top, "far", "inner"), filepath.Join(top, "near", "link")))
	near := filepath.Join(top, "near", "d")
	require.NoError(t, memmap.Save(near, tensor.Must(steps().Index(ix.Range(0, 1)))))
	sep := string(filepath.Separator)
	t.Chdir(filepath.Join(top, "near", "link"))
	tests := []struct{ name, path, at string }{
		{"a link before ..", top + sep + "near" + sep + "link" + sep + ".." + sep + "d", "far/d"},
		{"a relative path from a working directory that is a link", ".." + sep + "e", "far/e"},
		{"a separator at the end", top + sep + "f" + sep, "f"},
		{"a dot", "." + sep + "g", "far/inner/g"},
		{"directories that are not there yet", "new" + sep + "er" + sep + "h", "far/inner/new/er/h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, memmap.Save(tt.path, steps()))
			require.True(t, steps().Equal(open(t, filepath.Join(top, filepath.FromSlash(tt.at))).TensorDict))
			require.True(t, steps().Equal(open(t, tt.path).TensorDict), "Open looks there too")
			require.NoError(t, memmap.Save(tt.path, steps()), "again")
		})
	}
	require.Equal(t, 1, open(t, near).Shape()[0], "nothing else was written")

	require.NoError(t, os.Symlink("nowhere", filepath.Join(top, "dangling")))
	require.ErrorIs(t, memmap.Save(filepath.Join(top, "dangling"), steps()), fs.ErrExist)
	for _, path := range []string{"", "a\x00b"} {
		require.ErrorIs(t, memmap.Save(path, steps()), fs.ErrInvalid)
		_, err := memmap.Open(path)
		require.ErrorIs(t, err, fs.ErrInvalid)
	}
}

func TestRemovedWorkingDirectoryDoesNotMatter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	gone := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(gone, 0o777))
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip("the system keeps a working directory: ", err)
	}
	require.NoError(t, memmap.Save(dir, steps()))
	require.NoError(t, memmap.Save(dir, steps()))
	require.True(t, steps().Equal(open(t, dir).TensorDict))
	require.Error(t, memmap.Save("relative", steps()))
}

// TestSaveWithin saves, creates and writes within a saved dictionary, which only its own Save and
// AddLeaf change.
func TestSaveWithin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := visits(t)
	require.NoError(t, td.Set("label", tensor.Must(tdict.NewData("x", 3))))
	require.NoError(t, td.Set("frames", frames(t)))
	require.NoError(t, td.Set("stack", tensor.Must(tdict.LazyStack([]*tdict.TensorDict{visits(t), visits(t)}, 1))))
	require.NoError(t, memmap.Save(dir, td))
	before := tree(t, dir)
	for _, at := range []string{
		"more", "not listed", "label", "codes", "codes/x", "codes/@pool",
		"frames", "frames/_tensordict", "frames/_tensordict/in", "stack", "stack/1", "stack/1/more",
		"no dir/x", "no dir/no dir/x",
	} {
		around := filepath.Join(dir, strings.ReplaceAll(filepath.Dir(at), "no dir", "."))
		at = filepath.Join(dir, at)
		for name, save := range map[string]func() error{
			"Save":            func() error { return memmap.Save(at, visits(t)) },
			"a file":          func() error { return memmap.Save(at+".tdz", visits(t)) },
			"a file (.tdc)":   func() error { return memmap.Save(at+".tdc", visits(t)) },
			"SaveRows":        func() error { return memmap.SaveRows(t.Context(), at, chunksOf(t, 2, 1), memmap.SaveOptions{}) },
			"Create":          func() error { return testkit.Err(memmap.Create(at, visits(t), memmap.CreateOptions{Replace: true})) },
			"Create anew":     func() error { return testkit.Err(memmap.Create(at+"2", visits(t), memmap.CreateOptions{})) },
			"a new NewWriter": func() error { return testkit.Err(memmap.NewWriter(at+"2", rows(t, 0), memmap.WriterOptions{})) },
		} {
			err := save()
			require.ErrorIs(t, err, memmap.ErrForeign, "%s %s", name, at)
			require.ErrorContains(t, err, around+": save that as a whole, add to it with AddLeaf, or save elsewhere", "%s %s", name, at)
		}
	}
	_, err := memmap.NewWriter(filepath.Join(dir, "more"), tensor.Must(tensor.Must(td.Dict("more")).Index(ix.At(0))), memmap.WriterOptions{Resume: true})
	require.ErrorIs(t, err, memmap.ErrForeign)
	require.Equal(t, before, tree(t, dir))
}

// TestSaveOntoPartOfOne refuses directories that are not a whole dataset, and nothing else.
func TestSaveOntoPartOfOne(t *testing.T) {
	for _, tt := range []struct{ file, lost string }{
		{"a/b/notes.txt", "a/b would be lost, and no meta.json is beside it"},
		{"a/.lock", "a/.lock would be lost, and no meta.json is beside it"},
		{"obs/.lock", "obs/.lock would be lost"},
		{"obs/notes.txt", "obs/notes.txt would be lost"},
		{"notes.txt", "notes.txt would be lost"},
		{"a/.DS_Store", ""},
		{"x.memmap", ""},
	} {
		dir := saved(t)
		write(t, dir, tt.file, "mine")
		before := tree(t, dir)
		err := memmap.Save(dir, steps())
		if tt.lost == "" {
			require.NoError(t, err, tt.file)
			continue
		}
		require.EqualError(t, err, "save "+dir+": not a saved dictionary: "+tt.lost+"; save elsewhere")
		require.ErrorIs(t, err, memmap.ErrForeign)
		require.Equal(t, before, tree(t, dir))
	}
}

func TestLitterDoesNotBlockASave(t *testing.T) {
	dir := saved(t)
	for _, name := range []string{".DS_Store", "Thumbs.db", "desktop.ini", "._reward.memmap", "obs/.DS_Store"} {
		write(t, dir, name, "litter")
	}
	require.NoError(t, memmap.Save(dir, steps()))
	require.Equal(t, []string{"meta.json", "obs", "reward.memmap"}, names(t, dir))
	empty := t.TempDir()
	write(t, empty, ".DS_Store", "litter")
	require.NoError(t, memmap.Save(empty, steps()))
}

func TestNamesAsLongAsTheyCanBe(t *testing.T) {
	name := make([]byte, 255)
	for i := range name {
		name[i] = 'x'
	}
	dir := filepath.Join(t.TempDir(), string(name))
	require.NoError(t, memmap.Save(dir, steps()))
	require.NoError(t, memmap.Save(dir, steps()), "over itself")
	require.True(t, steps().Equal(open(t, dir).TensorDict))
}

// TestSavesAtOnce saves onto one directory from several goroutines, from the first time on: none
// may fail, and what is there is always whole.
func TestSavesAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	opt := memmap.SaveOptions{NoSync: true}
	var wg sync.WaitGroup
	for n := range int64(4) {
		wg.Go(func() {
			for range longtests.Times(20, 100) {
				if err := memmap.SaveWith(t.Context(), dir, generation(t, n), opt); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	requireSound(t, dir)
	require.Len(t, names(t, filepath.Dir(dir)), 1)
}

func TestRefresh(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	require.Same(t, ds, tensor.Must(ds.Refresh()), "nothing has changed")
	require.NoError(t, writable(t, dir).AddLeaf("more", tensor.Vector[int8](1, 2, 3, 4)))
	next := tensor.Must(ds.Refresh())
	defer next.Close()
	require.NotSame(t, ds, next)
	require.False(t, ds.Has("more"), "the old one keeps what it showed")
	require.True(t, next.Has("more"))
	require.Same(t, next, tensor.Must(next.Refresh()))

	require.NoError(t, memmap.Save(dir, tdict.New(9)))
	replaced := tensor.Must(next.Refresh())
	defer replaced.Close()
	require.Equal(t, shapeops.Shape{9}, replaced.Shape())
}

func TestRefreshShowsRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	ds := open(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 3)))
	require.Same(t, ds, tensor.Must(ds.Refresh()), "not committed")
	require.NoError(t, w.Commit())
	next := tensor.Must(ds.Refresh())
	defer next.Close()
	requireSame(t, rows(t, 0, 3), next.TensorDict)
}

// TestViewOfPython: what a saved view shows is in its source, as the error says.
func TestViewOfPython(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "view")
	require.NoError(t, memmap.Save(filepath.Join(dir, "_source"), steps()))
	write(t, dir, "meta.json", `{"_type":"<class 'tensordict._td._SubTensorDict'>","index":["tuple",[["slice",{"start":1,"stop":3,"step":null}]]]}`)
	_, err := memmap.Open(dir)
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.ErrorContains(t, err, "open the directory _source in it")
	requireSame(t, steps(), open(t, filepath.Join(dir, "_source")).TensorDict)
}
