package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
)

// small is a config of little data: groups and batches do not come out even.
func small(dir string) config {
	return config{rows: 1003, features: 10, batch: 32, mb: 1, reps: 2, dir: dir}
}

// names are those of the contenders.
var names = []string{"sequential", "shuffled", "block-shuffled", "grouped", "padded"}

// TestRuns runs the benchmark, and looks at the table, the chart and what is left on the disk.
func TestRuns(t *testing.T) {
	c := small(t.TempDir())
	c.svg = filepath.Join(t.TempDir(), "epochs.svg")
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, c))
	places := []string{inMemory, warm}
	if evicts(c.dir) {
		places = append(places, cold)
	}
	labels := texts(t, c.svg)
	for _, where := range places {
		for _, name := range names {
			require.Regexp(t, "\n"+where+" +"+name+" +[0-9.]+ ms .*/s .*B/s +[0-9.]+x +[0-9]+%\n", out.String())
			require.Contains(t, labels, where+", "+name)
		}
	}
	require.Equal(t, len(places)*len(names), strings.Count(out.String(), "B/s"))
	require.Contains(t, out.String(), "GOMAXPROCS")
	require.Contains(t, out.String(), "\nblock-shuffled, mapped: 100% of neighbours of one block, uniform 100%")
	require.Subset(t, labels, []string{"GB/s", "loader", "bare loop; cold: plain reads"})
	left, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// texts returns the texts in an SVG file, which must be well-formed.
func texts(t *testing.T, path string) (all []string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	d := xml.NewDecoder(f)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok {
			all = append(all, strings.TrimSpace(string(text)))
		}
	}
}

// TestEveryRowComesOnce looks at two epochs of each contender, and at the order of their rows.
func TestEveryRowComesOnce(t *testing.T) {
	for _, workers := range []int{0, 2} {
		c := small("")
		c.workers = workers
		for _, one := range all(t, c) {
			t.Run(one.where+"/"+one.name, func(t *testing.T) {
				first, second := rowsOf(t, one), rowsOf(t, one)
				sorted := slices.Sorted(slices.Values(first))
				n := one.table.rows()
				require.Equal(t, [3]int{n, 0, n - 1}, [3]int{len(slices.Compact(sorted)), sorted[0], sorted[n-1]})
				require.Equal(t, first, second, "epochs with the same number")
				require.Equal(t, one.name == "sequential", slices.IsSorted(first))
			})
		}
	}
}

// all returns the contenders in memory, mapped, and with the options for evicted files.
func all(t *testing.T, c config) []contender {
	t.Helper()
	dense, err := denseTable(c.rows, c.features)
	require.NoError(t, err)
	ragged, err := raggedTable(c.rows, c.features)
	require.NoError(t, err)
	out, err := contenders(inMemory, dense, ragged, c)
	require.NoError(t, err)
	f, err := save(filepath.Join(t.TempDir(), "mapped"), c)
	require.NoError(t, err)
	mapped, err := contenders(warm, opened(t, f.dense), opened(t, f.ragged), c)
	require.NoError(t, err)
	for _, one := range mapped {
		out = append(out, one, one.fromDisk())
	}
	require.Len(t, out, 3*len(names))
	return out
}

// opened returns a table in mapped files, until the test ends.
func opened(t *testing.T, dir string) *table {
	t.Helper()
	x, err := open(dir)
	require.NoError(t, err)
	require.NoError(t, x.view())
	t.Cleanup(func() { require.NoError(t, x.ds.Close()) })
	return &x.table
}

// rowsOf returns the rows of an epoch of a contender, in their order.
func rowsOf(t *testing.T, c contender) []int {
	t.Helper()
	return slices.Concat(batchesOf(t, c)...)
}

// batchesOf returns the rows of each batch of an epoch of a contender.
func batchesOf(t *testing.T, c contender) [][]int {
	t.Helper()
	c.opt.RowsKey = rowKey
	l, err := loader.New(c.table.source, c.opt)
	require.NoError(t, err)
	batches, err := checked(t.Context(), l, c.table.rows())
	require.NoError(t, err)
	return batches
}

// TestWrongRowsAreFound checks the check.
func TestWrongRowsAreFound(t *testing.T) {
	tests := []struct {
		name string
		rows []int
		want string
	}{
		{"each once", []int{2, 0, 1}, ""},
		{"a row twice", []int{2, 0, 2}, "got row 2 of 3, want each once"},
		{"a row that is not there", []int{0, 1, 3}, "got row 3 of 3"},
		{"a row is missing", []int{0, 1}, "got row numbers with the sum 1, want 3 for all 3 rows"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := checker{seen: make([]bool, 3)}
			err := errors.Join(c.note(test.rows), c.end())
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, errRows)
			require.ErrorContains(t, err, test.want)
		})
	}
	x, err := denseTable(5, 3)
	require.NoError(t, err)
	require.NoError(t, compare(x.td, []int{0, 1, 2, 3, 4}))
	require.ErrorIs(t, compare(x.td, []int{0, 1, 2, 4, 3}), errRows, "the values are those of other rows")
}

// TestBareLoop checks that it copies what the loader makes.
func TestBareLoop(t *testing.T) {
	for _, one := range all(t, small("")) {
		one.opt.Own = true // so that the memory was not there before, and has only what was put there
		l, err := loader.New(one.table.source, one.opt)
		require.NoError(t, err)
		batches := batchesOf(t, one)
		at := 0
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			want, err := copyOf(batch, nil)
			require.NoError(t, err)
			rows := batches[at]
			width := one.table.width(rows)
			got := slices.Repeat([]float32{-1}, len(rows)*width)
			one.table.copyRows(got, rows, width)
			require.Equal(t, want, got, "%s, %s, batch %d", one.where, one.name, at)
			at++
		}
	}
}

func TestConfigs(t *testing.T) {
	tests := []struct {
		name   string
		change func(c *config)
		err    string
	}{
		{"no rows", func(c *config) { c.rows = 0 }, "want numbers of at least 1"},
		{"workers below 0", func(c *config) { c.workers = -1 }, "want numbers of at least 1"},
		{"no directory", func(c *config) { c.dir = filepath.Join(c.dir, "none") }, "none"},
		{"a chart that cannot be written", func(c *config) { c.svg = filepath.Join(c.dir, "none", "x.svg") }, "x.svg"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := small(t.TempDir())
			test.change(&c)
			require.ErrorContains(t, run(t.Context(), io.Discard, c), test.err)
		})
	}
}
