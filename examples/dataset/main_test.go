package main

import (
	"path/filepath"
	"testing"
)

// TestRuns runs the example as it stands, in a directory of its own and in a temporary one.
func TestRuns(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "new"), ""} {
		if err := run(dir); err != nil {
			t.Fatal(err)
		}
	}
}
