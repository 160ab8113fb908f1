package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// TestPublishNew publishes where something is, on a disk in memory and on the real one.
func TestPublishNew(t *testing.T) {
	tests := []struct {
		name          string
		dirs, files   []string
		strict, empty error // without overEmpty, and with it
	}{
		{"nothing", nil, nil, nil, nil},
		{"an empty directory", []string{"d"}, nil, fs.ErrExist, nil},
		{"a directory that holds a file", []string{"d"}, []string{"d/f"}, fs.ErrExist, fs.ErrExist},
		{"a directory that holds a directory", []string{"d", "d/x"}, nil, fs.ErrExist, fs.ErrExist},
		{"a file", nil, []string{"d"}, fs.ErrExist, fs.ErrExist},
	}
	for _, tt := range tests {
		for _, overEmpty := range []bool{false, true} {
			for root, fsys := range map[string]vfs.FS{t.TempDir(): vfs.OS, "": vfstest.New()} {
				t.Run(fmt.Sprintf("%s/%T/over empty %t", tt.name, fsys, overEmpty), func(t *testing.T) {
					for _, name := range tt.dirs {
						require.NoError(t, fsys.Mkdir(filepath.Join(root, name), 0o777))
					}
					for _, name := range tt.files {
						require.NoError(t, writeFile(fsys, filepath.Join(root, name), "mine"))
					}
					tmp, dir := filepath.Join(root, "tmp"), filepath.Join(root, "d")
					require.NoError(t, write(fsys, tmp, after))
					want := tt.strict
					if overEmpty {
						want = tt.empty
					}
					err := vfs.PublishNew(fsys, tmp, dir, overEmpty)
					require.ErrorIs(t, err, want)
					_, gone := fsys.Lstat(tmp)
					require.Equal(t, want == nil, errors.Is(gone, fs.ErrNotExist), "it is in the one place or in the other")
					if want != nil {
						e, ok := errors.AsType[*vfs.PublishError](err)
						require.True(t, ok && e.State == vfs.Untouched, "%v", err)
					}
				})
			}
		}
	}
}

// TestRenameNewRefusesLinks looks at links as such, wherever they lead.
func TestRenameNewRefusesLinks(t *testing.T) {
	root, empty := t.TempDir(), t.TempDir()
	for _, to := range []string{empty, "nowhere"} {
		tmp, dir := filepath.Join(root, "tmp"), filepath.Join(root, filepath.Base(to))
		if err := os.Symlink(to, dir); err != nil {
			t.Skip("this account may not make links, as on Windows: ", err)
		}
		require.NoError(t, write(vfs.OS, tmp, after))
		for _, overEmpty := range []bool{false, true} {
			require.ErrorIs(t, vfs.OS.RenameNew(tmp, dir, overEmpty), fs.ErrExist)
		}
		require.NoError(t, os.RemoveAll(tmp))
	}
	require.ErrorIs(t, vfs.OS.RenameNew(filepath.Join(root, "none"), filepath.Join(root, "x"), false), fs.ErrNotExist)
}

// TestRenameNewNamesPathsOnce renames a directory into itself, which no system does.
func TestRenameNewNamesPathsOnce(t *testing.T) {
	dir := t.TempDir()
	err := vfs.OS.RenameNew(dir, filepath.Join(dir, "x"), false)
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(err.Error(), "rename"), err)
}

// TestPublishNewRaces publishes several trees at one place at a time, at which an empty directory
// is or appears, again and again: one of them is there, whole, and the others are where they were.
func TestPublishNewRaces(t *testing.T) {
	const rivals = 4
	for _, overEmpty := range []bool{false, true} {
		root := t.TempDir()
		for round := range longtests.Times(15, 50) {
			dir := filepath.Join(root, fmt.Sprint(round))
			if overEmpty && round%2 == 0 {
				require.NoError(t, os.Mkdir(dir, 0o777))
			}
			errs := make([]error, rivals)
			var ready, wg sync.WaitGroup
			ready.Add(rivals)
			for i := range rivals {
				tmp := filepath.Join(root, fmt.Sprint("tmp", i))
				require.NoError(t, write(vfs.OS, tmp, fmt.Sprint("rival ", i)))
				wg.Go(func() {
					ready.Done()
					ready.Wait()
					errs[i] = vfs.PublishNew(vfs.OS, tmp, dir, overEmpty)
				})
			}
			wg.Wait()
			winner := load(t, os.DirFS(root), fmt.Sprint(round))
			for i, err := range errs {
				if fmt.Sprint("rival ", i) == winner {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, fs.ErrExist)
				require.NoError(t, os.RemoveAll(filepath.Join(root, fmt.Sprint("tmp", i))))
			}
			require.NotEqual(t, absent, winner)
		}
	}
}

// TestPublishNewRacesMkdir makes a directory at the place at the same time: one of the two has it.
func TestPublishNewRacesMkdir(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("an empty directory that is made in that moment may be replaced")
	}
	root, made := t.TempDir(), 0
	for round := range longtests.Times(150, 500) {
		dir, tmp := filepath.Join(root, fmt.Sprint(round)), filepath.Join(root, "tmp")
		require.NoError(t, os.Mkdir(tmp, 0o777))
		var failed error
		var ready, wg sync.WaitGroup
		ready.Add(2)
		wg.Go(func() {
			ready.Done()
			ready.Wait()
			failed = os.Mkdir(dir, 0o777)
		})
		ready.Done()
		ready.Wait()
		err := vfs.OS.RenameNew(tmp, dir, false)
		wg.Wait()
		require.NotEqual(t, failed == nil, err == nil, "mkdir: %v, rename: %v", failed, err)
		if err != nil {
			require.ErrorIs(t, err, fs.ErrExist)
			require.NoError(t, os.Remove(tmp))
			made++
		}
	}
	t.Logf("mkdir was first in %d rounds of 500", made)
}

// saveExcl is save where nothing is to be replaced.
func saveExcl(fsys vfs.FS, tmp, dir, content string) error {
	err := write(fsys, tmp, content)
	if err == nil {
		err = vfs.PublishNew(fsys, tmp, dir, false)
	}
	if e, ok := errors.AsType[*vfs.PublishError](err); err != nil && (!ok || e.State == vfs.Untouched) {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	return err
}

// TestPublishNewFailingEverywhere fails every operation: what was there stays, whatever happens;
// where nothing was there is nothing or all of the new tree, and that if there was no error.
func TestPublishNewFailingEverywhere(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n := 1; ; n++ {
			disk := saved(t, s.old, s.noExchange)
			s.inject(disk, n)
			done := disk.Ops()
			err := saveExcl(disk, "tmp1", "d", after)
			if s.old == before {
				require.Error(t, err)
			}
			for _, mode := range vfstest.CrashModes() {
				got := load(t, disk.Crash(mode).Tree(), "d")
				if s.old == before || err != nil && got == absent {
					require.Equal(t, s.old, got, "operation %d, a crash that leaves %v, after %v", n, mode, err)
					continue
				}
				require.Equal(t, after, got, "operation %d, a crash that leaves %v, after %v", n, mode, err)
			}
			if disk.Ops() < done+n {
				require.Equal(t, s.old == before, errors.Is(err, fs.ErrExist))
				break // n lies beyond the last operation
			}
			require.ErrorIs(t, err, vfstest.ErrInjected, "operation %d", n)
		}
	})
}
