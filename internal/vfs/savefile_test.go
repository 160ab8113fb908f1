package vfs_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// saveFile saves a file of two writes.
func saveFile(disk vfs.FS, path, content string, opt vfs.FileOptions) error {
	return vfs.SaveFile(context.Background(), disk, path, opt, func(f vfs.File) error {
		_, err := f.Write([]byte(content[:1]))
		if err == nil {
			_, err = f.Write([]byte(content[1:]))
		}
		return err
	})
}

// onDisk returns a disk with a directory d, durably.
func onDisk(t *testing.T) *vfstest.Disk {
	disk := vfstest.New()
	require.NoError(t, disk.Mkdir("d", 0o777))
	require.NoError(t, disk.SyncDir("."))
	return disk
}

var inD = filepath.Join("d", "x")

// TestSaveFileSurvivesFaults fails each disk operation of a save in turn. Whatever a crash leaves
// then, the file is what was saved before or what is saved now, and if the save returned nil, the
// latter.
func TestSaveFileSurvivesFaults(t *testing.T) {
	for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
		for n := 1; ; n++ {
			disk := onDisk(t)
			require.NoError(t, saveFile(disk, inD, "before", vfs.FileOptions{}))
			ops := disk.Ops()
			fault(disk, n)
			err := saveFile(disk, inD, "after", vfs.FileOptions{})
			for _, mode := range vfstest.CrashModes() {
				got, failed := fs.ReadFile(disk.Crash(mode).Tree(), "d/x")
				require.NoError(t, failed, "operation %d, %v, crash %v", n, err, mode)
				require.True(t, string(got) == "after" || err != nil && string(got) == "before", "operation %d, %v, crash %v: got %q", n, err, mode, got)
			}
			if disk.Ops()-ops < n {
				require.NoError(t, err)
				break
			}
		}
	}
}

// TestSaveNewFileSurvivesFaults is TestSaveFileSurvivesFaults where nothing is replaced.
func TestSaveNewFileSurvivesFaults(t *testing.T) {
	for n := 1; ; n++ {
		disk := onDisk(t)
		ops := disk.Ops()
		disk.FailOnce(n)
		err := saveFile(disk, inD, "new", vfs.FileOptions{NoReplace: true})
		for _, mode := range vfstest.CrashModes() {
			got, failed := fs.ReadFile(disk.Crash(mode).Tree(), "d/x")
			require.True(t, string(got) == "new" || err != nil && errors.Is(failed, fs.ErrNotExist), "operation %d, %v, crash %v: got %q, %v", n, err, mode, got, failed)
		}
		if disk.Ops()-ops < n {
			require.NoError(t, err)
			break
		}
	}
}

// TestFailedSaveFileLeavesNothing fails one operation, after which the disk works.
func TestFailedSaveFileLeavesNothing(t *testing.T) {
	for n := 1; n <= 7; n++ { // mkdir, mark, create, write, write, sync, rename
		disk := onDisk(t)
		disk.FailOnce(n)
		require.ErrorIs(t, saveFile(disk, inD, "new", vfs.FileOptions{}), vfstest.ErrInjected)
		left, err := fs.ReadDir(disk.Tree(), "d")
		require.NoError(t, err)
		require.Empty(t, left, "operation %d", n)
	}
}

// fileSize is the size of the files of saveFiles: several writes.
const fileSize = 1 << 18

// saveFiles saves a file of a letter again and again, of the next letter each time.
func saveFiles(path string) {
	for i := 0; ; i++ {
		line := bytes.Repeat([]byte{byte('a' + i%26)}, fileSize/8)
		_ = vfs.SaveFile(context.Background(), vfs.OS, path, vfs.FileOptions{NoSync: i%2 == 0}, func(f vfs.File) error {
			for range 8 {
				if _, err := f.Write(line); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// TestKillSaveFile kills a process while it saves: the file is whole, and a Sweep, which the next
// save begins with, removes all else.
func TestKillSaveFile(t *testing.T) {
	canHold(t)
	dir := realDir(t)
	path := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("0"), fileSize), 0o666))
	left, n := 0, longtests.Times(10, 300)
	for range n {
		_, kill := startChild(t, taskSaveFile, path)
		time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond)
		kill()
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, bytes.Repeat(got[:1], fileSize), got)
		if found := list(t, dir); len(found) > 1 {
			left++
		}
		require.NoError(t, vfs.Sweep(dir))
		requireOnly(t, dir, "x")
	}
	t.Logf("%d kills, %d of which left something, which is removed", n, left)
}

