package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

func TestMakeTemp(t *testing.T) {
	root := t.TempDir()
	tests := []struct{ name, dir string }{
		{"beside a directory", filepath.Join(root, "d")},
		{"beside a directory whose path ends in a separator", root + "/d/"},
		{"beside a directory of the longest name", filepath.Join(root, strings.Repeat("x", 255))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmp, err := vfs.MakeTemp(vfs.OS, tt.dir)
			require.NoError(t, err)
			around := filepath.Dir(tmp.New())
			require.Equal(t, root, filepath.Dir(around))
			require.Len(t, filepath.Base(around), 16)
			require.Equal(t, []string{around, filepath.Join(around, ".saving")}, list(t, root), "it has its mark")

			other, err := vfs.MakeTemp(vfs.OS, tt.dir)
			require.NoError(t, err)
			require.NotEqual(t, tmp.New(), other.New())
			require.NoError(t, os.MkdirAll(filepath.Join(tmp.New(), "sub"), 0o777))
			require.NoError(t, errors.Join(tmp.Remove(), other.Remove()))
			require.Empty(t, list(t, root))
		})
	}
}

// TestMakeTempIsForPublish publishes, on both file systems, what MakeTemp made.
func TestMakeTempIsForPublish(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "disk": vfstest.New()} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if name == "disk" {
				root = "."
			}
			dir := filepath.Join(root, "d")
			for range 2 {
				tmp, err := vfs.MakeTemp(fsys, dir)
				require.NoError(t, err)
				require.NoError(t, write(fsys, tmp.New(), after))
				require.NoError(t, vfs.Publish(fsys, tmp.New(), dir, there(fsys, dir)))
				_, err = fsys.Lstat(filepath.Join(dir, "a"))
				require.NoError(t, err)
				_, err = fsys.Lstat(filepath.Join(dir, ".saving"))
				require.ErrorIs(t, err, fs.ErrNotExist, "the mark stays behind")
				require.NoError(t, tmp.Remove())
				_, err = fsys.Lstat(filepath.Dir(tmp.New()))
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
}

// A strange file system does what fails differently for the first calls.
type strange struct {
	vfs.FS
	mkdir, hold, create func(path string) error
}

func (s *strange) Mkdir(path string, perm fs.FileMode) error {
	return errors.Join(call(&s.mkdir, path), s.FS.Mkdir(path, perm))
}

func (s *strange) Hold(path string) (func() error, error) {
	if err := call(&s.hold, path); err != nil {
		return nil, err
	}
	return s.FS.Hold(path)
}

func (s *strange) Create(path string, perm fs.FileMode) (vfs.File, error) {
	if err := call(&s.create, path); err != nil {
		return nil, err
	}
	return s.FS.Create(path, perm)
}

// call calls f the first time, if there is an f.
func call(f *func(path string) error, path string) error {
	if *f == nil {
		return nil
	}
	first := *f
	*f = nil
	return first(path)
}

func TestMakeTempMeetsTrouble(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		fsys strange
		err  error
		left int // directories in the parent
	}{
		{"a name that is taken", strange{mkdir: func(path string) error { return os.Mkdir(path, 0o777) }}, nil, 2},
		{"a Sweep that holds it", strange{hold: func(string) error { return vfs.ErrHeld }}, nil, 1},
		{"a Sweep that took it before it was held", strange{hold: os.Remove}, nil, 1},
		{"a Sweep that took it before it was marked", strange{create: func(path string) error { return os.Remove(filepath.Dir(path)) }}, nil, 1},
		{"a Sweep that finds it held", strange{create: func(path string) error { return vfs.Sweep(filepath.Dir(filepath.Dir(path))) }}, nil, 1},
		{"a directory that cannot be made", strange{mkdir: func(string) error { return broken }}, broken, 1},
		{"a directory that cannot be held", strange{hold: func(string) error { return broken }}, broken, 0},
		{"a directory that cannot be marked", strange{create: func(string) error { return broken }}, broken, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			tt.fsys.FS = vfs.OS
			tmp, err := vfs.MakeTemp(&tt.fsys, filepath.Join(root, "d"))
			require.ErrorIs(t, err, tt.err)
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Len(t, entries, tt.left)
			if tt.err == nil {
				require.NoError(t, tmp.Remove())
			}
		})
	}
}

