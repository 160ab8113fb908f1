//go:build unix

package dircache_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// TestHeldIsSaid reads more generations than may be held: errors of those who wait name the limit
// and the generations, not the disk.
func TestHeldIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t, samplecache.Config{Samples: 2, Retain: -1, MaxHeld: -1})
	s.open()
	s.topUp(1)
	g, err := s.c.Latest(t.Context())
	require.NoError(t, err)
	s.topUp(1)
	p, err := s.c.Producer("")
	require.NoError(t, err)
	const held = "readers: MaxHeld is 0, and generations [1], which are not retained any more, are still read"
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = p.Reserve(ctx)
	require.EqualError(t, err, "reserve: context deadline exceeded: blocked: waiting for a free slot: generation 3 waits for "+held)
	require.Equal(t, held, s.stats().PublishWaits)
	require.NoError(t, g.Close())
	s.topUp(1)
}
