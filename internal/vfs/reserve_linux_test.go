package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// reserving returns a new file. It skips the test where the file system cannot reserve.
func reserving(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	if err := reserve(f, 1); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system has no call to set room aside: ", err)
	}
	require.NoError(t, f.Truncate(0))
	return f
}

// TestReserveTakesRoom checks that the blocks are taken: a file that was only made long has none.
func TestReserveTakesRoom(t *testing.T) {
	const size = 3<<20 + 1
	f := reserving(t)
	require.NoError(t, f.Truncate(size))
	require.Less(t, room(t, f), int64(size), "a file with a hole")
	require.NoError(t, f.Truncate(0))
	require.NoError(t, osFile{f}.Reserve(size))
	require.GreaterOrEqual(t, room(t, f), int64(size))
}

// room returns how many bytes of the disk a file takes.
func room(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

func TestReserveTooMuch(t *testing.T) {
	f := reserving(t)
	err := osFile{f}.Reserve(1 << 60)
	require.Error(t, err)
	full := errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EFBIG)
	require.True(t, full, "want no space or a file too large, got %v", err)
	var e *fs.PathError
	require.ErrorAs(t, err, &e)
	require.Equal(t, f.Name(), e.Path)
}

func TestWriteZerosToAFullDisk(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full disk at hand: ", err)
	}
	defer f.Close()
	err = writeZeros(f, 1<<60)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.ErrorContains(t, err, "/dev/full")
}
