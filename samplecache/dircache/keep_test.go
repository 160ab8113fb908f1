//go:build unix

package dircache_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestKeepInTheCache keeps a generation at the directory of the cache, in it, or around it, by
// whatever path: it is refused, and the cache goes on.
func TestKeepInTheCache(t *testing.T) {
	s := newSpecimen(t)
	top := t.TempDir()
	dir := filepath.Join(top, "cache")
	require.NoError(t, s.writeTo(dir))
	for name, to := range map[string]string{"link": "cache", "deep": "cache/gen-0000000001", "link-of-link": "link"} {
		require.NoError(t, os.Symlink(to, filepath.Join(top, name)))
	}
	before := tree(t, dir)
	c := joinSound(t, dir)
	t.Chdir(dir)
	for path, want := range map[string]error{
		dir: fs.ErrExist, dir + "/": fs.ErrExist, ".": fs.ErrExist, "": fs.ErrExist, top: fs.ErrExist,
		filepath.Join(top, "link"): fs.ErrExist, "gen-0000000001": fs.ErrInvalid, "MANIFEST": fs.ErrInvalid,
		"kept": fs.ErrInvalid, dir + "/kept": fs.ErrInvalid, "../cache/kept": fs.ErrInvalid,
		"gen-0000000001/kept": fs.ErrInvalid, "gen-0000000009": fs.ErrInvalid, "../link/kept": fs.ErrInvalid,
		top + "/link-of-link/kept": fs.ErrInvalid, top + "/deep/kept": fs.ErrInvalid, "../nowhere/kept": fs.ErrNotExist,
	} {
		err := c.Keep(t.Context(), 1, path)
		require.ErrorIs(t, err, want, path)
	}
	err := c.Keep(t.Context(), 1, "/")
	require.True(t, errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrExist), "of another file system it exists: %v", err)
	require.Equal(t, before, tree(t, dir))
	for v := range int64(7) { // all is filled again
		require.NoError(t, putter(t, c, "").Put(soon(t), marked(10+v)))
	}
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	require.EqualValues(t, 5, g.ID())
	require.NoError(t, c.Keep(t.Context(), 5, filepath.Join(top, "cache-kept")))
	ds, err := memmap.Open(filepath.Join(top, "cache-kept"))
	require.NoError(t, err)
	require.NoError(t, ds.Close())
}

// TestKeepDamage keeps a generation with a damaged row: a copy would have checksums of wrong bytes.
func TestKeepDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 3}))
	c := joinSound(t, dir)
	for v := range int64(3) {
		require.NoError(t, putter(t, c, "").Put(soon(t), marked(v)))
	}
	f, err := os.OpenFile(filepath.Join(dir, "gen-0000000001", "image.memmap"), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte{99}, 20)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	err = c.Keep(t.Context(), 1, dir+"-kept")
	require.ErrorIs(t, err, samplecache.ErrChecksum)
	require.ErrorContains(t, err, "keep: generation 1: row 1: ")
	bad, ok := errors.AsType[*samplecache.RowError](err)
	require.True(t, ok)
	require.Equal(t, 1, bad.Row)
	require.NoDirExists(t, dir+"-kept")
}
