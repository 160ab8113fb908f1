package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// save does what a saver does: it writes a tree of two files at tmp, syncs it, publishes it at dir
// and cleans up as the documentation of Publish allows.
func save(fsys vfs.FS, tmp, dir, content string) error {
	err := write(fsys, tmp, content)
	if err != nil {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	err = vfs.Publish(fsys, tmp, dir, there(fsys, dir))
	if e, ok := errors.AsType[*vfs.PublishError](err); ok && (e.State == vfs.Untouched || e.State == vfs.Leftover) {
		return errors.Join(err, fsys.RemoveAll(tmp))
	}
	return err
}

// there describes what is at a path, or is nil.
func there(fsys vfs.FS, path string) fs.FileInfo {
	info, _ := fsys.Lstat(path)
	return info
}

// write makes a finished tree at tmp: the files a and sub/b, both holding content.
func write(fsys vfs.FS, tmp, content string) error {
	sub := filepath.Join(tmp, "sub")
	steps := []func() error{
		func() error { return fsys.Mkdir(tmp, 0o777) },
		func() error { return writeFile(fsys, filepath.Join(tmp, "a"), content) },
		func() error { return fsys.Mkdir(sub, 0o777) },
		func() error { return writeFile(fsys, filepath.Join(sub, "b"), content) },
		func() error { return fsys.SyncDir(sub) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(fsys vfs.FS, path, content string) error {
	f, err := fsys.Create(path, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// absent is what load returns if there is no tree.
const absent = "(absent)"

// load returns the content of the tree at dir and requires it to be complete and not mixed.
func load(t testing.TB, tree fs.FS, dir string) string {
	t.Helper()
	if _, err := fs.Stat(tree, dir); errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	a, err := fs.ReadFile(tree, dir+"/a")
	require.NoError(t, err, "%s is not complete", dir)
	b, err := fs.ReadFile(tree, dir+"/sub/b")
	require.NoError(t, err, "%s is not complete", dir)
	require.Equal(t, string(a), string(b), "%s is mixed", dir)
	return string(a)
}

// saved returns a disk that holds a tree with content at d, durably; none if content is absent.
func saved(t testing.TB, content string, noExchange bool) *vfstest.Disk {
	t.Helper()
	disk := vfstest.New()
	disk.NoExchange = noExchange
	if content != absent {
		require.NoError(t, save(disk, "tmp0", "d", content))
	}
	return disk
}

const before, after, later = "before before", "after after", "later later"

func TestPublish(t *testing.T) {
	for _, noExchange := range []bool{false, true} {
		for _, old := range []string{absent, before} {
			disk := saved(t, old, noExchange)
			require.NoError(t, save(disk, "tmp", "d", after))
			for _, mode := range vfstest.CrashModes() {
				require.Equal(t, after, load(t, disk.Crash(mode).Tree(), "d"), "after a crash that leaves %v", mode)
			}
			requireNames(t, disk, "d")
		}
	}
}

// requireNames checks which names the root of the disk has now.
func requireNames(t *testing.T, disk *vfstest.Disk, want ...string) {
	t.Helper()
	entries, err := fs.ReadDir(disk.Tree(), ".")
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, want, got)
}

func TestPublishRefuses(t *testing.T) {
	tests := []struct {
		name     string
		tmp, dir string
		err      error
		text     string
	}{
		{"another parent", "sub/tmp", "d", fs.ErrInvalid,
			"publish d: nothing changed: invalid argument: sub/tmp is not in the same directory"},
		{"tmp is dir", "d", "./d/", fs.ErrInvalid, "publish d: nothing changed: invalid argument: d is taken"},
		{"the working directory", "tmp", ".", fs.ErrInvalid,
			"publish .: nothing changed: invalid argument: the path does not end in a name"},
		{"the parent directory", "tmp", "..", fs.ErrInvalid, ""},
		{"the root", "/tmp", "/", fs.ErrInvalid, ""},
		{"no tmp", "nothing", "d", fs.ErrNotExist, ""},
		{"a file at dir", "tmp", "file", fs.ErrExist,
			"publish file: nothing changed: file already exists and is not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := saved(t, before, false)
			require.NoError(t, write(disk, "tmp", after))
			require.NoError(t, writeFile(disk, "file", "mine"))
			err := vfs.Publish(disk, tt.tmp, tt.dir, there(disk, tt.dir))
			require.ErrorIs(t, err, tt.err)
			if tt.text != "" {
				require.EqualError(t, err, tt.text)
			}
			requireNames(t, disk, "d", "file", "tmp")
			require.Equal(t, before, load(t, disk.Tree(), "d"))
		})
	}
}

// TestPublishErrorText fails each step after the new tree was written, once or for good.
func TestPublishErrorText(t *testing.T) {
	tests := []struct {
		name       string
		noExchange bool
		fail       func(d *vfstest.Disk)
		state      vfs.State
		text       string
	}{
		{"exchange", false, func(d *vfstest.Disk) { d.FailOnce(2) }, vfs.Untouched,
			"publish d: nothing changed: exchange tmp d: injected failure"},
		{"sync", false, func(d *vfstest.Disk) { d.FailOnce(3) }, vfs.Unsynced,
			"publish d: the new tree is in place, but a crash may bring the old one back: syncdir .: injected failure (old tree: tmp)"},
		{"removal", false, func(d *vfstest.Disk) { d.FailOnce(4) }, vfs.Leftover,
			"publish d: the new tree is in place, but the old one was not removed: removeall tmp: injected failure (old tree: tmp)"},
		{"moving in", true, func(d *vfstest.Disk) { d.FailOnce(4) }, vfs.Untouched,
			"publish d: nothing changed: rename tmp d: injected failure"},
		{"moving in and back", true, func(d *vfstest.Disk) { d.FailAfter(4) }, vfs.Aside,
			"publish d: the old tree was moved aside and could not be moved back: rename tmp d: injected failure\n" +
				"rename tmp.old d: injected failure (old tree: tmp.old)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := saved(t, before, tt.noExchange)
			require.NoError(t, write(disk, "tmp", after))
			tt.fail(disk)
			err := vfs.Publish(disk, "tmp", "d", there(disk, "d"))
			require.EqualError(t, err, tt.text)
			require.ErrorIs(t, err, vfstest.ErrInjected)
			var e *vfs.PublishError
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.state, e.State)
		})
	}
	require.Equal(t, "State(9)", vfs.State(9).String())
}

// TestPublishSyncsTheWayBack checks that a failed replacement ends with a sync, lest a crash bring
// back the moment in which the old tree was aside.
func TestPublishSyncsTheWayBack(t *testing.T) {
	disk := saved(t, before, true)
	require.NoError(t, write(disk, "tmp", after))
	done := disk.Ops()
	disk.FailOnce(4) // SyncDir, Exchange, Rename and the Rename that fails
	require.Error(t, vfs.Publish(disk, "tmp", "d", there(disk, "d")))
	require.Equal(t, 6, disk.Ops()-done, "want a Rename and a SyncDir after the failure")
}

// faults are the two ways in which the n-th operation fails.
var faults = []struct {
	name   string
	inject func(d *vfstest.Disk, n int)
}{
	{"dead", (*vfstest.Disk).FailAfter},
	{"once", (*vfstest.Disk).FailOnce},
}

// eachSetting runs test with and without Exchange, over both faults, with and without an old tree.
func eachSetting(t *testing.T, test func(t *testing.T, s *setting)) {
	for _, noExchange := range []bool{false, true} {
		for _, fault := range faults {
			for _, old := range []string{absent, before} {
				name := fmt.Sprintf("noexchange=%t/fault=%s/old=%s", noExchange, fault.name, old)
				t.Run(name, func(t *testing.T) { test(t, &setting{noExchange, old, fault.inject, 0}) })
			}
		}
	}
}

// A setting is one way to run a crash test.
type setting struct {
	noExchange bool
	old        string
	inject     func(d *vfstest.Disk, n int)
	windows    int // crashes seen in the moment without dir
}

// TestPublishFailingEverywhere fails every operation of a save. It looks at the disk that goes on
// and at what crashes leave of it.
func TestPublishFailingEverywhere(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n := 1; ; n++ {
			disk := saved(t, s.old, s.noExchange)
			s.inject(disk, n)
			done := disk.Ops()
			err := save(disk, "tmp1", "d", after)
			s.check(t, disk, err, after, s.old)
			if disk.Ops() < done+n {
				require.Less(t, n, ops)
				break // n lies beyond the last operation
			}
			require.ErrorIs(t, err, vfstest.ErrInjected, "operation %d", n)
		}
		if !s.noExchange || s.old == absent {
			require.Zero(t, s.windows, "dir was never absent")
		}
	})
}

