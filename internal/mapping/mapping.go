package mapping

import (
	"runtime"
	"sync/atomic"
)

// open is the bit of a Mapping's state that is set until Close begins; the bits below count users.
const open = 1 << 63

// A Mapping is a file mapped into memory. Only [Map] makes an open one; the zero Mapping is closed.
//
// Safe for concurrent use. What concurrent users do with the bytes is up to them.
type Mapping struct {
	state   atomic.Uint64 // open bit and number of users
	drained chan struct{} // closed by the last user to leave after Close began
	mode    Mode
	res     *resource
	cleanup runtime.Cleanup
}

// newMapping returns an open Mapping that owns res.
func newMapping(res *resource, mode Mode) *Mapping {
	m := &Mapping{drained: make(chan struct{}), mode: mode, res: res}
	m.state.Store(open)
	m.cleanup = runtime.AddCleanup(m, abandon, res)
	return m
}

// Acquire returns the mapped bytes, which are valid until [Mapping.Release]. Each successful Acquire
// needs one Release. The caller must keep m itself reachable until then, as calling Release on it
// does; the bytes alone do not.
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

// Release ends the loan of one [Mapping.Acquire]. It panics if there is none.
func (m *Mapping) Release() {
	s := m.state.Add(^uint64(0))
	if (s+1)&^open == 0 {
		panic("mapping: impossible: Release without Acquire")
	}
	if s == 0 {
		close(m.drained)
	}
}

// Pin returns the mapped bytes for use until Close, by code that cannot say when it is done. From now
// on m is unmapped by [Mapping.Close] only: if m becomes unreachable, the bytes stay valid until the
// process ends. Using them after Close is a fault at best. Pin returns [ErrClosed] once Close began.
func (m *Mapping) Pin() ([]byte, error) {
	data, err := m.Acquire()
	if err != nil {
		return nil, err
	}
	defer m.Release()
	m.res.pinned.Store(true)
	return data, nil
}

// Flush writes the stores made so far to the disk and waits for it. For a ReadOnly Mapping there is
// nothing to do. Flush returns [ErrClosed] once Close began.
func (m *Mapping) Flush() error {
	if _, err := m.Acquire(); err != nil {
		return err
	}
	defer m.Release()
	if m.mode == ReadOnly {
		return nil
	}
	return m.res.data.Flush()
}

// Close refuses new users, waits for the running ones and unmaps. A slice from [Mapping.Pin] is
// invalid from then on. A goroutine that calls Close between its own Acquire and Release waits for
// ever. Every call but the first returns [ErrClosed] at once, even while the first still waits.
func (m *Mapping) Close() error {
	was := m.state.And(^uint64(open))
	if was&open == 0 {
		return ErrClosed
	}
	if was != open {
		<-m.drained
	}
	m.cleanup.Stop()
	err := m.res.unmap()
	runtime.KeepAlive(m) // Stop needs m reachable
	return err
}
