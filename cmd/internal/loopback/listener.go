package loopback

import (
	"net"
	"sync"
)

// A boundListener accepts a connection only while fewer than a number are open.
type boundListener struct {
	net.Listener
	slots chan struct{} // has an element for each open connection
	done  chan struct{} // closed by Close
	once  sync.Once
}

// bound returns l with at most most open connections.
func bound(l net.Listener, most int) *boundListener {
	return &boundListener{Listener: l, slots: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept waits until there is room for a connection, and then for the connection.
func (l *boundListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &boundConn{Conn: c, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close closes the listener, and ends an Accept that waits.
func (l *boundListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// A boundConn is a connection that makes room when it is closed.
type boundConn struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *boundConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
