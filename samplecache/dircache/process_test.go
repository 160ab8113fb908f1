package dircache_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/longtests"
)

var (
	killsFlag = flag.String("kills", "", "how often tests kill a process: a number, or full")
	killSeed  = flag.Uint64("killseed", 0, "seed of the moments at which processes are killed; 0 takes a new one")
)

// kills returns how many times a test kills a process: few times, or more often if tests are long.
func kills(t *testing.T, few, long, full int) int {
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

// TestMain has more tests run at once than there are processors: they mostly wait for processes.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// taskName is the variable with the name of the test that a process was started for.
const taskName = "DIRCACHE_TEST_TASK"

// A process runs one test of this binary, its task, in a process of its own. It belongs to one
// goroutine.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // what it has told; closed when it ends
	heard  []string    // what was taken from lines
	stderr strings.Builder
	once   sync.Once
	err    error // how it ended
}

// start starts a process. Its task ends when this process does.
func start(t testing.TB, task string, args ...any) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	all := []string{"-test.run=^" + task + "$", "--"}
	for _, arg := range args {
		all = append(all, fmt.Sprint(arg))
	}
	p := &process{cmd: exec.Command(exe, all...), lines: make(chan string, 1<<10)}
	p.cmd.Env = append(os.Environ(), taskName+"="+task)
	p.cmd.Stderr = &p.stderr
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	running := p.cmd.Process
	t.Cleanup(func() { _ = running.Kill() })
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// pid returns the id of the process.
func (p *process) pid() int { return p.cmd.Process.Pid }

// next returns the next line that p tells.
func (p *process) next(t testing.TB) string {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(t, ok, "the process has ended: %s", p.tail())
		p.heard = append(p.heard, line)
		return line
	case <-time.After(time.Minute):
		require.FailNow(t, "the process says nothing", p.tail())
	}
	return ""
}

// until waits for a line.
func (p *process) until(t testing.TB, want string) {
	t.Helper()
	for p.next(t) != want {
	}
}

// either waits for one of two lines.
func (p *process) either(t testing.TB, one, other string) (line string) {
	t.Helper()
	for line != one && line != other {
		line = p.next(t)
	}
	return line
}

// tail returns what p told last.
func (p *process) tail() string {
	return strings.Join(p.heard[max(0, len(p.heard)-20):], "\n") + p.stderr.String()
}

// proceed lets a task go on that waits.
func (p *process) proceed(t testing.TB) {
	t.Helper()
	_, err := io.WriteString(p.in, "\n")
	if !errors.Is(err, syscall.EPIPE) { // some end without being told
		require.NoError(t, err)
	}
}

// ended hears p out, waits for its end, and returns how it ended.
func (p *process) ended() error {
	p.once.Do(func() {
		for line := range p.lines {
			p.heard = append(p.heard, line)
		}
		p.err = p.cmd.Wait()
	})
	return p.err
}

// kill kills a process that has not ended.
func (p *process) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	_ = p.ended()
	require.True(t, p.killed(), "%v: %s", p.err, p.tail())
}

// killed reports whether a process that has ended was killed.
func (p *process) killed() bool { return p.err != nil && p.err.Error() == "signal: killed" }

// A task is the other end of a process.
type task struct {
	args []string
	next chan struct{}
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

func (k *task) number(t *testing.T, arg int) int {
	t.Helper()
	n, err := strconv.Atoi(k.args[arg])
	require.NoError(t, err)
	return n
}

// crashPoints returns all crash points that the source names, in order.
func crashPoints(t testing.TB) (list []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`\bcrashPoint\("(.*?)"\)`).FindAllSubmatch(text, -1) {
			list = append(list, string(call[1]))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	require.NotEmpty(t, list)
	return list
}