func TestMakeTempWithoutParent(t *testing.T) {
	_, err := vfs.MakeTemp(vfs.OS, filepath.Join(t.TempDir(), "nothing", "d"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// leftover is a name that MakeTemp may have made.
const leftover = ".saving-ABCDEFGH"

// canHold skips the test where directories cannot be locked.
func canHold(t *testing.T) {
	t.Helper()
	require.NoError(t, lock(t, t.TempDir(), vfs.Exclusive).Unlock())
}

func TestSweep(t *testing.T) {
	canHold(t)
	makeDir := func(path string) error {
		return errors.Join(os.MkdirAll(path, 0o777), os.WriteFile(filepath.Join(path, ".saving"), nil, 0o666))
	}
	tests := []struct {
		name, path string
		make       func(path string) error
		stays      bool
	}{
		{"a leftover", leftover, makeDir, false},
		{"a leftover with a tree", leftover, func(path string) error {
			return errors.Join(makeDir(path), write(vfs.OS, filepath.Join(path, "new"), before))
		}, false},
		{"a tree of a user's", leftover, func(path string) error { return write(vfs.OS, path, before) }, true},
		{"an empty directory", leftover, func(path string) error { return os.Mkdir(path, 0o777) }, true},
		{"a directory in place of the mark", leftover, func(path string) error { return os.MkdirAll(filepath.Join(path, ".saving"), 0o777) }, true},
		{"a file of such a name", leftover, func(path string) error { return os.WriteFile(path, nil, 0o666) }, true},
		{"a link of such a name", leftover, func(path string) error {
			target := filepath.Join(filepath.Dir(path), "target")
			return errors.Join(os.Mkdir(target, 0o777), os.Symlink(target, path))
		}, true},
		{"a shorter name", leftover[:15], makeDir, true},
		{"a longer name", leftover + "I", makeDir, true},
		{"another name of the same length", "saving-ABCDEFGHI", makeDir, true},
		{"a name of a user's", ".saving-pictures", makeDir, true},
		{"the old tree of a replacement that ended half way", leftover, func(path string) error {
			return errors.Join(makeDir(path), write(vfs.OS, filepath.Join(path, "new.old"), before))
		}, true},
		{"a leftover further down", filepath.Join("d", leftover), makeDir, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, tt.path)
			require.NoError(t, tt.make(path))
			was := list(t, root)
			require.NoError(t, vfs.Sweep(root))
			if tt.stays {
				require.Equal(t, was, list(t, root))
				return
			}
			require.Empty(t, list(t, root))
		})
	}
}

// list returns all paths below dir.
func list(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func TestSweepLeavesWhatIsHeld(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	tmp, err := vfs.MakeTemp(vfs.OS, filepath.Join(root, "d"))
	require.NoError(t, err)
	held := list(t, root)
	require.NoError(t, vfs.Sweep(root))
	require.Equal(t, held, list(t, root))
	require.NoError(t, tmp.Release())
	require.NoError(t, tmp.Release(), "twice is harmless")
	require.NoError(t, vfs.Sweep(root))
	require.Empty(t, list(t, root))
}

// TestSweepOfWhatHasNoMarkYet has a directory of a saver that was killed before it could mark it,
// or that had removed all but the directory.
func TestSweepOfWhatHasNoMarkYet(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	tmp, err := vfs.MakeTemp(vfs.OS, filepath.Join(root, "d"))
	require.NoError(t, err)
	around := filepath.Dir(tmp.New())
	require.NoError(t, os.Remove(filepath.Join(around, ".saving")))
	require.NoError(t, vfs.Sweep(root))
	require.DirExists(t, around, "it is held")
	require.NoError(t, tmp.Release())
	require.NoError(t, os.WriteFile(filepath.Join(around, "f"), nil, 0o666))
	require.NoError(t, vfs.Sweep(root))
	require.FileExists(t, filepath.Join(around, "f"), "it is not empty")
	require.NoError(t, os.Remove(filepath.Join(around, "f")))
	require.NoError(t, vfs.Sweep(root))
	require.Empty(t, list(t, root))
}

// TestMakeTempSweepsOnce has leftovers come before and after the first call of this process: the
// first removes them, and so does the first call of another process.
func TestMakeTempSweepsOnce(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	leave := func() {
		tmp, err := vfs.MakeTemp(vfs.OS, filepath.Join(root, "d"))
		require.NoError(t, err)
		require.NoError(t, tmp.Release())
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, leftover), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(root, leftover, ".saving"), nil, 0o666))
	leave()
	require.NoDirExists(t, filepath.Join(root, leftover))
	leave()
	require.Len(t, list(t, root), 4, "two directories and their marks")
	_, kill := startChild(t, taskSave, filepath.Join(root, "d"))
	defer kill()
	require.Len(t, list(t, root), 3, "one, with what the other process makes")
}

