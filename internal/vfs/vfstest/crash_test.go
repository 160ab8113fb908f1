package vfstest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

type tree = map[string]string

func TestCrash(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, d *vfstest.Disk)
		want map[vfstest.CrashMode]tree
	}{
		{"a name that was not synced", func(t *testing.T, d *vfstest.Disk) {
			require.NoError(t, put(t, d, "f", "abc").Sync())
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {}, vfstest.Current: {"f": "abc"}, vfstest.NamesFirst: {"f": "abc"}, vfstest.RemovalsFirst: {},
		}},
		{"bytes that were not synced", func(t *testing.T, d *vfstest.Disk) {
			f := put(t, d, "f", "abc")
			require.NoError(t, f.Sync())
			require.NoError(t, d.SyncDir("."))
			_, err := f.Write([]byte("def"))
			require.NoError(t, err)
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "abc"}, vfstest.Current: {"f": "abcdef"}, vfstest.NamesFirst: {"f": "abc"},
			vfstest.RemovalsFirst: {"f": "abc"},
		}},
		{"bytes that were replaced, the last time without a sync", func(t *testing.T, d *vfstest.Disk) {
			f := put(t, d, "f", "abc")
			require.NoError(t, d.SyncDir("."))
			_, err := f.WriteAt([]byte("AB"), 0)
			require.NoError(t, errors.Join(err, f.Sync()))
			_, err = f.WriteAt([]byte("xyz"), 0)
			require.NoError(t, err)
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "ABc"}, vfstest.Current: {"f": "xyz"}, vfstest.NamesFirst: {"f": "ABc"},
			vfstest.RemovalsFirst: {"f": "ABc"},
		}},
		{"a directory whose parent was synced", func(t *testing.T, d *vfstest.Disk) {
			require.NoError(t, d.Mkdir("dir", 0o777))
			put(t, d, "dir/f", "abc")
			require.NoError(t, d.SyncDir("."))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"dir": "/"}, vfstest.Current: {"dir": "/", "dir/f": "abc"},
			vfstest.NamesFirst: {"dir": "/", "dir/f": ""}, vfstest.RemovalsFirst: {"dir": "/"},
		}},
		{"a rename", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "f")
			require.NoError(t, d.Rename("f", "g"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f"}, vfstest.Current: {"g": "f"}, vfstest.NamesFirst: {"g": "f"}, vfstest.RemovalsFirst: {"f": "f"},
		}},
		{"an exchange", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "f", "g")
			require.NoError(t, d.Exchange("f", "g"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "g"}, vfstest.Current: {"f": "g", "g": "f"},
			vfstest.NamesFirst: {"f": "g", "g": "f"}, vfstest.RemovalsFirst: {"f": "f", "g": "g"},
		}},
		{"a removal", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "f", "g")
			require.NoError(t, d.RemoveAll("f"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "g"}, vfstest.Current: {"g": "g"}, vfstest.NamesFirst: {"g": "g"},
			vfstest.RemovalsFirst: {"g": "g"},
		}},
		{"a move of which the new parent was synced", func(t *testing.T, d *vfstest.Disk) {
			require.NoError(t, d.Mkdir("dir", 0o777))
			durable(t, d, "f")
			require.NoError(t, d.Rename("f", "dir/f"))
			require.NoError(t, d.SyncDir("dir"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "dir": "/", "dir/f": "f"}, vfstest.Current: {"dir": "/", "dir/f": "f"},
			vfstest.NamesFirst: {"dir": "/", "dir/f": "f"}, vfstest.RemovalsFirst: {"f": "f", "dir": "/", "dir/f": "f"},
		}},
		{"a link", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "f")
			require.NoError(t, d.Link("f", "g"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f"}, vfstest.Current: {"f": "f", "g": "f"}, vfstest.NamesFirst: {"f": "f", "g": "f"},
			vfstest.RemovalsFirst: {"f": "f"},
		}},
		{"a removal of one of two names", func(t *testing.T, d *vfstest.Disk) {
			linked(t, d, "f", "g")
			require.NoError(t, d.RemoveAll("f"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "f"}, vfstest.Current: {"g": "f"}, vfstest.NamesFirst: {"g": "f"},
			vfstest.RemovalsFirst: {"g": "f"},
		}},
		{"a removal of both names", func(t *testing.T, d *vfstest.Disk) {
			linked(t, d, "f", "g")
			require.NoError(t, d.RemoveAll("f"))
			require.NoError(t, d.RemoveAll("g"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "f"}, vfstest.Current: {}, vfstest.NamesFirst: {}, vfstest.RemovalsFirst: {},
		}},
		{"a rename over one of two names, then a removal of the other", func(t *testing.T, d *vfstest.Disk) {
			linked(t, d, "f", "g")
			durable(t, d, "h")
			require.NoError(t, d.Rename("h", "g"))
			require.NoError(t, d.RemoveAll("f"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "f", "h": "h"}, vfstest.Current: {"g": "h"}, vfstest.NamesFirst: {"g": "h"},
			vfstest.RemovalsFirst: {"g": "f", "h": "h"},
		}},
		{"a removal of one of two names after it moved", func(t *testing.T, d *vfstest.Disk) {
			linked(t, d, "f", "g")
			require.NoError(t, d.Rename("f", "h"))
			require.NoError(t, d.RemoveAll("h"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "f"}, vfstest.Current: {"g": "f"}, vfstest.NamesFirst: {"g": "f"},
			vfstest.RemovalsFirst: {"g": "f"},
		}},
		{"a removal after an exchange", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "f", "g")
			require.NoError(t, d.Exchange("f", "g"))
			require.NoError(t, d.RemoveAll("f"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": "f", "g": "g"}, vfstest.Current: {"g": "f"}, vfstest.NamesFirst: {"g": "f"},
			vfstest.RemovalsFirst: {"f": "f"},
		}},
		{"a removal of a directory to which a file moved", func(t *testing.T, d *vfstest.Disk) {
			require.NoError(t, d.Mkdir("dir", 0o777))
			durable(t, d, "f", "g")
			require.NoError(t, d.Rename("f", "dir/f"))
			require.NoError(t, d.RemoveAll("dir"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"dir": "/", "f": "f", "g": "g"}, vfstest.Current: {"g": "g"}, vfstest.NamesFirst: {"g": "g"},
			vfstest.RemovalsFirst: {"g": "g"},
		}},
		{"a removal that was synced, of a name that was linked again", func(t *testing.T, d *vfstest.Disk) {
			linked(t, d, "f", "g")
			require.NoError(t, d.RemoveAll("f"))
			require.NoError(t, d.Link("g", "f"))
			require.NoError(t, d.SyncDir("."))
		}, same(tree{"f": "f", "g": "f"})},
		{"a cut that was not synced", func(t *testing.T, d *vfstest.Disk) {
			durable(t, d, "file")
			require.NoError(t, resume(d, "file", 1, "resh"))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"file": "file"}, vfstest.Current: {"file": "fresh"}, vfstest.NamesFirst: {"file": "file"},
			vfstest.RemovalsFirst: {"file": "file"},
		}},
		{"room that was reserved but not synced", func(t *testing.T, d *vfstest.Disk) {
			f, err := d.Create("f", 0o666)
			require.NoError(t, err)
			require.NoError(t, d.SyncDir("."))
			require.NoError(t, f.Reserve(2))
		}, map[vfstest.CrashMode]tree{
			vfstest.Synced: {"f": ""}, vfstest.Current: {"f": "\x00\x00"}, vfstest.NamesFirst: {"f": ""},
			vfstest.RemovalsFirst: {"f": ""},
		}},
	}
	for _, tt := range tests {
		for _, mode := range vfstest.CrashModes() {
			t.Run(tt.name+"/"+mode.String(), func(t *testing.T) {
				d := vfstest.New()
				tt.do(t, d)
				before := list(t, d.Tree())
				crashed := d.Crash(mode)
				require.Equal(t, tt.want[mode], list(t, crashed.Tree()))
				require.Equal(t, tt.want[mode], list(t, crashed.Crash(vfstest.Synced).Tree()), "all that is left is synced")
				require.Equal(t, before, list(t, d.Tree()), "the disk itself goes on")
			})
		}
	}
	require.Equal(t, "CrashMode(9)", vfstest.CrashMode(9).String())
}

// durable makes files in the root that hold their own names.
func durable(t *testing.T, d *vfstest.Disk, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, put(t, d, name, name).Sync())
	}
	require.NoError(t, d.SyncDir("."))
}

// linked makes a durable file in the root that holds its first name and has both names.
func linked(t *testing.T, d *vfstest.Disk, first, second string) {
	t.Helper()
	durable(t, d, first)
	require.NoError(t, d.Link(first, second))
	require.NoError(t, d.SyncDir("."))
}

// resume cuts a file to size bytes and appends data, which is not synced.
func resume(fsys vfs.FS, path string, size int64, data string) error {
	f, err := fsys.Resume(path, size, true)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(data))
	return errors.Join(err, f.Close())
}

