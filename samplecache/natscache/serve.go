package natscache

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// ServeOptions say how [Serve] serves. Dir must be set; the zero values of the other fields are the
// defaults.
type ServeOptions struct {
	// Dir is the directory in which the server keeps its files. One server at a time uses it.
	Dir string
	// Addr is the address, "host:port". "" means a free port of 127.0.0.1. Other machines reach
	// only an address of this one: then Configure must set users.
	Addr string
	// Durable makes the server sync each write, so that acknowledged samples survive a loss of
	// power.
	Durable bool
	// Configure, if not nil, changes the options of the server: users, TLS, a cluster, limits.
	Configure func(*server.Options)
}

// A Server is a NATS server in this process.
//
// Safe for concurrent use.
type Server struct {
	s      *server.Server
	lock   *vfs.Lock // of its directory; nil where the system has no locks
	closed atomic.Bool
}

// durable has the ids of the servers of this process that sync each write.
var durable sync.Map

// syncs reports whether a server is known to sync each write.
func syncs(id string) bool {
	_, ok := durable.Load(id)
	return ok
}

// Serve starts a NATS server with JetStream in this process. It returns [engine.ErrConfig] for
// invalid options, and [engine.ErrUnavailable] if the server does not start.
func Serve(opt ServeOptions) (*Server, error) {
	o, err := opt.server()
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if o.Port > 0 { // the server would not say that it cannot have the address
		l, err := net.Listen("tcp", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
		if err != nil {
			return nil, fmt.Errorf("serve: %w: %w", engine.ErrUnavailable, err)
		}
		_ = l.Close()
	}
	if err := os.MkdirAll(o.StoreDir, 0o700); err != nil {
		return nil, fmt.Errorf("serve: %w: %w", engine.ErrUnavailable, err)
	}
	lock, err := vfs.TryLock(o.StoreDir, vfs.Exclusive)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("serve: %w: another Serve uses %s: %w", engine.ErrUnavailable, o.StoreDir, err)
	}
	s, err := begin(o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve: %w", err), unlock(lock))
	}
	if o.SyncAlways {
		durable.Store(s.ID(), true)
	}
	return &Server{s: s, lock: lock}, nil
}

// begin starts a server.
func begin(o *server.Options) (*server.Server, error) {
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrConfig, err)
	}
	s.Start()
	if !s.ReadyForConnections(10*time.Second) || !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("%w: the server did not start at %s:%d, with files in %s", engine.ErrUnavailable, o.Host, o.Port, o.StoreDir)
	}
	return s, nil
}

// unlock unlocks a directory. lock is nil where the system has no locks.
func unlock(lock *vfs.Lock) error {
	if lock == nil {
		return nil
	}
	return lock.Unlock()
}

// server returns the options of a NATS server.
func (opt ServeOptions) server() (*server.Options, error) {
	host, port := "127.0.0.1", server.RANDOM_PORT
	if opt.Addr != "" {
		h, text, err := net.SplitHostPort(opt.Addr)
		if err != nil {
			return nil, fmt.Errorf("%w: got Addr %q: %w", engine.ErrConfig, opt.Addr, err)
		}
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%w: got Addr %q, want a port of at most 65535", engine.ErrConfig, opt.Addr)
		}
		if host = h; n > 0 {
			port = int(n)
		}
	}
	if opt.Dir == "" {
		return nil, fmt.Errorf("%w: got no Dir", engine.ErrConfig)
	}
	o := &server.Options{Host: host, Port: port, JetStream: true, StoreDir: opt.Dir, SyncAlways: opt.Durable, NoSigs: true, NoLog: true}
	if opt.Configure != nil {
		opt.Configure(o)
	}
	if !o.JetStream {
		return nil, fmt.Errorf("%w: got no JetStream", engine.ErrConfig)
	}
	guarded := o.Username != "" || o.Authorization != "" || len(o.Users) > 0 || len(o.Nkeys) > 0 ||
		o.CustomClientAuthentication != nil || len(o.TrustedOperators) > 0 || o.TLSVerify
	if ip := net.ParseIP(o.Host); !guarded && o.Host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%w: got Addr %q, which other machines reach, and no users: Configure sets them", engine.ErrConfig, opt.Addr)
	}
	return o, nil
}

// URL returns the address for [Engine] and [Create].
func (s *Server) URL() string {
	if s == nil || s.s == nil {
		return ""
	}
	return s.s.ClientURL()
}

// Close stops the server. Caches on file storage are there again after the next [Serve] of the same
// Dir. Processes that use them wait until then. Close returns [engine.ErrClosed] if it was called
// before.
func (s *Server) Close() error {
	if s == nil || s.s == nil || s.closed.Swap(true) {
		return engine.ErrClosed
	}
	s.s.Shutdown()
	s.s.WaitForShutdown()
	durable.Delete(s.s.ID())
	return unlock(s.lock)
}
