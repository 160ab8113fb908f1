//go:build unix

package mapping

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// advices holds the system's word for each Advice.
var advices = [...]int{
	Normal:     unix.MADV_NORMAL,
	Random:     unix.MADV_RANDOM,
	Sequential: unix.MADV_SEQUENTIAL,
	WillNeed:   unix.MADV_WILLNEED,
}

// neededAtOnce is how many bytes are asked for at a time: of more, Linux reads in as many as it
// reads ahead, by default these, and forgets the rest (force_page_cache_ra in mm/readahead.c).
const neededAtOnce = 128 << 10

// advise passes the advice on. Kernels and file systems that do not know it say ENOSYS or EINVAL.
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

// heldFiles is how many mappings of the process keep a descriptor of their file at a time, so that
// directories of many files leave descriptors for others.
const heldFiles = 1000

// holding counts the mappings that keep one.
var holding atomic.Int64

// A held is the descriptor of its file that a mapping keeps, or none.
type held struct {
	fd   int
	kept bool
}

// hold returns the file to map and what to keep of it until the mapping ends. Here the kernel keeps
// the file of a mapping itself, and the descriptor is only to ask for its size.
func hold(f *os.File) (src *os.File, file held, err error) {
	if !claim() {
		return f, held{}, nil
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil { // as if the process had enough of them
		holding.Add(-1)
		return f, held{}, nil
	}
	return f, held{fd, true}, nil
}

// claim reports whether one more mapping may keep a descriptor, and counts it.
func claim() bool {
	for {
		n := holding.Load()
		if n >= heldFiles {
			return false
		}
		if holding.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// size returns how long the file is, or false if no descriptor of it was kept.
func (h held) size() (n int64, ok bool, err error) {
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

// close gives the descriptor back.
func (h held) close() error {
	if !h.kept {
		return nil
	}
	err := unix.Close(h.fd)
	holding.Add(-1)
	return os.NewSyscallError("close", err)
}
