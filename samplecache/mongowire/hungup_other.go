//go:build !linux

package mongowire

import "net"

// hungUp reports whether a client has closed its connection; here that is not known before all that
// it has sent was read.
func hungUp(net.Conn) bool { return false }
