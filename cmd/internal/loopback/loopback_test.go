package loopback

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// greeter answers with the address that it sees.
var greeter = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.URL) })

// start serves h until the test ends. change may change the server before.
func start(t *testing.T, h http.Handler, opt Options, change ...func(*Server)) *Server {
	t.Helper()
	s, err := Listen(opt)
	require.NoError(t, err)
	for _, f := range change {
		f(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return s
}

// ask sends a request with the right cookie and host, which lines may replace, and returns the
// answer. A line that ends in a colon removes that header.
func ask(t *testing.T, s *Server, method, address string, lines ...string) (*http.Response, string) {
	t.Helper()
	headers := []string{"Host: " + s.host, "Cookie: " + s.cookie + "=" + s.token}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		for i := range headers {
			if strings.HasPrefix(headers[i], name+":") {
				headers = append(headers[:i], headers[i+1:]...)
				break
			}
		}
		if value != "" {
			headers = append(headers, line)
		}
	}
	c := dial(t, s)
	defer c.Close()
	_, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\n%s\r\n\r\n", method, address, strings.Join(headers, "\r\n"))
	require.NoError(t, err)
	got, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	require.NoError(t, err)
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got, string(body)
}

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.host)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return c
}

func TestLinkBecomesCookie(t *testing.T) {
	s := start(t, greeter, Options{})
	got, _ := ask(t, s, "GET", "/leaf?k=a%2Fb&token="+s.token+"&from=3", "Cookie:")
	require.Equal(t, 303, got.StatusCode)
	require.Equal(t, "http://"+s.host+"/leaf?k=a%2Fb&from=3", got.Header.Get("Location"))
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	require.Equal(t, fmt.Sprintf("tdict-%s=%s; Path=/; HttpOnly; SameSite=Strict", s.port, s.token), got.Header.Get("Set-Cookie"))

	got, _ = ask(t, s, "GET", "//evil.test/?token="+s.token, "Cookie:")
	require.Equal(t, "http://"+s.host+"//evil.test/", got.Header.Get("Location"), "a redirect stays on this server")

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	require.Equal(t, "200 hello /", get(t, client, s.Link()))
	require.Equal(t, "200 hello /rows?from=1", get(t, client, "http://"+s.host+"/rows?from=1"))
}

