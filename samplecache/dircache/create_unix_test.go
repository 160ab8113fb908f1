//go:build unix

package dircache_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestCreateThatCannotLock has a umask that lets nobody open the directory that Create makes, not
// even itself: nothing is left of it. Root can open every directory, so that the test needs another
// user.
func TestCreateThatCannotLock(t *testing.T) {
	if syscall.Geteuid() == 0 {
		t.Skip("root can open everything")
	}
	parent := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o777))
	err := dircache.Create(filepath.Join(parent, "c"), marked(0), samplecache.Config{Samples: 2})
	require.ErrorIs(t, err, fs.ErrPermission)
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, entries)
}
