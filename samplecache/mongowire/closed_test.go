package mongowire_test

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// TestCacheClosedUnderTheServer closes a cache whose room is all drawn: the room is free when the
// server is closed, too.
func TestCacheClosedUnderTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testkit.MemoryDir(t), "cache")
	require.NoError(t, dircache.Create(dir, pair(t, 4), samplecache.Config{Samples: 2}))
	open := func() *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := open()
	s, addr := serve(t, c, mongowire.Options{})
	a, b, waits := dial(t, addr), dial(t, addr), dial(t, addr)
	id := a.draw()
	b.draw()
	ended := make(chan error, 1)
	go func() {
		_, err := waits.tryDraw()
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, c.Close())
	require.Contains(t, a.insert(sample(t, id, 1, 4)...), "already closed")
	require.ErrorContains(t, <-ended, "already closed")
	require.Contains(t, firstError(a.do(drawing(), "")), "already closed")
	require.NoError(t, s.Close())
	c = open()
	p, err := c.Producer("")
	require.NoError(t, err)
	for range 2 {
		_, err := p.Reserve(within(t, 5*time.Second))
		require.NoError(t, err)
	}
}

// A late listener accepts a connection after its Close.
type late struct {
	net.Listener
	closed chan struct{}
	once   sync.Once
	conn   net.Conn
}

func (l *late) Accept() (net.Conn, error) {
	<-l.closed
	return l.conn, nil
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// TestAcceptedWhileItCloses has a client that connects while the server is closed: it is not left
// waiting.
func TestAcceptedWhileItCloses(t *testing.T) {
	theirs, ours := net.Pipe()
	s, err := mongowire.New(memory(t, pair(t, 4), 1), mongowire.Options{Database: "unit"})
	require.NoError(t, err)
	l := &late{closed: make(chan struct{}), conn: theirs}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	eventually(t, func() bool { return s.Listeners() == 1 })
	require.NoError(t, ours.SetReadDeadline(time.Now().Add(5*time.Second)))
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, mongowire.ErrServerClosed)
	_, err = ours.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}
