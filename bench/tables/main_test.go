package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/bench/internal/contest"
)

// TestRuns runs the program, with Python and DuckDB if they are there. Each form grows over the end
// of a row group, which needs 131,072 rows, and so a second. The program checks each fetched
// number, draws a chart and leaves no files behind.
func TestRuns(t *testing.T) {
	c := config{
		Flags: contest.Flags{
			Python: os.Getenv("TENSORDICT_PYTHON"), Dir: t.TempDir(), SVG: filepath.Join(t.TempDir(), "tables.svg"),
			Rows: 2*groupRows - 53, Batch: 100, Rounds: 2,
		},
		node: os.Getenv("TENSORDICT_NODE"), columns: 3, more: 30,
	}
	require.NoError(t, run(t.Context(), c))
	require.FileExists(t, c.SVG)
	left, err := os.ReadDir(c.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestConfig refuses numbers that are too small.
func TestConfig(t *testing.T) {
	c := config{Flags: contest.Flags{Rows: 1, Batch: 1, Rounds: 1}, columns: 1}
	require.Error(t, run(t.Context(), c))
}

// TestCheck finds results that are wrong.
func TestCheck(t *testing.T) {
	batch := job{Do: "batch", Columns: 1, Wanted: []int{2, 0}}
	require.NoError(t, batch.check(done{Columns: [][]float64{{2, 0}}}))
	require.EqualError(t, batch.check(done{Columns: [][]float64{{0, 2}}}), "row 2 of column 0: got 0, want 2")
	require.EqualError(t, batch.check(done{Columns: [][]float64{{2}}}), "got 1 rows, want 2")
	require.EqualError(t, batch.check(done{}), "got 0 columns, want 1")
	epoch := job{Do: "epoch", Rows: 3}
	require.NoError(t, epoch.check(done{Rows: 3, Sum: 3}))
	require.Error(t, epoch.check(done{Rows: 3, Sum: 4}))
	require.Error(t, epoch.check(done{Rows: 2, Sum: 3}))
}