// TestPublishWindow pins the one moment without dir: the disk dies, without Exchange, between the
// rename that moves the old tree aside and the one that moves the new tree in.
func TestPublishWindow(t *testing.T) {
	const movingIn = 4 // SyncDir(tmp), Exchange, Rename(d, aside), Rename(tmp, d)
	disk := saved(t, before, true)
	require.NoError(t, write(disk, "tmp", after))
	disk.FailAfter(movingIn)
	require.Error(t, vfs.Publish(disk, "tmp", "d", there(disk, "d")))

	crashed := disk.Crash(vfstest.Current)
	requireNames(t, crashed, "tmp", "tmp.old")
	require.Equal(t, before, load(t, crashed.Tree(), "tmp.old"))
	require.Equal(t, after, load(t, crashed.Tree(), "tmp"))
	require.NoError(t, crashed.Rename("tmp.old", "d"), "the documented remedy")
	require.Equal(t, before, load(t, crashed.Tree(), "d"))
}

// ops is more operations than any one save needs.
const ops = 25

// TestPublishFailingTwice fails every pair of operations of two saves in a row, so that the second
// finds whatever the first left.
func TestPublishFailingTwice(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n1 := 1; n1 <= ops; n1++ {
			for n2 := 1; n2 <= ops; n2++ {
				disk := saved(t, s.old, s.noExchange)
				disk.FailOnce(n1)
				olds := []string{s.old, after}
				if save(disk, "tmp1", "d", after) == nil {
					olds = olds[1:] // what was durable once never goes
				}
				s.inject(disk, n2)
				s.check(t, disk, save(disk, "tmp2", "d", later), later, olds...)
			}
		}
	})
}

