package mapping

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
)

// open is the bit of a Mapping's state that is set until Close begins; the bits below count users.
const open = 1 << 63

// A Mapping is a file mapped into memory. Only [Map] returns an open one; the zero Mapping is
// closed.
//
// Invariant: once the open bit is cleared, the number of users only falls. The call that brings the
// state to zero, Close or the last Release, ends the Mapping; there is exactly one such call.
//
// Safe for concurrent use. Concurrent users coordinate access to the bytes themselves.
type Mapping struct {
	state   atomic.Uint64 // open bit and number of users
	ended   chan struct{} // closed once the memory is unmapped; nil in the zero Mapping
	err     error         // of unmapping; valid once ended is closed
	mode    Mode
	size    int // bytes that are mapped
	res     *resource
	cleanup runtime.Cleanup
}

// newMapping returns an open Mapping that owns res.
func newMapping(res *resource, mode Mode) *Mapping {
	m := &Mapping{ended: make(chan struct{}), mode: mode, size: len(res.data), res: res}
	m.state.Store(open)
	m.cleanup = runtime.AddCleanup(m, abandon, res)
	return m
}

// Acquire returns the mapped bytes, which are valid until [Mapping.Release]. Each successful
// Acquire needs one Release. The caller must keep m itself reachable until then, which the call of
// Release does; the bytes alone do not.
//
// Acquire never blocks. It returns [ErrClosed] once Close began, also to a goroutine that already
// holds the bytes.
func (m *Mapping) Acquire() ([]byte, error) {
	for {
		s := m.state.Load()
		if s&open == 0 {
			return nil, ErrClosed
		}
		if m.state.CompareAndSwap(s, s+1) {
			return m.res.data, nil
		}
	}
}

// Release ends one [Mapping.Acquire]. The last Release after Close began unmaps the bytes. Release
// panics if there is no Acquire to end.
func (m *Mapping) Release() {
	s := m.state.Add(^uint64(0))
	if (s+1)&^open == 0 {
		panic("mapping: impossible: Release without Acquire")
	}
	if s == 0 {
		m.end()
	}
}

// Pin returns the mapped bytes for use until Close, by code that does not say when it is done.
// After Pin only [Mapping.Close] unmaps m: if m becomes unreachable, the bytes stay valid until the
// process ends. Using them after Close is at best a fault. Pin returns [ErrClosed] once Close
// began.
func (m *Mapping) Pin() ([]byte, error) {
	data, err := m.Acquire()
	if err != nil {
		return nil, err
	}
	defer m.Release()
	m.res.pinned.Store(true)
	return data, nil
}

// Flush writes the stores made so far to the disk and waits for it. It does nothing unless m is
// ReadWrite. Flush returns [ErrClosed] once Close began. Safe for concurrent use.
func (m *Mapping) Flush() error { return m.FlushRange(0, m.size) }

// FlushRange is [Mapping.Flush] of size bytes from offset on, and the rest of their pages. On
// Windows it flushes all bytes. It returns [ErrClosed] once Close began, and an error that wraps
// [ErrSize] if not all of these bytes are mapped. Safe for concurrent use.
func (m *Mapping) FlushRange(offset, size int) error {
	return m.inPages(offset, size, func(pages []byte) error {
		if m.mode != ReadWrite {
			return nil
		}
		return flush(m.res.data, pages)
	})
}

// inPages calls fn with the pages that contain size bytes from offset on, unless size is 0.
func (m *Mapping) inPages(offset, size int, fn func(pages []byte) error) error {
	data, err := m.Acquire()
	if err != nil {
		return err
	}
	defer m.Release()
	if offset < 0 || size < 0 || offset > len(data)-size {
		return fmt.Errorf("%w: got %d bytes from byte %d on, want a part of the %d bytes mapped", ErrSize, size, offset, len(data))
	}
	if size == 0 {
		return nil
	}
	page := os.Getpagesize()
	start, last := offset/page*page, (offset+size-1)/page // the number of the last page
	return fn(data[start:min((last+1)*page, len(data))])
}

// Intact returns an error that wraps [ErrFault] if the file has become shorter than the mapped
// bytes. Bytes past EOF within the last page read as zeros, and stores to them do not reach the
// file, without a fault; so code that has used the bytes calls Intact to learn whether they all
// existed. Intact takes one system call and never waits.
//
// Intact needs a descriptor of the file. On Unix systems only some mappings of the process have
// one, see the package doc; for others Intact returns nil without a check. It does not notice that
// a file was truncated and extended again. A copy is always intact.
//
// Intact must be called between [Mapping.Acquire] and [Mapping.Release]; Close may have begun. Safe
// for concurrent use.
func (m *Mapping) Intact() error {
	n, ok, err := m.res.file.size()
	switch {
	case err != nil:
		return fmt.Errorf("%w: cannot get the size of the file: %w", ErrFault, err)
	case ok && n < int64(m.size):
		return fmt.Errorf("%w: the file was truncated: got %d bytes, want %d", ErrFault, n, m.size)
	}
	return nil
}

// Close refuses new users and returns without waiting for the running ones, so a user may call it.
// If there are no users, it unmaps the bytes and returns an error of that; otherwise the last
// [Mapping.Release] unmaps, and [Mapping.CloseWait] returns the error. Slices from [Mapping.Pin]
// must not be used afterwards. Every call but the first returns [ErrClosed].
func (m *Mapping) Close() error {
	was := m.state.And(^uint64(open))
	if was&open == 0 {
		return ErrClosed
	}
	if was != open {
		return nil
	}
	return m.end()
}

// CloseWait closes m if it is open, and waits until the bytes are unmapped. It returns the error of
// unmapping. If ctx ends first, it returns the error of ctx, and closing continues. It may be
// called any number of times. A goroutine that calls it between its own Acquire and Release waits
// until ctx ends.
func (m *Mapping) CloseWait(ctx context.Context) error {
	_ = m.Close() // ErrClosed, or the error that m.err holds too
	if m.ended == nil {
		return nil
	}
	select {
	case <-m.ended:
		return m.err
	default:
	}
	select {
	case <-m.ended:
		return m.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end unmaps the bytes. There are no users, and there will be none.
func (m *Mapping) end() error {
	m.cleanup.Stop()
	m.err = m.res.unmap()
	close(m.ended)
	runtime.KeepAlive(m) // Stop needs m reachable
	return m.err
}
