package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGenerator compares with what numpy.random.default_rng(0) draws.
func TestGenerator(t *testing.T) {
	g := newGenerator(0)
	require.Equal(t, 0.6369616873214543, g.float64())
	g = newGenerator(0)
	for i, want := range []int64{85, 63, 51, 26, 30, 4, 7, 1, 17, 81} {
		require.Equal(t, want, g.below(100), "number %d", i)
	}
	require.Zero(t, g.below(1))
	require.Equal(t, 0.7739560485559633, newGenerator(42).float64())
}

// TestReadSpec reads tables in both forms of lists.
func TestReadSpec(t *testing.T) {
	tests := []struct {
		name, text string
		err        string
	}{
		{"lists in a line and over lines", "seed: 1\nnum_events_per_subject:\n  X: [5, 7] # 9\n  freq: [1, 0]\n" +
			"num_measurements_per_event:\n  X:\n    [\n      2,\n      3,\n    ]\n  freq:\n    [0,\n     4]\n", ""},
		{"no table of codes", "num_events_per_subject:\n  X: [5]\n  freq: [1]\n", "got 0 lengths and 0 weights"},
		{"a weight too few", "num_events_per_subject:\n  X: [5, 7]\n  freq: [1]\n", "got 2 lengths and 1 weights"},
		{"a length that is none", "num_events_per_subject:\n  X: [-5]\n  freq: [1]\n", "got length -5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spec.yaml")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			s, err := readSpec(path)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			g := newGenerator(0)
			require.Equal(t, []int64{5, 5, 5}, s.events.draw(g, 3))
			require.Equal(t, []int64{3, 3, 3}, s.codes.draw(g, 3))
		})
	}
}

// TestQuantiles checks that lengths between quantiles occur as often as the quantiles say.
func TestQuantiles(t *testing.T) {
	x, err := between([]int64{2, 4, 10}, []float64{0, .25, 1})
	require.NoError(t, err)
	require.Equal(t, []int64{3, 4, 5, 6, 7, 8, 9, 10}, x.lengths)
	require.InDelta(t, .25, x.sums[1], 1e-15)
	require.InDelta(t, .25*16/25, x.sums[0], 1e-15, "as 1/9 to 1/16")
	require.Equal(t, 1.0, x.sums[7])
}
