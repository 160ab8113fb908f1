//go:build unix && !solaris && !aix

package bell_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/bell"
)

func TestDialRefuses(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("file"), []byte("abc"), 0o666))
	require.NoError(t, unix.Mkfifo(in("unheld"), 0o666))
	held, err := bell.Hang(in("held"))
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, os.Symlink("held", in("link")))
	socket, err := net.Listen("unix", in("socket"))
	require.NoError(t, err)
	defer socket.Close()
	tests := []struct {
		name, path string
		dead       bool
	}{
		{"a FIFO that nobody reads is dead", "unheld", true},
		{"what is not there is dead", "absent", true},
		{"so is what is in no directory", "absent/bell", true},
		{"a file is not a bell", "file", false},
		{"nor is a directory", ".", false},
		{"nor a device", "../../../../../../../../dev/null", false},
		{"nor a socket", "socket", false},
		{"a link is not followed", "link", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := bell.Dial(in(tt.path))
			require.Error(t, err)
			require.Nil(t, l)
			if tt.dead {
				require.ErrorIs(t, err, bell.ErrDead)
			} else {
				require.NotErrorIs(t, err, bell.ErrDead)
			}
			require.ErrorContains(t, err, in(tt.path), "the error says where")
		})
	}
	data, err := os.ReadFile(in("file"))
	require.NoError(t, err)
	require.Equal(t, "abc", string(data))
}

// requireDead checks all that a Line says of the dead.
func requireDead(t *testing.T, l *bell.Line, path string) {
	t.Helper()
	require.NoError(t, soon(t, async(l.Dead)))
	require.False(t, l.Alive())
	err := l.Ring()
	require.ErrorIs(t, err, bell.ErrDead)
	require.EqualError(t, err, "no process holds the bell: "+path)
}

func TestDeathByClose(t *testing.T) {
	tests := []struct {
		name  string
		rings int
	}{
		{"heard", 0},
		{"with rings unheard", 1},
		{"with a full FIFO, of which epoll says nothing but the error", 70_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, l, path := hang(t)
			for range tt.rings {
				require.NoError(t, l.Ring())
			}
			require.True(t, l.Alive())
			waits := []<-chan error{async(l.Dead), async(l.Dead), async(dial(t, path).Dead)}
			requireBlocked(t, 2) // the second waits for the first
			require.NoError(t, b.Close())
			for _, wait := range waits {
				require.NoError(t, soon(t, wait))
			}
			requireDead(t, l, path)
			_, err := bell.Dial(path)
			require.ErrorIs(t, err, bell.ErrDead)
		})
	}
}

// A full FIFO that drains wakes whoever waits for room. Dead waits for something else.
func TestDeadSleepsThroughDraining(t *testing.T) {
	b, l, path := hang(t)
	dead := async(l.Dead)
	for range 3 {
		for range 70_000 {
			require.NoError(t, l.Ring())
		}
		require.NoError(t, soon(t, async(b.Wait)))
		requireBlocked(t, 1)
		require.Empty(t, dead)
	}
	require.NoError(t, b.Close())
	require.NoError(t, soon(t, dead))
	requireDead(t, l, path)
}

func TestLineCloses(t *testing.T) {
	b, l, path := hang(t)
	waits := []<-chan error{async(l.Dead), async(l.Dead)}
	requireBlocked(t, 1)
	require.NoError(t, l.Close())
	for _, wait := range waits {
		require.ErrorIs(t, soon(t, wait), os.ErrClosed)
	}
	require.ErrorIs(t, l.Dead(), os.ErrClosed)
	require.ErrorIs(t, l.Ring(), os.ErrClosed)
	require.ErrorIs(t, l.Close(), os.ErrClosed)
	require.False(t, l.Alive())

	require.NoError(t, dial(t, path).Ring(), "others have lines of their own")
	require.NoError(t, soon(t, async(b.Wait)))
}

// Another bell at the same path is another process's.
func TestTheDeadStayDead(t *testing.T) {
	b, l, path := hang(t)
	require.NoError(t, b.Close())
	require.NoError(t, os.Remove(path))
	next, err := bell.Hang(path)
	require.NoError(t, err)
	defer next.Close()
	requireDead(t, l, path)
	require.True(t, dial(t, path).Alive())
}
