package memmap

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestStretches: rows that lie together, or nearly so, are asked for together.
func TestStretches(t *testing.T) {
	tests := []struct {
		name     string
		s        stretch
		from, to int
		joins    bool
		want     stretch
	}{
		{"after nothing", stretch{}, 0, 8, false, stretch{}},
		{"next to it", stretch{0, 8}, 8, 16, true, stretch{0, 16}},
		{"not long after it", stretch{0, 8}, 8 + prefetchGap, 9 + prefetchGap, true, stretch{0, 9 + prefetchGap}},
		{"long after it", stretch{0, 8}, 9 + prefetchGap, 10 + prefetchGap, false, stretch{0, 8}},
		{"in it", stretch{0, 8}, 2, 4, true, stretch{0, 8}},
		{"before it", stretch{8, 16}, 0, 8, false, stretch{8, 16}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.joins, tt.s.join(tt.from, tt.to))
			require.Equal(t, tt.want, tt.s)
		})
	}
}

// TestRowsOfPools: the rows of a ragged leaf follow each other, each with the bytes of its values,
// in each form, though a pool is longer than its values.
func TestRowsOfPools(t *testing.T) {
	const n = 7
	td := numbered(5, n) // few values, so that a pool is much longer
	for _, name := range []string{"d", "d.tdz", "d.tdc"} {
		at := filepath.Join(testkit.TempDir(t), name)
		require.NoError(t, Save(at, td))
		ds := tensor.Must(Open(at))
		pools := 0
		for _, l := range ds.files {
			if l.rows == nil {
				continue
			}
			pools++
			values := tensor.Must(l.rows.NumRows(-1))
			require.NotZero(t, values%n, "the pool is longer")
			end := 0
			for row := range n {
				offset, size, err := l.rowBytes(row, row+1, n)
				require.NoError(t, err)
				require.Equal(t, end, offset, "%s: row %d", l.file.Path(), row)
				end += size
			}
			require.Equal(t, 8*values, end, l.file.Path())
		}
		require.Equal(t, 3, pools, name)
		require.NoError(t, ds.Close())
	}
}
