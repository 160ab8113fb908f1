package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRuns runs the benchmark on little data, in which there is no chance but that of the seeds.
// What it says of times is left out.
func TestRuns(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, config{spec: "sample", patients: 300, batch: 100, seeds: 2, mostEvents: 20}))
	text, times, _ := strings.Cut(out.String(), "\ntime of getitem")
	require.Equal(t, strings.TrimLeft(`
sample: 300 patients, lengths drawn as NumPy does
seeds: 2, batches of 100, windows of at most 20 events

size of the file
  dense, computed                 1.7 MB ± 0.0 B (1.7 MB - 1.7 MB)
  ragged                          222.5 kB ± 20.1 kB (204.4 kB - 240.5 kB)
  ragged, with lengths, computed  246.4 kB ± 22.0 kB (226.6 kB - 266.2 kB)

sizes of a batch, dense
  dim_1                           16.0 kB ± 0.0 B (16.0 kB - 16.0 kB)
  dim_2_1                         160.0 kB ± 0.0 B (160.0 kB - 160.0 kB)
  dim_2_2                         160.0 kB ± 0.0 B (160.0 kB - 160.0 kB)

sizes of a batch, ragged
  dim_1                           16.0 kB ± 0.0 B (16.0 kB - 16.0 kB)
  dim_2_1                         160.0 kB ± 0.0 B (160.0 kB - 160.0 kB)
  dim_2_2                         160.0 kB ± 0.0 B (160.0 kB - 160.0 kB)
  mask of events                  2.0 kB ± 0.0 B (2.0 kB - 2.0 kB)
  mask of codes                   20.0 kB ± 0.0 B (20.0 kB - 20.0 kB)
`, "\n"), text)
	require.Equal(t, 12, strings.Count(times, "s ± "), "of three contenders, four times each")
}

// TestDenseIsLeftOut checks that padded data are computed, not made, when they are too large.
func TestDenseIsLeftOut(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, config{spec: "mimic", patients: 40, batch: 40, seeds: 1, mostEvents: 1}))
	require.Contains(t, out.String(), "dense                           not run: too large")
	require.NotContains(t, out.String(), "original, ", "published figures are of other parameters")
}

func TestConfigs(t *testing.T) {
	tests := []struct {
		name string
		config
		err string
	}{
		{"unknown spec", config{"eicu", "", 1, 1, 1, 1}, `got spec "eicu", want mimic or sample`},
		{"no patients", config{"mimic", "", 0, 1, 1, 1}, "want numbers of at least 1"},
		{"no file", config{"mimic", "testdata/none.yaml", 1, 1, 1, 1}, "none.yaml"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.ErrorContains(t, run(&strings.Builder{}, test.config), test.err)
		})
	}
}
