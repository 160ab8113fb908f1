package loopback

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Options are the options of [Listen].
type Options struct {
	Name        string // of the program that prints the link, for pages
	Port        int    // 0 means any free port
	Connections int    // how many are open at once; 0 means 256
	// OnError gets errors of connections, and panics of the handler; nil ignores them.
	OnError func(text string)
}

// A Server serves on a loopback address.
type Server struct {
	name   string
	host   string // of the link: 127.0.0.1:41973
	port   string
	token  string
	cookie string // its name
	listen net.Listener
	http   *http.Server
}

const (
	grace     = 500 * time.Millisecond // for requests that are being answered at the end
	lastGrace = 250 * time.Millisecond // for handlers to see that their request has ended
)

// Listen begins to listen on 127.0.0.1, or on [::1] on a machine without IPv4. Connections wait
// until Serve is called.
func Listen(opt Options) (*Server, error) {
	l, err := listenAt("127.0.0.1", opt.Port)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		l, err = listenAt("::1", opt.Port)
	}
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &Server{name: opt.Name, host: l.Addr().String(), port: port, token: rand.Text(), cookie: "tdict-" + port}
	s.listen = bound(l, cmp.Or(opt.Connections, 256))
	s.http = &http.Server{
		ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10,
		DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols), ErrorLog: logger(opt.OnError),
	}
	s.http.Protocols.SetHTTP1(true)
	return s, nil
}

func listenAt(host string, port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
}

// Link returns the address that lets a browser in. Everybody who has the link can
// read the pages of the handler.
func (s *Server) Link() string { return "http://" + s.host + "/?token=" + s.token }

// Serve serves h until ctx ends, and then closes the server. Requests that are being answered go on
// for half a second. Then their contexts end, which must end their handlers, and connections are
// closed. Serve is called once. It returns nil after the end of ctx, otherwise why it cannot accept
// connections.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.http.Handler = s.guard(h)
	s.http.BaseContext = func(net.Listener) context.Context { return requests }
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listen) }()
	select {
	case err := <-served:
		return errors.Join(err, s.http.Close())
	case <-ctx.Done():
	}
	err := s.shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		cancel()
		err = s.shutdown(lastGrace)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-served // http.ErrServerClosed
	return err
}

// shutdown closes the listener and waits for the end of all requests, no longer than patience.
func (s *Server) shutdown(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.http.Shutdown(ctx)
}

// Close closes a server that Serve was not called for.
func (s *Server) Close() error { return s.listen.Close() }

// logger returns a log whose lines go to tell.
func logger(tell func(text string)) *log.Logger {
	return log.New(teller(func(text string) {
		if tell != nil {
			tell(strings.TrimSuffix(text, "\n"))
		}
	}), "", 0)
}

// A teller is a writer that is a function.
type teller func(text string)

// Write implements io.Writer.
func (t teller) Write(b []byte) (int, error) {
	t(string(b))
	return len(b), nil
}
