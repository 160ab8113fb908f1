//go:build unix

package memmap_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/tensor"
)

// TestCloseSaysWhichFile unmaps a leaf under the feet of its dataset.
func TestCloseSaysWhichFile(t *testing.T) {
	ds := open(t, saved(t))
	s := tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("reward"))))
	require.NoError(t, unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 32)))
	require.EqualError(t, ds.Close(), "close reward.memmap: invalid argument")
	require.EqualError(t, ds.CloseWait(t.Context()), "close reward.memmap: invalid argument", "again")
}
