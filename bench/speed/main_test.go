package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRun: each row is measured, on small tensors.
func TestRun(t *testing.T) {
	var b strings.Builder
	require.NoError(t, run(&b, 1<<20, 1, ""))
	for _, name := range []string{"transpose of [", "arg max over the last dim", "rows of 64 bytes", "csv: read"} {
		require.Contains(t, b.String(), name)
	}
	require.NotContains(t, b.String(), "NaN")
}
