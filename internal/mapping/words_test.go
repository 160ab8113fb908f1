package mapping_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// wordsOf returns the words of an open Mapping. The test releases it.
func wordsOf(t testing.TB, m *mapping.Mapping) []atomic.Uint64 {
	t.Helper()
	words, err := m.Words()
	require.NoError(t, err)
	t.Cleanup(m.Release)
	return words
}

func TestWordsLeaveOutTheRest(t *testing.T) {
	for size, want := range map[int]int{1: 0, 7: 0, 8: 1, 15: 1, 16: 2, 4099: 512} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			m := mapped(t, make([]byte, size), mapping.ReadWrite)
			defer m.Close()
			require.Len(t, wordsOf(t, m), want)
		})
	}
}

func TestWordsAreTheBytes(t *testing.T) {
	m := mapped(t, make([]byte, 24), mapping.ReadWrite)
	defer m.Close()
	words, data := wordsOf(t, m), acquire(t, m)
	defer m.Release()
	words[1].Store(0x0101010101010101)
	require.Equal(t, make([]byte, 8), data[:8])
	require.Equal(t, []byte{1, 1, 1, 1, 1, 1, 1, 1}, data[8:16])
	data[16] = 1
	require.NotZero(t, words[2].Load())
}

// TestWordsAreALoan checks that the memory stays until Release, and no longer.
func TestWordsAreALoan(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, make([]byte, 16), mapping.ReadWrite)
	words, err := m.Words()
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.Equal(t, before+1, mapping.Live())
	words[0].Store(7)
	require.EqualValues(t, 7, words[0].Load())
	m.Release()
	require.Equal(t, before, mapping.Live())
	_, err = m.Words()
	require.ErrorIs(t, err, mapping.ErrClosed)
	_, err = new(mapping.Mapping).Words()
	require.ErrorIs(t, err, mapping.ErrClosed, "the zero Mapping is closed")
}

func TestStoringToReadOnlyWordsIsAFault(t *testing.T) {
	if raced() {
		t.Skip("the race detector does atomic operations in C, where a fault ends the process")
	}
	m := mapped(t, make([]byte, 16), mapping.ReadOnly)
	defer m.Close()
	words := wordsOf(t, m)
	require.Zero(t, words[1].Load())
	for name, store := range map[string]func(){
		"store":            func() { words[1].Store(1) },
		"compare and swap": func() { words[1].CompareAndSwap(0, 1) },
		"add":              func() { words[1].Add(1) },
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, mapping.Guard(store), mapping.ErrFault) })
	}
	require.Zero(t, words[1].Load())
}

// raced reports whether the race detector is on.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// mapWords maps a file of two words.
func mapWords(path string) (*mapping.Mapping, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapping.Map(f, 16, mapping.ReadWrite)
}

// count adds to the first word of a file by compare-and-swap, and to the second by Add.
func count(m *mapping.Mapping, times int) error {
	words, err := m.Words()
	if err != nil {
		return err
	}
	defer m.Release()
	for range times {
		for {
			n := words[0].Load()
			if words[0].CompareAndSwap(n, n+1) {
				break
			}
		}
		words[1].Add(1)
	}
	return nil
}

const (
	counts = 20_000
	// wordsFile is set to a file whose words a process counts in, before it ends.
	wordsFile = "MAPPING_TEST_WORDS"
)

// TestWordsAreAtomic counts in one file through two mappings, and in another process.
func TestWordsAreAtomic(t *testing.T) {
	if path := os.Getenv(wordsFile); path != "" {
		m, err := mapWords(path)
		require.NoError(t, err)
		require.NoError(t, count(m, counts))
		require.NoError(t, m.Close())
		return
	}
	path := filepath.Join(t.TempDir(), "words")
	require.NoError(t, os.WriteFile(path, make([]byte, 16), 0o666))
	child := exec.Command(os.Args[0], "-test.run=^TestWordsAreAtomic$")
	child.Env = append(os.Environ(), wordsFile+"="+path)
	require.NoError(t, child.Start())
	var wg sync.WaitGroup
	for range 2 {
		m, err := mapWords(path)
		require.NoError(t, err)
		defer m.Close()
		for range 2 {
			wg.Go(func() {
				if err := count(m, counts); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	require.NoError(t, child.Wait())
	m, err := mapWords(path)
	require.NoError(t, err)
	defer m.Close()
	words := wordsOf(t, m)
	require.EqualValues(t, 5*counts, words[0].Load())
	require.EqualValues(t, 5*counts, words[1].Load())
}

func TestWordsAllocateNothing(t *testing.T) {
	m := mapped(t, make([]byte, 16), mapping.ReadWrite)
	defer m.Close()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := m.Words(); err != nil {
			t.Fatal(err)
		}
		m.Release()
	}))
}
