package doctor

import (
	"math"
	"os"
	"syscall"
)

// freeRoom returns how many bytes this user may still write to the file system of a path.
func freeRoom(path string) (int64, error) {
	var s syscall.Statfs_t
	err := syscall.EINTR
	for err == syscall.EINTR {
		err, _ = syscall.Statfs(path, &s).(syscall.Errno)
	}
	if err != 0 {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if s.Bsize > 0 && s.Bavail > uint64(math.MaxInt64)/uint64(s.Bsize) {
		return math.MaxInt64, nil // a tmpfs without a limit
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
