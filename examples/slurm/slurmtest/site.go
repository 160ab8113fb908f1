//go:build unix

package slurmtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
)

// A Site is a scheduler, and a copy of the scripts.
type Site struct {
	*slurmkit.Cluster
	Dir string // has the scripts
	SHM string // is what they take for the memory of a node
	t   testing.TB
}

// New returns a site. scripts is the directory with the scripts, bin has the programs that they
// call, and env variables for them.
func New(t testing.TB, scripts, bin string, env ...string) *Site {
	t.Helper()
	s := &Site{t: t, Dir: t.TempDir(), SHM: filepath.Join(t.TempDir(), "shm")}
	require.NoError(t, os.Mkdir(s.SHM, 0o777))
	require.NoError(t, os.CopyFS(s.Dir, os.DirFS(scripts)))
	env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "SHM=" + s.SHM, "CACHE_HOST=127.0.0.1", "DRAW=draw", drawnName + "=" + s.drawn(),
		"SAMPLES=8", "PROGRAMS=2", "EPOCHS=4", "WAIT=1m",
	}, env...)
	s.Cluster = slurmkit.New(t, s.SHM, env...)
	return s
}

func (s *Site) drawn() string { return filepath.Join(s.Dir, "drawn") }

// Start runs the commands of a README that begin with sbatch.
func (s *Site) Start(readme string) {
	s.t.Helper()
	for _, f := range page.Fences(s.t, filepath.Join(s.Dir, readme), "sh") {
		for line := range strings.Lines(f.Text) {
			if strings.HasPrefix(line, "sbatch ") {
				s.Sh(s.Dir, line)
			}
		}
	}
}

// RequireClean wants that no process is left of a job, and nothing in the memory of nodes.
func (s *Site) RequireClean(j *slurmkit.Job) {
	s.t.Helper()
	require.Empty(s.t, j.Left())
	left, err := filepath.Glob(s.SHM + "*/*")
	require.NoError(s.t, err)
	require.Empty(s.t, left)
}

// Smaller sets SWAP_CAP in a config of wirehead.
func (s *Site) Smaller(config string, samples int) {
	s.t.Helper()
	path := filepath.Join(s.Dir, config)
	text, err := os.ReadFile(path)
	require.NoError(s.t, err)
	text = regexp.MustCompile(`SWAP_CAP: \d+`).ReplaceAll(text, fmt.Appendf(nil, "SWAP_CAP: %d", samples))
	require.NoError(s.t, os.WriteFile(path, text, 0o666))
}

// Replace replaces a text in a script.
func (s *Site) Replace(script, old, text string) {
	s.t.Helper()
	path := filepath.Join(s.Dir, script)
	was, err := os.ReadFile(path)
	require.NoError(s.t, err)
	require.Contains(s.t, string(was), old)
	require.NoError(s.t, os.WriteFile(path, []byte(strings.Replace(string(was), old, text, 1)), 0o777))
}

// RequireSecret wants that only the owner may read the files of the room, that only the file with
// the password has it, and no output of a job.
func (s *Site) RequireSecret() {
	s.t.Helper()
	secret, err := os.ReadFile(filepath.Join(s.Dir, "room", "password"))
	require.NoError(s.t, err)
	_, password, ok := strings.Cut(strings.TrimSpace(string(secret)), ":")
	require.True(s.t, ok)
	require.Len(s.t, password, 32)
	require.NoError(s.t, filepath.WalkDir(s.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if filepath.Base(path) == "password" {
			info, err := entry.Info()
			require.NoError(s.t, err)
			require.Equal(s.t, fs.FileMode(0o600), info.Mode().Perm())
		} else {
			require.NotContains(s.t, string(text), password, path)
		}
		return err
	}))
}

// During returns a context that ends when a job has failed.
func (s *Site) During(j *slurmkit.Job) context.Context {
	ctx, cancel := context.WithCancelCause(s.t.Context())
	go func() {
		for ctx.Err() == nil && j.State() != slurmkit.Failed {
			time.Sleep(20 * time.Millisecond)
		}
		cancel(fmt.Errorf("job %s is %s", j.Name(), j.State()))
	}()
	return ctx
}

// A Frame is a sample that a generator has begun to draw.
type Frame struct {
	Name   string
	Number uint64
}

// Begun returns the samples that generators have begun to draw.
func (s *Site) Begun() (all []Frame) {
	text, _ := os.ReadFile(s.drawn()) // it is missing at first
	for line := range strings.Lines(string(text)) {
		var f Frame
		if _, err := fmt.Sscan(line, &f.Name, &f.Number); err == nil {
			all = append(all, f)
		}
	}
	return all
}
