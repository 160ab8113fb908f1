//go:build unix

package natscache_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
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

// late is how long a call may take that ends soon though servers do not answer: two seconds at
// most, and more on a busy machine, but not the ten seconds after which NATS's client gives up.
const late = 9 * time.Second

// quickly calls do, which returns how long something took, until that is less than most, and three
// times at most: a busy machine is slow once, and what waits for something is slow each time.
func quickly(t testing.TB, most time.Duration, do func() time.Duration) {
	t.Helper()
	took := do()
	for range 2 {
		if took < most {
			break
		}
		took = do()
	}
	require.Less(t, took, most)
}

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
			w.advances(patience, 1+rand.Uint64N(60))
		}
		s.kill()
		s.start()
	}
	for _, w := range all {
		took := w.advances(patience, 5)
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
	t.Logf("Put took %v", time.Since(began))
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
	require.Less(t, time.Since(began), late)
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
		"two replicas":           {none, as(""), false, natscache.Config{Replicas: 2}, samplecache.ErrConfig, fs.ErrNotExist, "want 1, 3 or 5"},
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
			if errors.Is(err, natscache.ErrNoRoom) {
				require.Empty(t, streams(t, admin(t, s.URL())), "nothing takes room after Create has failed")
			}
			require.Less(t, time.Since(began), late)
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

// streams returns the configurations of the streams of a server.
func streams(t testing.TB, js jetstream.JetStream) map[string]jetstream.StreamConfig {
	t.Helper()
	all := map[string]jetstream.StreamConfig{}
	for info := range js.ListStreams(soon(t)).Info() {
		config := info.Config
		config.Metadata = nil
		all[info.Config.Name] = config
	}
	return all
}

// TestCreateAgain calls Create after another was killed at each of its steps, with another config.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	for steps := range 6 {
		again := fmt.Sprint("again", steps)
		names := []string{"tdcache_" + again + "_log", "tdcache_" + again + "_data", "tdcache_" + again + "_snap", "tdcache_" + again + "_here"}
		require.NoError(t, natscache.Create(soon(t), s.URL(), again, marked("", 0, 8), audited(7)))
		snap, err := js.Stream(soon(t), names[2])
		require.NoError(t, err)
		require.NoError(t, snap.Purge(soon(t), jetstream.WithPurgeSubject("tdcache."+again+".head")))
		if steps < 5 {
			require.NoError(t, snap.Purge(soon(t)))
		}
		for _, name := range names[min(steps, 4):] {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
		_, err = natscache.Engine{URL: s.URL(), Name: again}.Join(soon(t), engine.Options{})
		require.ErrorIs(t, err, fs.ErrNotExist)
		t.Log(err)
		require.NoError(t, natscache.Create(soon(t), s.URL(), again, marked("", 0, 8), audited(2)))
		got := streams(t, js)
		require.Len(t, got, 4)
		c := join(t, natscache.Engine{URL: s.URL(), Name: again})
		p := producer(t, c, "one")
		for n := range uint64(3) {
			require.NoError(t, p.Put(soon(t), marked("one", n, 8)))
		}
		require.Equal(t, map[string]uint64{"one": 3}, audit(t, c, 8, map[string]uint64{"one": 3}))
		require.NoError(t, c.Close())
		for _, name := range names {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
		require.NoError(t, natscache.Create(soon(t), s.URL(), again, marked("", 0, 8), audited(2)))
		require.Equal(t, streams(t, js), got, "the streams are those of the second config")
		for _, name := range names {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
	}
}

// TestCreateStorage calls Create after another was killed that had another storage.
func TestCreateStorage(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	config := audited(2)
	config.Memory = true
	require.NoError(t, natscache.Create(soon(t), s.URL(), "other", marked("", 0, 8), config))
	snap, err := admin(t, s.URL()).Stream(soon(t), "tdcache_other_snap")
	require.NoError(t, err)
	require.NoError(t, snap.Purge(soon(t)))
	err = natscache.Create(t.Context(), s.URL(), "other", marked("", 0, 8), audited(2))
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, "delete")
}

// TestCreateAtOnce has several processes make a cache at once, with different configs. Some of them
// end in the middle. At most one succeeds, and has the cache that it asked for.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	want := map[int]int64{}
	for samples := 1; samples <= 4; samples++ {
		require.NoError(t, natscache.Create(soon(t), s.URL(), "alone", marked("", 0, 8), audited(samples)))
		want[samples] = streams(t, js)["tdcache_alone_data"].MaxBytes
		for name := range streams(t, js) {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
	}
	ended := 0
	for range longtests.Times(8, 500) {
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				ctx := soon(t)
				if i > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, rand.N(15*time.Millisecond))
					defer cancel()
				}
				errs[i] = natscache.Create(ctx, s.URL(), "once", marked("", 0, 8), audited(i+1))
			})
		}
		all.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil:
				require.Equal(t, -1, winner, "two succeeded")
				winner = i
			case errors.Is(err, context.DeadlineExceeded):
				require.NotZero(t, i)
				ended++
			default:
				require.ErrorIs(t, err, fs.ErrExist)
			}
		}
		c := join(t, natscache.Engine{URL: s.URL(), Name: "once"})
		if winner >= 0 {
			require.Equal(t, winner+1, c.Config().Samples)
			require.Equal(t, want[winner+1], streams(t, js)["tdcache_once_data"].MaxBytes)
		} // otherwise one succeeded, and its context ended
		require.NoError(t, producer(t, c, "").Put(soon(t), marked("", 0, 8)))
		before := streams(t, js)
		require.ErrorIs(t, natscache.Create(soon(t), s.URL(), "once", marked("", 0, 8), audited(9)), fs.ErrExist)
		require.Equal(t, before, streams(t, js))
		require.NoError(t, c.Close())
		for name := range before {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
	}
	t.Logf("%d contexts ended", ended)
}

