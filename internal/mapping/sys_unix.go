//go:build unix

package mapping

import (
	"errors"
	"os"
	"slices"
	"sync"

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

// mostHeld returns the largest number of mappings of the process that keep a descriptor.
var mostHeld = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return shareOf(uint64(limit.Cur))
})

// shareOf returns the number of descriptors for mappings, given the limit of the process. It leaves
// descriptors for other uses when directories have many files.
func shareOf(limit uint64) int { return int(min(1000, limit/10)) }

// keeping holds all helds with a descriptor. It is locked before any of them is.
var keeping = struct {
	sync.Mutex
	all map[*held]struct{}
}{all: map[*held]struct{}{}}

// A held is the descriptor that a mapping may keep of its file.
type held struct {
	mu   sync.RWMutex // guards the fields below
	fd   int
	kept bool
}

// hold returns the file to map, and keeps a descriptor until close if there are not too many. On
// Unix the kernel keeps the file of a mapping; the descriptor is only for its size.
func (h *held) hold(f *os.File) (src *os.File, err error) {
	keeping.Lock()
	defer keeping.Unlock()
	if len(keeping.all) >= mostHeld() {
		return f, nil
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil { // go on without a descriptor
		return f, nil
	}
	h.fd, h.kept = fd, true // h is not shared yet
	keeping.all[h] = struct{}{}
	return f, nil
}

// size returns the size of the file. ok is false if h has no descriptor.
func (h *held) size() (n int64, ok bool, err error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
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

// close closes the descriptor and forgets h.
func (h *held) close() error {
	keeping.Lock()
	delete(keeping.all, h)
	keeping.Unlock()
	return h.drop()
}

// drop closes the descriptor.
func (h *held) drop() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.kept {
		return nil
	}
	h.kept = false
	return os.NewSyscallError("close", unix.Close(h.fd))
}

// dropAll closes the descriptors that mappings keep.
func dropAll() {
	keeping.Lock()
	defer keeping.Unlock()
	for h := range keeping.all {
		_ = h.drop() // the descriptor was only for the size
	}
	clear(keeping.all)
}
