//go:build unix

package dircache_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestRemove removes caches, and refuses what is in use or no cache.
func TestRemove(t *testing.T) {
	open := func(t *testing.T, dir string) *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	write := func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("mine"), 0o666)) }
	tests := []struct {
		name  string
		setup func(t *testing.T, dir string) (path string)
		err   error // nil if the cache is removed
		says  string
	}{
		{"a cache", func(t *testing.T, dir string) string { return dir }, nil, ""},
		{"after its sessions were closed", func(t *testing.T, dir string) string { require.NoError(t, open(t, dir).Close()); return dir }, nil, ""},
		{"a slash after it", func(t *testing.T, dir string) string { return dir + "/" }, nil, ""},
		{"no control file", func(t *testing.T, dir string) string { require.NoError(t, os.Remove(dir+"/control")); return dir }, nil, ""},
		{"a damaged control file", func(t *testing.T, dir string) string {
			require.NoError(t, os.Truncate(dir+"/control", 10))
			return dir
		}, nil, ""},
		{"what a killed process has left", func(t *testing.T, dir string) string {
			require.NoError(t, os.Mkdir(dir+"/.new-store", 0o777))
			require.NoError(t, os.Mkdir(dir+"/.old-store", 0o777))
			return dir
		}, nil, ""},
		{"a mirror", func(t *testing.T, dir string) string { write(t, dir+"/mirror.json"); return dir }, nil, ""},
		{"in use", func(t *testing.T, dir string) string { open(t, dir); return dir }, samplecache.ErrInUse, fmt.Sprintf("in use by pid %d", os.Getpid())},
		{"a generation is read in another language", func(t *testing.T, dir string) string {
			lock, err := vfs.TryLock(dir+"/gen-0000000001", vfs.Shared)
			require.NoError(t, err)
			t.Cleanup(func() { _ = lock.Unlock() })
			return dir
		}, samplecache.ErrInUse, "gen-0000000001 is being read"},
		{"a file that is not of a cache", func(t *testing.T, dir string) string { write(t, dir+"/notes.txt"); return dir }, fs.ErrInvalid, `"notes.txt" does not belong to a cache`},
		{"a link to it", func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink(dir, dir+"-link"))
			return dir + "-link"
		}, fs.ErrInvalid, "it is a link"},
		{"a link to it, with a slash", func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink(dir, dir+"-link"))
			return dir + "-link/"
		}, fs.ErrInvalid, "it is a link"},
		{"the directory around it", func(t *testing.T, dir string) string { return filepath.Dir(dir) }, fs.ErrNotExist, "it is not a cache"},
		{"a generation of it", func(t *testing.T, dir string) string { return dir + "/gen-0000000001" }, fs.ErrNotExist, "it is not a cache"},
		{"a file", func(t *testing.T, dir string) string { return dir + "/MANIFEST" }, nil, "not a directory"},
		{"nothing", func(t *testing.T, dir string) string { return dir + "-not" }, fs.ErrNotExist, ""},
		{"no name", func(t *testing.T, dir string) string { return "" }, fs.ErrInvalid, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
			path := tt.setup(t, dir)
			before := contents(filepath.Dir(dir))
			err := dircache.Remove(path)
			if tt.err == nil && tt.says == "" {
				require.NoError(t, err)
				left, err := os.ReadDir(filepath.Dir(dir))
				require.NoError(t, err)
				require.Empty(t, left)
				return
			}
			require.ErrorContains(t, err, tt.says)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
			}
			_, ok := errors.AsType[*dircache.Error](err)
			require.True(t, ok, "%T", err)
			require.Equal(t, before, contents(filepath.Dir(dir)))
		})
	}
}

// TestRemoveLeavesDatasets removes a cache of whose generation a dataset was kept.
func TestRemoveLeavesDatasets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
	c := joinSound(t, dir)
	for v := range int64(2) {
		require.NoError(t, putter(t, c, "").Put(soon(t), marked(v)))
	}
	require.NoError(t, c.Keep(t.Context(), 1, dir+"-kept"))
	require.NoError(t, c.Close())
	require.NoError(t, dircache.Remove(dir))
	require.NoDirExists(t, dir)
	report, err := memmap.Verify(t.Context(), dir+"-kept", memmap.VerifyOptions{})
	require.NoError(t, err)
	require.NotZero(t, report.Leaves)
}

// TestRemoveRacesOpen removes caches while others open them: each Open gets a cache that is there,
// which then is in use, or none.
func TestRemoveRacesOpen(t *testing.T) {
	for range 30 {
		dir := filepath.Join(t.TempDir(), "cache")
		require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
		var running sync.WaitGroup
		for range 3 {
			running.Go(func() {
				c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
				if err != nil {
					require.ErrorIs(t, err, fs.ErrNotExist)
					return
				}
				p, err := c.Producer("")
				if err == nil {
					err = p.Put(t.Context(), marked(1))
				}
				require.NoError(t, err)
				require.NoError(t, c.Close())
			})
		}
		err := dircache.Remove(dir)
		for errors.Is(err, samplecache.ErrInUse) {
			err = dircache.Remove(dir)
		}
		running.Wait()
		require.NoError(t, err)
		require.NoDirExists(t, dir)
	}
}
