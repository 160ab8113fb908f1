package memmap_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/longtests"
)

var (
	killsFlag = flag.String("kills", "", "how often tests kill a process, or replace what one serves: a number, or full")
	killSeed  = flag.Uint64("killseed", 0, "seed of the moments at which processes are killed; 0 takes a new one")
)

// kills returns how many rounds a test of processes has: few in a long run, otherwise few/3.
func kills(t *testing.T, few, full int) int {
	t.Helper()
	switch *killsFlag {
	case "":
		return longtests.Times((few+2)/3, few)
	case "full":
		return full
	}
	n, err := strconv.Atoi(*killsFlag)
	require.NoError(t, err, "-kills")
	return n
}

// random returns a source of moments and says how to get it again.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// needsExchange skips a test of what holds where the system exchanges two directories in one step.
// Elsewhere there is a moment without the directory.
func needsExchange(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("between two renames there is no directory")
	}
}

// taskName is the variable with the name of the test that a process was started for.
const taskName = "MEMMAP_TEST_TASK"

// A process runs one test of this binary, its task, in a process of its own.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it has told; closed when it ends
	heard []string    // what was taken from lines
}

// start starts a process. Its task ends when this process does.
func start(t *testing.T, task string, args ...any) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	all := []string{"-test.run=^" + task + "$", "--"}
	for _, arg := range args {
		all = append(all, fmt.Sprint(arg))
	}
	p := &process{cmd: exec.Command(exe, all...), lines: make(chan string, 1<<16)}
	p.cmd.Env = append(os.Environ(), taskName+"="+task)
	p.cmd.Stderr = os.Stderr
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// next returns the fields of the next line that p tells.
func (p *process) next(t *testing.T) []string {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(t, ok, "the process has ended: %s", p.tail())
		p.heard = append(p.heard, line)
		return strings.Fields(line)
	case <-time.After(time.Minute):
		require.FailNow(t, "the process says nothing", p.tail())
	}
	return nil
}

// tail returns what p told last.
func (p *process) tail() string { return strings.Join(p.heard[max(0, len(p.heard)-20):], "\n") }

// proceed lets a task go on that waits.
func (p *process) proceed(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(p.in, "\n")
	require.NoError(t, err)
}

// ended hears p out, waits for its end, and returns how it ended.
func (p *process) ended() error {
	for line := range p.lines {
		p.heard = append(p.heard, line)
	}
	return p.cmd.Wait()
}

// A task is the other end of a process.
type task struct {
	args  []string
	next  chan struct{}
	begun bool
}

// taskOf returns the task of a test that was started by start; it is not ok if it was by go test.
func taskOf(t *testing.T) (k *task, ok bool) {
	t.Helper()
	if os.Getenv(taskName) != t.Name() {
		return nil, false
	}
	k = &task{args: flag.Args(), next: make(chan struct{})}
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			k.next <- struct{}{}
		}
		os.Exit(0) // who started it is gone
	}()
	return k, true
}

// tell tells a line.
func (k *task) tell(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// wait waits until it may proceed.
func (k *task) wait() { <-k.next }

// first reports whether it is the first time that this is asked.
func (k *task) first() bool {
	was := k.begun
	k.begun = true
	return !was
}

func (k *task) number(t *testing.T, arg int) int {
	t.Helper()
	n, err := strconv.Atoi(k.args[arg])
	require.NoError(t, err)
	return n
}

// random returns a source that the argument is the seed of.
func (k *task) random(t *testing.T, arg int) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(uint64(k.number(t, arg)), 1))
}
