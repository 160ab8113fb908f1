package mapping_test

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// leaveRoom lets the process have n mappings more than it has, until the test ends.
func leaveRoom(t *testing.T, n int) {
	t.Helper()
	t.Cleanup(mapping.SetLimit(mapping.Live() + n))
}

// full leaves no room for a mapping.
func full(t *testing.T) {
	t.Helper()
	m := mapped(t, []byte("abc"), mapping.ReadOnly) // a limit is positive
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	leaveRoom(t, 0)
}

func TestMapBeyondTheLimit(t *testing.T) {
	const most = 64 << 10
	tests := []struct {
		name string
		mode mapping.Mode
		size int
		ok   bool
	}{
		{"a small file that may be copied", mapping.ReadOrCopy, 1, true},
		{"the largest file that may be copied", mapping.ReadOrCopy, most, true},
		{"a larger one", mapping.ReadOrCopy, most + 1, false},
		{"a small file that must be mapped", mapping.ReadOnly, 1, false},
		{"a small file to write to", mapping.ReadWrite, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			full(t)
			before := mapping.Live()
			f := create(t, make([]byte, tt.size))
			m, err := mapping.Map(f, tt.size, tt.mode)
			require.Equal(t, before, mapping.Live())
			if !tt.ok {
				require.ErrorIs(t, err, mapping.ErrLimit)
				return
			}
			require.NoError(t, err)
			require.Len(t, acquire(t, m), tt.size)
			m.Release()
			require.NoError(t, m.Close())
			require.Equal(t, before, mapping.Live())
		})
	}
}

func TestLimitIsNamed(t *testing.T) {
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	defer m.Close()
	defer mapping.SetLimit(1)()
	f := create(t, []byte("abc"))
	_, err := mapping.Map(f, 3, mapping.ReadWrite)
	require.EqualError(t, err, "map "+f.Name()+": too many mapped files: the process has 1, half of vm.max_map_count: close some, or raise it")
}

func TestLimit(t *testing.T) {
	limit := mapping.Limit()
	require.Greater(t, limit, 1000)
	restore := mapping.SetLimit(7)
	require.Equal(t, 7, mapping.Limit())
	restore()
	require.Equal(t, limit, mapping.Limit())
}

// What is mapped within the limit, and given back, is counted.
func TestRoomIsGivenBack(t *testing.T) {
	leaveRoom(t, 1)
	f := create(t, []byte("abc"))
	for range 3 {
		m, err := mapping.Map(f, 3, mapping.ReadWrite)
		require.NoError(t, err)
		_, err = mapping.Map(f, 3, mapping.ReadWrite)
		require.ErrorIs(t, err, mapping.ErrLimit)
		require.NoError(t, m.Close())
	}
	r, err := os.Open(f.Name())
	require.NoError(t, err)
	defer r.Close()
	for range 3 {
		_, err = mapping.Map(r, 3, mapping.ReadWrite)
		require.ErrorIs(t, err, os.ErrPermission, "what could not be mapped is not counted")
	}
}

// TestCopy: but for the file, a copy is used as a mapping is.
func TestCopy(t *testing.T) {
	full(t)
	tests := []struct {
		name string
		use  func(t *testing.T, f *os.File, m *mapping.Mapping)
	}{
		{"it is whole after the file was cut", func(t *testing.T, f *os.File, m *mapping.Mapping) {
			require.NoError(t, f.Truncate(0))
			require.Equal(t, "0123456789", string(acquire(t, m)))
			require.NoError(t, m.Intact())
			m.Release()
		}},
		{"it does not change with the file", func(t *testing.T, f *os.File, m *mapping.Mapping) {
			_, err := f.WriteAt([]byte("x"), 0)
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(acquire(t, m)))
			m.Release()
		}},
		{"it takes advice", func(t *testing.T, _ *os.File, m *mapping.Mapping) {
			for a := mapping.Normal; a <= mapping.WillNeed; a++ {
				require.NoError(t, m.Advise(a))
				require.NoError(t, m.AdviseRange(a, 3, 4))
			}
			require.ErrorIs(t, m.AdviseRange(mapping.Random, 3, 8), mapping.ErrSize)
			require.ErrorIs(t, m.Advise(mapping.WillNeed+1), errors.ErrUnsupported)
		}},
		{"it has nothing to flush", func(t *testing.T, _ *os.File, m *mapping.Mapping) {
			require.NoError(t, m.Flush())
			require.ErrorIs(t, m.FlushRange(3, 8), mapping.ErrSize)
		}},
		{"it has words", func(t *testing.T, _ *os.File, m *mapping.Mapping) {
			words, err := m.Words()
			require.NoError(t, err)
			require.Len(t, words, 1)
			m.Release()
		}},
		{"it is pinned", func(t *testing.T, _ *os.File, m *mapping.Mapping) {
			data, err := m.Pin()
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(data))
		}},
		{"a user keeps it when it is closed", func(t *testing.T, _ *os.File, m *mapping.Mapping) {
			data := acquire(t, m)
			require.NoError(t, m.Close())
			require.Equal(t, "0123456789", string(data))
			m.Release()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := create(t, []byte("0123456789"))
			m, err := mapping.Map(f, 10, mapping.ReadOrCopy)
			require.NoError(t, err)
			tt.use(t, f, m)
			_ = m.Close()
			for _, err := range []error{m.Close(), m.Flush(), m.Advise(mapping.Random)} {
				require.ErrorIs(t, err, mapping.ErrClosed)
			}
			_, err = m.Acquire()
			require.ErrorIs(t, err, mapping.ErrClosed)
			_, err = m.Pin()
			require.ErrorIs(t, err, mapping.ErrClosed)
			require.NoError(t, m.CloseWait(t.Context()))
		})
	}
	f := create(t, []byte("abc"))
	_, err := mapping.Map(f, 4, mapping.ReadOrCopy)
	require.ErrorIs(t, err, mapping.ErrSize)
}

func TestWithinTheLimitNothingIsCopied(t *testing.T) {
	leaveRoom(t, 1)
	f := create(t, []byte("abc"))
	m, err := mapping.Map(f, 3, mapping.ReadOrCopy)
	require.NoError(t, err)
	defer m.Close()
	_, err = f.WriteAt([]byte("x"), 0)
	require.NoError(t, err)
	require.Equal(t, "xbc", string(acquire(t, m)))
	m.Release()
	require.NoError(t, m.Flush())
}

// Whoever maps at the same time takes each place once.
func TestLimitAmongMany(t *testing.T) {
	leaveRoom(t, 10)
	f := create(t, []byte("abc"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 300 {
				m, err := mapping.Map(f, 3, mapping.ReadWrite)
				if n := mapping.Live(); n > mapping.Limit() {
					t.Errorf("got %d mappings, want at most %d", n, mapping.Limit())
				}
				if runtime.Gosched(); err == nil {
					err = m.Close()
				}
				if err != nil && !errors.Is(err, mapping.ErrLimit) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	leaveRoom(t, 1)
	m, err := mapping.Map(f, 3, mapping.ReadWrite)
	require.NoError(t, err, "no place was lost")
	require.NoError(t, m.Close())
}
