package natscache_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// TestPassOutlastsItsSeat leaves a group while one of its generations is open: it can be read on,
// and its Close lets it go.
func TestPassOutlastsItsSeat(t *testing.T) {
	config := samplecache.Config{Samples: 2, Retain: -1, MaxHeld: -1, Limits: samplecache.Limits{MaxPasses: 3}}
	c := open(t, newCache(t, newServer(t).url(), numbered(0), config))
	p, err := c.Producer("gen")
	require.NoError(t, err)
	puts(t, p, 2)
	group := c.Group("train", 1)
	g, err := group.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, group.Close())
	_, err = g.Fetch(t.Context(), []int{1, 0}, nil)
	require.NoError(t, err)
	puts(t, p, 2)
	st, err := c.Stats()
	require.NoError(t, err)
	require.Equal(t, []uint64{1}, st.Held)
	require.NoError(t, g.Close())
	st, err = c.Stats()
	require.NoError(t, err)
	require.Empty(t, st.Held)
	puts(t, p, 2)
}