// get returns status and body of a page.
func get(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	got, err := client.Get(address)
	require.NoError(t, err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return fmt.Sprint(got.StatusCode, " ", string(body))
}

func TestGuard(t *testing.T) {
	s := start(t, greeter, Options{Name: "the program"})
	own := func(host string) string { return "Host: " + host + ":" + s.port }
	tests := []struct {
		name    string
		method  string
		address string
		header  string
		status  int
		text    string
	}{
		{"the cookie lets in", "GET", "/?k=a", "", 200, "hello /?k=a"},
		{"HEAD is answered", "HEAD", "/", "", 200, ""},
		{"no cookie", "GET", "/", "Cookie:", 403, "link that the program has printed"},
		{"a wrong cookie", "GET", "/", "Cookie: " + s.cookie + "=x", 403, "No token"},
		{"an empty cookie", "GET", "/", "Cookie: " + s.cookie + "=", 403, "No token"},
		{"the cookie of another port", "GET", "/", "Cookie: tdict-1=" + s.token, 403, "No token"},
		{"another server has set a cookie of this name too", "GET", "/", "Cookie: " + s.cookie + "=x; " + s.cookie + "=" + s.token, 200, "hello"},
		{"a wrong token", "GET", "/?token=x", "Cookie:", 403, "Another token"},
		{"an empty token", "GET", "/?token=", "Cookie:", 403, "Another token"},
		{"part of the token", "GET", "/?token=" + s.token[:10], "Cookie:", 403, "Another token"},
		{"a wrong token before the right one", "GET", "/?token=x&token=" + s.token, "Cookie:", 403, "Another token"},
		{"a wrong token beside a cookie", "GET", "/?token=x", "", 403, "Another token"},
		{"localhost", "GET", "/", own("localhost"), 200, "hello"},
		{"localhost in upper case", "GET", "/", own("LOCALHOST"), 200, "hello"},
		{"an IPv6 host", "GET", "/", own("[::1]"), 200, "hello"},
		{"a name that points to this machine", "GET", "/", own("evil.test"), 403, "Unknown host"},
		{"a name that begins like this one", "GET", "/", own("localhost.evil.test"), 403, "Unknown host"},
		{"another loopback address", "GET", "/", own("127.0.0.2"), 403, "Unknown host"},
		{"another port", "GET", "/", "Host: 127.0.0.1:1", 403, "Unknown host"},
		{"a host without a port", "GET", "/", "Host: 127.0.0.1", 403, "Unknown host"},
		{"a host with two ports", "GET", "/", "Host: 127.0.0.1:1:" + s.port, 403, "Unknown host"},
		{"another host in the address", "GET", "http://evil.test/", "", 403, "Unknown host"},
		{"a foreign host with the token", "GET", "/?token=" + s.token, own("evil.test"), 403, "Unknown host"},
		{"its own origin", "GET", "/", "Origin: http://" + s.host, 200, "hello"},
		{"the origin of another port", "GET", "/", "Origin: http://127.0.0.1:1", 403, "another page"},
		{"the origin of another host", "GET", "/", "Origin: http://evil.test", 403, "another page"},
		{"an origin that is hidden", "GET", "/", "Origin: null", 403, "another page"},
		{"an origin with another scheme", "GET", "/", "Origin: https://" + s.host, 403, "another page"},
		{"a page of this server", "GET", "/", "Sec-Fetch-Site: same-origin", 200, "hello"},
		{"the address bar", "GET", "/", "Sec-Fetch-Site: none", 200, "hello"},
		{"a page of another port", "GET", "/", "Sec-Fetch-Site: same-site", 403, "another page"},
		{"a page of another site", "GET", "/", "Sec-Fetch-Site: cross-site", 403, "another page"},
		{"another site with the token", "GET", "/?token=" + s.token, "Sec-Fetch-Site: cross-site", 403, "another page"},
		{"POST", "POST", "/", "", 405, "GET and HEAD"},
		{"OPTIONS of all", "OPTIONS", "*", "", 405, "GET and HEAD"},
		{"a body that does not come", "GET", "/", "Content-Length: 5", 400, "body"},
		{"a chunked body that does not come", "GET", "/", "Transfer-Encoding: chunked", 400, "body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			if tt.header != "" {
				lines = append(lines, tt.header)
			}
			began := time.Now()
			got, body := ask(t, s, tt.method, tt.address, lines...)
			require.Equal(t, tt.status, got.StatusCode)
			require.Contains(t, body, tt.text)
			require.NotContains(t, body, s.token)
			require.Less(t, time.Since(began), 9*time.Second)
			if tt.status == 405 {
				require.Equal(t, "GET, HEAD", got.Header.Get("Allow"))
			}
			if tt.status == 403 {
				require.Contains(t, body, "<h1>")
				require.NotContains(t, body, "script")
				require.Contains(t, got.Header.Get("Content-Security-Policy"), "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
				require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
				require.Equal(t, "no-referrer", got.Header.Get("Referrer-Policy"))
				require.Empty(t, got.Header.Get("Set-Cookie"))
			}
		})
	}
}

func TestHugeHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, greeter, Options{})
	long := strings.Repeat("x", 64<<10)
	for name, request := range map[string]string{
		"a header":     "GET / HTTP/1.1\r\nX: " + long + "\r\n\r\n",
		"an address":   "GET /" + long + " HTTP/1.1\r\n\r\n",
		"many headers": "GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 64<<10/6) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, s)
			defer c.Close()
			_, err := fmt.Fprint(c, request)
			require.NoError(t, err)
			got, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.Equal(t, 431, got.StatusCode)
		})
	}
	require.NoError(t, hello(s))
}

func TestPort80IsLeftOut(t *testing.T) {
	s := &Server{port: "80"}
	for host, want := range map[string]bool{"127.0.0.1": true, "localhost:80": true, "[::1]": true, "127.0.0.1:81": false, "evil.test": false} {
		require.Equal(t, want, s.isOwn(host), host)
	}
}

func TestServersDoNotShareCookies(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	a, b := start(t, greeter, Options{}), start(t, greeter, Options{})
	require.NotEqual(t, a.token, b.token)
	require.Equal(t, "200 hello /", get(t, client, a.Link()))
	require.Contains(t, get(t, client, "http://"+b.host+"/"), "403 ")
	require.Equal(t, "200 hello /", get(t, client, b.Link()))
	require.Equal(t, "200 hello /", get(t, client, "http://"+a.host+"/"), "the cookie of b does not replace the cookie of a")
	at, err := url.Parse(a.Link())
	require.NoError(t, err)
	require.Len(t, jar.Cookies(at), 2)
}

