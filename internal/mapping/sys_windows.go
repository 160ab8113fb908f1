package mapping

import (
	"os"

	"golang.org/x/sys/windows"
)

// advise does nothing: Windows takes no advice on mapped files.
func advise([]byte, Advice) error { return nil }

// hold returns the file to map and a function that gives it back when the mapping ends. Here it is
// a duplicate of f: mmap-go flushes the file it was given before it unmaps, and f may be closed by
// then.
func hold(f *os.File) (*os.File, func() error, error) {
	var dup windows.Handle
	self := windows.CurrentProcess()
	err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &dup, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, nil, os.NewSyscallError("DuplicateHandle", err)
	}
	src := os.NewFile(uintptr(dup), f.Name())
	return src, src.Close, nil
}
