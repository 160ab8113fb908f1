//go:build unix

package mapping_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

func TestMapRefusesFifo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = mapping.Map(f, 1, mapping.ReadOnly)
	require.ErrorIs(t, err, mapping.ErrNotRegular)
}

// sink keeps the compiler from dropping a load.
var sink byte

func TestGuardTurnsFaultsIntoErrors(t *testing.T) {
	page := os.Getpagesize()
	tests := []struct {
		name string
		mode mapping.Mode
		fn   func(data []byte)
		in   []int // pages in which the fault may be
	}{
		{"a load beyond the end", mapping.ReadOnly, func(data []byte) { sink = data[2*page] }, []int{2}},
		{"a copy across the end, in any order", mapping.ReadOnly, func(data []byte) { copy(make([]byte, len(data)), data) }, []int{1, 2}},
		{"a store beyond the end", mapping.ReadWrite, func(data []byte) { data[2*page] = 1 }, []int{2}},
		{"a store to read-only memory", mapping.ReadOnly, func(data []byte) { data[0] = 1 }, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, m := truncated(t, 3*page, page, tt.mode)
			err := mapping.Guard(func() { tt.fn(data) })
			require.ErrorIs(t, err, mapping.ErrFault)
			fault, ok := errors.AsType[*mapping.FaultError](err)
			require.True(t, ok)
			require.Contains(t, tt.in, pageOf(data, fault.Addr))
			require.NoError(t, mapping.Guard(func() { sink = data[0] }), "what is left can be read")
			m.Release()
			require.NoError(t, m.Close())
		})
	}
}

// pageOf returns in which page of data the byte at addr lies, or -1 if it lies in none.
func pageOf(data []byte, addr uintptr) int {
	for i := range data {
		if uintptr(unsafe.Pointer(&data[i])) == addr {
			return i / os.Getpagesize()
		}
	}
	return -1
}

// truncated returns acquired bytes of a file that shrank from size to left after it was mapped.
func truncated(t *testing.T, size, left int, mode mapping.Mode) ([]byte, *mapping.Mapping) {
	t.Helper()
	f := create(t, make([]byte, size))
	m, err := mapping.Map(f, size, mode)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(int64(left)))
	return acquire(t, m), m
}

// A fault says in which file it is, and at which byte, until the memory is unmapped.
func TestFaultNamesItsFile(t *testing.T) {
	page := os.Getpagesize()
	data, m := truncated(t, 3*page, page, mapping.ReadOnly)
	_, other := truncated(t, page, page, mapping.ReadOnly)
	err := mapping.Guard(func() { sink = data[2*page+5] })
	fault, ok := errors.AsType[*mapping.FaultError](err)
	require.True(t, ok)
	require.Equal(t, "leaf", filepath.Base(fault.File))
	require.Equal(t, 2*page+5, fault.Offset)
	require.EqualError(t, err, fmt.Sprintf("fault in mapped memory: at byte %d of %s", fault.Offset, fault.File))
	m.Release()
	require.NoError(t, m.Close())
	other.Release()
	require.NoError(t, other.Close())
}

func TestGuardsNest(t *testing.T) {
	page := os.Getpagesize()
	data, m := truncated(t, 2*page, page, mapping.ReadOnly)
	fault := func() { sink = data[page] }
	for range 2 {
		err := mapping.Guard(func() {
			require.ErrorIs(t, mapping.Guard(fault), mapping.ErrFault)
			fault() // the inner Guard left the outer one in force
		})
		require.ErrorIs(t, err, mapping.ErrFault)
	}
	m.Release()
	require.NoError(t, m.Close())
}

// A file that another process cuts is noticed, also where what is gone reads as zeros.
func TestIntact(t *testing.T) {
	page := os.Getpagesize()
	tests := []struct {
		name       string
		size, left int
		text       string // of the error, if it does not depend on the size of a page
	}{
		{"as long as it was", 16, 16, ""},
		{"longer", 16, 17, ""},
		{"within its only page", 16, 10, "fault in mapped memory: the file was truncated: got 10 bytes, want 16"},
		{"by its last byte", page, page - 1, ""},
		{"within its last page", page + 16, page + 10, ""},
		{"by its last page", 2 * page, page, ""},
		{"by pages, and within one", 3 * page, page + 1, ""},
		{"to nothing", 16, 0, "fault in mapped memory: the file was truncated: got 0 bytes, want 16"},
	}
	for _, mode := range []mapping.Mode{mapping.ReadOnly, mapping.ReadWrite} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, mode %d", tt.name, mode), func(t *testing.T) {
				_, m := truncated(t, tt.size, tt.left, mode)
				for range 2 {
					err := m.Intact()
					if tt.left >= tt.size {
						require.NoError(t, err)
						continue
					}
					require.ErrorIs(t, err, mapping.ErrFault)
					if tt.text != "" {
						require.EqualError(t, err, tt.text)
					}
				}
				require.NoError(t, m.Close())
				require.Equal(t, tt.left < tt.size, m.Intact() != nil, "Close does not change that for a user")
				m.Release()
			})
		}
	}
}

// Without Intact, a byte that is gone is a zero.
func TestCutWithinAPageDoesNotFault(t *testing.T) {
	f := create(t, []byte("abc"))
	m, err := mapping.Map(f, 3, mapping.ReadOnly)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1))
	data := acquire(t, m)
	require.NoError(t, mapping.Guard(func() { require.Equal(t, "a\x00\x00", string(data)) }))
	require.ErrorIs(t, m.Intact(), mapping.ErrFault)
	m.Release()
	require.NoError(t, m.Close())
}

// TestIntactAmongUsers lets the race detector see Intact, Close and a file that is cut together.
func TestIntactAmongUsers(t *testing.T) {
	for range 50 {
		f := create(t, make([]byte, 16))
		m, err := mapping.Map(f, 16, mapping.ReadOnly)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					if _, err := m.Acquire(); err != nil {
						return
					}
					if err := m.Intact(); err != nil && !errors.Is(err, mapping.ErrFault) {
						t.Error(err)
					}
					m.Release()
				}
			})
		}
		all.Go(func() {
			if err := errors.Join(f.Truncate(10), m.Close()); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
}

func TestIntactAllocatesNothing(t *testing.T) {
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	acquire(t, m)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = m.Intact() }))
	m.Release()
	require.NoError(t, m.Close())
}

func BenchmarkIntact(b *testing.B) {
	m := mapped(b, []byte("abc"), mapping.ReadOnly)
	acquire(b, m)
	b.ReportAllocs()
	for b.Loop() {
		_ = m.Intact()
	}
	m.Release()
	require.NoError(b, m.Close())
}
