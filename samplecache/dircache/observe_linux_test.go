package dircache_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// observed names the cache that another user looks at.
const observed = "DIRCACHE_TEST_OBSERVED"

// TestObserveAsAReader has a user look at a cache who may only read it.
func TestObserveAsAReader(t *testing.T) {
	if dir := os.Getenv(observed); dir != "" {
		_, st, err := dircache.Engine{Dir: dir}.Observe(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(2), st.Latest)
		require.Equal(t, 1, st.Committed)
		require.Len(t, st.Members, 1)
		require.ErrorIs(t, opened(dir), os.ErrPermission)
		return
	}
	top, exe := public(t)
	dir := filepath.Join(top, "cache")
	defer syscall.Umask(syscall.Umask(0o022))
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
	c := joinSound(t, dir)
	for range 5 {
		require.NoError(t, putter(t, c, "").Put(soon(t), marked(1)))
	}
	cmd := exec.Command(exe, "-test.run=^TestObserveAsAReader$")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), observed+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 40001, Gid: 40001}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, errors.Join(err, c.Close()), string(out))
}

// TestHolders holds a generation that is not retained.
func TestHolders(t *testing.T) {
	s := newSite(t, small)
	s.open()
	s.topUp(1)
	g, err := s.c.Latest(t.Context())
	require.NoError(t, err)
	defer g.Close()
	s.topUp(2)
	if list, err := os.ReadFile("/proc/locks"); err != nil || !strings.Contains(string(list), "FLOCK") {
		t.Skip("the system does not list locks")
	}
	require.Equal(t, []samplecache.HolderStats{{Generation: 1, PID: os.Getpid()}}, s.stats().Holders)
}