// TestCreateRepliesLost loses replies to Create. It goes on, and knows what it has made.
func TestCreateRepliesLost(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	k := newLink(t, s.setup.Addr)
	k.faults.Store(&faults{drop: 0.2})
	ctx := soon(t)
	var errs [16]error
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			errs[n] = natscache.Create(ctx, k.url(), fmt.Sprint("lost", n), marked("", 0, 8), audited(2))
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs[:]...))
}

// TestCreateAfterDelete makes a cache again and again, right after it was deleted: servers may have
// kept a part of it.
func TestCreateAfterDelete(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	for range longtests.Times(100, 2000) {
		require.NoError(t, natscache.Create(soon(t), s.URL(), "anew", marked("", 0, 8), audited(1)))
		for name := range streams(t, js) {
			require.NoError(t, js.DeleteStream(soon(t), name))
		}
	}
}

// TestStrangers checks streams of a cache's name that are something else, or of a newer version.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	for _, stream := range []string{"log", "data", "snap", "here"} {
		for name, is := range map[string]struct {
			mark map[string]string
			open error
			text string
		}{
			"foreign": {nil, fs.ErrNotExist, "a stream of its name is something else: tdcache_x_" + stream},
			"newer":   {map[string]string{"tensordict-samplecache": "2"}, natscache.ErrVersion, "got version 2 of stream tdcache_x_" + stream + ", want 1"},
		} {
			t.Run(stream+" "+name, func(t *testing.T) {
				require.NoError(t, natscache.Create(soon(t), s.URL(), "x", marked("", 0, 8), audited(2)))
				config := streams(t, js)["tdcache_x_"+stream]
				config.Metadata = is.mark
				_, err := js.UpdateStream(soon(t), config)
				require.NoError(t, err)
				err = natscache.Create(soon(t), s.URL(), "x", marked("", 0, 8), audited(2))
				require.ErrorIs(t, err, fs.ErrExist)
				_, err = natscache.Engine{URL: s.URL(), Name: "x"}.Join(soon(t), engine.Options{})
				require.ErrorIs(t, err, is.open)
				require.ErrorContains(t, err, is.text)
				require.Len(t, streams(t, js), 4)
				for name := range streams(t, js) {
					require.NoError(t, js.DeleteStream(soon(t), name))
				}
			})
		}
	}
}

// alone returns an engine whose sessions share nothing with those of other engines.
func alone(url, name string) natscache.Engine {
	return natscache.Engine{URL: url, Name: name, Options: []nats.Option{nats.Name("apart")}}
}

// filled makes a cache with some generations of one producer, and joins it.
func filled(t testing.TB, url, name string, config natscache.Config, samples uint64) (*samplecache.Cache, *samplecache.Producer) {
	t.Helper()
	require.NoError(t, natscache.Create(soon(t), url, name, marked("", 0, 8), config))
	c := join(t, alone(url, name))
	p := producer(t, c, "one")
	for n := range samples {
		require.NoError(t, p.Put(soon(t), marked("one", n, 8)))
	}
	return c, p
}

// ends checks that calls return an error soon, whether they wait or not.
func ends(t testing.TB, c *samplecache.Cache, p *samplecache.Producer, want error) {
	t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for name, call := range map[string]func() error{
		"Wait":  func() error { _, err := c.Wait(soon(t), 1000); return err },
		"Stats": func() error { _, err := c.Stats(); return err },
		"Put":   func() error { return p.Put(soon(t), marked("one", p.Next(), 8)) },
		"Epoch": func() error { _, err := c.Group("g", 1).Epoch(soon(t), 0); return err },
	} {
		all.Go(func() {
			err := call()
			for ; err == nil || errors.Is(err, samplecache.ErrBlocked); err = call() {
				if time.Since(began) > patience { // it was done before the attack was noticed
					break
				}
				time.Sleep(time.Millisecond)
			}
			if !errors.Is(err, want) || time.Since(began) > patience/2 {
				t.Errorf("%s: after %v: got %v, want %v", name, time.Since(began), err, want)
			}
		})
	}
	all.Wait()
	began = time.Now()
	require.NoError(t, c.Close())
	require.Less(t, time.Since(began), late)
}

