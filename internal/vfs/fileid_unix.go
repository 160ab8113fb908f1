//go:build unix

package vfs

import (
	"io/fs"
	"syscall"
)

// An inode is the number of a file on a device.
type inode struct{ device, number uint64 }

// systemID returns the number that the system gave the file, if info comes from the system.
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
