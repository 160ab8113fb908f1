package memmap_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// withZ returns a dictionary that has, or has not, leaves called z at two depths.
func withZ(t testing.TB, z bool) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(64)
	for _, key := range []nestedkey.Key{"a", "in/a", "z", "in/z"} {
		if z || filepath.Base(string(key)) != "z" {
			require.NoError(t, td.Set(key, tensor.Must(tensor.Full(int64(1), 64, 8))))
		}
	}
	return td
}

// TestAddLeafBesideSave adds leaves and stores elements while another saves: what was saved last is
// what is there, and whoever wrote to another directory is told so.
func TestAddLeafBesideSave(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	twos := tensor.Must(tensor.Full(int64(2), 64, 8))
	row := tensor.Must(twos.Index(ix.At(0)))
	for round := range kills(t, 60, 3000) {
		require.NoError(t, memmap.Save(dir, withZ(t, false)))
		var wg sync.WaitGroup
		for n := range 2 {
			ds := writable(t, dir)
			key := []nestedkey.Key{"z", "in/z", "new/z"}[(round+n)%3]
			wg.Go(func() {
				requireOneOf(t, ds.AddLeaf(key, twos), nil, memmap.ErrReplaced, tdict.ErrExists)
				x, err := ds.Tensor([]nestedkey.Key{"a", "in/a"}[n])
				if err == nil {
					err = x.SetIndex(row, ix.At(3))
				}
				requireOneOf(t, err, nil, memmap.ErrReplaced)
				requireOneOf(t, ds.Close(), nil, memmap.ErrReplaced)
			})
		}
		wg.Go(func() { requireOneOf(t, memmap.Save(dir, withZ(t, true)), nil) })
		wg.Wait()
		ds := open(t, dir)
		requireSame(t, withZ(t, true), ds.TensorDict)
		require.NoError(t, ds.Close())
		requireSound(t, dir)
	}
}

// requireOneOf checks an error, in any goroutine.
func requireOneOf(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if w == nil && err == nil || w != nil && errors.Is(err, w) {
			if w == memmap.ErrReplaced && errors.Is(err, memmap.ErrCorrupt) {
				t.Errorf("both replaced and corrupt: %v", err)
			}
			return
		}
	}
	t.Errorf("got %v, want one of %v", err, want)
}

// TestReplacedIsSaid has the directory, or one in it, replaced under a dataset that was opened.
func TestReplacedIsSaid(t *testing.T) {
	move := func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(dir, dir+".moved"))
		require.NoError(t, os.CopyFS(dir, os.DirFS(dir+".moved")))
	}
	replaced := map[string]func(t *testing.T, dir string){
		"saved":           func(t *testing.T, dir string) { require.NoError(t, memmap.Save(dir, steps())) },
		"saved empty":     func(t *testing.T, dir string) { require.NoError(t, memmap.Save(dir, tdict.New())) },
		"moved":           move,
		"inner one moved": func(t *testing.T, dir string) { move(t, filepath.Join(dir, "obs")) },
	}
	calls := map[string]func(ds *memmap.Dataset) error{
		"AddLeaf": func(ds *memmap.Dataset) error { return ds.AddLeaf("obs/more", tensor.Vector[int8](1, 2, 3, 4)) },
		"SetIndex": func(ds *memmap.Dataset) error {
			x, err := ds.Tensor("obs/pos")
			if err == nil {
				err = x.SetIndex(tensor.Must(x.Index(ix.At(0))), ix.At(1))
			}
			return err
		},
		"Close after a store": func(ds *memmap.Dataset) error { return ds.Close() },
		"Flush after a store": func(ds *memmap.Dataset) error { return ds.Flush() },
	}
	for when, replace := range replaced {
		for what, call := range calls {
			t.Run(when+", "+what, func(t *testing.T) {
				dir := saved(t)
				ds := writable(t, dir)
				x := tensor.Must(ds.Tensor("obs/pos"))
				first := tensor.Must(tensor.Must(x.Index(ix.At(0))).Clone())
				if what != "SetIndex" {
					require.NoError(t, x.SetIndex(first, ix.At(1)))
				}
				replace(t, dir)
				before := tree(t, dir)
				err := call(ds)
				require.ErrorIs(t, err, memmap.ErrReplaced)
				require.NotErrorIs(t, err, memmap.ErrCorrupt)
				require.Equal(t, before, tree(t, dir), "what took its place is untouched")
			})
		}
	}
}

