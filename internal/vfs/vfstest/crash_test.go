package vfstest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
