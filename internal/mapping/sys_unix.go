//go:build unix

package mapping

import (
	"errors"
	"os"
	"slices"
	"sync"

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

// mostHeld returns how many mappings of the process keep a descriptor of their file at most.
var mostHeld = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return shareOf(uint64(limit.Cur))
})

// shareOf returns how many of the descriptors that a process may have mappings keep, so that
// directories of many files leave descriptors for others.
func shareOf(limit uint64) int { return int(min(1000, limit/10)) }

// keeping holds those that keep a descriptor. It is locked before any of them is.
var keeping = struct {
	sync.Mutex
	all map[*held]struct{}
}{all: map[*held]struct{}{}}

// A held is the descriptor of its file that a mapping keeps, or none.
type held struct {
	mu   sync.RWMutex // guards the others
	fd   int
	kept bool
}

// hold returns the file to map, and keeps what is needed of it until close. Here the kernel keeps
// the file of a mapping itself, and the descriptor is only to ask for its size.
func (h *held) hold(f *os.File) (src *os.File, err error) {
	keeping.Lock()
	defer keeping.Unlock()
	if len(keeping.all) >= mostHeld() {
		return f, nil
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil { // as if the process had enough of them
		return f, nil
	}
	h.fd, h.kept = fd, true // nobody else knows h yet
	keeping.all[h] = struct{}{}
	return f, nil
}

// size returns how long the file is, or false if no descriptor of it is kept.
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

// close gives back what is kept.
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
		_ = h.drop() // it was only to ask
	}
	clear(keeping.all)
}