func TestSweepRemovesWhatTheKilledLeft(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	tmp, kill := startChild(t, taskSave, filepath.Join(root, "d"))
	require.NoError(t, vfs.Sweep(root))
	require.Contains(t, list(t, root), tmp, "the saver is alive")
	kill()
	require.NoError(t, vfs.Sweep(root))
	require.Empty(t, list(t, root))
}

func TestSweepOfNothing(t *testing.T) {
	require.ErrorIs(t, vfs.Sweep(filepath.Join(t.TempDir(), "nothing")), fs.ErrNotExist)
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.Error(t, vfs.Sweep(path), "a file has no entries")
}

// TestSweepOfManyEntries has more entries than are read at once.
func TestSweepOfManyEntries(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	const leftovers = 6
	files := longtests.Times(1200, 3000)
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o666))
		if i%(files/leftovers) == 0 {
			dir := filepath.Join(root, ".saving-AAAAAAA"+string(rune('A'+i/(files/leftovers))))
			require.NoError(t, os.Mkdir(dir, 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".saving"), nil, 0o666))
		}
	}
	require.Len(t, list(t, root), files+2*leftovers)
	require.NoError(t, vfs.Sweep(root))
	require.Len(t, list(t, root), files)
}

// TestMakeTempAndSweepRace makes, sweeps and releases at the same time: what is held stays.
func TestMakeTempAndSweepRace(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	const makers, sweepers = 4, 4
	errs := make(chan error, makers+sweepers)
	var done atomic.Bool
	var making, sweeping sync.WaitGroup
	for range makers {
		making.Go(func() { errs <- makeAndRelease(filepath.Join(root, "d"), longtests.Times(25, 100)) })
	}
	for range sweepers {
		sweeping.Go(func() {
			var err error
			for err == nil && !done.Load() {
				err = vfs.Sweep(root)
			}
			errs <- err
		})
	}
	making.Wait()
	done.Store(true)
	sweeping.Wait()
	for range makers + sweepers {
		require.NoError(t, <-errs)
	}
	require.NoError(t, vfs.Sweep(root))
	require.Empty(t, list(t, root))
}

// makeAndRelease makes directories, requires that they last until their release, and leaves them.
func makeAndRelease(dir string, rounds int) error {
	for range rounds {
		tmp, err := vfs.MakeTemp(vfs.OS, dir)
		if err != nil {
			return err
		}
		around := filepath.Dir(tmp.New())
		for _, name := range []string{"a", "b"} {
			err = errors.Join(err, os.WriteFile(filepath.Join(around, name), nil, 0o666))
		}
		entries, readErr := os.ReadDir(around)
		if len(entries) != 3 {
			err = errors.Join(err, readErr, fmt.Errorf("got %d files, want 3", len(entries)))
		}
		if err := errors.Join(err, tmp.Release()); err != nil {
			return err
		}
	}
	return nil
}
