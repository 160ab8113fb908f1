//go:build unix

package programs

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain is a program that leaves its process group and ignores signals, if this environment says
// so.
func TestMain(m *testing.M) {
	if os.Getenv("LEAVE_GROUP") == "" {
		linger = 100 * time.Millisecond
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
	group, err := syscall.Getpgid(os.Getppid())
	if err != nil || syscall.Setpgid(0, group) != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("x") // the test fails without it
	time.Sleep(time.Minute)
}

// TestLeftGroup ends a program that is not in its process group any more.
func TestLeftGroup(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	p, err := Start([]string{exe}, []string{"LEAVE_GROUP=1"}, func(string) {})
	require.NoError(t, err)
	_, err = p.Read(make([]byte, 1))
	require.NoError(t, err)
	ended := make(chan Exit, 1)
	go func() { ended <- p.End(0, 10*time.Millisecond) }()
	select {
	case e := <-ended:
		require.Equal(t, "signal: killed", e.Status)
	case <-time.After(time.Minute):
		require.NoError(t, p.cmd.Process.Kill())
		t.Fatal("it was not killed")
	}
}
