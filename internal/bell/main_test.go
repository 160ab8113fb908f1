//go:build unix && !solaris && !aix

package bell_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/bell"
)

// patience is how long a test waits for what should happen soon.
const patience = 30 * time.Second

// The parts a process plays that a test starts from its own binary. All end at the end of stdin.
const (
	part   = "BELL_TEST_PART"
	holder = "holder" // hangs a bell
	echo   = "echo"   // hangs a bell, and rings another whenever it is rung
	parent = "parent" // hangs a bell, and starts an idler
	idler  = "idler"
)

func TestMain(m *testing.M) {
	if os.Getenv(part) != "" {
		play(os.Getenv(part), os.Args[1:])
		return
	}
	os.Exit(leakless(m.Run))
}

// play is the main function of a process that a test started.
func play(part string, paths []string) {
	if part != idler {
		mine := must(bell.Hang(paths[0]))
		defer mine.Close()
		switch part {
		case echo:
			go answer(mine, must(bell.Dial(paths[1])))
		case parent:
			cmd := actor(idler)
			cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
			if err := cmd.Start(); err != nil {
				panic(err)
			}
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func answer(mine *bell.Bell, theirs *bell.Line) {
	for mine.Wait() == nil {
		if err := theirs.Ring(); err != nil {
			panic(err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// leakless runs the tests and returns 1 if they leave goroutines or descriptors.
func leakless(run func() int) int {
	poller := must(os.Open(os.DevNull))
	_ = poller.Close()
	r, w, _ := os.Pipe() // now the poller has its own descriptors
	_, _ = r.Close(), w.Close()
	goroutines, files := runtime.NumGoroutine(), descriptors()
	code := run()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= goroutines && descriptors() <= files {
			return code
		}
		if time.Now().After(deadline) {
			fmt.Printf("leak: from %d goroutines and %d descriptors to %d and %d\n",
				goroutines, files, runtime.NumGoroutine(), descriptors())
			return 1
		}
	}
}

func descriptors() int { return len(must(os.ReadDir("/dev/fd"))) }

// A process is another one, in which a part is played.
type process struct {
	cmd   *exec.Cmd
	stdin *os.File
}

func actor(name string, paths ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], paths...)
	cmd.Env = append(os.Environ(), part+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// start starts a process and waits until ready of its kind are ready. It ends with the test.
func start(t testing.TB, ready int, name string, paths ...string) *process {
	t.Helper()
	cmd := actor(name, paths...)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdin = r
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, r.Close())
	t.Cleanup(func() {
		_ = w.Close()
		_, _ = io.Copy(io.Discard, stdout) // until all have ended
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(stdout); ready > 0; ready-- {
		require.True(t, lines.Scan(), "the process ended")
	}
	return &process{cmd, w}
}

func (p *process) signal(t testing.TB, s unix.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
}

// hang hangs a bell and dials it. Both are closed when the test ends.
func hang(t testing.TB) (*bell.Bell, *bell.Line, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bell")
	b, err := bell.Hang(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b, dial(t, path), path
}

func dial(t testing.TB, path string) *bell.Line {
	t.Helper()
	l, err := bell.Dial(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// async runs a function that may block.
func async(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// soon returns the result of a function that was started by async.
func soon(t testing.TB, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		require.FailNow(t, "still blocked")
		return nil
	}
}

// requireBlocked waits until n goroutines wait in the poller.
func requireBlocked(t *testing.T, n int) {
	t.Helper()
	stacks := make([]byte, 8<<20)
	require.Eventually(t, func() bool {
		return countIOWaits(stacks[:runtime.Stack(stacks, true)]) >= n
	}, patience, time.Millisecond)
}
