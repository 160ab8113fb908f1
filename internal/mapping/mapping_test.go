package mapping_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

func TestCloseIsFinal(t *testing.T) {
	calls := []struct {
		name string
		call func(m *mapping.Mapping) error
	}{
		{"acquire", func(m *mapping.Mapping) error { _, err := m.Acquire(); return err }},
		{"pin", func(m *mapping.Mapping) error { _, err := m.Pin(); return err }},
		{"flush", (*mapping.Mapping).Flush},
		{"flush a part", func(m *mapping.Mapping) error { return m.FlushRange(0, 1) }},
		{"flush nothing", func(m *mapping.Mapping) error { return m.FlushRange(0, 0) }},
		{"advise", func(m *mapping.Mapping) error { return m.Advise(mapping.Random) }},
		{"advise on a part", func(m *mapping.Mapping) error { return m.AdviseRange(mapping.Random, 0, 1) }},
		{"close", (*mapping.Mapping).Close},
	}
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			m := mapped(t, []byte("abc"), mapping.ReadWrite)
			require.NoError(t, m.Close())
			require.ErrorIs(t, tt.call(m), mapping.ErrClosed)
			require.ErrorIs(t, tt.call(new(mapping.Mapping)), mapping.ErrClosed, "the zero Mapping is closed")
		})
	}
}

func TestCloseUnmaps(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	require.Equal(t, before+1, mapping.Live())
	require.NoError(t, m.Close())
	require.Equal(t, before, mapping.Live())
}

// TestCloseNeverWaits holds the bytes twice while the same goroutine closes.
func TestCloseNeverWaits(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, []byte("abc"), mapping.ReadWrite)
	data := acquire(t, m)
	acquire(t, m)
	require.NoError(t, m.Close())

	_, err := m.Acquire()
	require.ErrorIs(t, err, mapping.ErrClosed, "new users are refused, nested ones too")
	require.ErrorIs(t, m.Flush(), mapping.ErrClosed)
	require.ErrorIs(t, m.Close(), mapping.ErrClosed, "the first Close is still under way")
	m.Release()
	require.Equal(t, before+1, mapping.Live(), "one user is left")
	require.Equal(t, "abc", string(data))
	m.Release()
	require.Equal(t, before, mapping.Live(), "the last Release unmaps")
	require.NoError(t, m.CloseWait(t.Context()))
}

// TestCloseInsideGuard closes where a user's function runs: between Acquire and Release.
func TestCloseInsideGuard(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	data := acquire(t, m)
	require.NoError(t, mapping.Guard(func() {
		require.NoError(t, m.Close())
		require.Equal(t, "abc", string(data))
	}))
	m.Release()
	require.Equal(t, before, mapping.Live())
}

func TestCloseWaitWaitsForTheLastUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := mapping.Live()
		m := mapped(t, []byte("abc"), mapping.ReadOnly)
		acquire(t, m)
		done := make(chan error, 2)
		for range cap(done) {
			go func() { done <- m.CloseWait(context.Background()) }()
		}
		synctest.Wait()
		require.Empty(t, done, "a user is left")
		_, err := m.Acquire()
		require.ErrorIs(t, err, mapping.ErrClosed, "CloseWait began the close")
		require.ErrorIs(t, m.Close(), mapping.ErrClosed)

		m.Release()
		for range cap(done) {
			require.NoError(t, <-done)
		}
		require.Equal(t, before, mapping.Live())
	})
}

func TestCloseWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mapped(t, []byte("abc"), mapping.ReadOnly)
		data := acquire(t, m)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, m.CloseWait(ctx), context.DeadlineExceeded)
		require.Equal(t, "abc", string(data), "the user keeps the bytes")
		m.Release()
		require.NoError(t, m.CloseWait(ctx), "once unmapped, an ended ctx does not matter")
	})
}

func TestCloseWaitNeedsNoUser(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	before := mapping.Live()
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	require.NoError(t, m.CloseWait(ended))
	require.Equal(t, before, mapping.Live())
	require.NoError(t, m.CloseWait(ended), "a second CloseWait is fine")
	require.ErrorIs(t, m.Close(), mapping.ErrClosed)
	require.NoError(t, new(mapping.Mapping).CloseWait(ended), "the zero Mapping is closed")
}

func acquire(t testing.TB, m *mapping.Mapping) []byte {
	t.Helper()
	data, err := m.Acquire()
	require.NoError(t, err)
	return data
}

