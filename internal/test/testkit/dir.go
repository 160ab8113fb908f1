package testkit

import (
	"os"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

// TempDir returns a temporary directory for a test that makes hundreds of small files. On a disk
// such a test spends most of its time making them, so the directory is in memory unless tests are
// long.
func TempDir(t testing.TB) string {
	t.Helper()
	if longtests.On() {
		return t.TempDir()
	}
	return MemoryDir(t)
}

// MemoryDir returns a temporary directory in memory (a tmpfs), or on the disk if the machine has no
// /dev/shm. On some machines it has only 64 MiB.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tensordict-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
