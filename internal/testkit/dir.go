package testkit

import (
	"os"
	"testing"
)

// MemoryDir returns a temporary directory of the test, in memory (a tmpfs) if the machine has one.
// There new files and syncs cost next to nothing: on a disk they take longer than all else of a test
// that makes hundreds. What such a test proves must not depend on the disk.
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