// TestPublishAfterCrash saves on what a crash in a failed save left, as the next boot does.
func TestPublishAfterCrash(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n := 1; n <= ops; n++ {
			for _, mode := range vfstest.CrashModes() {
				crashed := saved(t, s.old, s.noExchange)
				s.inject(crashed, n)
				_ = save(crashed, "tmp1", "d", after)
				disk := crashed.Crash(mode)
				require.NoError(t, save(disk, "tmp2", "d", later))
				s.check(t, disk, nil, later)
			}
		}
	})
}

// check requires that d holds want, or, if err is not nil, possibly one of the olds: now, as err
// says, and after a crash.
func (s *setting) check(t *testing.T, disk *vfstest.Disk, err error, want string, olds ...string) {
	t.Helper()
	durable := err == nil
	if e, ok := errors.AsType[*vfs.PublishError](err); ok {
		s.checkState(t, disk, e, want)
		durable = e.State == vfs.Leftover
	}
	for _, mode := range vfstest.CrashModes() {
		crashed := disk.Crash(mode)
		got := load(t, crashed.Tree(), "d")
		if durable {
			require.Equal(t, want, got, "a crash that leaves %v, after %v", mode, err)
			continue
		}
		if got == absent {
			got = s.window(t, crashed, olds)
		}
		require.Contains(t, append(olds, want), got, "a crash that leaves %v, after %v", mode, err)
	}
}

// window accounts for a disk without d: right if there never was one. Without Exchange there is one
// moment in which the complete old tree is aside; window returns what is there.
func (s *setting) window(t *testing.T, disk *vfstest.Disk, olds []string) string {
	t.Helper()
	for _, tmp := range []string{"tmp2", "tmp1"} {
		if aside := load(t, disk.Tree(), tmp+".old"); slices.Contains(olds, aside) && aside != absent {
			require.True(t, s.noExchange, "with Exchange nothing is ever aside")
			s.windows++
			return aside
		}
	}
	require.Equal(t, absent, olds[0], "the old tree is lost")
	return absent
}

// checkState requires that the disk holds now what the error says.
func (s *setting) checkState(t *testing.T, disk *vfstest.Disk, e *vfs.PublishError, want string) {
	t.Helper()
	got := load(t, disk.Tree(), "d")
	switch e.State {
	case vfs.Untouched:
		require.NotEqual(t, want, got)
		require.Empty(t, e.Left)
	case vfs.Aside:
		require.Equal(t, absent, got)
		require.NotEqual(t, absent, load(t, disk.Tree(), e.Left))
		require.True(t, s.noExchange)
	case vfs.Unsynced:
		require.Equal(t, want, got)
		if e.Left != "" {
			require.NotEqual(t, absent, load(t, disk.Tree(), e.Left))
		}
	case vfs.Leftover:
		require.Equal(t, want, got)
		require.NotEmpty(t, e.Left)
	}
}

func ExamplePublish() {
	disk := vfstest.New() // vfs.OS in real life
	for _, content := range []string{"old", "new"} {
		fmt.Println(write(disk, "tmp", content), vfs.Publish(disk, "tmp", "d", there(disk, "d")))
	}
	data, err := fs.ReadFile(disk.Crash(vfstest.Synced).Tree(), "d/sub/b")
	fmt.Printf("%s %v\n", data, err)
	// Output:
	// <nil> <nil>
	// <nil> <nil>
	// new <nil>
}
