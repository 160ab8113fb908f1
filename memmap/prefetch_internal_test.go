package memmap

import (
	"testing"

	"github.com/stretchr/testify/require"
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
