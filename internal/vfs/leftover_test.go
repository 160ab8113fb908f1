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
			tmp, release, err := vfs.MakeTemp(vfs.OS, tt.dir, 0o700)
			require.NoError(t, err)
			require.Equal(t, root, filepath.Dir(tmp))
			require.Len(t, filepath.Base(tmp), 16)
			info, err := os.Lstat(tmp)
			require.NoError(t, err)
			require.True(t, info.IsDir())

			other, releaseOther, err := vfs.MakeTemp(vfs.OS, tt.dir, 0o700)
			require.NoError(t, err)
			require.NotEqual(t, tmp, other)
			require.NoError(t, errors.Join(release(), releaseOther()))
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
				tmp, release, err := vfs.MakeTemp(fsys, dir, 0o777)
				require.NoError(t, err)
				require.NoError(t, writeFile(fsys, filepath.Join(tmp, "a"), after))
				require.NoError(t, vfs.Publish(fsys, tmp, dir, there(fsys, dir)))
				require.NoError(t, release())
				_, err = fsys.Lstat(filepath.Join(dir, "a"))
				require.NoError(t, err)
				_, err = fsys.Lstat(tmp)
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
}

// A strange file system does what fails differently for the first calls.
type strange struct {
	vfs.FS
	mkdir, hold, lstat func(path string) error
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

func (s *strange) Lstat(path string) (fs.FileInfo, error) {
	if err := call(&s.lstat, path); err != nil {
		return nil, err
	}
	return s.FS.Lstat(path)
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
		{"a Sweep that holds it", strange{hold: func(string) error { return vfs.ErrHeld }}, nil, 2},
		{"a Sweep that took it before it was held", strange{hold: os.Remove}, nil, 1},
		{"a Sweep that took it after it was opened", strange{lstat: os.Remove}, nil, 1},
		{"a directory that cannot be made", strange{mkdir: func(string) error { return broken }}, broken, 1},
		{"a directory that cannot be held", strange{hold: func(string) error { return broken }}, broken, 0},
		{"a directory that cannot be looked at", strange{lstat: func(string) error { return broken }}, broken, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			tt.fsys.FS = vfs.OS
			tmp, release, err := vfs.MakeTemp(&tt.fsys, filepath.Join(root, "d"), 0o777)
			require.ErrorIs(t, err, tt.err)
			if tt.err == nil {
				_, err := os.Lstat(tmp)
				require.NoError(t, err)
				require.NoError(t, release())
			}
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Len(t, entries, tt.left)
		})
	}
}

func TestMakeTempWithoutParent(t *testing.T) {
	_, _, err := vfs.MakeTemp(vfs.OS, filepath.Join(t.TempDir(), "nothing", "d"), 0o777)
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
	makeDir := func(path string) error { return os.MkdirAll(path, 0o777) }
	tests := []struct {
		name, path string
		make       func(path string) error
		stays      bool
	}{
		{"a leftover", leftover, makeDir, false},
		{"a leftover with a tree", leftover, func(path string) error { return write(vfs.OS, path, before) }, false},
		{"a file of such a name", leftover, func(path string) error { return os.WriteFile(path, nil, 0o666) }, true},
		{"a link of such a name", leftover, func(path string) error {
			target := filepath.Join(filepath.Dir(path), "target")
			return errors.Join(os.Mkdir(target, 0o777), os.Symlink(target, path))
		}, true},
		{"a shorter name", leftover[:15], makeDir, true},
		{"a longer name", leftover + "I", makeDir, true},
		{"another name of the same length", "saving-ABCDEFGHI", makeDir, true},
		{"a name of a user's", ".saving-pictures", makeDir, true},
		{"an old tree that waits", asideOfD, makeDir, true},
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
	tmp, release, err := vfs.MakeTemp(vfs.OS, filepath.Join(root, "d"), 0o777)
	require.NoError(t, err)
	require.NoError(t, vfs.Sweep(root))
	require.Equal(t, []string{tmp}, list(t, root))
	require.NoError(t, release())
	require.NoError(t, release(), "twice is harmless")
	require.NoError(t, vfs.Sweep(root))
	require.Empty(t, list(t, root))
}

func TestSweepRemovesWhatTheKilledLeft(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	tmp, kill := startChild(t, taskSave, filepath.Join(root, "d"))
	require.NoError(t, vfs.Sweep(root))
	require.Equal(t, []string{tmp, filepath.Join(tmp, "f")}, list(t, root), "the saver is alive")
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
	const files, leftovers = 3000, 6
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o666))
		if i%(files/leftovers) == 0 {
			require.NoError(t, os.Mkdir(filepath.Join(root, ".saving-AAAAAAA"+string(rune('A'+i/(files/leftovers)))), 0o777))
		}
	}
	require.Len(t, list(t, root), files+leftovers)
	require.NoError(t, vfs.Sweep(root))
	require.Len(t, list(t, root), files)
}

// TestMakeTempAndSweepRace makes, sweeps and releases at the same time: what is held stays.
func TestMakeTempAndSweepRace(t *testing.T) {
	canHold(t)
	root := t.TempDir()
	const makers, sweepers, rounds = 4, 4, 100
	errs := make(chan error, makers+sweepers)
	var done atomic.Bool
	var making, sweeping sync.WaitGroup
	for range makers {
		making.Go(func() { errs <- makeAndRelease(filepath.Join(root, "d"), rounds) })
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
		tmp, release, err := vfs.MakeTemp(vfs.OS, dir, 0o777)
		if err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			err = errors.Join(err, os.WriteFile(filepath.Join(tmp, name), nil, 0o666))
		}
		entries, readErr := os.ReadDir(tmp)
		if len(entries) != 2 {
			err = errors.Join(err, readErr, fmt.Errorf("got %d files, want 2", len(entries)))
		}
		if err := errors.Join(err, release()); err != nil {
			return err
		}
	}
	return nil
}