func TestReleaseWithoutAcquirePanics(t *testing.T) {
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	require.NoError(t, m.Close())
	require.PanicsWithValue(t, "mapping: impossible: Release without Acquire", m.Release)
}

// TestCloseAmongReaders lets the race detector see readers, Close and CloseWait together. What a
// reader asks about is its own file until its Release.
func TestCloseAmongReaders(t *testing.T) {
	before := mapping.Live()
	for range 50 {
		m := mapped(t, make([]byte, 1<<16), mapping.ReadOnly)
		var all sync.WaitGroup
		var closed atomic.Int32
		for range 4 {
			all.Go(func() { readUntilClosed(t, m) })
			all.Go(func() { closeOrWait(t, m, &closed) })
		}
		all.Wait()
		require.Equal(t, int32(1), closed.Load(), "one Close is the first")
	}
	require.Equal(t, before, mapping.Live(), "each was unmapped exactly once")
}

// closeOrWait counts in closed who closed m, and waits until it is unmapped.
func closeOrWait(t *testing.T, m *mapping.Mapping, closed *atomic.Int32) {
	if err := m.Close(); err == nil {
		closed.Add(1)
	} else if !errors.Is(err, mapping.ErrClosed) {
		t.Error(err)
	}
	if err := m.CloseWait(t.Context()); err != nil {
		t.Error(err)
	}
}

func readUntilClosed(t *testing.T, m *mapping.Mapping) {
	for {
		data, err := m.Acquire()
		if errors.Is(err, mapping.ErrClosed) {
			return
		}
		if data[len(data)-1] != 0 {
			t.Error("a reader saw foreign bytes")
		}
		if err := m.Intact(); err != nil {
			t.Error(err)
		}
		m.Release()
	}
}

func TestUnreachableUnmaps(t *testing.T) {
	before := mapping.Live()
	func() { _ = mapped(t, []byte("abc"), mapping.ReadOnly) }()
	requireCollected(t, before)
}

// requireCollected waits until the cleanups have left want mappings alive.
func requireCollected(t *testing.T, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		runtime.GC()
		return mapping.Live() == want
	}, time.Minute, time.Millisecond)
}

func TestPinnedStays(t *testing.T) {
	before := mapping.Live()
	data := func() []byte {
		data, err := mapped(t, []byte("abc"), mapping.ReadOnly).Pin()
		require.NoError(t, err)
		return data
	}()
	func() { _ = mapped(t, []byte("other"), mapping.ReadOnly) }()
	requireCollected(t, before+1) // the unpinned one went; cleanups have run
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, before+1, mapping.Live())
	require.Equal(t, "abc", string(data))
}

func TestIntactWhileWhole(t *testing.T) {
	for _, size := range []int{1, 3, 5} {
		f := create(t, make([]byte, 5))
		m, err := mapping.Map(f, size, mapping.ReadOnly)
		require.NoError(t, errors.Join(err, f.Close()))
		acquire(t, m)
		require.NoError(t, m.Intact())
		require.NoError(t, m.Close())
		require.NoError(t, m.Intact(), "its user may still ask")
		m.Release()
	}
}

func TestPinnedEndsWithClose(t *testing.T) {
	before := mapping.Live()
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	_, err := m.Pin()
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.Equal(t, before, mapping.Live())
}

func TestAdviseAndFlush(t *testing.T) {
	for _, mode := range []mapping.Mode{mapping.ReadOnly, mapping.ReadWrite} {
		m := mapped(t, []byte("abc"), mode)
		for a := mapping.Normal; a <= mapping.WillNeed; a++ {
			require.NoError(t, m.Advise(a))
		}
		require.ErrorIs(t, m.Advise(mapping.WillNeed+1), errors.ErrUnsupported)
		require.NoError(t, m.Flush())
		require.NoError(t, m.Close())
	}
}

