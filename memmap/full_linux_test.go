package memmap_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFullDiskIsAnError asks for more room than any disk has.
func TestFullDiskIsAnError(t *testing.T) {
	top := t.TempDir()
	probe := tensor.Must(os.Create(filepath.Join(t.TempDir(), "probe")))
	defer probe.Close()
	if err := unix.Fallocate(int(probe.Fd()), 0, 0, 1); err != nil {
		t.Skip("room is set aside by writing zeros, which would fill the disk: ", err)
	}
	prototype := tdict.New(1 << 50)
	require.NoError(t, prototype.Set("x", expanded(tensor.Uint8, 1<<50)))
	_, err := memmap.Create(filepath.Join(top, "made"), prototype, memmap.CreateOptions{})
	require.Error(t, err)
	failed, ok := errors.AsType[*memmap.DatasetError](err)
	require.True(t, ok)
	require.Equal(t, "x.memmap", failed.Path)
	require.Empty(t, names(t, top), "nothing is left")
}
