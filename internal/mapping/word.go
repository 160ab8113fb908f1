package mapping

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// Word32 is [Mapping.Acquire] of the four bytes from byte at on, as a 32-bit word in the machine's
// byte order, for [Mapping.WaitWord]. It is valid until [Mapping.Release]. For stores, the rules of
// [Mapping.Words] hold. Word32 returns [ErrClosed] once Close began, and an error that wraps
// [ErrSize] if at is not a multiple of 4 or not all four bytes are mapped. Safe for concurrent use.
func (m *Mapping) Word32(at int) (*atomic.Uint32, error) {
	data, err := m.Acquire()
	if err != nil {
		return nil, err
	}
	if at < 0 || at%4 != 0 || at > len(data)-4 {
		m.Release()
		return nil, fmt.Errorf("%w: got a 32-bit word at byte %d, want a multiple of 4 within the %d mapped",
			ErrSize, at, len(data))
	}
	return (*atomic.Uint32)(unsafe.Pointer(&data[at])), nil
}

// WaitWord waits until the 32-bit word at byte at differs from value, until [Mapping.WakeWord] is
// called for the word in any process, or until timeout has passed. It may also return earlier, so
// callers check the word again. If the word differs already, WaitWord returns at once: a change
// followed by a WakeWord is never missed. A WakeWord without a change is missed by goroutines that
// do not wait yet.
//
// While it waits, WaitWord keeps the memory mapped, as Acquire does, and occupies one thread. Close
// does not end it: change the word and call WakeWord first. On systems other than Linux it polls
// the word every 10 ms.
//
// WaitWord returns [ErrClosed] once Close began, an error that wraps [ErrFault] if the file was
// truncated before the page of the word, and the errors of [Mapping.Word32]. Safe for concurrent
// use.
func (m *Mapping) WaitWord(at int, value uint32, timeout time.Duration) error {
	word, err := m.Word32(at)
	if err != nil {
		return err
	}
	defer m.Release()
	if timeout <= 0 {
		return nil
	}
	return waitWord(word, value, timeout)
}

// WakeWord ends every [Mapping.WaitWord] that waits for the 32-bit word at byte at, in all
// processes. Change the word before calling it. On systems other than Linux it does nothing, since
// the change is enough. WakeWord returns the errors of WaitWord. Safe for concurrent use.
func (m *Mapping) WakeWord(at int) error {
	word, err := m.Word32(at)
	if err != nil {
		return err
	}
	defer m.Release()
	return wakeWord(word)
}

// pollWord is WaitWord for systems without futexes.
func pollWord(word *atomic.Uint32, value uint32, timeout time.Duration) error {
	return Guard(func() {
		for word.Load() == value && timeout > 0 {
			step := min(timeout, 10*time.Millisecond)
			time.Sleep(step)
			timeout -= step
		}
	})
}