// Parts may begin and end anywhere, within one page and across pages.
func TestRanges(t *testing.T) {
	page := os.Getpagesize()
	mapped3 := 2*page + 10 // in three pages
	tests := []struct {
		name         string
		offset, size int
		ok           bool
	}{
		{"all", 0, mapped3, true},
		{"nothing at the start", 0, 0, true},
		{"nothing in the middle of a page", page + 1, 0, true},
		{"nothing at the end", mapped3, 0, true},
		{"the first byte", 0, 1, true},
		{"the last byte", mapped3 - 1, 1, true},
		{"a page", page, page, true},
		{"the last page, in part", 2 * page, 10, true},
		{"within a page", page + 3, 5, true},
		{"across pages", page - 1, 2, true},
		{"from within a page to the end", page + 7, page + 3, true},
		{"one byte too many", 0, mapped3 + 1, false},
		{"one byte behind", mapped3, 1, false},
		{"behind, in the last page", mapped3 + 1, 0, false},
		{"far behind", math.MaxInt, 1, false},
		{"far too many", 1, math.MaxInt, false},
		{"a negative offset", -1, 2, false},
		{"a negative size", 2, -1, false},
		{"both too large to add", math.MaxInt, math.MaxInt, false},
		{"both too small to add", math.MinInt, math.MinInt, false},
	}
	for _, mode := range []mapping.Mode{mapping.ReadOnly, mapping.ReadWrite} {
		m := mapped(t, make([]byte, mapped3), mode)
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, mode %d", tt.name, mode), func(t *testing.T) {
				for _, err := range []error{
					m.FlushRange(tt.offset, tt.size),
					m.AdviseRange(mapping.WillNeed, tt.offset, tt.size),
				} {
					if tt.ok {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, mapping.ErrSize)
					}
				}
			})
		}
		require.ErrorIs(t, m.AdviseRange(mapping.WillNeed+1, 0, 1), errors.ErrUnsupported)
		require.NoError(t, m.Close())
	}
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	require.EqualError(t, m.FlushRange(2, 2), "size cannot be mapped: got 2 bytes from byte 2 on, want a part of the 3 bytes mapped")
	require.NoError(t, m.Close())
}

func TestAcquireAllocatesNothing(t *testing.T) {
	m := mapped(t, []byte("abc"), mapping.ReadOnly)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = m.Acquire()
		m.Release()
	}))
	require.NoError(t, m.Close())
}

func BenchmarkAcquire(b *testing.B) {
	m := mapped(b, []byte("abc"), mapping.ReadOnly)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = m.Acquire()
		m.Release()
	}
	require.NoError(b, m.Close())
}

func BenchmarkAcquireParallel(b *testing.B) {
	m := mapped(b, []byte("abc"), mapping.ReadOnly)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = m.Acquire()
			m.Release()
		}
	})
	require.NoError(b, m.Close())
}

func TestGuardWithoutFault(t *testing.T) {
	ran := false
	require.NoError(t, mapping.Guard(func() { ran = true }))
	require.True(t, ran)
}

func TestGuardPassesOtherPanics(t *testing.T) {
	var none *int
	var short []int
	tests := []struct {
		name string
		fn   func()
		want func(r any) bool
	}{
		{"a value", func() { panic("mine") }, func(r any) bool { return r == "mine" }},
		{"an error", func() { panic(mapping.ErrClosed) }, func(r any) bool { return r == mapping.ErrClosed }},
		{"a nil dereference", func() { *none = 1 }, isRuntimeError},
		{"an index out of range", func() { short[len(short)] = 1 }, isRuntimeError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() { require.True(t, tt.want(recover())) }()
			_ = mapping.Guard(tt.fn)
		})
	}
}

func isRuntimeError(r any) bool {
	err, ok := r.(runtime.Error)
	return ok && !errors.Is(err, mapping.ErrFault)
}

func TestGuardRestoresPanicOnFault(t *testing.T) {
	for _, before := range []bool{false, true} {
		old := debug.SetPanicOnFault(before)
		_ = mapping.Guard(func() {})
		require.Equal(t, before, debug.SetPanicOnFault(old))
	}
}

func TestFaultErrorText(t *testing.T) {
	err := error(&mapping.FaultError{Addr: 0x7f00})
	require.EqualError(t, err, "fault in mapped memory: at address 0x7f00")
	require.ErrorIs(t, err, mapping.ErrFault)
}

func TestGuardAllocatesNothing(t *testing.T) {
	fn := func() {}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = mapping.Guard(fn) }))
}

// create returns a new file that holds data, open for reading and writing until the test ends.
func create(t testing.TB, data []byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "leaf"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	_, err = f.Write(data)
	require.NoError(t, err)
	return f
}

