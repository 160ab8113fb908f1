package dircache_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestRemoveLeavesMounts has a directory mounted within a cache: its files are not the cache's.
func TestRemoveLeavesMounts(t *testing.T) {
	top := t.TempDir()
	dir, other := filepath.Join(top, "cache"), filepath.Join(top, "other")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
	require.NoError(t, os.Mkdir(other, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(other, "mine"), nil, 0o666))
	at := filepath.Join(dir, "gen-0000000001", "deep")
	if err := unix.Mount(other, at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	err := dircache.Remove(dir)
	require.NoError(t, unix.Unmount(at, 0))
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.ErrorContains(t, err, "something is mounted at ")
	require.FileExists(t, filepath.Join(other, "mine"))
	require.NoError(t, dircache.Remove(dir))
	require.NoDirExists(t, dir)
}
