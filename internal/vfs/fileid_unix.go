//go:build unix

package vfs

import (
	"io/fs"
	"syscall"
)

// An inode identifies a file by its device and number.
type inode struct{ device, number uint64 }

// systemID returns the inode of a file, if info comes from the system.
func systemID(info fs.FileInfo) (id any, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}, true
}

func links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 0
}