// TestMemoryEnds kills a server that has a cache in memory.
func TestMemoryEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	config := audited(2)
	config.Memory = true
	c, p := filled(t, s.url(), "memory", config, 4)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	s.kill()
	s.start()
	began := time.Now()
	_, err = g.Fetch(soon(t), []int{0}, nil)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	require.Less(t, time.Since(began), late)
	t.Logf("after %v: %v", time.Since(began), err)
	ends(t, c, p, fs.ErrNotExist)
	_, err = natscache.Engine{URL: s.url(), Name: "memory"}.Join(t.Context(), engine.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestDeleted deletes streams under sessions, and makes the cache anew.
func TestDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	for name, is := range map[string][]string{"log": {"log"}, "data": {"data"}, "here": {"here"}, "all": {"log", "data", "snap", "here"}} {
		for _, anew := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, anew %v", name, anew), func(t *testing.T) {
				t.Parallel()
				place := fmt.Sprintf("deleted-%s-%v", name, anew)
				c, p := filled(t, s.URL(), place, audited(2), 4)
				g, err := c.Latest(soon(t))
				require.NoError(t, err)
				for _, one := range is {
					require.NoError(t, js.DeleteStream(soon(t), "tdcache_"+place+"_"+one))
				}
				if anew && name == "all" {
					require.NoError(t, natscache.Create(soon(t), s.URL(), place, marked("", 0, 8), audited(2)))
				}
				if name != "here" && name != "log" {
					_, err = g.Fetch(soon(t), []int{0}, nil)
					require.ErrorIs(t, err, samplecache.ErrGenerationGone)
				}
				ends(t, c, p, fs.ErrNotExist)
				if anew && name == "all" {
					c, p := join(t, alone(s.URL(), place)), (*samplecache.Producer)(nil)
					p = producer(t, c, "one")
					for n := range uint64(3) {
						require.NoError(t, p.Put(soon(t), marked("one", n, 8)))
					}
					require.Equal(t, map[string]uint64{"one": 3}, audit(t, c, 8, map[string]uint64{"one": 3}))
				}
			})
		}
	}
}

// An attacker changes streams of a cache behind its back.
type attacker struct {
	t         testing.TB
	js        jetstream.JetStream
	place     string
	log, snap jetstream.Stream
}

func (a *attacker) publish(what, text string) uint64 {
	a.t.Helper()
	ack, err := a.js.Publish(soon(a.t), "tdcache."+a.place+"."+what, []byte(text))
	require.NoError(a.t, err)
	return ack.Sequence
}

// event publishes an event of a process that does not exist.
func (a *attacker) event(kind string) {
	text := `{"process":"nobody","number":1,"events":[{"do":"` + kind + `"}]}`
	a.publish("log", fmt.Sprintf("%08x %s", crc32.ChecksumIEEE([]byte(text)), text))
}

// head publishes a head.
func (a *attacker) head(seq uint64, sum uint32, at ...uint64) {
	text, err := json.Marshal(map[string]any{"seq": seq, "sum": sum, "at": at})
	require.NoError(a.t, err)
	a.publish("head", string(text))
}

// snapshot returns the ledger of the newest snapshot.
func (a *attacker) snapshot() string {
	m, err := a.snap.GetLastMsgForSubject(soon(a.t), "tdcache."+a.place+".snap.*")
	require.NoError(a.t, err)
	return string(m.Data)
}

// replace publishes a snapshot in which texts are replaced, each by the one after it.
func (a *attacker) replace(old, by string, more ...string) {
	text := a.snapshot()
	for i := range 1 + len(more)/2 {
		if i > 0 {
			old, by = more[2*i-2], more[2*i-1]
		}
		require.Contains(a.t, text, old)
		text = strings.Replace(text, old, by, 1)
	}
	a.head(0, crc32.ChecksumIEEE([]byte(text)), a.publish("snap.0", text))
}

