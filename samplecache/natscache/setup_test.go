package natscache_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// serverVariable is the environment variable that makes a process of this test a server: the
// address and the directory.
const serverVariable = "NATSCACHE_TEST_SERVER"

func TestMain(m *testing.M) {
	if is := os.Getenv(serverVariable); is != "" {
		serveHere(is)
		return
	}
	os.Exit(m.Run())
}

// serveHere is a server until standard input ends.
func serveHere(is string) {
	addr, dir, _ := strings.Cut(is, " ")
	s, err := natscache.Serve(natscache.ServeOptions{Addr: addr, Dir: dir})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test
	_ = s.Close()
}

// A serverProcess is a server in a process of its own, which a test can kill and stop.
type serverProcess struct {
	t         testing.TB
	dir, addr string
	cmd       *exec.Cmd
	in        io.Closer
}

// newServer starts a server with files in a new directory.
func newServer(t testing.TB) *serverProcess {
	t.Helper()
	s := &serverProcess{t: t, dir: t.TempDir(), addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start starts the server, at the address that it had before.
func (s *serverProcess) start() {
	s.t.Helper()
	exe, err := os.Executable()
	require.NoError(s.t, err)
	s.cmd = exec.Command(exe)
	s.cmd.Env = append(os.Environ(), serverVariable+"="+s.addr+" "+s.dir)
	s.in, err = s.cmd.StdinPipe()
	require.NoError(s.t, err)
	out, err := s.cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, s.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(s.t, err)
	u, err := url.Parse(strings.TrimSpace(line))
	require.NoError(s.t, err)
	require.NotEmpty(s.t, u.Host, line)
	s.addr = u.Host
}

// kill kills the server, as SIGKILL does.
func (s *serverProcess) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

func (s *serverProcess) url() string { return "nats://" + s.addr }

// A link is a proxy between a session and its server, which can be cut.
type link struct {
	to  string
	l   net.Listener
	mu  sync.Mutex
	cut bool
	all map[net.Conn]bool
}

// newLink makes a proxy for a server.
func newLink(t testing.TB, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	k := &link{to: to, l: l, all: map[net.Conn]bool{}}
	go k.accept()
	t.Cleanup(k.close)
	return k
}

func (k *link) url() string { return "nats://" + k.l.Addr().String() }

func (k *link) close() {
	_ = k.l.Close()
	k.Cut(true)
}

func (k *link) accept() {
	for {
		in, err := k.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", k.to)
		if err != nil || !k.add(in, out) {
			_ = in.Close()
			continue
		}
		go k.copy(out, in)
		go k.copy(in, out)
	}
}

func (k *link) add(both ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range both {
		if k.cut {
			_ = c.Close()
		} else {
			k.all[c] = true
		}
	}
	return !k.cut
}

func (k *link) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	for _, c := range []net.Conn{to, from} {
		_ = c.Close()
		k.mu.Lock()
		delete(k.all, c)
		k.mu.Unlock()
	}
}

// Cut(true) ends all connections, and refuses new ones until Cut(false).
func (k *link) Cut(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = on
	for c := range k.all {
		if on {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}
}

// lease is the lease of the caches of tests.
const lease = time.Second
