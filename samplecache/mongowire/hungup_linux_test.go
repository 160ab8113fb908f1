package mongowire

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHungUp has clients that close their connection in several ways, with and without bytes that
// were not read.
func TestHungUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	for rule, end := range map[string]func(c *net.TCPConn) error{
		"open":   nil,
		"closed": (*net.TCPConn).Close,
		"reset": func(c *net.TCPConn) error {
			_ = c.SetLinger(0)
			return c.Close()
		},
		"half closed": (*net.TCPConn).CloseWrite,
	} {
		for _, sent := range []int{0, 100_000} {
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			nc, err := l.Accept()
			require.NoError(t, err)
			_, err = c.Write(make([]byte, sent))
			require.NoError(t, err)
			require.False(t, hungUp(nc), rule)
			if end != nil {
				require.NoError(t, end(c.(*net.TCPConn)))
				require.Eventually(t, func() bool { return hungUp(nc) }, time.Minute, time.Millisecond, "%s, %d bytes", rule, sent)
			}
			_, _ = nc.Close(), c.Close()
		}
	}
	require.False(t, hungUp(newTestConn(t, "a").Conn), "not TCP")
}
