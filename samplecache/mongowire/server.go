package mongowire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// ErrServerClosed says that a server was shut down or closed.
var ErrServerClosed = errors.New("mongowire: server closed")

// A Server serves a cache to clients of MongoDB. Safe for concurrent use.
type Server struct {
	opt    Options
	secret *secret // or nil
	made   bool    // the cache is made by Options.Create

	store    atomic.Pointer[store] // nil until there is a cache
	messages *memory
	small    *memory // small messages
	replies  *memory
	tickets  tickets
	cursors  cursors
	readers  readers
	status   status
	guests   guests

	life    context.Context // ends with Close
	end     context.CancelCauseFunc
	drawing context.Context // ends with Shutdown and Close
	stop    context.CancelCauseFunc

	mu        sync.Mutex
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	lastConn  int64
	active    atomic.Int64 // commands that are being answered
	running   sync.WaitGroup
}

// New returns a server of a cache, which stays the caller's: close it after the server. If c is nil
// there is no cache yet, and opt.Create makes it.
//
// New returns samplecache.ErrConfig for invalid options, including an Inflight without room for a
// sample, and samplecache.ErrClosed for a closed cache.
func New(c *samplecache.Cache, opt Options) (*Server, error) {
	opt, err := opt.filled(c)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opt: opt, made: c == nil, secret: newSecret(opt.User, opt.Password),
		listeners: map[net.Listener]bool{}, conns: map[*conn]bool{},
		messages: newMemory(opt.Inflight*3/8, maxMessage), small: newMemory(opt.Inflight/16, small), replies: newMemory(opt.Inflight/16, small),
	}
	s.tickets.start(opt)
	s.guests.start()
	s.cursors.open = map[int64]*cursor{}
	s.cursors.bytes = map[string]int{}
	s.readers.of = map[*conn]uint64{}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.drawing, s.stop = context.WithCancelCause(s.life)
	if c != nil {
		err = s.serveCache(c)
	}
	return s, err
}

// serveCache makes the server serve a cache.
func (s *Server) serveCache(c *samplecache.Cache) error {
	st, err := newStore(c, s.opt)
	if err != nil {
		return err
	}
	if stats, err := c.Stats(); err == nil {
		s.status.note(stats)
	}
	s.store.Store(st)
	s.tickets.room.shrink(st.need) // clients may wait for all bytes
	s.running.Go(func() { s.watch(c) })
	return nil
}

// Serve accepts connections from l until the server is shut down or closed, and then returns
// [ErrServerClosed]. It also returns errors of l. It closes l.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.listen(l) {
		return ErrServerClosed
	}
	for {
		nc, err := l.Accept()
		switch {
		case s.life.Err() != nil:
			if err == nil {
				_ = nc.Close()
			}
			return ErrServerClosed
		case err != nil && retryable(err):
			if !s.guests.makeRoom() {
				time.Sleep(50 * time.Millisecond)
			}
			continue
		case err != nil:
			return fmt.Errorf("mongowire: %w", err)
		}
		s.accept(nc)
	}
}

// retryable reports whether an error of Accept is temporary: the process or the system has no
// descriptor left, or the client has gone already.
func retryable(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

// listen adds l to the listeners that Close closes. It returns false if the server is closed.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.listeners[l] = true
	return true
}

// sendBuffer bounds what the kernel keeps of a reply that its client does not take, which is 4 MiB
// by default: some hundred such clients took all memory that the kernel has for TCP, so that no
// connection of the machine went on.
const sendBuffer = 256 << 10

// accept serves a connection.
func (s *Server) accept(nc net.Conn) {
	if tcp, ok := nc.(*net.TCPConn); ok { // notices a client that vanished without closing
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		_ = nc.Close()
		return
	}
	s.lastConn++
	c := newConn(s, nc, s.lastConn)
	s.conns[c] = true
	s.guests.enter(c)
	s.running.Go(c.serve)
}

// Shutdown stops giving out tickets, waits until the sample of each ticket is committed or given
// up, or until ctx ends, and then closes the server. It returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop(ErrServerClosed)
	var err error
	select {
	case <-s.tickets.drain():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return errors.Join(err, s.Close())
}

// Close closes all listeners and connections, and waits for commands that are being answered.
// Incomplete samples are given up. Close returns [ErrServerClosed] if it was called before.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.life.Err() != nil {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.end(ErrServerClosed)
	for l := range s.listeners {
		_ = l.Close() // Serve closes it, too
	}
	for c := range s.conns {
		_ = c.Conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	st := s.store.Load()
	if st == nil {
		return nil
	}
	if s.made {
		return st.cache.Close()
	}
	return nil
}

// report passes an error that no client gets to OnError.
func (s *Server) report(err error) { s.opt.OnError(fmt.Errorf("mongowire: %w", err)) }
