//go:build unix

package mapping

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// advices holds the system's word for each Advice.
var advices = [...]int{
	Normal:     unix.MADV_NORMAL,
	Random:     unix.MADV_RANDOM,
	Sequential: unix.MADV_SEQUENTIAL,
	WillNeed:   unix.MADV_WILLNEED,
}

// advise passes the advice on. Kernels and file systems that do not know it say ENOSYS or EINVAL.
func advise(data []byte, a Advice) error {
	err := unix.Madvise(data, advices[a])
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return os.NewSyscallError("madvise", err)
}

// hold returns the file to map and a function that gives it back when the mapping ends. Here the
// kernel keeps the file of a mapping itself.
func hold(f *os.File) (*os.File, func() error, error) {
	return f, func() error { return nil }, nil
}