func TestSaveFileKeepsPermissions(t *testing.T) {
	dir := realDir(t)
	path := filepath.Join(dir, "x")
	require.NoError(t, saveFile(vfs.OS, path, "one", vfs.FileOptions{}))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, saveFile(vfs.OS, path, "two", vfs.FileOptions{NoSync: true}))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(got))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o640), info.Mode())
	}
	requireOnly(t, dir, "x")
}

func TestSaveFileRefuses(t *testing.T) {
	dir := realDir(t)
	path := filepath.Join(dir, "x")
	require.NoError(t, saveFile(vfs.OS, path, "one", vfs.FileOptions{NoReplace: true}))
	require.ErrorIs(t, saveFile(vfs.OS, path, "two", vfs.FileOptions{NoReplace: true}), fs.ErrExist)
	require.ErrorIs(t, saveFile(vfs.OS, dir, "two", vfs.FileOptions{}), fs.ErrExist)
	require.ErrorIs(t, saveFile(vfs.OS, filepath.Join(dir, "nope", "x"), "two", vfs.FileOptions{}), fs.ErrNotExist)
	broken := errors.New("broken")
	require.ErrorIs(t, vfs.SaveFile(t.Context(), vfs.OS, path, vfs.FileOptions{}, func(vfs.File) error { return broken }), broken)
	requireOnly(t, dir, "x")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(got))
}

// TestSaveFileReplacesNoLatecomer has a file come to the place while the new one is written.
func TestSaveFileReplacesNoLatecomer(t *testing.T) {
	dir := realDir(t)
	path := filepath.Join(dir, "x")
	err := vfs.SaveFile(t.Context(), vfs.OS, path, vfs.FileOptions{NoReplace: true}, func(vfs.File) error {
		return os.WriteFile(path, []byte("late"), 0o666)
	})
	require.ErrorIs(t, err, fs.ErrExist)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "late", string(got))
	requireOnly(t, dir, "x")
}

// TestSaveFileStops ends the context between two writes.
func TestSaveFileStops(t *testing.T) {
	path := filepath.Join(realDir(t), "x")
	ctx, cancel := context.WithCancel(t.Context())
	err := vfs.SaveFile(ctx, vfs.OS, path, vfs.FileOptions{}, func(f vfs.File) error {
		_, err := f.Write(make([]byte, 9<<20)) // in two steps
		require.NoError(t, err)
		cancel()
		_, err = f.Write([]byte("more"))
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, path)
}

func TestResolveFile(t *testing.T) {
	dir := realDir(t)
	tests := []struct {
		name, path, want string
		err              error
	}{
		{"new", filepath.Join(dir, "x"), filepath.Join(dir, "x"), nil},
		{"none", "", "", fs.ErrInvalid},
		{"a directory by its form", dir + string(filepath.Separator), "", fs.ErrInvalid},
		{"here", ".", "", fs.ErrInvalid},
		{"the directory around", filepath.Join(dir, "x") + string(filepath.Separator) + "..", "", fs.ErrInvalid},
		{"a name of what is being saved", filepath.Join(dir, ".saving-ABCDEFGH"), "", fs.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := vfs.ResolveFile(tt.path)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, got)
		})
	}
}

// realDir returns a directory, by a path free of links.
func realDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// requireOnly checks that a directory has one entry.
func requireOnly(t *testing.T, dir, name string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, name, found[0].Name())
}
