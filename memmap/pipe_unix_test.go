//go:build unix

package memmap_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
)

// TestOpenRefusesPipes: opening one would wait for a writer.
func TestOpenRefusesPipes(t *testing.T) {
	for _, name := range []string{"reward.memmap", "meta.json"} {
		dir := saved(t)
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o666))
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "open "+name+": corrupt: got a special file")
	}
}
