package memmap_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
)

// TestSaveLeavesWhatIsNotOurs has directories of a user's that are called as those that Save makes:
// beside the dataset they stay, and one in it keeps it from being replaced.
func TestSaveLeavesWhatIsNotOurs(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "d")
	mine := func(in string) string { return filepath.Join(in, ".saving-ABCDEFGH", "thesis") }
	put := func(path string) {
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte("mine"), 0o666))
	}
	put(mine(top))
	require.NoError(t, os.Mkdir(filepath.Join(top, ".saving-AAAAAAAA"), 0o777))
	require.NoError(t, memmap.Save(dir, steps()))
	require.FileExists(t, mine(top))
	require.DirExists(t, filepath.Join(top, ".saving-AAAAAAAA"))

	put(mine(dir))
	require.ErrorIs(t, memmap.Save(dir, steps()), memmap.ErrForeign)
	require.FileExists(t, mine(dir))
}

// TestSaveLeavesNoMark finds in a saved directory, and beside it, nothing but what is saved.
func TestSaveLeavesNoMark(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "d")
	for range 2 {
		require.NoError(t, memmap.Save(dir, steps()))
		require.Equal(t, []string{"d"}, names(t, top))
		require.NotContains(t, names(t, dir), ".saving")
	}
}

// TestSaveKeepsOldTreesBelow saves at the directory around a dataset whose save was killed between
// two renames, on a file system that cannot exchange directories: the only copy of it stays.
func TestSaveKeepsOldTreesBelow(t *testing.T) {
	top := filepath.Join(t.TempDir(), "top")
	dir, temp := filepath.Join(top, "d"), filepath.Join(top, ".saving-AAAAAAAA")
	require.NoError(t, memmap.Save(dir, steps()))
	require.NoError(t, os.Mkdir(temp, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(temp, ".saving"), nil, 0o600))
	require.NoError(t, os.Rename(dir, filepath.Join(temp, "new.old")))
	require.ErrorIs(t, memmap.Save(top, steps()), memmap.ErrForeign)
	require.True(t, steps().Equal(open(t, filepath.Join(temp, "new.old")).TensorDict))
}
