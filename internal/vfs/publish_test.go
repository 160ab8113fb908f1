package vfs_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

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
		{"tmp is aside", ".d.aside", "d", fs.ErrInvalid, ""},
		{"the working directory", "tmp", ".", fs.ErrInvalid,
			"publish .: nothing changed: invalid argument: the directory has no name of its own"},
		{"the parent directory", "tmp", "..", fs.ErrInvalid, ""},
		{"the root", "/tmp", "/", fs.ErrInvalid, ""},
		{"no tmp", "nothing", "d", fs.ErrNotExist, ""},
		{"a file at dir", "tmp", "file", fs.ErrExist,
			"publish file: nothing changed: file already exists and is no directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := saved(t, before, false)
			require.NoError(t, write(disk, "tmp", after))
			require.NoError(t, writeFile(disk, "file", "mine"))
			err := vfs.Publish(disk, tt.tmp, tt.dir)
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
			"publish d: nothing changed: exchange tmp d: injected fault"},
		{"sync", false, func(d *vfstest.Disk) { d.FailOnce(3) }, vfs.Unsynced,
			"publish d: the new tree is in place, but a crash may bring the old one back: syncdir .: injected fault (old tree: tmp)"},
		{"removal", false, func(d *vfstest.Disk) { d.FailOnce(4) }, vfs.Leftover,
			"publish d: the new tree is in place, but the old one was not removed: removeall tmp: injected fault (old tree: tmp)"},
		{"moving in", true, func(d *vfstest.Disk) { d.FailOnce(4) }, vfs.Untouched,
			"publish d: nothing changed: rename tmp d: injected fault"},
		{"moving in and back", true, func(d *vfstest.Disk) { d.FailAfter(4) }, vfs.Aside,
			"publish d: the old tree was moved aside and could not be moved back: rename tmp d: injected fault\n" +
				"rename .d.aside d: injected fault (old tree: .d.aside)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			disk := saved(t, before, tt.noExchange)
			require.NoError(t, write(disk, "tmp", after))
			tt.fail(disk)
			err := vfs.Publish(disk, "tmp", "d")
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
	require.Error(t, vfs.Publish(disk, "tmp", "d"))
	require.Equal(t, 6, disk.Ops()-done, "want a Rename and a SyncDir after the failure")
}

func TestAsidePath(t *testing.T) {
	for dir, want := range map[string]string{"d": ".d.aside", "x/d/": "x/.d.aside", "/d": "/.d.aside"} {
		require.Equal(t, filepath.FromSlash(want), vfs.AsidePath(dir))
	}
}
