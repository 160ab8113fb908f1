//go:build unix

package mapping

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// create returns a new file of three bytes, open until the test ends.
func create(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "leaf"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	_, err = f.WriteString("abc")
	require.NoError(t, err)
	return f
}

// mapAll returns n mappings of a file.
func mapAll(t *testing.T, f *os.File, n int) []*Mapping {
	t.Helper()
	all := make([]*Mapping, n)
	for i := range all {
		var err error
		all[i], err = Map(f, 3, ReadOnly)
		require.NoError(t, err)
	}
	return all
}

func closeAll(t *testing.T, all []*Mapping) {
	t.Helper()
	for _, m := range all {
		require.NoError(t, m.Close())
	}
}

// heldFiles is how many mappings keep a descriptor at most.
var heldFiles = mostHeld()

// requireHolding waits until n mappings keep a descriptor: others of the process may have to be
// cleaned up.
func requireHolding(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		runtime.GC()
		return int(holding.Load()) == n
	}, time.Minute, time.Millisecond)
}

// intact returns what a user of m is told.
func intact(t *testing.T, m *Mapping) error {
	t.Helper()
	_, err := m.Acquire()
	require.NoError(t, err)
	defer m.Release()
	return m.Intact()
}

// descriptors returns how many the process has open, on systems that say so.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Log("cannot count descriptors:", err)
	}
	return len(list)
}

func TestTheFirstMappingsKeepADescriptor(t *testing.T) {
	requireHolding(t, 0)
	f := create(t)
	before := descriptors(t)
	all := mapAll(t, f, heldFiles+2)
	require.Equal(t, heldFiles, int(holding.Load()))
	if before > 0 {
		require.Equal(t, before+heldFiles, descriptors(t))
	}
	require.NoError(t, f.Truncate(1))
	for i, m := range all {
		if err := intact(t, m); i < heldFiles {
			require.ErrorIs(t, err, ErrFault)
		} else {
			require.NoError(t, err, "mapping %d has none", i)
		}
	}
	require.NoError(t, f.Truncate(3))

	require.NoError(t, all[0].Close())
	all = append(all[1:], mapAll(t, f, 1)...)
	require.Equal(t, heldFiles, int(holding.Load()), "a place that was given back is taken")
	closeAll(t, all)
	require.Zero(t, holding.Load())
	require.Equal(t, before, descriptors(t))
}

func TestDescriptorsAreGivenBack(t *testing.T) {
	requireHolding(t, 0)
	f := create(t)
	before := descriptors(t)
	tests := []struct {
		name string
		end  func(m *Mapping)
	}{
		{"by Close", func(m *Mapping) { require.NoError(t, m.Close()) }},
		{"by the last Release", func(m *Mapping) {
			_, err := m.Acquire()
			require.NoError(t, err)
			require.NoError(t, m.Close())
			require.NoError(t, m.Intact(), "not before it")
			m.Release()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 3000 {
				tt.end(mapAll(t, f, 1)[0])
				require.Zero(t, holding.Load())
			}
		})
	}
	t.Run("by the cleanup", func(t *testing.T) {
		mapAll(t, f, 3000)
		requireHolding(t, 0)
	})
	t.Run("by the cleanup, of pinned memory too", func(t *testing.T) {
		_, err := mapAll(t, f, 1)[0].Pin()
		require.NoError(t, err)
		requireHolding(t, 0)
	})
	t.Run("if the file cannot be mapped", func(t *testing.T) {
		r, err := os.Open(f.Name())
		require.NoError(t, err)
		defer r.Close()
		_, err = Map(r, 3, ReadWrite)
		require.ErrorIs(t, err, os.ErrPermission)
		require.Zero(t, holding.Load())
	})
	require.Equal(t, before, descriptors(t))
}

// Whoever maps at the same time takes each place once.
func TestPlacesAmongMany(t *testing.T) {
	requireHolding(t, 0)
	f := create(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5 {
				if err := mapAndClose(f, heldFiles/3); err != nil {
					t.Error(err)
				}
				if n := int(holding.Load()); n > heldFiles {
					t.Errorf("got %d mappings that keep a descriptor, want at most %d", n, heldFiles)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, holding.Load())
}

func mapAndClose(f *os.File, n int) (err error) {
	for range n {
		m, failed := Map(f, 3, ReadOnly)
		if err = errors.Join(err, failed); failed == nil {
			defer func() { err = errors.Join(err, m.Close()) }()
		}
	}
	return err
}

func TestShareOfDescriptors(t *testing.T) {
	for limit, want := range map[uint64]int{0: 0, 9: 0, 10: 1, 512: 51, 1024: 102, 9999: 999, 10_000: 1000, 1 << 20: 1000, unix.RLIM_INFINITY: 1000} {
		require.Equal(t, want, shareOf(limit), limit)
	}
}

// A file that is cut while it is copied is too short.
func TestDuplicateOfAShortFile(t *testing.T) {
	_, err := duplicate(create(t), 4)
	require.EqualError(t, err, "size cannot be mapped: got a file of 3 bytes, want 4")
}

// A process that has no descriptor to spare can still map.
func TestMapWithoutDescriptors(t *testing.T) {
	requireHolding(t, 0)
	f := create(t)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = 3
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	m, err := Map(f, 3, ReadOnly)
	require.NoError(t, errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)))
	require.Zero(t, holding.Load())
	require.NoError(t, f.Truncate(1))
	require.NoError(t, intact(t, m))
	require.NoError(t, m.Close())
}

// A file that cannot be asked is not taken to be whole.
func TestIntactReportsTheSystem(t *testing.T) {
	requireHolding(t, 0)
	m := mapAll(t, create(t), 1)[0]
	require.NoError(t, unix.Close(m.res.file.fd))
	err := intact(t, m)
	require.ErrorIs(t, err, ErrFault)
	require.ErrorIs(t, err, unix.EBADF)
	require.ErrorIs(t, m.Close(), unix.EBADF)
	require.Zero(t, holding.Load())
}

func TestNoDescriptorIsInherited(t *testing.T) {
	m := mapAll(t, create(t), 1)[0]
	flags, err := unix.FcntlInt(uintptr(m.res.file.fd), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)
	require.NoError(t, m.Close())
}
