package mapping

import (
	"os"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/windows"
)

// advise does nothing: Windows has no advice for mapped files.
func advise([]byte, Advice) error { return nil }

// flush flushes all bytes: mmap-go identifies a mapping by its first byte.
func flush(all mmap.MMap, _ []byte) error { return all.Flush() }

// A held is the duplicate handle that a mapping keeps of its file; a copy has none.
type held struct{ file *os.File }

// hold returns the file to map, and keeps it until close. It is a duplicate of f: mmap-go flushes
// the file that it was given before it unmaps, and f may be closed by then.
func (h *held) hold(f *os.File) (src *os.File, err error) {
	var dup windows.Handle
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &dup, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, os.NewSyscallError("DuplicateHandle", err)
	}
	h.file = os.NewFile(uintptr(dup), f.Name())
	return h.file, nil
}

// size returns the size of the file. ok is false for a copy.
func (h *held) size() (n int64, ok bool, err error) {
	if h.file == nil {
		return 0, false, nil
	}
	info, err := h.file.Stat()
	if err != nil {
		return 0, true, err
	}
	return info.Size(), true, nil
}

// close closes the duplicate.
func (h *held) close() error { return h.file.Close() }
