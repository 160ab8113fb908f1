//go:build unix

package natscache_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// stop stops a worker with SIGSTOP until resume.
func (w *worker) stop()   { require.NoError(w.t, w.cmd.Process.Signal(syscall.SIGSTOP)) }
func (w *worker) resume() { require.NoError(w.t, w.cmd.Process.Signal(syscall.SIGCONT)) }

// stop stops a server with SIGSTOP until resume.
func (s *serverProcess) stop()   { require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGSTOP)) }
func (s *serverProcess) resume() { require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGCONT)) }

// late is how long a call with a deadline of 300 ms may take if servers do not answer.
const late = 2300 * time.Millisecond

// within is how long a dead process may hold things.
const within = lease + lease/2 + time.Second

// TestServerKilled kills a server again and again in the middle of puts: no sample that was
// acknowledged is lost, and each number is there once.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	require.NoError(t, natscache.Create(soon(t), s.url(), "killed", marked("", 0, 800), audited(400)))
	var all []*worker
	for _, name := range []string{"one", "other"} {
		all = append(all, start(t, job{Role: "put", URL: s.url(), Place: "killed", Name: name, Size: 800}))
	}
	for range longtests.Times(6, 60) {
		for _, w := range all {
			w.advances(10*time.Second, 1+rand.Uint64N(60))
		}
		s.kill()
		s.start()
	}
	for _, w := range all {
		took := w.advances(10*time.Second, 5)
		t.Logf("%s: slowest put %v, the last 5 took %v", w.job.Name, w.slow(), took)
		w.kill()
	}
	c := join(t, natscache.Engine{URL: s.url(), Name: "killed"})
	t.Logf("acknowledged %v, found %v", numbers(all...), audit(t, c, 800, numbers(all...)))
}

// TestDeadAfterRestart kills a process that holds all slots, after the server was started again.
// Others must notice.
func TestDeadAfterRestart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	require.NoError(t, natscache.Create(soon(t), s.url(), "restart", marked("", 0, 8), audited(1)))
	c := join(t, natscache.Engine{URL: s.url(), Name: "restart"})
	p := producer(t, c, "other")
	w := start(t, job{Role: "reserve", URL: s.url(), Place: "restart", Name: "one", Size: 8})
	w.hears(patience, "ready")
	s.kill()
	s.start()
	eventually(t, patience, "the server answers", func() bool { _, err := c.Stats(); return err == nil })
	time.Sleep(2 * lease) // presence goes on, for a process that lives
	stats, err := c.Stats()
	require.NoError(t, err)
	require.Equal(t, 1, stats.Reserved, "a process that lives keeps its slot")
	w.kill()
	began := time.Now()
	require.NoError(t, p.Put(soon(t), marked("other", 0, 8)))
	require.Less(t, time.Since(began), within)
}

// TestServerStopped stops a server with SIGSTOP in the middle of large puts, when the memory of the
// connection is full. Calls must return soon after their deadlines, and Close must not wait.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	s := newServer(t)
	require.NoError(t, natscache.Create(soon(t), s.url(), "stopped", marked("", 0, size), audited(3)))
	c := join(t, natscache.Engine{URL: s.url(), Name: "stopped"})
	p := producer(t, c, "one")
	require.NoError(t, p.Put(soon(t), marked("one", 0, size)))
	var slots []*samplecache.Slot
	for range 2 {
		slot, err := p.Reserve(soon(t))
		require.NoError(t, err)
		slots = append(slots, slot)
	}
	s.stop()
	t.Cleanup(s.resume)
	var all sync.WaitGroup
	for _, slot := range slots {
		all.Go(func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			err := slot.Commit(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > late {
				t.Errorf("Commit while the server is stopped: after %v: %v", time.Since(began), err)
			}
			t.Logf("Commit: after %v: %v", time.Since(began), err)
		})
	}
	all.Wait()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := c.Latest(ctx)
	require.ErrorIs(t, err, samplecache.ErrUnavailable)
	require.Less(t, time.Since(began), late)
	t.Logf("Latest: after %v: %v", time.Since(began), err)
	began = time.Now()
	require.NoError(t, c.Close())
	require.Less(t, time.Since(began), 3*time.Second)
	t.Logf("Close took %v", time.Since(began))
}

// serve starts a server in this process.
func serve(t testing.TB, configure func(*server.Options)) *natscache.Server {
	t.Helper()
	s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Configure: configure})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// admin returns JetStream of a server.
func admin(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}

