//go:build unix

package mapfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOpenSingleRefusesPipes: opening one would wait for a writer.
func TestOpenSingleRefusesPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(path, 0o666))
	require.ErrorIs(t, testkit.Err(mapfile.OpenSingle(path, nil)), mapping.ErrNotRegular)
}

// TestSingleCut cuts a file before and after it is mapped.
func TestSingleCut(t *testing.T) {
	path, s := single(t)
	require.NoError(t, os.Truncate(path, 5))
	require.ErrorIs(t, s.Map(), mapping.ErrSize)

	for _, size := range []int64{1 << 20, 100, 0} {
		require.NoError(t, os.Truncate(path, 2<<20))
		s = openSingle(t, path)
		require.NoError(t, s.Map())
		require.NoError(t, os.Truncate(path, size))
		require.ErrorIs(t, testkit.Err(s.ReadAt(make([]byte, 2<<20), 0)), mapping.ErrFault)
		part := tensor.Must(s.Lend("b/c", 0, 2<<20))
		err := testkit.Err(tensor.Must(tensor.FromLender(tensor.Uint8, part, 0, 2<<20)).Clone())
		require.ErrorIs(t, err, mapping.ErrFault)
		require.ErrorContains(t, err, path+": b/c: ")
	}
}
