//go:build unix

package mapping_test

import (
	"errors"
	"os"
	"path/filepath"
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
