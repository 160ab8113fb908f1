package programs

import (
	"os"
	"syscall"
)

// attributes makes a program a process group, which the kernel kills with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

const (
	setPipeSize = 1031 // F_SETPIPE_SZ
	pipeSize    = 1 << 20
)

// widen makes a pipe as large as users may make one, so that large samples need few switches
// between processes. It is slower, and no error, if the system refuses.
func widen(f *os.File) {
	conn, err := f.SyscallConn()
	if err == nil {
		_ = conn.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize)
		})
	}
}
