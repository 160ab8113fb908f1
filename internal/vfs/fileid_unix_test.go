//go:build unix

package vfs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileIDSeesThroughLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a", nil, 0o666))
	require.NoError(t, os.Link("a", "hard"))
	require.NoError(t, os.Symlink("a", "soft"))
	id := fileID(t, "a")
	require.Equal(t, id, fileID(t, "hard"))
	require.Equal(t, id, fileID(t, "soft"))

	require.NoError(t, os.Rename("a", "moved"))
	require.NoError(t, os.WriteFile("a", nil, 0o666))
	require.Equal(t, id, fileID(t, "moved"))
	require.NotEqual(t, id, fileID(t, "a"), "another file took the name")
}
