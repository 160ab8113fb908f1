package natscache_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// serverVariable is the environment variable that makes a process of this test a server: a
// serverSetup as JSON.
const serverVariable = "NATSCACHE_TEST_SERVER"

func TestMain(m *testing.M) {
	if is := os.Getenv(serverVariable); is != "" {
		serveHere(is)
		return
	}
	if is := os.Getenv(workerVariable); is != "" {
		workHere(is)
		return
	}
	if is := os.Getenv(benchVariable); is != "" {
		benchHere(is)
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // they wait, most of the time
		panic(err)
	}
	os.Exit(m.Run())
}

// A serverSetup says how a process serves.
type serverSetup struct {
	Addr, Dir string
	Name      string   // of the server in a cluster, "" without a cluster
	Cluster   string   // its address there
	Routes    []string // addresses of the servers of the cluster
}

// options is [natscache.ServeOptions.Configure].
func (s serverSetup) options(o *server.Options) {
	if s.Name == "" {
		return
	}
	host, port, _ := net.SplitHostPort(s.Cluster)
	n, _ := strconv.Atoi(port)
	o.ServerName, o.Cluster = s.Name, server.ClusterOpts{Name: "three", Host: host, Port: n, NoAdvertise: true} // links stay the only way
	o.Routes = server.RoutesFromStr(strings.Join(s.Routes, ","))
}

// serveHere is a server until standard input ends.
func serveHere(is string) {
	var setup serverSetup
	err := json.Unmarshal([]byte(is), &setup)
	var s *natscache.Server
	if err == nil {
		s, err = natscache.Serve(natscache.ServeOptions{Addr: setup.Addr, Dir: setup.Dir, Configure: setup.options})
	}
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
	t     testing.TB
	setup serverSetup
	cmd   *exec.Cmd
	in    io.Closer
}

// newServer starts a server with files in a new directory.
func newServer(t testing.TB) *serverProcess {
	t.Helper()
	s := &serverProcess{t: t, setup: serverSetup{Dir: t.TempDir(), Addr: "127.0.0.1:0"}}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start starts the server, at the address that it had before.
func (s *serverProcess) start() {
	s.t.Helper()
	exe, err := os.Executable()
	require.NoError(s.t, err)
	setup, err := json.Marshal(s.setup)
	require.NoError(s.t, err)
	s.cmd = exec.Command(exe)
	s.cmd.Env = append(os.Environ(), serverVariable+"="+string(setup))
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
	s.setup.Addr = u.Host
}

// kill kills the server, as SIGKILL does.
func (s *serverProcess) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// close ends the server, as a server does that is asked to end.
func (s *serverProcess) close() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

func (s *serverProcess) url() string { return "nats://" + s.setup.Addr }

// A link is a proxy between a session and its server, which can be cut.
type link struct {
	to     string
	l      net.Listener
	faults atomic.Pointer[faults] // of new connections; nil for none
	mu     sync.Mutex
	cut    bool
	all    map[net.Conn]bool
	joined int // number of connections so far
}

// Faults say what a link does to a connection.
type faults struct {
	cutWithin int64         // a direction ends at a random byte below this one, 0 for never
	drop      float64       // probability that a message for the client is dropped
	delay     time.Duration // most that a message for the client is delayed
	version   string        // of the server, in what it tells the client; "" leaves it

	only atomic.Pointer[string] // if not nil: only messages with this text reach the client

	dropped, cuts atomic.Int64 // counts
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
		f := k.faults.Load()
		go k.copy(out, in, f.limited)
		go k.copy(in, out, func(to io.Writer, from io.Reader) error { return f.filtered(to, from) })
	}
}

func (k *link) add(both ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.joined++
	for _, c := range both {
		if k.cut {
			_ = c.Close()
		} else {
			k.all[c] = true
		}
	}
	return !k.cut
}

func (k *link) copy(to, from net.Conn, with func(to io.Writer, from io.Reader) error) {
	_ = with(to, from)
	for _, c := range []net.Conn{to, from} {
		_ = c.Close()
		k.mu.Lock()
		delete(k.all, c)
		k.mu.Unlock()
	}
}

// limited copies up to the byte at which the direction ends.
func (f *faults) limited(to io.Writer, from io.Reader) error {
	if f == nil || f.cutWithin == 0 {
		_, err := io.Copy(to, from)
		return err
	}
	_, err := io.CopyN(to, from, rand.Int64N(f.cutWithin))
	if err == nil {
		f.cuts.Add(1)
	}
	return err
}

var versionOf = regexp.MustCompile(`"version":"[^"]*"`)

// filtered copies what the server sends, message by message.
func (f *faults) filtered(to io.Writer, from io.Reader) error {
	if f == nil || f.drop == 0 && f.delay == 0 && f.version == "" {
		return f.limited(to, from)
	}
	r, w := bufio.NewReaderSize(from, 1<<16), to
	for left := rand.Int64N(max(f.cutWithin, 1)); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		if f.version != "" && strings.HasPrefix(string(line), "INFO ") {
			line = versionOf.ReplaceAll(line, []byte(`"version":"`+f.version+`"`))
		}
		words := strings.Fields(string(line))
		isMessage := len(words) > 0 && (words[0] == "MSG" || words[0] == "HMSG")
		if isMessage {
			n, err := strconv.Atoi(words[len(words)-1])
			if err != nil {
				return err
			}
			body := make([]byte, n+2)
			if _, err := io.ReadFull(r, body); err != nil {
				return err
			}
			line = append(line, body...)
		}
		if f.delay > 0 && isMessage {
			time.Sleep(rand.N(f.delay))
		}
		if only := f.only.Load(); only != nil && isMessage && !strings.Contains(string(line), *only) {
			continue
		}
		if f.drop > 0 && isMessage && rand.Float64() < f.drop {
			f.dropped.Add(1)
			continue
		}
		if f.cutWithin > 0 && int64(len(line)) > left {
			_, _ = w.Write(line[:left])
			f.cuts.Add(1)
			return errors.New("cut")
		}
		left -= int64(len(line))
		if _, err := w.Write(line); err != nil {
			return err
		}
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

// connections returns the number of connections that were made so far.
func (k *link) connections() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.joined
}

// lease is the lease of the caches of tests.
const lease = time.Second
