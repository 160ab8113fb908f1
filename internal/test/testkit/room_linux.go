package testkit

import "syscall"

// roomInMemory reports whether /dev/shm has room for the files of a package's tests. On some
// machines it has only 64 MiB.
func roomInMemory() bool {
	var s syscall.Statfs_t
	return syscall.Statfs("/dev/shm", &s) == nil && s.Bavail*uint64(s.Bsize) >= 4<<30
}
