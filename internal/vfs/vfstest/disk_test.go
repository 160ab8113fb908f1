package vfstest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// put makes a file with data that is not synced.
func put(t testing.TB, fsys vfs.FS, path, data string) vfs.File {
	t.Helper()
	f, err := fsys.Create(path, 0o666)
	require.NoError(t, err)
	_, err = f.Write([]byte(data))
	require.NoError(t, err)
	return f
}

// list returns all paths of a tree, but the root, with the bytes of files and "/" for directories.
func list(t testing.TB, tree fs.FS) map[string]string {
	t.Helper()
	got := make(map[string]string)
	err := fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if e.IsDir() {
			got[path] = "/"
			return nil
		}
		data, err := fs.ReadFile(tree, path)
		got[path] = string(data)
		return err
	})
	require.NoError(t, err)
	return got
}

func TestLstat(t *testing.T) {
	d := vfstest.New()
	require.NoError(t, d.Mkdir("dir", 0o777))
	put(t, d, "dir/f", "abc")

	info, err := d.Lstat("/dir/../dir/f")
	require.NoError(t, err)
	require.Equal(t, "f", info.Name())
	require.EqualValues(t, 3, info.Size())
	require.True(t, info.Mode().IsRegular())
	require.Zero(t, info.ModTime())
	require.Nil(t, info.Sys())

	root, err := d.Lstat("/")
	require.NoError(t, err)
	require.True(t, root.IsDir())
	require.Equal(t, ".", root.Name())
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name string
		do   func(d *vfstest.Disk) error
		err  error
	}{
		{"lstat of nothing", func(d *vfstest.Disk) error { _, err := d.Lstat("x"); return err }, fs.ErrNotExist},
		{"mkdir without parent", func(d *vfstest.Disk) error { return d.Mkdir("x/y", 0o777) }, fs.ErrNotExist},
		{"mkdir of the root", func(d *vfstest.Disk) error { return d.Mkdir("/", 0o777) }, fs.ErrExist},
		{"syncdir of nothing", func(d *vfstest.Disk) error { return d.SyncDir("x") }, fs.ErrNotExist},
		{"rename into itself", func(d *vfstest.Disk) error { return d.Rename("dir", "dir/x") }, fs.ErrInvalid},
		{"new name of nothing", func(d *vfstest.Disk) error { return d.RenameNew("x", "y", true) }, fs.ErrNotExist},
		{"new name over a file", func(d *vfstest.Disk) error { return d.RenameNew("dir", "g", true) }, fs.ErrExist},
		{"new name over a directory", func(d *vfstest.Disk) error { return d.RenameNew("dir", "dir", false) }, fs.ErrExist},
		{"new name of a file", func(d *vfstest.Disk) error { return d.RenameNew("g", "x", true) }, syscall.ENOTDIR},
		{"exchange with itself", func(d *vfstest.Disk) error { return d.Exchange("dir/f", "dir") }, fs.ErrInvalid},
		{"rename of the root", func(d *vfstest.Disk) error { return d.Rename(".", "x") }, fs.ErrInvalid},
		{"removal of the root", func(d *vfstest.Disk) error { return d.RemoveAll("/") }, fs.ErrInvalid},
		{"resume of nothing", func(d *vfstest.Disk) error { return resume(d, "x", 0, "") }, fs.ErrNotExist},
		{"resume of a directory", func(d *vfstest.Disk) error { return resume(d, "dir", 0, "") }, syscall.EISDIR},
		{"resume beyond the end", func(d *vfstest.Disk) error { return resume(d, "g", 4, "") }, fs.ErrInvalid},
		{"resume at less than nothing", func(d *vfstest.Disk) error { return resume(d, "g", -1, "") }, fs.ErrInvalid},
		{"link to nothing", func(d *vfstest.Disk) error { return d.Link("x", "y") }, fs.ErrNotExist},
		{"link without parent", func(d *vfstest.Disk) error { return d.Link("g", "x/y") }, fs.ErrNotExist},
		{"link over a file", func(d *vfstest.Disk) error { return d.Link("g", "dir/f") }, fs.ErrExist},
		{"link over itself", func(d *vfstest.Disk) error { return d.Link("g", "g") }, fs.ErrExist},
		{"link to a directory", func(d *vfstest.Disk) error { return d.Link("dir", "x") }, fs.ErrPermission},
		{"link to the root", func(d *vfstest.Disk) error { return d.Link("/", "x") }, fs.ErrPermission},
		{"chmod of nothing", func(d *vfstest.Disk) error { return d.Chmod("x", 0o777) }, fs.ErrNotExist},
		{"no exchange", func(d *vfstest.Disk) error {
			d.NoExchange = true
			return d.Exchange("dir", "g")
		}, errors.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := vfstest.New()
			require.NoError(t, d.Mkdir("dir", 0o777))
			put(t, d, "dir/f", "abc")
			put(t, d, "g", "abc")
			require.ErrorIs(t, tt.do(d), tt.err)
			require.Equal(t, map[string]string{"dir": "/", "dir/f": "abc", "g": "abc"}, list(t, d.Tree()))
		})
	}
}

