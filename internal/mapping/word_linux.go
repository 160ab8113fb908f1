package mapping

import (
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2), without FUTEX_PRIVATE_FLAG, since other processes take part.
const (
	futexWait = 0
	futexWake = 1
)

// waitWord blocks its thread. The kernel compares the word and starts to wait in one step.
func waitWord(word *atomic.Uint32, value uint32, timeout time.Duration) error {
	limit := unix.NsecToTimespec(int64(timeout))
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value),
		uintptr(unsafe.Pointer(&limit)), 0, 0)
	switch errno {
	case unix.EAGAIN, unix.EINTR, unix.ETIMEDOUT:
		return nil
	}
	return futexError(word, errno)
}

func wakeWord(word *atomic.Uint32) error {
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
	return futexError(word, errno)
}

func futexError(word *atomic.Uint32, errno unix.Errno) error {
	switch errno {
	case 0:
		return nil
	case unix.EFAULT:
		return locate(uintptr(unsafe.Pointer(word)))
	}
	return os.NewSyscallError("futex", errno)
}