// mapped returns a mapping of a new file that holds data. The test has to close it.
func mapped(t testing.TB, data []byte, mode mapping.Mode) *mapping.Mapping {
	t.Helper()
	m, err := mapping.Map(create(t, data), len(data), mode)
	require.NoError(t, err)
	return m
}

func TestMapRefuses(t *testing.T) {
	tests := []struct {
		name string
		open func(t *testing.T) *os.File
		size int
		err  error
		text string
	}{
		{"no bytes", file, 0, mapping.ErrSize, "size cannot be mapped: got 0 bytes, want at least 1"},
		{"a negative size", file, -1, mapping.ErrSize, "size cannot be mapped: got -1 bytes, want at least 1"},
		{"more than the file holds", file, 4, mapping.ErrSize, "size cannot be mapped: got a file of 3 bytes, want 4"},
		{"the largest size", file, math.MaxInt, mapping.ErrSize, ""},
		{"an empty file", empty, 1, mapping.ErrSize, "size cannot be mapped: got a file of 0 bytes, want 1"},
		{"a directory", directory, 1, mapping.ErrNotRegular, ""},
		{"a device", device, 1, mapping.ErrNotRegular, ""},
		{"a closed file", closed, 1, os.ErrClosed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := mapping.Live()
			f := tt.open(t)
			_, err := mapping.Map(f, tt.size, mapping.ReadOnly)
			requireRefused(t, err, tt.err, f.Name())
			if tt.text != "" {
				require.EqualError(t, err, "map "+f.Name()+": "+tt.text)
			}
			require.Equal(t, before, mapping.Live())
		})
	}
}

func requireRefused(t *testing.T, err, want error, path string) {
	t.Helper()
	require.ErrorIs(t, err, want)
	var pathErr *fs.PathError
	require.ErrorAs(t, err, &pathErr)
	require.Equal(t, path, pathErr.Path)
}

func file(t *testing.T) *os.File  { return create(t, []byte("abc")) }
func empty(t *testing.T) *os.File { return create(t, nil) }

func directory(t *testing.T) *os.File { return reopen(t, t.TempDir()) }
func device(t *testing.T) *os.File    { return reopen(t, os.DevNull) }

func closed(t *testing.T) *os.File {
	f := file(t)
	require.NoError(t, f.Close())
	return f
}

func reopen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestMapOutlivesTheFile(t *testing.T) {
	f := create(t, []byte("abcdef"))
	m, err := mapping.Map(f, 4, mapping.ReadOnly)
	require.NoError(t, errors.Join(err, f.Close()))
	require.Equal(t, "abcd", string(acquire(t, m)), "the first size bytes, no more")
	m.Release()
	require.NoError(t, m.Close())
}

func TestMapReadWriteNeedsAWritableFile(t *testing.T) {
	f := create(t, []byte("abc"))
	_, err := mapping.Map(reopen(t, f.Name()), 3, mapping.ReadWrite)
	require.ErrorIs(t, err, fs.ErrPermission)
}

func TestStoresReachTheFile(t *testing.T) {
	f := create(t, []byte("abc"))
	m, err := mapping.Map(f, 3, mapping.ReadWrite)
	require.NoError(t, err)
	acquire(t, m)[1] = 'X'
	require.NoError(t, m.Flush())
	acquire(t, m)[2] = 'Y'
	require.NoError(t, m.FlushRange(2, 1))
	m.Release()
	m.Release()
	require.NoError(t, m.Close())

	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, "aXY", string(got))
}

func Example() {
	dir, err := os.MkdirTemp("", "mapping")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "reward.memmap")
	if err := os.WriteFile(path, []byte{1, 0, 2, 0}, 0o666); err != nil {
		log.Fatal(err)
	}

	m, err := open(path, 4)
	if err != nil {
		log.Fatal(err)
	}
	sum := 0
	if err := read(m, func(data []byte) { sum = int(data[0]) + int(data[2]) }); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum, m.Close(), m.Close())
	// Output: 3 <nil> already closed
}

// open maps the first size bytes of the file at path.
func open(path string, size int) (*mapping.Mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapping.Map(f, size, mapping.ReadOnly)
}

// read calls fn with the bytes of m, for the time of the call.
func read(m *mapping.Mapping, fn func([]byte)) error {
	data, err := m.Acquire()
	if err != nil {
		return err
	}
	defer m.Release()
	return mapping.Guard(func() { fn(data) })
}