// reopen writes data at a byte of a file, after it has extended the file.
func reopen(fsys vfs.FS, path string, size int64, data string) error {
	f, err := fsys.Resume(path, size, false)
	if err != nil {
		return err
	}
	err = f.Extend(size + 2)
	if err == nil {
		_, err = f.Write([]byte(data))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// same wants one tree after every crash.
func same(want tree) map[vfstest.CrashMode]tree {
	wants := make(map[vfstest.CrashMode]tree)
	for _, mode := range vfstest.CrashModes() {
		wants[mode] = want
	}
	return wants
}

// TestCrashKeepsLinks checks that the names of one file are names of one file after a crash too.
func TestCrashKeepsLinks(t *testing.T) {
	for _, mode := range vfstest.CrashModes() {
		d := vfstest.New()
		require.NoError(t, d.Mkdir("dir", 0o777))
		linked(t, d, "f", "dir/g")
		require.NoError(t, d.SyncDir("dir"))
		crashed := d.Crash(mode)
		require.NoError(t, resume(crashed, "f", 1, "g"))
		require.Equal(t, tree{"dir": "/", "f": "fg", "dir/g": "fg"}, list(t, crashed.Tree()), mode)
		require.NoError(t, crashed.RemoveAll("f"))
		require.Equal(t, tree{"dir": "/", "dir/g": "f"}, list(t, crashed.Crash(vfstest.RemovalsFirst).Tree()), mode)
	}
}

// TestCrashShares checks that a file open across a crash does not reach the disk that is left.
func TestCrashShares(t *testing.T) {
	d := vfstest.New()
	f := put(t, d, "f", "abc")
	crashed := d.Crash(vfstest.Current)
	_, err := f.Write([]byte("def"))
	require.NoError(t, err)
	require.Equal(t, tree{"f": "abc"}, list(t, crashed.Tree()))
}

// TestCrashLoop makes each of two directories durably contain the other.
func TestCrashLoop(t *testing.T) {
	d := vfstest.New()
	require.NoError(t, d.Mkdir("a", 0o777))
	require.NoError(t, d.Mkdir("a/b", 0o777))
	require.NoError(t, d.SyncDir("a"))
	require.NoError(t, d.SyncDir("."))
	require.NoError(t, d.Rename("a/b", "b"))
	require.NoError(t, d.Rename("a", "b/a"))
	require.NoError(t, d.SyncDir("b"))
	require.Equal(t, tree{"a": "/", "a/b": "/"}, list(t, d.Crash(vfstest.Synced).Tree()))
}

// FuzzDiskActsLikeTheRealOne runs the same operations on a Disk and on the real file system and
// demands the same errors and the same tree.
func FuzzDiskActsLikeTheRealOne(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2, 3, 2, 0, 1, 3, 0, 1, 4, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 2, 0, 1, 4, 0, 3, 4, 1, 2, 4, 2, 5, 0, 0})
	f.Add([]byte{1, 0, 0, 1, 2, 0, 0, 2, 0, 2, 0, 1, 3, 1, 0})
	f.Add([]byte{1, 0, 0, 6, 0, 1, 18, 0, 1, 2, 0, 1, 4, 0, 0, 29, 1, 0, 8, 1, 0})
	f.Add([]byte{0, 0, 0, 1, 2, 0, 0, 1, 0, 9, 0, 1, 10, 0, 1, 9, 1, 0, 10, 0, 0})
	f.Add([]byte{0, 0, 0, 1, 2, 0, 6, 2, 1, 5, 0, 0, 4, 0, 0, 7, 1, 1, 8, 0, 0})
	f.Add([]byte{0, 0, 0, 1, 2, 0, 11, 2, 1, 23, 2, 2, 7, 2, 1, 35, 2, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		root, disk := t.TempDir(), vfstest.New()
		for len(program) >= 3 {
			op, a, b := program[0], name(program[1]), name(program[2])
			program = program[3:]
			want := run(vfs.OS, op, filepath.Join(root, a), filepath.Join(root, b))
			if errors.Is(want, errors.ErrUnsupported) {
				continue
			}
			got := run(disk, op, a, b)
			require.Equal(t, class(want), class(got), "op %d %s %s: real: %v, disk: %v", op%ops, a, b, want, got)
		}
		require.Equal(t, list(t, os.DirFS(root)), list(t, disk.Tree()))
		for _, mode := range vfstest.CrashModes() {
			list(t, disk.Crash(mode).Tree()) // whatever is left can be read
		}
	})
}

