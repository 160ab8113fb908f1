package mapping

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPollWord tests what waits where the system cannot.
func TestPollWord(t *testing.T) {
	var word atomic.Uint32
	begun := time.Now()
	require.NoError(t, pollWord(&word, 0, 25*time.Millisecond))
	require.GreaterOrEqual(t, time.Since(begun), 25*time.Millisecond)
	require.NoError(t, pollWord(&word, 1, time.Hour), "another value")
	time.AfterFunc(20*time.Millisecond, func() { word.Store(1) })
	require.NoError(t, pollWord(&word, 0, time.Hour))
}
