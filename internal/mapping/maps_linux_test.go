package mapping_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// maps returns how many maps of a file the system counts.
func maps(t *testing.T, f *os.File) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(text), f.Name())
}

func TestLimitIsHalfOfMaxMapCount(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Equal(t, n/2, mapping.Limit())
}

// The system counts a mapping as one, whatever is done with it.
func TestAMappingIsOneMap(t *testing.T) {
	page := os.Getpagesize()
	f := create(t, make([]byte, 9*page))
	m, err := mapping.Map(f, 9*page, mapping.ReadWrite)
	require.NoError(t, err)
	require.Equal(t, 1, maps(t, f))
	for _, a := range []mapping.Advice{mapping.Random, mapping.WillNeed, mapping.Sequential, mapping.Normal} {
		require.NoError(t, m.AdviseRange(a, 2*page, page))
		require.Equal(t, 1, maps(t, f), "advice %d", a)
	}
	require.NoError(t, m.FlushRange(3*page, page))
	require.Equal(t, 1, maps(t, f))
	require.NoError(t, m.Close())
	require.Zero(t, maps(t, f))
}