// TestAltered alters what a cache has in its streams. Sessions that are open, and those that are
// opened afterwards, return the error that says what is wrong, or go on if they need not care.
func TestAltered(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	n := 0
	for name, is := range map[string]struct {
		attack        func(a *attacker)
		present, next error // nil: goes on
	}{
		"junk in the log":      {func(a *attacker) { a.publish("log", "junk") }, samplecache.ErrCorrupt, samplecache.ErrCorrupt},
		"nothing in the log":   {func(a *attacker) { a.publish("log", "") }, samplecache.ErrCorrupt, samplecache.ErrCorrupt},
		"an unknown event":     {func(a *attacker) { a.event("dance") }, natscache.ErrVersion, natscache.ErrVersion},
		"an event of nobody":   {func(a *attacker) { a.event("gone") }, nil, nil},
		"all events again":     {(*attacker).repeat, nil, nil},
		"the first event":      {func(a *attacker) { a.delete(a.log, 1) }, nil, samplecache.ErrCorrupt},
		"an event":             {func(a *attacker) { a.delete(a.log, 3) }, nil, samplecache.ErrCorrupt},
		"all events":           {func(a *attacker) { require.NoError(a.t, a.log.Purge(soon(a.t))) }, nil, samplecache.ErrCorrupt},
		"junk as head":         {func(a *attacker) { a.publish("head", "junk") }, nil, samplecache.ErrCorrupt},
		"an empty head":        {func(a *attacker) { a.publish("head", "{}") }, nil, samplecache.ErrCorrupt},
		"a head of nothing":    {func(a *attacker) { a.head(0, 1, 1<<40) }, nil, samplecache.ErrCorrupt},
		"a head of zero":       {func(a *attacker) { a.head(0, 1, 0) }, nil, samplecache.ErrCorrupt},
		"a head of itself":     {func(a *attacker) { a.head(0, 1, 2) }, nil, samplecache.ErrCorrupt},
		"a head of the future": {func(a *attacker) { a.head(1<<40, crc32.ChecksumIEEE([]byte(a.snapshot())), 1) }, nil, samplecache.ErrCorrupt},
		"no head": {func(a *attacker) {
			require.NoError(a.t, a.snap.Purge(soon(a.t), jetstream.WithPurgeSubject("tdcache."+a.place+".head")))
		}, nil, fs.ErrNotExist},
		"no snapshot":      {func(a *attacker) { a.delete(a.snap, 1) }, nil, samplecache.ErrCorrupt},
		"a newer snapshot": {func(a *attacker) { a.replace(`"version":1`, `"version":2`) }, nil, natscache.ErrVersion},
		"another cache":    {func(a *attacker) { a.replace(`"id":"`, `"id":"X`) }, nil, nil},
		"no config":        {func(a *attacker) { a.replace(`"samples":2`, `"samples":0`) }, nil, samplecache.ErrCorrupt},
		"other chunks":     {func(a *attacker) { a.replace(`"chunks":1`, `"chunks":7`) }, nil, samplecache.ErrCorrupt},
		"no leaves":        {func(a *attacker) { a.replace(`"dtype":"uint8"`, `"dtype":"what"`) }, nil, samplecache.ErrCorrupt},
		"a negative shape": {func(a *attacker) { a.replace(`"shape":[8]`, `"shape":[-8]`) }, nil, samplecache.ErrCorrupt},
		"null things":      {func(a *attacker) { a.replace(`"things":{}`, `"things":null`) }, nil, samplecache.ErrCorrupt},
		"a generation of none": {func(a *attacker) {
			a.replace(`"kept":{}`, `"kept":{"1":{"id":1,"rows":[]}}`, `"latest":0`, `"latest":1`, `"filling":{"id":1`, `"filling":{"id":2`)
		}, nil, samplecache.ErrCorrupt},
		"rows without chunks": {func(a *attacker) {
			a.replace(`"kept":{}`, `"kept":{"1":{"id":1,"rows":[{"row":1,"sums":[1,2]},{"row":2,"sums":[1,2]}]}}`, `"latest":0`, `"latest":1`, `"filling":{"id":1`, `"filling":{"id":2`)
		}, nil, samplecache.ErrCorrupt},
		"rows without sums": {func(a *attacker) {
			a.replace(`"kept":{}`, `"kept":{"1":{"id":1,"rows":[{"row":1,"at":[1]},{"row":2,"at":[1]}]}}`, `"latest":0`, `"latest":1`, `"filling":{"id":1`, `"filling":{"id":2`)
		}, nil, samplecache.ErrCorrupt},
		"a row that is being filled without chunks": {func(a *attacker) {
			a.replace(`"rows":null`, `"rows":[{"row":1,"sums":[1,2]}]`)
		}, nil, samplecache.ErrCorrupt},
		"junk as a row":      {func(a *attacker) { a.publish("rows.1.1", "junk") }, nil, nil},
		"junk as a snapshot": {func(a *attacker) { a.publish("snap.1", "junk") }, nil, nil},
		"rows of nothing":    {func(a *attacker) { a.publish("rows.what", "junk"); a.publish("rows.1.2.3", "junk") }, nil, nil},
	} {
		place := fmt.Sprint("altered", n)
		n++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := filled(t, s.URL(), place, audited(2), 3)
			a := &attacker{t: t, js: js, place: place}
			var err error
			a.log, err = js.Stream(soon(t), "tdcache_"+place+"_log")
			require.NoError(t, err)
			a.snap, err = js.Stream(soon(t), "tdcache_"+place+"_snap")
			require.NoError(t, err)
			is.attack(a)
			if is.present != nil {
				ends(t, c, p, is.present)
			} else {
				for n := range uint64(2) {
					require.NoError(t, p.Put(soon(t), marked("one", n+3, 8)))
				}
				require.Equal(t, map[string]uint64{"one": 5}, audit(t, c, 8, map[string]uint64{"one": 5}))
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			other, err := samplecache.Open(ctx, alone(s.URL(), place), samplecache.Options{})
			if err == nil {
				defer func() { _ = other.Close() }()
			}
			require.ErrorIs(t, err, is.next)
			require.Less(t, time.Since(began), late)
			t.Log(err)
		})
	}
}

// repeat publishes each event once more.
func (a *attacker) repeat() {
	info, err := a.log.Info(soon(a.t))
	require.NoError(a.t, err)
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		m, err := a.log.GetMsg(soon(a.t), seq)
		require.NoError(a.t, err)
		a.publish("log", string(m.Data))
	}
}

func (a *attacker) delete(s jetstream.Stream, seq uint64) {
	require.NoError(a.t, s.DeleteMsg(soon(a.t), seq))
}

// TestChunksLost deletes chunks of committed samples: their rows are ErrChecksum, and no others.
func TestChunksLost(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	const size = 3 << 20
	require.NoError(t, natscache.Create(soon(t), s.URL(), "lost", marked("", 0, size), audited(4)))
	c := join(t, natscache.Engine{URL: s.URL(), Name: "lost"})
	p := producer(t, c, "one")
	for n := range uint64(4) {
		require.NoError(t, p.Put(soon(t), marked("one", n, size)))
	}
	data, err := js.Stream(soon(t), "tdcache_lost_data")
	require.NoError(t, err)
	info, err := data.Info(soon(t), jetstream.WithSubjectFilter("tdcache.lost.rows.>"))
	require.NoError(t, err)
	require.Len(t, info.State.Subjects, 4)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	lost := map[string]bool{}
	first := true
	for subject := range info.State.Subjects { // one loses a chunk, and another all of them
		if len(lost) < 2 {
			lost[subject] = true
			if first {
				m, err := data.GetLastMsgForSubject(soon(t), subject)
				require.NoError(t, err)
				require.NoError(t, data.DeleteMsg(soon(t), m.Sequence))
			} else {
				require.NoError(t, data.Purge(soon(t), jetstream.WithPurgeSubject(subject)))
			}
			first = false
		}
	}
	failed := 0
	for row := range 4 {
		_, err := g.Fetch(soon(t), []int{row}, nil)
		if err == nil {
			continue
		}
		failed++
		require.ErrorIs(t, err, samplecache.ErrChecksum)
		one, ok := errors.AsType[*samplecache.RowError](err)
		require.True(t, ok)
		require.Equal(t, samplecache.RowError{Generation: 1, Row: row, Err: one.Err}, *one)
		t.Log(err)
	}
	require.Equal(t, 2, failed)
}

