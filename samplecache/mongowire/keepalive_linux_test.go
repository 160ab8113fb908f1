package mongowire_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A listener keeps the connection that it accepted last.
type listener struct {
	net.Listener
	last chan net.Conn
}

func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil {
		l.last <- nc
	}
	return nc, err
}

// TestKeepAlive has connections whose client is gone without a FIN: the kernel asks after 15
// seconds, and ends the connection after three more questions, 5 seconds apart.
func TestKeepAlive(t *testing.T) {
	s, err := mongowire.New(memory(t, pair(t, 4), 1), mongowire.Options{Database: "unit"})
	require.NoError(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &listener{tcp, make(chan net.Conn, 1)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	dial(t, tcp.Addr().String()).draw()
	raw, err := (<-l.last).(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	for option, want := range map[int]int{unix.TCP_KEEPIDLE: 15, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 3} {
		require.NoError(t, raw.Control(func(fd uintptr) {
			on, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)
			require.NoError(t, err)
			require.Equal(t, 1, on)
			got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}))
	}
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, mongowire.ErrServerClosed)
}

// TestSilentClient has a client that has a ticket and a cursor, and from which nothing comes any
// more, not even the end of its connection: the ticket is free after its lease.
func TestSilentClient(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{Lease: 50 * time.Millisecond, ChunkBytes: 1})
	dial(t, addr).put(1, 4)
	silent := dial(t, addr)
	silent.draw()
	silent.do(bson.D{{"find", "read.bin"}, {"batchSize", 1}}, "")
	require.Equal(t, 1, s.Cursors())
	eventually(t, func() bool { n, _ := s.Out(); return n == 0 })
	require.Equal(t, 1, s.Conns()-1)
	dial(t, addr).put(2, 4)
}
