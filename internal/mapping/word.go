package mapping

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// Word32 is [Mapping.Acquire] of four bytes, from byte at on, as a 32-bit word in the machine's
// order, for [Mapping.WaitWord]. It is valid until [Mapping.Release]. What [Mapping.Words] says of
// stores holds here too. Word32 returns [ErrClosed] once Close began, and an error that wraps
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

// WaitWord waits until the 32-bit word at byte at differs from value, [Mapping.WakeWord] is called
// for the word, in this process or another, or timeout has passed. It may also return without any
// of these, so callers look at the word again. If the word differs already, it returns at once: a
// change that is followed by a WakeWord is never missed. A WakeWord without a change is missed by
// those who do not wait yet.
//
// WaitWord keeps the memory mapped, as Acquire does, and one thread while it waits. Close does not
// end it: change the word and call WakeWord first. On systems other than Linux it looks at the word
// every 10 ms.
//
// WaitWord returns [ErrClosed] once Close began, an error that wraps [ErrFault] if the file was cut
// before the page of the word, and the errors of [Mapping.Word32]. Safe for concurrent use.
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
// processes. The word is to be changed before. On systems other than Linux it does nothing: the
// change is enough. WakeWord returns the errors of WaitWord. Safe for concurrent use.
func (m *Mapping) WakeWord(at int) error {
	word, err := m.Word32(at)
	if err != nil {
		return err
	}
	defer m.Release()
	return wakeWord(word)
}

// pollWord is WaitWord for systems that cannot wait for a word.
func pollWord(word *atomic.Uint32, value uint32, timeout time.Duration) error {
	return Guard(func() {
		for word.Load() == value && timeout > 0 {
			step := min(timeout, 10*time.Millisecond)
			time.Sleep(step)
			timeout -= step
		}
	})
}
