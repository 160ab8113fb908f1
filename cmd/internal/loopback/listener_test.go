package loopback

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBoundListener closes connections twice, and the listener while it waits for room.
func TestBoundListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := bound(inner, 2)
	accepted, failed := make(chan net.Conn, 5), make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				failed <- err
				return
			}
			accepted <- c
		}
	}()
	for range 5 {
		c, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		defer c.Close()
	}
	first, second := <-accepted, <-accepted
	require.NoError(t, first.Close())
	require.Error(t, first.Close(), "the second Close makes no room")
	third := <-accepted
	require.Never(t, func() bool { return len(accepted) > 0 }, 50*time.Millisecond, 10*time.Millisecond)
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-failed, net.ErrClosed, "an Accept that waits for room ends")
	require.Error(t, l.Close())
	require.NoError(t, second.Close())
	require.NoError(t, third.Close())
}