// TestReplacedWhileWaiting deletes a cache and makes another one while a session does nothing but
// wait.
func TestReplacedWhileWaiting(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	c, _ := filled(t, s.URL(), "waits", audited(2), 3)
	done := make(chan error)
	go func() {
		_, err := c.Wait(soon(t), 1)
		done <- err
	}()
	eventually(t, patience, "it waits", func() bool { s, err := c.Stats(); return err == nil && s.Committed == 1 })
	for name := range streams(t, js) {
		require.NoError(t, js.DeleteStream(soon(t), name))
	}
	require.NoError(t, natscache.Create(soon(t), s.URL(), "waits", marked("", 0, 8), audited(2)))
	began := time.Now()
	err := <-done
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Regexp(t, "open it again|there is no such cache", err.Error()) // it may look between the two
	require.Less(t, time.Since(began), late)
}

// TestLinks has producers whose links end at random bytes, and lose and delay replies. Each number
// is there once, and nothing that was acknowledged is lost.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]struct {
		*faults
		size int
	}{
		"cuts":                   {&faults{cutWithin: 40_000}, 800},
		"cuts of large":          {&faults{cutWithin: 12 << 20}, 2 << 20},
		"drops":                  {&faults{drop: 0.01}, 800},
		"drops of large":         {&faults{drop: 0.03}, 2 << 20},
		"delays":                 {&faults{delay: 5 * time.Millisecond}, 800},
		"cuts, drops and delays": {&faults{cutWithin: 200_000, drop: 0.005, delay: time.Millisecond}, 800},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			config := audited(1000)
			if is.size > 1000 {
				config = audited(10)
			}
			require.NoError(t, natscache.Create(soon(t), s.url(), "links", marked("", 0, is.size), config))
			k := newLink(t, s.setup.Addr)
			k.faults.Store(is.faults)
			var all []*worker
			for _, name := range []string{"one", "other"} {
				all = append(all, start(t, job{Role: "put", URL: k.url(), Place: "links", Name: name, Size: is.size,
					Number: uint64(longtests.Times(60, 3000)) / uint64(1+is.size>>20*4)}))
			}
			began := time.Now()
			for _, w := range all {
				require.Equal(t, "<nil>", w.hears(4*patience, "end"))
			}
			took := time.Since(began)
			c := join(t, natscache.Engine{URL: s.url(), Name: "links"})
			found := audit(t, c, is.size, numbers(all...))
			require.Equal(t, numbers(all...), found)
			t.Logf("%v puts in %v, %d cuts, %d replies dropped, %d connections, slowest %v and %v",
				found, took, is.faults.cuts.Load(), is.faults.dropped.Load(), k.connections(), all[0].slow(), all[1].slow())
		})
	}
}

// pausing is for how long a process is stopped so that others take it for dead.
const pausing = lease + lease/2 + time.Second

// TestStopped stops processes with SIGSTOP, each in a role, for longer than the lease. Others go on
// meanwhile. When the process goes on, too, nothing is there twice, and nothing is lost.
func TestStopped(t *testing.T) {
	t.Parallel()
	const size = 800
	for name, is := range map[string]struct {
		role   string
		large  int // bytes of a sample
		retain int
		after  func(t *testing.T, w *worker) // the process goes on, and others have published since
	}{
		"a producer in the middle of chunks": {"put", 6 << 20, 16, func(t *testing.T, w *worker) { w.advances(patience, 2) }},
		"a producer with a slot": {"reserve", size, 16, func(t *testing.T, w *worker) {
			w.tell()
			require.Equal(t, "<nil>", w.hears(patience, "committed"))
		}},
		"a reader": {"hold", size, -1, func(t *testing.T, w *worker) {
			w.tell()
			require.Contains(t, w.hears(patience, "read"), "true")
		}},
		"a rank": {"rank", size, 16, func(t *testing.T, w *worker) {
			w.tell()
			w.hears(patience, "ready")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			config := audited(2)
			config.Retain, config.MaxHeld = is.retain, -1
			if is.role == "rank" {
				config.Limits = samplecache.Limits{MinPasses: 1}
			}
			require.NoError(t, natscache.Create(soon(t), s.url(), "stopped", marked("", 0, is.large), config))
			c := join(t, natscache.Engine{URL: s.url(), Name: "stopped"})
			p := producer(t, c, "other")
			put := func() { require.NoError(t, p.Put(soon(t), marked("other", p.Next(), is.large))) }
			if is.role == "hold" || is.role == "rank" {
				put()
				put()
			}
			w := start(t, job{Role: is.role, URL: s.url(), Place: "stopped", Name: "one", Size: is.large, Number: map[string]uint64{"rank": 1}[is.role]})
			if is.role == "put" {
				w.advances(patience, 1)
				time.Sleep(rand.N(20 * time.Millisecond)) // anywhere in a sample
			} else {
				w.hears(patience, "ready")
			}
			w.stop()
			began := time.Now()
			for range 6 {
				put()
			}
			took := time.Since(began)
			time.Sleep(max(0, pausing-took)) // so that the process is dead for others in each role
			w.resume()
			is.after(t, w)
			t.Logf("others went on after %v", took)
			w.kill()
			if is.retain < 0 {
				return
			}
			want := numbers(w)
			if is.role == "reserve" {
				want["one"] = 1
			}
			want["other"] = p.Next()
			t.Log(audit(t, c, is.large, want))
		})
	}
}

