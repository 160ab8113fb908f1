//go:build unix

package programs

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// start starts a bash program, and waits until it has ended; children in sessions of their own live
// on.
func start(t *testing.T, program string) *Program {
	p, err := Start([]string{"bash", "-c", program}, nil, func(string) {})
	require.NoError(t, err)
	require.True(t, p.wait(10*time.Second))
	return p
}

// TestUntil has a child that writes on after the end of the program: the limit stays.
func TestUntil(t *testing.T) {
	p := start(t, "setsid bash -c 'while printf x; do sleep 0.01; done' & sleep 0.05")
	p.Until(time.Now().Add(200 * time.Millisecond))
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, p); ended <- err }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Error("Read goes on after the limit")
	}
	require.True(t, p.End(0, 0).OK)
}

// TestReadLate reads what a program has left in the pipe long after its end.
func TestReadLate(t *testing.T) {
	p := start(t, "printf abc")
	time.Sleep(3 * linger)
	b, err := io.ReadAll(p)
	require.NoError(t, err)
	require.Equal(t, "abc", string(b))
	require.True(t, p.End(0, 0).OK)
}

// TestEnd has a child that keeps standard error open: nothing waits for it.
func TestEnd(t *testing.T) {
	p := start(t, "echo oh >&2; setsid sleep 20 & sleep 0.05")
	require.Equal(t, Exit{Status: "exit status 0", OK: true, Last: []string{"oh"}}, p.End(0, 0))
	require.Eventually(t, func() bool { _, err := p.stderr.Stat(); return errors.Is(err, os.ErrClosed) }, time.Minute, time.Millisecond)
}
