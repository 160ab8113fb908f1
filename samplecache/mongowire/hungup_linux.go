package mongowire

import (
	"net"
	"syscall"
)

// hungUp reports whether a client has closed its connection, even if bytes that it has sent before
// were not read yet.
func hungUp(nc net.Conn) (is bool) {
	tcp, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	const established = 1 // the first byte of struct tcp_info is the state
	failed := raw.Control(func(fd uintptr) {
		info, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO)
		is = err == nil && info&0xff != established
	})
	return is || failed != nil
}