// TestStrayChunks fills the stream with chunks of samples that nobody has committed. They are
// removed when there is no room.
func TestStrayChunks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	const size = 1 << 20
	require.NoError(t, natscache.Create(soon(t), s.URL(), "stray", marked("", 0, size), audited(2)))
	c := join(t, natscache.Engine{URL: s.URL(), Name: "stray"})
	p := producer(t, c, "one")
	for n := range uint64(3) {
		require.NoError(t, p.Put(soon(t), marked("one", n, size)))
	}
	fill(t, js, "stray", func(n int) string { return fmt.Sprintf("rows.%d.%d", n%3, 1000+n) })
	for n := range uint64(3) {
		require.NoError(t, p.Put(soon(t), marked("one", 3+n, size)))
	}
	require.Equal(t, map[string]uint64{"one": 6}, audit(t, c, size, map[string]uint64{"one": 6}))
	data, err := js.Stream(soon(t), "tdcache_stray_data")
	require.NoError(t, err)
	info, err := data.Info(soon(t), jetstream.WithSubjectFilter("tdcache.stray.rows.>"))
	require.NoError(t, err)
	require.Len(t, info.State.Subjects, 6)
}

// fill publishes messages to the stream of data until it is full.
func fill(t testing.TB, js jetstream.JetStream, place string, subject func(n int) string) {
	t.Helper()
	for n := 0; ; n++ {
		_, err := js.Publish(soon(t), "tdcache."+place+"."+subject(n), make([]byte, 1<<19))
		if err != nil {
			require.ErrorContains(t, err, "maximum bytes exceeded")
			return
		}
	}
}

// TestFull has no room in the middle of a put, in the data and in the log. The put returns an error
// that says so. Once there is room, the same slot is committed.
func TestFull(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	const size = 3 << 20
	require.NoError(t, natscache.Create(soon(t), s.URL(), "full", marked("", 0, size), audited(2)))
	c := join(t, natscache.Engine{URL: s.URL(), Name: "full"})
	p := producer(t, c, "one")
	slot := func() *samplecache.Slot {
		slot, err := p.Reserve(soon(t))
		require.NoError(t, err)
		require.NoError(t, slot.Sample().UpdateInPlace(marked("one", slot.Number(), size)))
		return slot
	}
	one := slot()
	fill(t, js, "full", func(int) string { return "rows.1.1" }) // the number of a session, so that no sweep removes it
	began := time.Now()
	err := one.Commit(soon(t))
	require.ErrorIs(t, err, natscache.ErrNoRoom)
	require.Less(t, time.Since(began), late)
	t.Logf("after %v: %v", time.Since(began), err)
	data, err := js.Stream(soon(t), "tdcache_full_data")
	require.NoError(t, err)
	require.NoError(t, data.Purge(soon(t), jetstream.WithPurgeSubject("tdcache.full.rows.1.1")))
	require.NoError(t, one.Commit(soon(t)))

	one = slot()
	config := js
	log, err := js.Stream(soon(t), "tdcache_full_log")
	require.NoError(t, err)
	was := log.CachedInfo().Config
	small := was
	small.MaxBytes = 1
	_, err = config.UpdateStream(soon(t), small)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = one.Commit(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, natscache.ErrNoRoom)
	t.Log(err)
	_, err = config.UpdateStream(soon(t), was)
	require.NoError(t, err)
	require.NoError(t, one.Commit(soon(t)))
	require.Equal(t, map[string]uint64{"one": 2}, audit(t, c, size, map[string]uint64{"one": 2}))
}

