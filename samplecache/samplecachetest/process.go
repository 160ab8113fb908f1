package samplecachetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// jobVariable is the variable of the environment that says which job a process has: the test, and
// the fields of job.
const jobVariable = "SAMPLECACHETEST_JOB"

// Child reports whether this process was started by a test that calls [TestEngine].
func Child() bool { return os.Getenv(jobVariable) != "" }

// A job is what a process was started for. It does it until it is killed.
type job struct{ role, name, place string }

// jobOf returns the job of a test; it is not ok if the test is run for itself.
func jobOf(t *testing.T) (j job, ok bool) {
	t.Helper()
	test := ""
	_, err := fmt.Sscan(os.Getenv(jobVariable), &test, &j.role, &j.name, &j.place)
	return j, err == nil && test == t.Name()
}

// tell tells something to the test that has started the process.
func tell(words ...any) { fmt.Print(told, fmt.Sprintln(words...)) }

// told begins the lines that a process tells, among those that the testing package prints.
const told = "samplecachetest: "

// A process does a job.
type process struct {
	k     *kit
	job   job
	cmd   *exec.Cmd
	lines chan string // that it has told; closed when it has ended
	last  []string    // the last lines that it has printed, once lines is closed
}

// begin starts a process, which is killed when the test ends at the latest.
func (k *kit) begin(j job) *process {
	k.Helper()
	if Child() {
		k.Fatal("this process was started to do a job, and would start others")
	}
	p := &process{k: k, job: j, lines: make(chan string, 1<<16)}
	run := "^" + strings.ReplaceAll(regexp.QuoteMeta(k.test), "/", "$/^") + "$"
	p.cmd = exec.Command(got(os.Executable())(k), "-test.run="+run)
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %s", jobVariable, k.test, j.role, j.name, j.place))
	p.cmd.Stderr = os.Stderr
	out := got(p.cmd.StdoutPipe())(k)
	k.must(p.cmd.Start())
	go p.hear(out)
	k.Cleanup(func() { _ = p.kill() }) // it may have ended
	return p
}

// hear hears the lines that p tells.
func (p *process) hear(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.last = append(p.last[max(0, len(p.last)-20):], s.Text())
		if line, ok := strings.CutPrefix(s.Text(), told); ok {
			p.lines <- line
		}
	}
}

// next returns the next line that p tells.
func (p *process) next() string {
	p.k.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.k.Fatalf("%s %s has ended by itself: %s", p.job.role, p.job.name, strings.Join(p.last, "\n"))
		}
		return line
	case <-time.After(p.k.patience / 2):
		p.k.Fatalf("%s %s does nothing", p.job.role, p.job.name)
	}
	return ""
}

// kill kills p, and returns the lines that nobody has heard.
func (p *process) kill() (lines []string) {
	_ = p.cmd.Process.Kill() // it may have ended
	for line := range p.lines {
		lines = append(lines, line)
	}
	_ = p.cmd.Wait() // as it was killed
	return lines
}
