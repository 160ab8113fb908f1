package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/bench/internal/contest"
)

// TestRuns runs the program without Python. It draws a chart and leaves no files behind.
func TestRuns(t *testing.T) {
	c := config{features: 10, Flags: contest.Flags{
		Rows: 1003, Batch: 32, Rounds: 2, Dir: t.TempDir(), SVG: filepath.Join(t.TempDir(), "epochs.svg"),
	}}
	require.NoError(t, run(t.Context(), c))
	text, err := os.ReadFile(c.SVG)
	require.NoError(t, err)
	for _, r := range contenders(c) {
		require.Contains(t, string(text), ">"+r.name+"<")
	}
	left, err := os.ReadDir(c.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestConfig refuses a number that is too small.
func TestConfig(t *testing.T) {
	require.Error(t, run(t.Context(), config{features: 0, Flags: contest.Flags{Rows: 1, Batch: 1, Rounds: 1}}))
}