// TestCareless calls everything with nothing, and after its end.
func TestCareless(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	config := audited(2)
	for name, is := range map[string]struct {
		call func() error
		want error
	}{
		"Create without a schema":    {func() error { return natscache.Create(t.Context(), s.url(), "a", nil, config) }, samplecache.ErrSchema},
		"Create without a name":      {func() error { return natscache.Create(t.Context(), s.url(), "", marked("", 0, 8), config) }, samplecache.ErrConfig},
		"Create with a name of dots": {func() error { return natscache.Create(t.Context(), s.url(), "a.b", marked("", 0, 8), config) }, samplecache.ErrConfig},
		"Create with a star":         {func() error { return natscache.Create(t.Context(), s.url(), "*", marked("", 0, 8), config) }, samplecache.ErrConfig},
		"Create without samples":     {func() error { return natscache.Create(t.Context(), s.url(), "a", marked("", 0, 8), natscache.Config{}) }, samplecache.ErrConfig},
		"Create without a URL":       {func() error { return natscache.Create(t.Context(), "", "a", marked("", 0, 8), config) }, samplecache.ErrConfig},
		"Create with a URL of junk":  {func() error { return natscache.Create(t.Context(), "::%", "a", marked("", 0, 8), config) }, samplecache.ErrUnavailable},
		"Create with a short lease": {func() error {
			c := config
			c.Lease = 1
			return natscache.Create(t.Context(), s.url(), "a", marked("", 0, 8), c)
		}, samplecache.ErrConfig},
		"Create that has ended": {func() error { return natscache.Create(ended(t), s.url(), "a", marked("", 0, 8), config) }, context.Canceled},
		"Join that has ended": {func() error {
			_, err := natscache.Engine{URL: s.url(), Name: "a"}.Join(ended(t), engine.Options{})
			return err
		}, context.Canceled},
		"Join of nothing":           {func() error { _, err := natscache.Engine{}.Join(t.Context(), engine.Options{}); return err }, samplecache.ErrConfig},
		"Serve without a directory": {func() error { _, err := natscache.Serve(natscache.ServeOptions{}); return err }, samplecache.ErrConfig},
		"Serve at no address": {func() error {
			_, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Addr: "here"})
			return err
		}, samplecache.ErrConfig},
		"Serve at a port too high": {func() error {
			_, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Addr: "127.0.0.1:70000"})
			return err
		}, samplecache.ErrConfig},
		"Serve to all without users": {func() error {
			_, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Addr: ":0"})
			return err
		}, samplecache.ErrConfig},
		"Serve at a port that is used": {func() error {
			_, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Addr: s.setup.Addr})
			return err
		}, samplecache.ErrUnavailable},
		"Serve in a file": {func() error { _, err := natscache.Serve(natscache.ServeOptions{Dir: "/dev/null"}); return err }, samplecache.ErrUnavailable},
		"Serve without JetStream": {func() error {
			_, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Configure: func(o *server.Options) { o.JetStream = false }})
			return err
		}, samplecache.ErrConfig},
		"Close of no server": {func() error { return (*natscache.Server)(nil).Close() }, samplecache.ErrClosed},
		"Close of a server twice": {func() error {
			s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir()})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			return s.Close()
		}, samplecache.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			err := is.call()
			require.ErrorIs(t, err, is.want)
			require.Less(t, time.Since(began), late)
			t.Log(err)
		})
	}
	require.Empty(t, (*natscache.Server)(nil).URL())
	var none context.Context
	require.NoError(t, natscache.Create(none, s.url(), "nil", marked("", 0, 8), config))
	one, err := natscache.Engine{URL: s.url(), Name: "nil"}.Join(none, engine.Options{})
	require.NoError(t, err)
	require.NoError(t, one.Close())
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestCloseAnyhow closes a session in each state: it returns soon, and leaves no goroutine.
func TestCloseAnyhow(t *testing.T) {
	const size = 8 << 20
	s := newServer(t)
	type attack func(t *testing.T, k *link, c *samplecache.Cache, p *samplecache.Producer)
	closes := func(t *testing.T, do attack) time.Duration {
		place := fmt.Sprintf("close%d", time.Now().UnixNano())
		require.NoError(t, natscache.Create(soon(t), s.url(), place, marked("", 0, size), audited(3)))
		before := runtime.NumGoroutine()
		k := newLink(t, s.setup.Addr)
		c, err := samplecache.Open(soon(t), natscache.Engine{URL: k.url(), Name: place}, samplecache.Options{})
		require.NoError(t, err)
		p := producer(t, c, "one")
		for n := range uint64(4) {
			require.NoError(t, p.Put(soon(t), marked("one", n, size)))
		}
		_, err = c.Latest(soon(t))
		require.NoError(t, err)
		_, err = c.Group("g", 1).Epoch(soon(t), 0)
		require.NoError(t, err)
		do(t, k, c, p)
		began := time.Now()
		require.NoError(t, c.Close())
		took := time.Since(began)
		s.resume() // if it was stopped
		t.Logf("Close took %v", took)
		k.close()
		eventually(t, patience, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
		return took
	}
	state := func(name string, most time.Duration, do attack) {
		t.Run(name, func(t *testing.T) {
			quickly(t, most, func() time.Duration { return closes(t, do) })
		})
	}
	state("idle", 200*time.Millisecond, func(*testing.T, *link, *samplecache.Cache, *samplecache.Producer) {})
	state("cut", 500*time.Millisecond, func(_ *testing.T, k *link, _ *samplecache.Cache, _ *samplecache.Producer) { k.Cut(true) })
	state("cut for long", 500*time.Millisecond, func(t *testing.T, k *link, c *samplecache.Cache, _ *samplecache.Producer) {
		k.Cut(true)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := c.Latest(ctx)
		require.ErrorIs(t, err, samplecache.ErrUnavailable)
	})
	state("stopped", late, func(t *testing.T, _ *link, _ *samplecache.Cache, _ *samplecache.Producer) {
		s.stop()
	})
	state("in the middle of a put", late, func(t *testing.T, _ *link, c *samplecache.Cache, p *samplecache.Producer) {
		slot, err := p.Reserve(soon(t))
		require.NoError(t, err)
		s.stop()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.Error(t, slot.Commit(ctx))
	})
	state("while a Wait waits", 200*time.Millisecond, func(t *testing.T, _ *link, c *samplecache.Cache, _ *samplecache.Producer) {
		done := make(chan error, 1)
		go func() { _, err := c.Wait(context.Background(), 100); done <- err }()
		t.Cleanup(func() { require.ErrorIs(t, <-done, samplecache.ErrClosed) })
	})
	state("while a Commit sends chunks", 500*time.Millisecond, func(t *testing.T, k *link, _ *samplecache.Cache, p *samplecache.Producer) {
		slot, err := p.Reserve(soon(t))
		require.NoError(t, err)
		k.Cut(true)
		done := make(chan error, 1)
		go func() { done <- slot.Commit(context.Background()) }()
		eventually(t, patience, "Commit has begun", func() bool { return slot.Sample().UpdateInPlace(marked("one", 4, size)) != nil })
		t.Cleanup(func() { require.ErrorIs(t, <-done, samplecache.ErrClosed) })
	})
}

// TestGivenUp asks for a name, for a seat and for a slot while the server is stopped, and gives up
// several times. What was given up does not stand in the way of the next try.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	require.NoError(t, natscache.Create(soon(t), s.url(), "up", marked("", 0, 8), audited(1)))
	one, err := natscache.Engine{URL: s.url(), Name: "up"}.Join(soon(t), engine.Options{})
	require.NoError(t, err)
	defer func() { _ = one.Close() }()
	claim, err := one.Claim(soon(t), "first")
	require.NoError(t, err)
	for range longtests.Times(3, 30) {
		for name, ask := range map[string]func(ctx context.Context) (io.Closer, error){
			"Claim": func(ctx context.Context) (io.Closer, error) { return one.Claim(ctx, "one") },
			"Enter": func(ctx context.Context) (io.Closer, error) { return one.Enter(ctx, "g", 1) },
			"Reserve": func(ctx context.Context) (io.Closer, error) {
				r, err := claim.Reserve(ctx, 0)
				return aborter{r}, err
			},
		} {
			s.stop()
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				x, err := ask(ctx)
				cancel()
				if err == nil { // the server had not stopped yet
					require.NoError(t, x.Close())
				} else if !errors.Is(err, samplecache.ErrBlocked) { // Reserve knows of the tries before
					require.ErrorIs(t, err, context.DeadlineExceeded, name)
				}
			}
			resumed := make(chan struct{})
			time.AfterFunc(10*time.Millisecond, func() {
				s.resume()
				close(resumed)
			})
			x, err := ask(soon(t))
			<-resumed
			for end := time.Now().Add(time.Second); errors.Is(err, samplecache.ErrBlocked) && time.Now().Before(end); {
				x, err = ask(soon(t))
			}
			require.NoError(t, err, name)
			require.NoError(t, x.Close())
		}
	}
}