// TestWriterBesideAnotherTool has another tool put a directory in the place of the one that a
// Writer writes, at any moment: that directory is not touched, and the one that was moved away has
// all rows that were committed.
func TestWriterBesideAnotherTool(t *testing.T) {
	needsExchange(t)
	rng := processkit.Random(t)
	for range kills(t, 60, 2000) {
		top := testkit.TempDir(t)
		dir, moved, other := filepath.Join(top, "d"), filepath.Join(top, "moved"), filepath.Join(top, "other")
		require.NoError(t, memmap.Save(other, pair(t)))
		before := tree(t, other)
		w := newWriter(t, dir)
		require.NoError(t, w.Append(rows(t, 0, 3)))
		require.NoError(t, w.Commit())
		var wg sync.WaitGroup
		delay := time.Duration(rng.IntN(3000)) * time.Microsecond
		wg.Go(func() {
			time.Sleep(delay)
			requireOneOf(t, errors.Join(os.Rename(dir, moved), os.Rename(other, dir)), nil)
		})
		var err error
		last, stop := 3, 3+rng.IntN(30) // committed, and finished then
		for err == nil && last < stop {
			require.NoError(t, w.Append(rows(t, last)))
			if err = w.Commit(); err == nil {
				last = w.Committed()
			}
		}
		finished := err == nil
		if finished {
			err = w.Finish()
		}
		wg.Wait()
		requireOneOf(t, err, nil, memmap.ErrReplaced)
		require.Equal(t, before, tree(t, dir), "another's directory is untouched")
		ds := open(t, moved)
		require.GreaterOrEqual(t, ds.Shape()[0], last)
		requireSame(t, rows(t, 0, ds.Shape()[0]), ds.TensorDict)
		require.NoError(t, ds.Close())
		_ = w.Close()
	}
}

// TestSaveBesideAdditionsInIt adds leaves to a dictionary in a dataset that is saved as a whole.
func TestSaveBesideAdditionsInIt(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, withZ(t, false)))
	left := filepath.Join(dir, ".saving-ABCDEFGH") // of a process that was killed
	require.NoError(t, os.Mkdir(left, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(left, ".saving"), nil, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(left, "z.memmap"), nil, 0o666))
	require.NoError(t, memmap.Save(dir, withZ(t, false)))
	twos := tensor.Must(tensor.Full(int64(2), 64, 8))
	for range kills(t, 30, 1000) {
		var wg sync.WaitGroup
		wg.Go(func() {
			ds, err := memmap.OpenWith(filepath.Join(dir, "in"), memmap.OpenOptions{Writable: true})
			if err != nil {
				t.Error(err)
				return
			}
			requireOneOf(t, ds.AddLeaf("z", twos), nil, memmap.ErrReplaced, tdict.ErrExists)
			requireOneOf(t, ds.Close(), nil, memmap.ErrReplaced)
		})
		wg.Go(func() { requireOneOf(t, memmap.Save(dir, withZ(t, false)), nil) })
		wg.Wait()
		requireSound(t, dir)
	}
}

// TestSaveBesideALink has another put a symbolic link in the place of the directory while it saves.
func TestSaveBesideALink(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, rows(t, 0, 3)))
	err := memmap.SaveWith(t.Context(), dir, pair(t), memmap.SaveOptions{Progress: func(done, total int64) {
		if done == total {
			require.NoError(t, os.Rename(dir, dir+".moved"))
			require.NoError(t, os.Symlink(dir+".moved", dir))
		}
	}})
	require.ErrorIs(t, err, memmap.ErrForeign)
	require.ErrorContains(t, err, "got a symbolic link")
	requireSame(t, rows(t, 0, 3), open(t, dir).TensorDict)
	require.Len(t, names(t, filepath.Dir(dir)), 2, "nothing is left beside it")
}

// TestCreateBesideSave creates while another saves: a Dataset is the one that was created.
func TestCreateBesideSave(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			requireOneOf(t, memmap.SaveWith(context.Background(), dir, pair(t), memmap.SaveOptions{NoSync: true}), nil)
		}
	})
	for range kills(t, 100, 2000) {
		ds, err := memmap.Create(dir, withZ(t, false), memmap.CreateOptions{Replace: true, NoSync: true})
		requireOneOf(t, err, nil, memmap.ErrReplaced)
		if err == nil {
			require.True(t, ds.Has("in/a"), "its own keys")
			requireOneOf(t, ds.Close(), nil, memmap.ErrReplaced)
		}
	}
	stop.Store(true)
	wg.Wait()
}

// TestOpenBesideTheFirstAddition opens an empty dictionary while a dictionary is added to it, which
// is not taken for one that meta.json does not list.
func TestOpenBesideTheFirstAddition(t *testing.T) {
	for range kills(t, 100, 2000) {
		dir := filepath.Join(testkit.TempDir(t), "d")
		require.NoError(t, memmap.SaveWith(t.Context(), dir, tdict.New(4), memmap.SaveOptions{NoSync: true}))
		ds := writable(t, dir)
		var added atomic.Bool
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for last := false; !last; {
					last = added.Load()
					again, err := memmap.Open(dir)
					requireOneOf(t, err, nil)
					if err == nil {
						requireOneOf(t, again.Close(), nil)
					}
				}
			})
		}
		err := ds.AddLeaf("in/x", tensor.Vector[int8](1, 2, 3, 4))
		added.Store(true)
		wg.Wait()
		require.NoError(t, errors.Join(err, ds.Close()))
	}
}