// TestUnfitServers checks the errors of servers that cannot have a cache. They come at once,
// whatever the context, and say what to do.
func TestUnfitServers(t *testing.T) {
	t.Parallel()
	user := func(name string) *server.User { return &server.User{Username: name, Password: "secret"} }
	users := func(p *server.Permissions) func(o *server.Options) {
		return func(o *server.Options) {
			one := user("one")
			one.Permissions = p
			o.Users = []*server.User{one, user("all")}
		}
	}
	none := func(*server.Options) {}
	for name, is := range map[string]struct {
		configure func(*server.Options)
		url       func(t *testing.T, url string) string
		made      bool // the cache is there
		config    natscache.Config
		create    error
		open      error
		text      string
	}{
		"no server": {none, func(*testing.T, string) string { return "nats://127.0.0.1:1" }, false,
			natscache.Config{}, samplecache.ErrUnavailable, samplecache.ErrUnavailable, "no servers available"},
		"no JetStream in the account": {func(o *server.Options) {
			a, b := server.NewAccount("a"), server.NewAccount("b")
			o.Accounts = []*server.Account{a, b}
			one := user("one")
			one.Account = a
			o.Users = []*server.User{one}
		}, as("one:secret"), false, natscache.Config{}, samplecache.ErrUnavailable, samplecache.ErrUnavailable, "JetStream"},
		"a wrong password": {users(nil), as("one:wrong"), true, natscache.Config{}, fs.ErrPermission, fs.ErrPermission, "Authorization Violation"},
		"no user":          {users(nil), as(""), true, natscache.Config{}, fs.ErrPermission, fs.ErrPermission, "Authorization Violation"},
		"a user who may do nothing": {users(&server.Permissions{Publish: &server.SubjectPermission{Deny: []string{">"}}}), as("one:secret"), true,
			natscache.Config{}, fs.ErrPermission, fs.ErrPermission, "$JS.API"},
		"a user who may not write": {users(&server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"tdcache.>"}}}), as("one:secret"), true,
			natscache.Config{}, fs.ErrExist, fs.ErrPermission, "tdcache.there"},
		"an old server":      {none, told("2.9.25"), true, natscache.Config{}, natscache.ErrServerVersion, natscache.ErrServerVersion, `got version "2.9.25", want at least 2.10`},
		"a server of no age": {none, told("new"), true, natscache.Config{}, natscache.ErrServerVersion, natscache.ErrServerVersion, `"new"`},
		"small messages": {func(o *server.Options) { o.MaxPayload = 1<<20 - 1 }, as(""), false,
			natscache.Config{}, samplecache.ErrConfig, samplecache.ErrConfig, "max_payload"},
		"little room on disk": {func(o *server.Options) { o.JetStreamMaxStore = 32 << 20 }, as(""), false,
			natscache.Config{}, natscache.ErrNoRoom, fs.ErrNotExist, ""},
		"room for some streams": {func(o *server.Options) { o.JetStreamMaxStore = 120 << 20 }, as(""), false,
			natscache.Config{}, natscache.ErrNoRoom, fs.ErrNotExist, ""},
		"little memory": {func(o *server.Options) { o.JetStreamMaxMemory = 32 << 20 }, as(""), false,
			natscache.Config{Memory: true}, natscache.ErrNoRoom, fs.ErrNotExist, ""},
		"replicas on one server": {none, as(""), false, natscache.Config{Replicas: 3}, samplecache.ErrConfig, fs.ErrNotExist, "replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, is.configure)
			config := is.config
			config.Samples = 2
			if is.made {
				all := as("all:secret")(t, s.URL())
				require.NoError(t, natscache.Create(soon(t), all, "there", marked("", 0, 8), config))
			}
			url := is.url(t, s.URL())
			began := time.Now()
			err := natscache.Create(t.Context(), url, "there", marked("", 0, 8), config)
			require.ErrorIs(t, err, is.create)
			t.Log("Create:", err)
			_, err2 := natscache.Engine{URL: url, Name: "there"}.Join(t.Context(), engine.Options{})
			require.ErrorIs(t, err2, is.open)
			t.Log("Join:", err2)
			require.Contains(t, err.Error()+err2.Error(), is.text)
			require.NotContains(t, err.Error()+err2.Error(), "secret")
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// as returns the address with a user.
func as(user string) func(t *testing.T, url string) string {
	return func(_ *testing.T, url string) string {
		if user == "" {
			return url
		}
		return strings.Replace(url, "//", "//"+user+"@", 1)
	}
}

// told returns a link to a server that says it has another version.
func told(version string) func(t *testing.T, url string) string {
	return func(t *testing.T, url string) string {
		k := newLink(t, strings.TrimPrefix(url, "nats://"))
		k.faults.Store(&faults{version: version})
		return k.url()
	}
}

// TestNoJetStream checks a server without JetStream.
func TestNoJetStream(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	s.Start()
	defer s.Shutdown()
	require.True(t, s.ReadyForConnections(patience))
	config := natscache.Config{}
	config.Samples = 1
	err = natscache.Create(t.Context(), s.ClientURL(), "none", marked("", 0, 8), config)
	require.ErrorIs(t, err, samplecache.ErrUnavailable)
	require.ErrorContains(t, err, "start the server with JetStream enabled")
	_, err = samplecache.Open(t.Context(), natscache.Engine{URL: s.ClientURL(), Name: "none"}, samplecache.Options{})
	require.ErrorIs(t, err, samplecache.ErrUnavailable)
	require.ErrorContains(t, err, "start the server with JetStream enabled")
}
