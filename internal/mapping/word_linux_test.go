package mapping_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// A word whose page is gone is an error, not a fault that ends the process.
func TestWordsOfACutFile(t *testing.T) {
	page := os.Getpagesize()
	for _, mode := range []mapping.Mode{mapping.ReadOnly, mapping.ReadWrite} {
		data, m := truncated(t, 2*page, page, mode)
		for _, do := range []func(at int) error{
			func(at int) error { return m.WaitWord(at, 0, time.Millisecond) },
			m.WakeWord,
		} {
			require.NoError(t, do(page-4))
			err := do(page + 8)
			require.ErrorIs(t, err, mapping.ErrFault)
			fault, ok := err.(*mapping.FaultError)
			require.True(t, ok)
			require.Equal(t, 1, pageOf(data, fault.Addr))
		}
		m.Release()
		require.Zero(t, m.Users())
		require.NoError(t, m.Close())
	}
}

// A file that is cut while others wait leaves them to their timeout.
func TestFileIsCutWhileOthersWait(t *testing.T) {
	page := os.Getpagesize()
	f := create(t, make([]byte, 2*page))
	m, err := mapping.Map(f, 2*page, mapping.ReadWrite)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- m.WaitWord(page, 0, 100*time.Millisecond) }()
	require.Eventually(t, func() bool { return m.Users() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, f.Truncate(0))
	<-done
	require.ErrorIs(t, m.WaitWord(page, 0, 100*time.Millisecond), mapping.ErrFault)
	require.NoError(t, m.Close())
}

// A mapping that may only be read can wait and wake.
func TestNoWakeIsLostThroughReadOnlyMappings(t *testing.T) {
	f := create(t, make([]byte, 16))
	reader, err := mapping.Map(f, 16, mapping.ReadOnly)
	require.NoError(t, err)
	writer, err := mapping.Map(f, 16, mapping.ReadWrite)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- reader.WaitWord(8, 0, time.Minute) }()
	word, err := writer.Word32(8)
	require.NoError(t, err)
	time.Sleep(10 * time.Millisecond)
	word.Add(1)
	require.NoError(t, reader.WakeWord(8))
	require.NoError(t, <-done)
	writer.Release()
	require.NoError(t, writer.Close())
	require.NoError(t, reader.Close())
}
