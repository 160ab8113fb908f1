// Package processkit runs parts of tests in separate processes, so that a test can kill them,
// and runs Python.
package processkit

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

var (
	killsFlag = flag.String("kills", "", "how often tests kill a process, or replace what one serves: a number, or full")
	killSeed  = flag.Uint64("killseed", 0, "seed of the moments at which processes are killed; 0 takes a new one")
)

// Kills returns how many rounds a test of processes has: few, long if tests are long, and full with
// -kills full.
func Kills(t testing.TB, few, long, full int) int {
	t.Helper()
	switch *killsFlag {
	case "":
		return longtests.Times(few, long)
	case "full":
		return full
	}
	n, err := strconv.Atoi(*killsFlag)
	require.NoError(t, err, "-kills")
	return n
}

// Full reports whether tests run with -kills full.
func Full() bool { return *killsFlag == "full" }

// Random returns a source of moments and says how to get it again.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// taskName is the variable with the name of the test that a process was started for.
const taskName = "PROCESSKIT_TASK"

// A Process is a process that tells lines. It belongs to one goroutine.
type Process struct {
	Cmd    *exec.Cmd
	In     io.WriteCloser
	Heard  []string    // the lines that Line, Words and Ended have taken
	Lines  chan string // the others; closed when the process ends
	stderr strings.Builder
	once   sync.Once
	err    error // how it ended
}

// Start starts one test of this binary, its task, in a process. The task ends when this process
// does.
func Start(t testing.TB, task string, args ...any) *Process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	all := []string{"-test.run=^" + task + "$", "--"}
	for _, arg := range args {
		all = append(all, fmt.Sprint(arg))
	}
	cmd := exec.Command(exe, all...)
	cmd.Env = append(os.Environ(), taskName+"="+task)
	return Run(t, cmd)
}

// Run starts a command as a process.
func Run(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, Lines: make(chan string, 1<<16)}
	p.Cmd.Stderr = &p.stderr
	var err error
	p.In, err = p.Cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.Cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Cmd.Start())
	running := p.Cmd.Process
	t.Cleanup(func() { _ = running.Kill() })
	go func() {
		defer close(p.Lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.Lines <- s.Text()
		}
	}()
	return p
}

// Line returns the next line that p tells.
func (p *Process) Line(t testing.TB) string {
	t.Helper()
	select {
	case line, ok := <-p.Lines:
		if !ok {
			require.FailNow(t, "the process has ended", "%v: %s", p.Ended(), p.Tail())
		}
		p.Heard = append(p.Heard, line)
		return line
	case <-time.After(time.Minute):
		require.FailNow(t, "the process says nothing", p.Tail())
	}
	return ""
}

// Words returns the fields of the next line that p tells.
func (p *Process) Words(t testing.TB) []string {
	t.Helper()
	return strings.Fields(p.Line(t))
}

// Until returns the next line that is one of lines.
func (p *Process) Until(t testing.TB, lines ...string) string {
	t.Helper()
	for {
		got := p.Line(t)
		for _, line := range lines {
			if line == got {
				return got
			}
		}
	}
}

// Tail returns what p told last. What p has written to standard error is in it once p has ended.
func (p *Process) Tail() string {
	tail := strings.Join(p.Heard[max(0, len(p.Heard)-20):], "\n")
	if p.Cmd.ProcessState != nil { // nobody writes to it any more
		tail += "\n" + p.stderr.String()
	}
	return tail
}

// Proceed lets a task go on that waits.
func (p *Process) Proceed(t testing.TB) {
	t.Helper()
	_, err := io.WriteString(p.In, "\n")
	if !errors.Is(err, syscall.EPIPE) { // some end without being told
		require.NoError(t, err)
	}
}

// Ended hears p out, waits for its end, and returns how it ended.
func (p *Process) Ended() error {
	p.once.Do(func() {
		for line := range p.Lines {
			p.Heard = append(p.Heard, line)
		}
		p.err = p.Cmd.Wait()
	})
	return p.err
}

// Kill kills a process that has not ended.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.Cmd.Process.Kill())
	_ = p.Ended()
	require.True(t, p.Killed(), "%v: %s", p.err, p.Tail())
}

// Killed reports whether a process that has ended was killed.
func (p *Process) Killed() bool { return p.err != nil && p.err.Error() == "signal: killed" }

// A Task is the other end of a Process.
type Task struct {
	Args []string
	next chan struct{}
}

// TaskOf returns the task of a test that [Start] has started; it is not ok if go test has.
func TaskOf(t testing.TB) (k *Task, ok bool) {
	t.Helper()
	if os.Getenv(taskName) != t.Name() {
		return nil, false
	}
	k = &Task{Args: flag.Args(), next: make(chan struct{})}
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			k.next <- struct{}{}
		}
		os.Exit(0) // who started it is gone
	}()
	return k, true
}

// Tell tells a line.
func (k *Task) Tell(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Wait waits until it may proceed.
func (k *Task) Wait() { <-k.next }

// Number returns an argument as a number.
func (k *Task) Number(t testing.TB, arg int) int {
	t.Helper()
	n, err := strconv.Atoi(k.Args[arg])
	require.NoError(t, err)
	return n
}

// Random returns a source whose seed is an argument.
func (k *Task) Random(t testing.TB, arg int) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(uint64(k.Number(t, arg)), 1))
}

// PythonCommand returns the command of the Python that TENSORDICT_PYTHON names. It skips the test
// if there is none.
func PythonCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe := os.Getenv("TENSORDICT_PYTHON")
	if exe == "" {
		t.Skip("TENSORDICT_PYTHON names no Python with tensordict")
	}
	return exec.Command(exe, append([]string{"-W", "ignore"}, args...)...)
}

// Python runs a script with the Python that TENSORDICT_PYTHON names, and returns what it prints.
func Python(t testing.TB, script string, args ...string) string {
	t.Helper()
	out, err := PythonCommand(t, append([]string{"-c", script}, args...)...).Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		require.NoError(t, err, "%s", e.Stderr)
	}
	require.NoError(t, err)
	return string(out)
}
