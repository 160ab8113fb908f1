//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/slurm/slurmtest"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// programs returns a directory with the programs that the scripts call. It builds the trainer.
func programs(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"tdict", "draw"} {
		require.NoError(t, os.Symlink(exe, filepath.Join(bin, name)))
	}
	out, err := exec.Command("go", "build", "-C", "../../samplecache/natscache", "-o", filepath.Join(bin, "train"), "./examples/train").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// port returns a port that is free.
func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// engineOf returns the engine of the cache of a site, once its server runs.
func engineOf(t *testing.T, s *slurmtest.Site) natscache.Engine {
	t.Helper()
	address := filepath.Join(s.Dir, "room/address")
	s.Until("the server", func() bool { _, err := os.Stat(address); return err == nil })
	at, err := os.ReadFile(address)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(s.Dir, "room/password"))
	require.NoError(t, err)
	user, password, _ := strings.Cut(strings.TrimSpace(string(text)), ":")
	return natscache.Engine{URL: "nats://" + strings.TrimSpace(string(at)), Name: "samples", Options: []nats.Option{nats.UserInfo(user, password)}}
}

// TestSlurm runs the scripts of examples/slurm/many-nodes: the trainers start first, then the
// generators, then the server. Then tasks of generators, the trainers and the server are killed and
// requeued. Each sample is published once, and none is missing. A generation takes so long that no
// rank gets eight epochs ahead of the other while that connects again: nothing else holds it, since
// these ranks exchange no gradients.
func TestSlurm(t *testing.T) {
	s := slurmtest.New(t, "../../examples/slurm", programs(t), fmt.Sprintf("PORT=%d", port(t)), "EPOCHS=1000000", "SAMPLES=16", "PASSES=1", "PAUSE=100ms")
	s.Sh(s.Dir, "sbatch --ntasks-per-node=1 many-nodes/train.sh && sbatch many-nodes/generate.sh && sbatch many-nodes/server.sh")
	server, train := s.Job("server"), s.Job("train")
	read, audited := context.WithCancelCause(t.Context())
	defer audited(nil)
	over := errors.New("the test is over")
	var got slurmtest.Ledger
	ended := make(chan error, 1)
	e := engineOf(t, s)
	go func() {
		var err error
		got, err = slurmtest.Audit(read, e)
		ended <- err
	}()
	epochs := func(n int) func() bool {
		return func() bool {
			return strings.Count(train.Output(), "rank 0 of 2") >= n && strings.Count(train.Output(), "rank 1 of 2") >= n
		}
	}
	s.Until("three epochs", epochs(3))

	s.Until("samples that were put", func() bool { return len(drawnBy(s, "gen-1-0-0")) > 8 && len(drawnBy(s, "gen-3-0-1")) > 8 })
	killed := map[string]int{} // how many samples a killed producer had begun
	for range longtests.Times(1, 20) {
		begun := len(s.Begun())
		for _, task := range []int{1, 3} {
			s.Job("generate", task).Kill()
		}
		s.Until("more samples", func() bool { return len(s.Begun()) > begun+longtests.Times(0, 100) })
	}
	for _, name := range []string{"gen-1-0-0", "gen-3-0-1"} {
		killed[name] = len(drawnBy(s, name))
	}
	train.Kill()
	s.Until("epochs of the second run", epochs(strings.Count(train.Output(), "rank 0 of 2")+3))
	server.Kill()
	s.Until("epochs with the second server", epochs(strings.Count(train.Output(), "rank 0 of 2")+3))
	for name, before := range killed {
		s.Until(name+" draws what it never drew", func() bool {
			numbers := drawnBy(s, name)
			return len(numbers) > before && slices.Max(numbers) > slices.Max(numbers[:before])
		})
		requireResumed(t, s, name)
	}
	train.Warn()
	require.Equal(t, slurmkit.Completed, train.Ended(), train.Output())
	audited(over)
	require.ErrorIs(t, <-ended, over)
	for task := range 4 {
		for program := range 2 {
			require.NotEmpty(t, got[fmt.Sprintf("gen-%d-0-%d", task, program)])
		}
	}
	got.RequireOnce(t)
	requireEpochs(t, train.Output())
	require.Equal(t, 1, train.Restarts())
	s.RequireClean(train)
	s.RequireSecret()
	stop(t, s, server)
}

// requireResumed wants that a producer has drawn its first sample once: when it was started again,
// it went on at a later one.
func requireResumed(t *testing.T, s *slurmtest.Site, name string) {
	t.Helper()
	numbers := drawnBy(s, name)
	require.Contains(t, numbers, 0)
	require.NotContains(t, numbers[1:], 0)
}

// drawnBy returns the numbers that a producer has begun to draw.
func drawnBy(s *slurmtest.Site, name string) (numbers []int) {
	for _, f := range s.Begun() {
		if f.Name == name {
			numbers = append(numbers, int(f.Number))
		}
	}
	return numbers
}

// requireEpochs wants that rank 0 has read one epoch after the other; it may repeat the one in
// which it was killed.
func requireEpochs(t *testing.T, output string) {
	t.Helper()
	next, repeated := 0, 0
	for line := range strings.Lines(output) {
		var n int
		if _, err := fmt.Sscanf(line, "rank 0 of 2: epoch %d,", &n); err != nil {
			continue
		}
		if n == next-1 {
			repeated++
		} else {
			require.Equal(t, next, n)
		}
		next = n + 1
	}
	require.LessOrEqual(t, repeated, 1)
}

// stop ends generators and server before their time limit. The samples at hand are put.
func stop(t *testing.T, s *slurmtest.Site, server *slurmkit.Job) {
	t.Helper()
	begun := len(s.Begun())
	s.Until("more samples", func() bool { return len(s.Begun()) > begun })
	for task := range 4 {
		j := s.Job("generate", task)
		started := time.Now()
		j.Warn()
		require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
		require.Less(t, time.Since(started), 30*time.Second)
		require.Empty(t, j.Left())
	}
	c, err := samplecache.Open(t.Context(), engineOf(t, s), samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	floor := map[string]uint64{}
	stats, err := c.Stats()
	require.NoError(t, err)
	for _, p := range stats.Producers {
		require.Empty(t, p.Window.Above, p.Name)
		floor[p.Name] = p.Window.Floor
	}
	for task := range 4 {
		require.NotZero(t, floor[fmt.Sprintf("gen-%d-0-0", task)])
	}
	s.Sh(s.Dir, "scancel --batch --signal=TERM "+server.Name())
	require.Equal(t, slurmkit.Completed, server.Ended(), server.Output())
	require.Empty(t, server.Left())
	require.NoFileExists(t, filepath.Join(s.Dir, "room/address"))
}
