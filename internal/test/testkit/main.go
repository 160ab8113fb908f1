package testkit

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

// Main is for the TestMain of a package whose tests write many files or make much garbage. Unless
// tests are long, or there are benchmarks, temporary files are in memory, if there is room, and
// garbage is collected only from 1 GiB on. Files of long tests and of benchmarks are on a disk. A
// process that a test has started uses its parent's directory: if it is killed, nothing is left.
func Main(m *testing.M) {
	flag.Parse()
	if longtests.On() || flag.Lookup("test.bench").Value.String() != "" {
		os.Exit(m.Run())
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	dir := ""
	if !strings.HasPrefix(os.TempDir(), memoryTemp) && roomInMemory() {
		dir = tempInMemory()
	}
	code := m.Run()
	if dir != "" {
		_ = os.RemoveAll(dir) // nothing depends on it
	}
	os.Exit(code)
}

// memoryTemp begins the paths of directories for temporary files in memory.
const memoryTemp = "/dev/shm/tensordict-test-"

// tempInMemory makes a directory for temporary files that all users may write to, as /tmp is.
func tempInMemory() string {
	dir, err := os.MkdirTemp(filepath.Split(memoryTemp))
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o777|os.ModeSticky), os.Setenv("TMPDIR", dir))
	}
	if err != nil {
		panic(err)
	}
	return dir
}