// An aborter is a row that Close aborts.
type aborter struct{ engine.Row }

func (a aborter) Close() error { return a.Abort() }

// TestSnapshotsLeft has snapshots that no head names, as of processes that were killed while they
// stored one. The next snapshot removes them, and the events before it.
func TestSnapshotsLeft(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	js := admin(t, s.URL())
	config := audited(20)
	config.Retain = -1
	c, p := filled(t, s.URL(), "left", config, 1)
	for _, subject := range []string{"snap.3", "snap.5", "snap.junk"} {
		_, err := js.Publish(soon(t), "tdcache.left."+subject, []byte("a part"))
		require.NoError(t, err)
	}
	data, err := js.Stream(soon(t), "tdcache_left_snap")
	require.NoError(t, err)
	log, err := js.Stream(soon(t), "tdcache_left_log")
	require.NoError(t, err)
	eventually(t, patience, "only one snapshot is there", func() bool {
		require.NoError(t, p.Put(soon(t), marked("one", p.Next(), 8)))
		if p.Next()%100 > 0 {
			return false
		}
		info, err := data.Info(soon(t), jetstream.WithSubjectFilter("tdcache.left.snap.*"))
		require.NoError(t, err)
		events, err := log.Info(soon(t))
		require.NoError(t, err)
		return len(info.State.Subjects) == 1 && events.State.FirstSeq > 1
	})
	t.Log(p.Next(), "puts")
	other := join(t, natscache.Engine{URL: s.URL(), Name: "left"})
	require.NoError(t, producer(t, other, "other").Put(soon(t), marked("other", 0, 8)))
	require.NoError(t, c.Close())
}

// TestOutcomeUnknown loses the reply to a Commit, for so long that others take the process for
// dead, and the log does not have the event any more. The producer has no name, so that only the
// row tells whether the sample is there.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for name, reaches := range map[string]bool{"committed": true, "not committed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c, others := filled(t, s.url(), "unknown", audited(200), 0)
			k := newLink(t, s.setup.Addr)
			f := &faults{drop: 1e-9}
			k.faults.Store(f)
			other := join(t, natscache.Engine{URL: k.url(), Name: "unknown"})
			p := producer(t, other, "")
			slot, err := p.Reserve(soon(t))
			require.NoError(t, err)
			require.NoError(t, slot.Sample().UpdateInPlace(marked("", 0, 8)))
			if reaches { // the chunk is acknowledged, and the commit is not
				about := "_data"
				f.only.Store(&about)
			} else {
				k.Cut(true)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // for the chunk to be stored
			defer cancel()
			require.ErrorIs(t, slot.Commit(ctx), context.DeadlineExceeded)
			k.Cut(true)
			f.only.Store(nil)
			eventually(t, patience, "others take the process for dead", func() bool {
				s, err := c.Stats()
				require.NoError(t, err)
				return len(s.Members) == 1
			})
			stats, err := c.Stats()
			require.NoError(t, err)
			require.Equal(t, reaches, stats.Committed == 1)
			for n := range uint64(1200) { // until the log does not have its commit any more
				require.NoError(t, others.Put(soon(t), marked("one", n, 8)))
			}
			log, err := admin(t, s.url()).Stream(soon(t), "tdcache_unknown_log")
			require.NoError(t, err)
			eventually(t, patience, "events are removed", func() bool {
				info, err := log.Info(soon(t))
				return err == nil && info.State.FirstSeq > 500
			})
			k.Cut(false)
			_, err = again(soon(t), func() (bool, error) { return true, slot.Commit(soon(t)) })
			require.NoError(t, err)
			require.Equal(t, map[string]uint64{"": 1}, audit(t, c, 8, map[string]uint64{"": 1}))
		})
	}
}