func TestPortIsTaken(t *testing.T) {
	s := start(t, greeter, Options{})
	var port int
	_, err := fmt.Sscan(s.port, &port)
	require.NoError(t, err)
	_, err = Listen(Options{Port: port})
	require.ErrorContains(t, err, "127.0.0.1:"+s.port)
}

func TestConnectionsAreBounded(t *testing.T) {
	const most, clients = 20, 1000
	var open, peak atomic.Int64
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for now := open.Add(1); ; {
			if old := peak.Load(); now <= old || peak.CompareAndSwap(old, now) {
				break
			}
		}
		defer open.Add(-1)
		greeter(w, r)
	}), Options{Connections: most})
	var all sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		all.Go(func() { failed <- hello(s) })
	}
	all.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, peak.Load(), int64(most))
}

// hello asks for a page over a connection of its own.
func hello(s *Server) error {
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		return err
	}
	defer c.Close()
	if err = c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nCookie: %s=%s\r\n\r\n", s.host, s.cookie, s.token); err != nil {
		return err
	}
	got, err := io.ReadAll(c)
	if err == nil && !strings.HasPrefix(string(got), "HTTP/1.1 200") {
		err = fmt.Errorf("got %q", got)
	}
	return err
}

func TestStalledConnectionsHoldNothing(t *testing.T) {
	t.Parallel()
	s := start(t, greeter, Options{Connections: 4}, func(s *Server) { s.http.ReadHeaderTimeout = 300 * time.Millisecond })
	for i := range 8 {
		c := dial(t, s)
		defer c.Close()
		_, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: "[:2*i])
		require.NoError(t, err)
		if i == 2 { // one connection is left
			require.NoError(t, hello(s))
		}
	}
	require.NoError(t, hello(s), "stalled connections are closed, and others had to wait for that")
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	s := start(t, greeter, Options{Connections: 1}, func(s *Server) {
		require.Positive(t, s.http.IdleTimeout)
		s.http.IdleTimeout = 50 * time.Millisecond
	})
	c := dial(t, s)
	defer c.Close()
	_, err := fmt.Fprintf(c, "HEAD / HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", s.host, s.cookie, s.token)
	require.NoError(t, err)
	require.NoError(t, hello(s))
}

func TestEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	tests := []struct {
		name    string
		handler func(w http.ResponseWriter, r *http.Request)
		want    string // the body that the client gets
		err     error  // of reading it
	}{
		{"a stream ends", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "began", nil},
		{"a request that is being answered gets a grace", func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(50 * time.Millisecond):
				fmt.Fprint(w, " and ended")
			}
		}, "began and ended", nil},
		{"a handler that does not end is left", func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			<-release
		}, "began", io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Listen(Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			served := make(chan error, 1)
			go func() {
				served <- s.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprint(w, "began")
					_ = http.NewResponseController(w).Flush()
					tt.handler(w, r)
				}))
			}()
			c := dial(t, s)
			defer c.Close()
			_, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", s.host, s.cookie, s.token)
			require.NoError(t, err)
			got, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			began := time.Now()
			cancel()
			require.NoError(t, <-served)
			require.Less(t, time.Since(began), 20*time.Second)
			body, err := io.ReadAll(got.Body)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, string(body))
			_, err = net.Dial("tcp", s.host)
			require.Error(t, err)
		})
	}
}

// TestEndOfStalledClients ends while a handler writes to a client that reads nothing.
func TestEndOfStalledClients(t *testing.T) {
	t.Parallel()
	s, err := Listen(Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served, failed := make(chan error, 1), make(chan error, 1)
	var written atomic.Int64
	go func() {
		served <- s.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for block := make([]byte, 1<<16); ; written.Add(1) {
				if _, err := w.Write(block); err != nil {
					failed <- err
					return
				}
			}
		}))
	}()
	c := dial(t, s)
	defer c.Close()
	_, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", s.host, s.cookie, s.token)
	require.NoError(t, err)
	last := int64(-1)
	require.Eventually(t, func() bool { // until the buffers are full
		before := last
		last = written.Load()
		return last > 0 && last == before
	}, time.Minute, 20*time.Millisecond)
	began := time.Now()
	cancel()
	require.NoError(t, <-served)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Error(t, <-failed)
}

func TestCloseWithoutServe(t *testing.T) {
	s, err := Listen(Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = net.Dial("tcp", s.host)
	require.Error(t, err)
}

func TestPanicsAreTold(t *testing.T) {
	told := make(chan string, 10)
	s := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken leaf") }), Options{OnError: func(text string) { told <- text }})
	require.Error(t, hello(s))
	require.Contains(t, <-told, "broken leaf")
}
