package mongowire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// TestNewSnapshot makes snapshots of a cache that has no server.
func TestNewSnapshot(t *testing.T) {
	at := time.Unix(1000, 0)
	st := samplecache.Stats{Samples: 10, Committed: 4, Reserved: 2, Bytes: 1 << 20, Filling: 1}
	one := mongowire.NewSnapshot("brains", st, mongowire.Snapshot{})
	require.Equal(t, []any{6, 4, 2, 10, 40., 0, 4, 0}, []any{
		one.SamplesStarted, one.SamplesCompleted, one.InFlight, one.SwapCap, one.FillPct, one.SwapCount, one.WriteDocs, one.ReadDocs,
	})
	require.Zero(t, one.PollInterval)
	require.Empty(t, one.RecentSwaps)
	require.Nil(t, one.SwapTimestamp)
	require.Equal(t, "brains", one.DBName)

	st.Latest, st.Swaps, st.LastSwap, st.Committed = 1, 1, at, 0
	two := mongowire.NewSnapshot("brains", st, one)
	require.InDelta(t, 6/two.PollInterval, two.SamplesPerS, 1e-6, "10 of the first generation, 4 of which were there before")
	require.InDelta(t, two.SamplesPerS, two.WriteMBPerS, 1e-6)
	require.Equal(t, 1000., *two.SwapTimestamp)
	require.Nil(t, two.SwapDuration)
	require.Equal(t, 10, two.ReadDocs)

	st.Latest, st.Swaps, st.LastSwap = 2, 2, at.Add(30*time.Second)
	three := mongowire.NewSnapshot("brains", st, two)
	four := mongowire.NewSnapshot("brains", st, three)
	for _, s := range []mongowire.Snapshot{three, four} {
		require.Len(t, s.RecentSwaps, 2)
		require.Equal(t, 30., *s.SwapDuration)
		require.Equal(t, 30., *s.AvgSwapDuration)
	}
	require.Zero(t, four.SamplesPerS)
	require.Len(t, two.RecentSwaps, 1, "it is left alone")
}
