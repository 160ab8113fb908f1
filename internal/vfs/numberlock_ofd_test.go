//go:build linux || darwin

package vfs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// The kernel tells ranges apart wherever they begin and end, and merges those of one holder.
func TestNumbersAreRanges(t *testing.T) {
	path := numbersFile(t)
	a, b := openNumbers(t, path), openNumbers(t, path)
	require.True(t, try(t, a, 10, 5))
	require.True(t, try(t, a, 15, 5))
	require.Equal(t, lockedRange{10, 10}, heldIn(t, b, 12, 1), "adjacent locks are one")
	require.False(t, try(t, b, 5, 6))
	require.False(t, try(t, b, 19, 6))
	require.False(t, try(t, b, 5, 100))

	require.NoError(t, a.Unlock(13, 4))
	require.Equal(t, lockedRange{10, 3}, heldIn(t, b, 0, 100))
	require.Zero(t, heldIn(t, b, 13, 4))
	require.Equal(t, lockedRange{17, 3}, heldIn(t, b, 13, 100))
	require.False(t, try(t, b, 12, 3), "all or none")
	require.Equal(t, lockedRange{}, heldIn(t, a, 0, 100))
	require.True(t, try(t, b, 13, 4))
	require.True(t, try(t, a, 9, 1))
	require.Equal(t, lockedRange{9, 4}, heldIn(t, b, 0, 100))
}

// Closing the file unlocks, if no process is being started.
func TestCloseUnlocksNumbers(t *testing.T) {
	path := numbersFile(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	n := vfs.LockNumbers(f)
	require.True(t, try(t, n, 5, 1))
	require.NoError(t, f.Close())
	require.True(t, try(t, openNumbers(t, path), 5, 1))
	_, err = n.Try(6, 1)
	require.ErrorIs(t, err, os.ErrClosed)
}

func TestNumbersNeedAFileToWriteTo(t *testing.T) {
	f, err := os.Open(numbersFile(t))
	require.NoError(t, err)
	defer f.Close()
	_, err = vfs.LockNumbers(f).Try(5, 1)
	require.ErrorIs(t, err, unix.EBADF)
	require.ErrorContains(t, err, f.Name())
}