func TestFileAfterClose(t *testing.T) {
	f := put(t, vfstest.New(), "f", "abc")
	require.NoError(t, f.Close())
	_, err := f.Write([]byte("x"))
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, f.Reserve(1), fs.ErrClosed)
	require.ErrorIs(t, f.Sync(), fs.ErrClosed)
	require.ErrorIs(t, f.Close(), fs.ErrClosed)
}

func TestResume(t *testing.T) {
	d := vfstest.New()
	put(t, d, "f", "abc")
	require.NoError(t, resume(d, "f", 2, "xyz"))
	require.Equal(t, tree{"f": "abxyz"}, list(t, d.Tree()))
}

func TestReserve(t *testing.T) {
	d := vfstest.New()
	f, err := d.Create("f", 0o666)
	require.NoError(t, err)
	require.NoError(t, f.Reserve(2))
	_, err = f.Write([]byte("abc"))
	require.NoError(t, err)
	require.Equal(t, tree{"f": "\x00\x00abc"}, list(t, d.Tree()))
}

func TestWriteAt(t *testing.T) {
	d := vfstest.New()
	f := put(t, d, "f", "abcd")
	for _, piece := range []struct {
		text string
		at   int64
	}{{"XY", 1}, {"", 4}, {"Z", 3}} {
		n, err := f.WriteAt([]byte(piece.text), piece.at)
		require.NoError(t, err)
		require.Equal(t, len(piece.text), n)
	}
	_, err := f.Write([]byte("e"))
	require.NoError(t, err)
	require.Equal(t, tree{"f": "aXYZe"}, list(t, d.Tree()), "Write goes on at the end")

	for _, at := range []int64{-1, 4, 5, 6, math.MaxInt64} {
		_, err := f.WriteAt([]byte("xy"), at)
		require.ErrorIs(t, err, fs.ErrInvalid, "at %d", at)
	}
	d.FailOnce(1)
	n, err := f.WriteAt([]byte("1234"), 0)
	require.ErrorIs(t, err, vfstest.ErrInjected)
	require.Equal(t, 2, n)
	require.Equal(t, tree{"f": "12YZe"}, list(t, d.Tree()), "half a write")
}

// TestLinkNamesOneFile checks that what is written by one name is read by the other, until one of
// them is removed.
func TestLinkNamesOneFile(t *testing.T) {
	d := vfstest.New()
	require.NoError(t, d.Mkdir("dir", 0o777))
	put(t, d, "f", "abc")
	require.NoError(t, d.Link("f", "dir/g"))
	require.NoError(t, resume(d, "dir/g", 3, "def"))
	require.Equal(t, tree{"dir": "/", "f": "abcdef", "dir/g": "abcdef"}, list(t, d.Tree()))

	require.NoError(t, d.Rename("f", "dir/g"), "two names of one file stay")
	require.Equal(t, tree{"dir": "/", "f": "abcdef", "dir/g": "abcdef"}, list(t, d.Tree()))
	require.NoError(t, d.RemoveAll("dir"))
	require.Equal(t, tree{"f": "abcdef"}, list(t, d.Tree()))
}

// TestHold checks that a disk has one user, who can hold what he likes and is not counted for it.
func TestHold(t *testing.T) {
	d := vfstest.New()
	for range 2 {
		release, err := d.Hold("dir")
		require.NoError(t, err)
		require.NoError(t, release())
	}
	require.Zero(t, d.Ops())
}