// name picks one of a few paths, so that operations meet.
func name(b byte) string {
	names := [...]string{"a", "b", "a/a", "a/b", "b/a", "b/b", "a/a/a"}
	return names[int(b)%len(names)]
}

// ops is how many operations run has.
const ops = 12

// run runs one operation.
func run(fsys vfs.FS, op byte, a, b string) error {
	switch op % ops {
	case 0:
		return fsys.Mkdir(a, 0o777)
	case 1:
		return create(fsys, a)
	case 2:
		return fsys.Rename(a, b)
	case 3:
		return fsys.Exchange(a, b)
	case 4:
		return fsys.RemoveAll(a)
	case 5:
		return sync(fsys, a)
	case 6:
		return fsys.Link(a, b)
	case 7:
		return resume(fsys, a, int64(op/ops%3), filepath.Base(b)) // files have a byte or more
	case 8:
		return fsys.Chmod(a, 0o755)
	case 11:
		return reopen(fsys, a, int64(op/ops%3), filepath.Base(b))
	}
	if info, err := fsys.Lstat(a); err != nil || !info.IsDir() || filepath.Dir(a) != filepath.Dir(b) {
		return err // RenameNew is for directories, and their names
	}
	return fsys.RenameNew(a, b, op%ops == 10)
}

// sync syncs what must be a directory: of a file, systems disagree.
func sync(fsys vfs.FS, path string) error {
	info, err := fsys.Lstat(path)
	if err != nil || !info.IsDir() {
		return err
	}
	return fsys.SyncDir(path)
}

func create(fsys vfs.FS, path string) error {
	f, err := fsys.Create(path, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(filepath.Base(path)))
	return errors.Join(err, f.Sync(), f.Close())
}

// class returns the part of an error that callers may rely on.
func class(err error) string {
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, fs.ErrExist):
		return "exists"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	}
	return "other"
}
