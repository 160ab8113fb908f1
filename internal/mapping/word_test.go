package mapping_test

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// word32 returns the word at byte at. The test releases it.
func word32(t testing.TB, m *mapping.Mapping, at int) *atomic.Uint32 {
	t.Helper()
	word, err := m.Word32(at)
	require.NoError(t, err)
	t.Cleanup(m.Release)
	return word
}

// mappedWords returns a mapping of zeros, closed when the test ends.
func mappedWords(t testing.TB) *mapping.Mapping {
	t.Helper()
	m := mapped(t, make([]byte, 64), mapping.ReadWrite)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func TestWord32IsTheBytes(t *testing.T) {
	m := mappedWords(t)
	data := acquire(t, m)
	defer m.Release()
	word32(t, m, 60).Store(7)
	require.EqualValues(t, 7, binary.NativeEndian.Uint32(data[60:]))
	require.Equal(t, make([]byte, 60), data[:60])
}

func TestWordsOutsideAreRefused(t *testing.T) {
	m := mapped(t, make([]byte, 14), mapping.ReadWrite)
	for _, at := range []int{-4, 1, 2, 12, 16, math.MinInt} {
		_, err := m.Word32(at)
		require.ErrorIs(t, err, mapping.ErrSize, at)
		require.ErrorIs(t, m.WaitWord(at, 0, time.Hour), mapping.ErrSize, at)
		require.ErrorIs(t, m.WakeWord(at), mapping.ErrSize, at)
	}
	require.NoError(t, m.WakeWord(8))
	require.Zero(t, m.Users())
	require.NoError(t, m.Close())
	_, err := m.Word32(0)
	require.ErrorIs(t, err, mapping.ErrClosed)
	require.ErrorIs(t, m.WaitWord(0, 0, time.Hour), mapping.ErrClosed)
	require.ErrorIs(t, m.WakeWord(0), mapping.ErrClosed)
}

func TestWaitWordEndsAfterItsTimeout(t *testing.T) {
	m := mappedWords(t)
	tests := []struct {
		timeout  time.Duration
		low, top time.Duration
	}{
		{-1 << 63, 0, 20 * time.Second},
		{-1, 0, 20 * time.Second},
		{0, 0, 20 * time.Second},
		{1, 0, 20 * time.Second},
		{20 * time.Millisecond, 15 * time.Millisecond, 20 * time.Second},
	}
	for _, tt := range tests {
		var took time.Duration
		for range 100 { // it may return earlier
			begun := time.Now()
			require.NoError(t, m.WaitWord(4, 0, tt.timeout))
			if took = time.Since(begun); took >= tt.low {
				break
			}
		}
		require.GreaterOrEqual(t, took, tt.low, tt.timeout)
		require.Less(t, took, tt.top, tt.timeout)
	}
	require.Zero(t, m.Users())
}

// A change before the call ends it at once, woken or not.
func TestWaitWordOfAnotherValue(t *testing.T) {
	m := mappedWords(t)
	word32(t, m, 4).Store(1 << 31)
	require.NoError(t, m.WaitWord(4, 0, time.Hour))
	require.NoError(t, m.WaitWord(4, 1<<31+1, time.Hour))
}

// The word is compared in all of its 32 bits, and others do not matter.
func TestWaitWordLooksAtItsWordOnly(t *testing.T) {
	m := mappedWords(t)
	word32(t, m, 0).Store(1)
	word32(t, m, 8).Store(1)
	begun := time.Now()
	require.NoError(t, m.WaitWord(4, 0, 20*time.Millisecond))
	require.GreaterOrEqual(t, time.Since(begun), 15*time.Millisecond)
}

// pass adds one to the word when it has become odd or even, whichever turn is, times times.
func pass(m *mapping.Mapping, turn uint32, times int) error {
	word, err := m.Word32(4)
	if err != nil {
		return err
	}
	defer m.Release()
	for range times {
		for now := word.Load(); now%2 != turn; now = word.Load() {
			if err := m.WaitWord(4, now, time.Minute); err != nil {
				return err
			}
		}
		word.Add(1)
		if err := m.WakeWord(4); err != nil {
			return err
		}
	}
	return nil
}

const passes = 2000

// A lost wake-up would last a minute.
func TestNoWakeIsLost(t *testing.T) {
	m := mappedWords(t)
	var all sync.WaitGroup
	for turn := range uint32(2) {
		all.Go(func() {
			if err := pass(m, turn, passes); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 2*passes, word32(t, m, 4).Load())
}

// wordFile is the variable with the file of the process that TestWordProcess is.
const wordFile = "MAPPING_TEST_WORD_FILE"

// TestWordProcess is the process that TestNoWakeIsLostBetweenProcesses starts.
func TestWordProcess(t *testing.T) {
	path := os.Getenv(wordFile)
	if path == "" {
		return
	}
	m, err := mapWords(path)
	require.NoError(t, err)
	require.NoError(t, pass(m, 1, passes))
}

// wordsPath returns a file of two words.
func wordsPath(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "words")
	require.NoError(t, os.WriteFile(path, make([]byte, 16), 0o666))
	return path
}

func TestNoWakeIsLostBetweenProcesses(t *testing.T) {
	path := wordsPath(t)
	m, err := mapWords(path)
	require.NoError(t, err)
	defer m.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestWordProcess$")
	child.Env = append(os.Environ(), wordFile+"="+path)
	require.NoError(t, child.Start())
	require.NoError(t, pass(m, 0, passes))
	require.NoError(t, child.Wait())
	require.EqualValues(t, 2*passes, word32(t, m, 4).Load())
}

// Close leaves the memory to those who wait; a change and a WakeWord before it let them end.
func TestCloseWhileOthersWait(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, make([]byte, 16), mapping.ReadWrite)
	word, err := m.Word32(4)
	require.NoError(t, err)
	const waiting = 8
	done := make(chan error, waiting)
	var changed atomic.Bool
	for range waiting {
		go func() {
			var err error
			for err == nil && !changed.Load() { // WaitWord may return earlier, for a signal
				err = m.WaitWord(4, 0, time.Minute)
			}
			done <- err
		}()
	}
	require.Eventually(t, func() bool { return m.Users() == waiting+1 }, time.Minute, time.Millisecond)
	require.Empty(t, done)
	require.Equal(t, before+1, mapping.Live())
	changed.Store(true)
	word.Add(1)
	require.NoError(t, m.WakeWord(4))
	require.NoError(t, m.Close())
	m.Release()
	for range waiting {
		require.NoError(t, <-done)
	}
	require.NoError(t, m.CloseWait(t.Context()))
	require.Equal(t, before, mapping.Live())
}

// A waiter whose mapping was closed without a WakeWord keeps the memory until its timeout.
func TestWaitWordOutlivesClose(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, make([]byte, 16), mapping.ReadWrite)
	done := make(chan error, 1)
	go func() { done <- m.WaitWord(4, 0, 100*time.Millisecond) }()
	require.Eventually(t, func() bool { return m.Users() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, m.Close())
	require.Equal(t, before+1, mapping.Live())
	require.NoError(t, <-done)
	require.Equal(t, before, mapping.Live())
}