func TestExport(t *testing.T) {
	d := vfstest.New()
	require.NoError(t, d.Mkdir("dir", 0o777))
	require.NoError(t, d.Mkdir("empty", 0o777))
	put(t, d, "dir/f", "abc")
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, d.Export(dir))
	require.Equal(t, map[string]string{"dir": "/", "dir/f": "abc", "empty": "/"}, list(t, os.DirFS(dir)))
	require.ErrorIs(t, d.Export(dir), fs.ErrExist, "no file is replaced")
}

// all calls each mutating operation once and returns their errors in order.
func all(d *vfstest.Disk, f vfs.File) []error {
	write := func() error { _, err := f.Write([]byte("WXYZ")); return err }
	writeAt := func() error { _, err := f.WriteAt([]byte("V"), 0); return err }
	create := func() error { _, err := d.Create("new", 0o666); return err }
	resume := func() error { _, err := d.Resume("dir/y", 0, true); return err }
	reopen := func() error { _, err := d.Resume("dir/y", 0, false); return err }
	return []error{
		d.Mkdir("newdir", 0o777), create(), write(), f.Sync(), d.Rename("a", "c"), d.Exchange("b", "f"),
		d.RenameNew("empty", "moved", false),
		resume(), reopen(), f.Extend(9), f.Reserve(4), d.Link("dir/x", "link"), d.Chmod("dir/x", 0o600), d.SyncDir("."), d.RemoveAll("dir"),
		writeAt(), f.Close(),
	}
}

// prepared returns a disk on which all succeeds.
func prepared(t *testing.T) (*vfstest.Disk, vfs.File) {
	t.Helper()
	d := vfstest.New()
	durable(t, d, "a", "b")
	require.NoError(t, d.Mkdir("dir", 0o777))
	require.NoError(t, d.Mkdir("empty", 0o777))
	put(t, d, "dir/x", "x")
	put(t, d, "dir/y", "y")
	return d, put(t, d, "f", "f")
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		inject func(d *vfstest.Disk, n int)
		fails  func(op, n int) bool
	}{
		{"fail after", (*vfstest.Disk).FailAfter, func(op, n int) bool { return op >= n }},
		{"fail once", (*vfstest.Disk).FailOnce, func(op, n int) bool { return op == n }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; n <= 18; n++ {
				d, f := prepared(t)
				done := d.Ops()
				tt.inject(d, n)
				for i, err := range all(d, f) {
					require.Equal(t, tt.fails(i+1, n), err != nil, "operation %d of %d: %v", i+1, n, err)
					if err != nil {
						require.ErrorIs(t, err, vfstest.ErrInjected)
					}
				}
				require.Equal(t, done+17, d.Ops())
			}
		})
	}
}

// TestDeadDisk checks what failed operations have done all the same.
func TestDeadDisk(t *testing.T) {
	d, f := prepared(t)
	d.FailAfter(1)
	all(d, f)
	want := tree{"a": "a", "b": "b", "dir": "/", "dir/y": "y", "empty": "/", "f": "fWX"}
	require.Equal(t, want, list(t, d.Tree()), "half a write, half a removal, nothing else")
	require.Equal(t, tree{"a": "a", "b": "b"}, list(t, d.Crash(vfstest.Synced).Tree()))
	require.NoError(t, d.Crash(vfstest.Synced).Mkdir("dir", 0o777), "the next boot has no failures")
}

func TestFaultOfOperationZeroPanics(t *testing.T) {
	require.PanicsWithValue(t, "vfstest: impossible: the operation to fail is 0, want at least 1",
		func() { vfstest.New().FailAfter(0) })
}

func ExampleDisk_Crash() {
	disk := vfstest.New()
	f, _ := disk.Create("reward", 0o666)
	_, _ = f.Write([]byte("1 2 3"))
	_ = f.Sync()
	_, _ = f.Write([]byte(" 4"))
	_ = disk.SyncDir(".")

	for _, mode := range vfstest.CrashModes() {
		data, _ := fs.ReadFile(disk.Crash(mode).Tree(), "reward")
		fmt.Printf("%v: %s\n", mode, data)
	}
	// Output:
	// Synced: 1 2 3
	// Current: 1 2 3 4
	// NamesFirst: 1 2 3
	// RemovalsFirst: 1 2 3
}
