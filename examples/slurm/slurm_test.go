//go:build linux

// Package slurm_test runs the job scripts of the examples with a fake scheduler.
package slurm_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/slurm/slurmtest"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestMain is also a command of the scheduler, and a generator.
func TestMain(m *testing.M) {
	slurmkit.Main()
	if filepath.Base(os.Args[0]) == "draw" {
		if err := slurmtest.Draw(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "slurm-bin-")
	if err != nil {
		panic(err)
	}
	bin = dir
	code := m.Run()
	_ = os.RemoveAll(dir) // nothing depends on it
	os.Exit(code)
}

// bin is the directory for the programs that scripts call.
var bin string

// build builds them, once.
var build = sync.OnceValue(func() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(exe, filepath.Join(bin, "draw")); err != nil {
		return err
	}
	out, err := exec.Command("go", "build", "-o", bin, "../../cmd/tdict", "./train").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// site returns a site for the programs of this module.
func site(t testing.TB, env ...string) *slurmtest.Site {
	t.Helper()
	require.NoError(t, build())
	return slurmtest.New(t, ".", bin, env...)
}

// TestOneNode runs the job to its end: each sample is there once, and nothing is left.
func TestOneNode(t *testing.T) {
	t.Parallel()
	s := site(t, "PASSES=1", "PAUSE=100ms") // long enough for both generators to start
	s.Start("one-node/README.md")
	j := s.Job("one-node")
	got, err := slurmtest.Audit(s.During(j), dircache.Engine{Dir: filepath.Join(s.SHM, "cache-1")})
	require.ErrorIs(t, err, fs.ErrNotExist, "the job has removed its cache")
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	require.Contains(t, j.Output(), "rank 0 of 1: epoch 3, generation ")
	require.NotContains(t, j.Output(), "epoch 4,")
	require.Len(t, got, 2)
	require.NotEmpty(t, got["gen-0-0-0"])
	require.NotEmpty(t, got["gen-0-0-1"])
	got.RequireOnce(t)
	s.RequireClean(j)
}

// TestOneNodeEnds runs generators or a trainer that end early: generators that are done leave the
// job to the trainer, and a failure ends the job.
func TestOneNodeEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		env    []string
		slow   string // ends of programs are noticed late: what the script runs before it waits
		state  slurmkit.State
		output string
	}{
		"generators that are done":          {[]string{"FRAMES=64"}, "", slurmkit.Completed, "epoch 3, "},
		"a generator that fails":            {[]string{"DRAW=nothing-of-the-kind"}, "", slurmkit.Failed, "cannot be started"},
		"a trainer that fails":              {[]string{"EPOCHS=x"}, "", slurmkit.Failed, "invalid value"},
		"a trainer that has already failed": {[]string{"EPOCHS=x"}, "sleep 0.5", slurmkit.Failed, "invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, tt.env...)
			s.Replace("one-node/job.sh", "trainer=$!\n", "trainer=$!\n"+tt.slow+"\n")
			s.Start("one-node/README.md")
			j := s.Job("one-node")
			require.Equal(t, tt.state, j.Ended(), j.Output())
			require.Contains(t, j.Output(), tt.output)
			s.RequireClean(j)
		})
	}
}

// TestOneNodeGPUs has the GPUs that SLURM gives, or none.
func TestOneNodeGPUs(t *testing.T) {
	for gpus, names := range map[string][]string{
		"":    {"gen-0-0-0", "gen-0-0-1"},
		"2,3": {"gen-0-0-0", "gen-0-0-1", "gen-0-1-0", "gen-0-1-1"},
	} {
		t.Run(gpus, func(t *testing.T) {
			t.Parallel()
			s := site(t, "CUDA_VISIBLE_DEVICES="+gpus, "FRAMES=32", "EPOCHS=1000000", "GRACE=1s")
			s.Start("one-node/README.md")
			j := s.Job("one-node")
			drawn := map[string]bool{}
			s.Until("all generators draw", func() bool {
				for _, f := range s.Begun() {
					drawn[f.Name] = true
				}
				return len(drawn) >= len(names)
			})
			require.ElementsMatch(t, names, slices.Collect(maps.Keys(drawn)))
			j.Warn()
			require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
			s.RequireClean(j)
		})
	}
}

