//go:build unix

package mapping

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// advices holds the system's constant for each Advice.
var advices = [...]int{
	Normal:     unix.MADV_NORMAL,
	Random:     unix.MADV_RANDOM,
	Sequential: unix.MADV_SEQUENTIAL,
	WillNeed:   unix.MADV_WILLNEED,
}

// neededAtOnce is the number of bytes in one call of madvise for WillNeed. Of more bytes, Linux
// reads in only its read-ahead size, by default this number, and ignores the rest
// (force_page_cache_ra in mm/readahead.c).
const neededAtOnce = 128 << 10

// advise passes the advice to the system. Kernels and file systems that do not support it return
// ENOSYS or EINVAL.
func advise(data []byte, a Advice) error {
	piece := len(data)
	if a == WillNeed {
		piece = neededAtOnce
	}
	for piece := range slices.Chunk(data, piece) {
		err := unix.Madvise(piece, advices[a])
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
			return nil
		}
		if err != nil {
			return os.NewSyscallError("madvise", err)
		}
	}
	return nil
}

// flush writes pages, which are part of all, to the disk.
func flush(_, pages []byte) error {
	return os.NewSyscallError("msync", unix.Msync(pages, unix.MS_SYNC))
}

// mostHeld returns the largest number of mappings of the process that keep a descriptor, given the
// limit of descriptors as it is now.
func mostHeld() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return shareOf(uint64(limit.Cur))
}

// shareOf returns the number of descriptors for mappings, given the limit of the process. It leaves
// descriptors for other uses when directories have many files.
func shareOf(limit uint64) int { return int(min(1000, limit/10)) }

// holding counts the mappings of the process that keep a descriptor.
var holding atomic.Int64

// A held is the descriptor that a mapping may keep of its file.
type held struct {
	fd   int
	kept bool
}

// hold returns the file to map, and keeps a descriptor until close if there are not too many. On
// Unix the kernel keeps the file of a mapping; the descriptor is only for its size.
func (h *held) hold(f *os.File) (src *os.File, err error) {
	if !claim(&holding, mostHeld()) {
		return f, nil
	}
	h.fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if h.kept = err == nil; !h.kept { // go on without a descriptor
		holding.Add(-1)
	}
	return f, nil
}

// size returns the size of the file. ok is false if h has no descriptor.
func (h *held) size() (n int64, ok bool, err error) {
	if !h.kept {
		return 0, false, nil
	}
	var stat unix.Stat_t
	for {
		if err := unix.Fstat(h.fd, &stat); err != unix.EINTR {
			return stat.Size, true, os.NewSyscallError("fstat", err)
		}
	}
}

// close closes the descriptor.
func (h *held) close() error {
	if !h.kept {
		return nil
	}
	h.kept = false
	holding.Add(-1)
	return os.NewSyscallError("close", unix.Close(h.fd))
}
