package memmap_test

import (
	"runtime"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
)

// kills returns how many rounds a test of processes has: few in a long run, otherwise few/3.
func kills(t *testing.T, few, full int) int {
	t.Helper()
	return processkit.Kills(t, (few+2)/3, few, full)
}

// needsExchange skips a test of what holds where the system exchanges two directories in one step.
// Elsewhere there is a moment without the directory.
func needsExchange(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("between two renames there is no directory")
	}
}

// A process has a task of this package.
type process struct{ *processkit.Process }

// start starts a process. Its task ends when this process does.
func start(t *testing.T, task string, args ...any) *process {
	t.Helper()
	return &process{processkit.Start(t, task, args...)}
}