// TestOneNodeStops warns the job before its time limit, while samples are half drawn: they are put,
// and the job ends well.
func TestOneNodeStops(t *testing.T) {
	t.Parallel()
	s := site(t, "PAUSE=300ms", "SAMPLES=64")
	s.Start("one-node/README.md")
	j := s.Job("one-node")
	s.Until("both generators draw", func() bool { return len(s.Begun()) >= 3 })
	drawn := len(s.Begun())
	warned := time.Now()
	j.Warn()
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	require.Less(t, time.Since(warned), 30*time.Second)
	_, text, _ := strings.Cut(j.Output(), "samples put: ")
	put, err := strconv.Atoi(strings.Fields(text + " none")[0])
	require.NoError(t, err, j.Output())
	require.GreaterOrEqual(t, put, drawn)
	s.RequireClean(j)
}

// TestOneNodeRequeued kills the job, whose cache stays behind in memory: it starts again with an
// empty cache and draws other samples.
func TestOneNodeRequeued(t *testing.T) {
	t.Parallel()
	s := site(t, "PAUSE=100ms") // long enough for both generators to start
	s.Start("one-node/README.md")
	j := s.Job("one-node")
	s.Until("both generators draw, and an epoch", func() bool {
		return slices.Contains(s.Begun(), slurmtest.Frame{Name: "gen-0-0-1"}) && strings.Contains(j.Output(), "epoch 0")
	})
	j.Kill()
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	require.Equal(t, 1, j.Restarts())
	require.Contains(t, s.Begun(), slurmtest.Frame{Name: "gen-0-0-1"})
	require.Contains(t, s.Begun(), slurmtest.Frame{Name: "gen-1-0-1"})
	require.Contains(t, j.Output(), "epoch 3, ")
	s.RequireClean(j)
}

// TestMissing has jobs that wait in vain, and say what is missing.
func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		name, script, job string
		says              []string
	}{
		{"a generator that draws nothing", "one-node/job.sh", "one-node", []string{"-wait 300ms has passed", "generation 1 has 0 of 8 samples, and the cache has "}},
		{"no generators", "trainers-here/train.sh", "train", []string{"-wait 300ms has passed", "no such file or directory"}},
		{"no cache", "trainers-here/generate.sh --array=7", "generate", []string{"no cache after 0 s", "room/address is missing, which the job of train.sh writes"}},
		{"a tdict without NATS", "many-nodes/server.sh", "server", []string{"this tdict has no NATS"}},
		{"no server", "many-nodes/generate.sh --array=7", "generate", []string{"no server after 0 s", "room/address is missing, which the job of server.sh writes"}},
		{"no server for trainers", "many-nodes/train.sh", "train", []string{"no server after 0 s", "room/address is missing, which the job of server.sh writes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := site(t, "DRAW=sleep 60", "GRACE=0s", "WAIT=300ms", "WAIT_SECONDS=0")
			script, option, _ := strings.Cut(tt.script, " ")
			s.Sh(s.Dir, "sbatch "+option+" "+script)
			j := s.Job(tt.job)
			require.Equal(t, slurmkit.Failed, j.Ended(), j.Output())
			for _, says := range tt.says {
				require.Contains(t, j.Output(), says)
			}
			s.RequireClean(j)
		})
	}
}

// TestDrawPy runs the job with the generator of numpy.
func TestDrawPy(t *testing.T) {
	python := processkit.PythonCommand(t).Path
	t.Parallel()
	s := site(t, "DRAW="+python+" draw.py")
	s.Start("one-node/README.md")
	j := s.Job("one-node")
	got, err := slurmtest.Audit(s.During(j), dircache.Engine{Dir: filepath.Join(s.SHM, "cache-1")})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	require.Contains(t, j.Output(), "8 samples, mean 127.") // of numbers from 0 to 255
	require.Len(t, got, 2)
	got.RequireOnce(t)
	s.RequireClean(j)
}

// TestTrainersHere runs wirehead's generator, unmodified.
func TestTrainersHere(t *testing.T) {
	python := processkit.PythonCommand(t, "-c", "import wirehead")
	if out, err := python.CombinedOutput(); err != nil {
		t.Skipf("TENSORDICT_PYTHON has no wirehead: %s", out)
	}
	t.Parallel()
	s := site(t, "GENERATE="+python.Path+" trainers-here/generate.py", "PROGRAMS=1")
	s.Smaller("trainers-here/config.yaml", 8)
	s.Sh(s.Dir, "sbatch --array=0-1 trainers-here/generate.sh") // generators wait for the server
	s.Sh(s.Dir, "sbatch trainers-here/train.sh")
	j := s.Job("train")
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	require.Contains(t, j.Output(), "epoch 3, ")
	s.RequireClean(j)
	for task := range 2 {
		s.Job("generate", task).Warn()
		require.Equal(t, slurmkit.Completed, s.Job("generate", task).Ended())
		require.Empty(t, s.Job("generate", task).Left())
	}
	s.RequireSecret()
}
