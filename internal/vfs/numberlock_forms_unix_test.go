//go:build unix && !solaris && !aix

package vfs_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// numberForms are the ways to lock numbers.
var numberForms = map[string]numbersOf{"system": vfs.LockNumbers, "files": vfs.FileNumbers}

// A stopped process keeps its numbers.
func TestStoppedProcessesHoldNumbers(t *testing.T) {
	eachNumbers(t, func(t *testing.T, of numbersOf, path string) {
		n := openNumbers(t, of, path)
		pid, kill := startChild(t, taskNumbers+filepath.Base(t.Name()), path)
		id, err := strconv.Atoi(pid)
		require.NoError(t, err)
		require.NoError(t, unix.Kill(id, unix.SIGSTOP))
		var status unix.WaitStatus
		_, err = unix.Wait4(id, &status, unix.WUNTRACED, nil)
		require.NoError(t, err)
		require.True(t, status.Stopped())
		require.False(t, try(t, n, 5, 1))
		require.Equal(t, lockedRange{5, 3}, heldIn(t, n, 0, 100))
		require.NoError(t, unix.Kill(id, unix.SIGCONT))
		kill()
		require.True(t, try(t, n, 5, 1))
	})
}

// Locked files are gone once they are unlocked, and those of killed processes are taken over.
func TestNumberFilesAreRemoved(t *testing.T) {
	path := numbersFile(t)
	n := openNumbers(t, vfs.FileNumbers, path)
	_, kill := startChild(t, taskNumbers+"files", path)
	kill()
	require.True(t, try(t, n, 5, 1))
	require.True(t, try(t, n, 8, 1))
	require.Equal(t, lockedRange{5, 1}, heldIn(t, openNumbers(t, vfs.FileNumbers, path), 0, 100))
	require.NoError(t, n.UnlockAll())
	entries, err := os.ReadDir(path + ".locks")
	require.NoError(t, err)
	require.Empty(t, entries)
}
