//go:build unix

package dircache

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// TestCountsTornTwice tears one of the two copies of the counts, as a process does that is killed
// while it writes. The next process writes over the torn copy first: if it is killed too, the sound
// copy is still there.
func TestCountsTornTwice(t *testing.T) {
	for torn := range int64(2) {
		dir := newDir(t)
		require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: 1}))
		s := joinHere(t, dir).(*session)
		_, err := s.Enter(t.Context(), "a", 1)
		require.NoError(t, err)
		at := func(i int64) int64 { return countsAt + i*countsBytes }
		_, err = s.file.WriteAt([]byte{1}, at(torn)+countsHeader)
		require.NoError(t, err)
		_, before, err := s.readCounts(at(1 - torn))
		require.NoError(t, err)
		seen := false
		CrashPoints(func(m string) {
			if m != "counts written" || seen {
				return
			}
			seen = true
			_, serial, err := s.readCounts(at(torn))
			require.NoError(t, err)
			require.Equal(t, before+1, serial)
			_, serial, err = s.readCounts(at(1 - torn))
			require.NoError(t, err)
			require.Equal(t, before, serial)
		})
		require.NoError(t, s.writeGroups(new(engine.Groups)))
		CrashPoints(nil)
		require.True(t, seen)
	}
}
