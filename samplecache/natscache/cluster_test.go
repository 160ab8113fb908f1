//go:build unix

package natscache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// A cluster is three servers, each in a process of its own.
type cluster []*serverProcess

// newCluster starts three servers, and waits until they can make a cache.
func newCluster(t testing.TB) cluster {
	t.Helper()
	var c cluster
	var routes []string
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
		require.NoError(t, err)
		require.NoError(t, l.Close())
		routes = append(routes, "nats://"+l.Addr().String())
		c = append(c, &serverProcess{t: t, setup: serverSetup{Dir: t.TempDir(), Addr: "127.0.0.1:0", Name: fmt.Sprint("server", i), Cluster: l.Addr().String()}})
	}
	var all sync.WaitGroup
	for _, s := range c {
		s.setup.Routes = routes
		all.Go(s.start)
		t.Cleanup(s.kill)
	}
	all.Wait()
	return c
}

// url returns the addresses of all servers.
func (c cluster) url() string {
	var all []string
	for _, s := range c {
		all = append(all, s.url())
	}
	return strings.Join(all, ",")
}

// create makes a cache with three replicas, once the servers can.
func (c cluster) create(ctx context.Context, name string, schema *tdict.TensorDict, config natscache.Config) error {
	config.Replicas = 3
	for {
		err := natscache.Create(ctx, c.url(), name, schema, config)
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// faulty are the rules of faults.
var faulty = regexp.MustCompile(`W07_a_sample|W09|processes`)

// TestClusterOfThree runs the rules of faults on three servers, and all rules in long runs.
func TestClusterOfThree(t *testing.T) {
	url := os.Getenv(urlVariable)
	var c cluster
	if !samplecachetest.Child() {
		c = newCluster(t)
		url = c.url()
		t.Setenv(urlVariable, url)
	}
	samplecachetest.TestEngine(t, samplecachetest.Driver{
		Create: func(t testing.TB, place string, schema *tdict.TensorDict, of engine.Config) error {
			if !faulty.MatchString(t.Name()) && !longtests.On() {
				return errors.ErrUnsupported
			}
			config := natscache.Config{Config: of, Lease: lease}
			began := time.Now()
			err := c.create(soon(t), place, schema, config)
			t.Logf("Create took %v", time.Since(began))
			return err
		},
		Engine: func(t testing.TB, place string) engine.Engine {
			return &apart{natscache.Engine{URL: url, Name: place}, newLink(t, strings.TrimPrefix(strings.Split(url, ",")[rand.N(3)], "nats://"))}
		},
	})
}

// TestServersFail stops or kills one of three servers, at random, again and again. No sample that
// was acknowledged is lost, and puts go on.
func TestServersFail(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	began := time.Now()
	require.NoError(t, c.create(soon(t), "fail", marked("", 0, 800), audited(1000)))
	t.Logf("Create took %v", time.Since(began))
	var all []*worker
	for _, name := range []string{"one", "other"} {
		all = append(all, start(t, job{Role: "put", URL: c.url(), Place: "fail", Name: name, Size: 800}))
	}
	for _, w := range all {
		w.advances(patience, 20)
		w.slow()
	}
	fails := func(what string, fail, again func(s *serverProcess)) time.Duration {
		s := c[rand.N(3)]
		fail(s)
		took := time.Duration(0)
		for _, w := range all {
			took = max(took, w.advances(patience, 10))
		}
		again(s)
		for _, w := range all {
			w.advances(patience, 50)
		}
		t.Logf("%s %s: went on after %v, slowest put %v and %v", s.setup.Name, what, took, all[0].slow(), all[1].slow())
		return took
	}
	for range longtests.Times(1, 15) {
		fails("killed", (*serverProcess).kill, (*serverProcess).start)
		fails("stopped", (*serverProcess).stop, (*serverProcess).resume)
		// A server that ends by itself gives its place away. Others miss a leader for 4 to 9 seconds,
		// at random, before they elect another.
		quickly(t, 4*time.Second, func() time.Duration {
			return fails("closed", (*serverProcess).close, (*serverProcess).start)
		})
	}
	for _, w := range all {
		w.kill()
	}
	one := join(t, natscache.Engine{URL: c.url(), Name: "fail"})
	t.Logf("acknowledged %v, found %v", numbers(all...), audit(t, one, 800, numbers(all...)))
}

// TestTwoServersStopped stops two of three servers: calls are ErrUnavailable at their deadlines,
// and go on when the servers do.
func TestTwoServersStopped(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	require.NoError(t, c.create(soon(t), "two", marked("", 0, 800), audited(10)))
	one := join(t, natscache.Engine{URL: c.url(), Name: "two"})
	p := producer(t, one, "one")
	put := func(ctx context.Context) error { return p.PutAt(ctx, p.Next(), marked("one", p.Next(), 800)) }
	require.NoError(t, put(soon(t)))
	for round := range longtests.Times(1, 20) {
		first := rand.N(3)
		for i, s := range c {
			if i != first {
				s.stop()
			}
		}
		for range 2 {
			for what, call := range map[string]func(ctx context.Context) error{
				"Put": put, "At": func(ctx context.Context) error { _, err := one.At(ctx, 1); return err },
			} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				began := time.Now()
				err := call(ctx)
				took := time.Since(began)
				cancel()
				if what == "At" && errors.Is(err, samplecache.ErrGenerationGone) {
					continue // a leader that has not noticed yet that it is alone has answered
				}
				require.ErrorIs(t, err, context.DeadlineExceeded, what)
				require.ErrorIs(t, err, samplecache.ErrUnavailable, what)
				require.Less(t, took, time.Second+late)
				t.Logf("round %d: %s after %v: %v", round, what, took, err)
			}
		}
		for _, s := range c {
			s.resume()
		}
		began := time.Now()
		_, err := again(soon(t), func() (bool, error) { return true, put(soon(t)) })
		require.NoError(t, err)
		t.Logf("round %d: put %v after the servers went on", round, time.Since(began))
	}
	want := map[string]uint64{"one": p.Next()}
	require.Equal(t, want, audit(t, one, 800, want))
}
