//go:build unix

package natscache_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
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

var _ = samplecache.ErrClosed

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
