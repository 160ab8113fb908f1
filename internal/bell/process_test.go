//go:build unix && !solaris && !aix

package bell_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestProcessesRingEachOther(t *testing.T) {
	mine, _, path := hang(t)
	other := filepath.Join(t.TempDir(), "other")
	start(t, 1, echo, other, path)
	l := dial(t, other)
	for range 100 {
		require.NoError(t, l.Ring())
		require.NoError(t, soon(t, async(mine.Wait)))
	}
}

func TestDeathOfAProcess(t *testing.T) {
	tests := []struct {
		name  string
		part  string
		ready int
		end   func(t *testing.T, p *process)
	}{
		{"that is killed", holder, 1, func(t *testing.T, p *process) { p.signal(t, unix.SIGKILL) }},
		{"that is told to end", holder, 1, func(t *testing.T, p *process) { p.signal(t, unix.SIGTERM) }},
		{"that ends", holder, 1, func(t *testing.T, p *process) { require.NoError(t, p.stdin.Close()) }},
		{"whose child lives on", parent, 2, func(t *testing.T, p *process) { p.signal(t, unix.SIGKILL) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bell")
			p := start(t, tt.ready, tt.part, path)
			l := dial(t, path)
			dead := async(l.Dead)
			requireBlocked(t, 1)
			require.True(t, l.Alive())
			tt.end(t, p)
			require.NoError(t, soon(t, dead))
			requireDead(t, l, path)
		})
	}
}

func TestAStoppedProcessIsNotDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bell")
	p := start(t, 1, holder, path)
	l := dial(t, path)
	dead := async(l.Dead)
	requireBlocked(t, 1)
	p.signal(t, unix.SIGSTOP)
	var status unix.WaitStatus
	_, err := unix.Wait4(p.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())

	require.True(t, l.Alive())
	require.NoError(t, l.Ring())
	require.Empty(t, dead)
	p.signal(t, unix.SIGKILL)
	require.NoError(t, soon(t, dead))
}
