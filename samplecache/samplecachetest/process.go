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

// Variables of the environment that say what a process is for.
const (
	testVariable  = "SAMPLECACHETEST_TEST"
	roleVariable  = "SAMPLECACHETEST_ROLE"
	nameVariable  = "SAMPLECACHETEST_NAME"
	placeVariable = "SAMPLECACHETEST_PLACE"
)

// Child reports whether this process was started by a test that calls [TestEngine].
func Child() bool { return os.Getenv(testVariable) != "" }

// A job is what a process was started for.
type job struct{ role, name, place string }

// jobOf returns the job of a test; it is not ok if the test is run for itself.
func jobOf(t *testing.T) (j job, ok bool) {
	t.Helper()
	j = job{os.Getenv(roleVariable), os.Getenv(nameVariable), os.Getenv(placeVariable)}
	return j, os.Getenv(testVariable) == t.Name()
}

// do does the job until the test that has started the process says that it is enough, or is gone.
func (j job) do(k *kit) {
	k.Helper()
	p, crew := &place{k, j.place}, k.crew()
	crew.start(roles[j.role](p.join(), j.name))
	go func() {
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			os.Exit(1) // nobody hears what is wrong
		}
		crew.cancel(errOver)
	}()
	k.must(crew.finish())
	tell("over")
}

// tell tells something to the test that has started the process.
func tell(words ...any) { fmt.Print(told, fmt.Sprintln(words...)) }

// told begins what processes tell, among what the testing package prints.
const told = "samplecachetest: "

// A process does a job.
type process struct {
	k     *kit
	job   job
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it has told; closed when it has ended
	last  []string    // the last lines that it has printed, once lines is closed
}

// begin starts a process, which ends at the latest when this one does.
func (k *kit) begin(j job) *process {
	k.Helper()
	p := &process{k: k, job: j, lines: make(chan string, 1<<16)}
	p.cmd = exec.Command(got(os.Executable())(k), "-test.run="+pattern(k.test))
	p.cmd.Env = append(os.Environ(), testVariable+"="+k.test, roleVariable+"="+j.role, nameVariable+"="+j.name, placeVariable+"="+j.place)
	p.cmd.Stderr = os.Stderr
	p.in = got(p.cmd.StdinPipe())(k)
	out := got(p.cmd.StdoutPipe())(k)
	k.must(p.cmd.Start())
	go p.hear(out)
	k.Cleanup(func() { _ = p.kill() }) // it may have ended
	return p
}

// pattern returns what has only the test of a name run.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// hear hears what p tells.
func (p *process) hear(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.last = append(p.last, s.Text())
		if line, ok := strings.CutPrefix(s.Text(), told); ok {
			p.lines <- line
		}
		p.last = p.last[max(0, len(p.last)-20):]
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
	case <-time.After(patience / 2):
		p.k.Fatalf("%s %s does nothing", p.job.role, p.job.name)
	}
	return ""
}

// rest returns the lines that were left when p had ended.
func (p *process) rest() (lines []string) {
	for line := range p.lines {
		lines = append(lines, line)
	}
	return lines
}

// kill kills p, and returns what it has told and nobody heard.
func (p *process) kill() []string {
	_ = p.cmd.Process.Kill() // it may have ended
	lines := p.rest()
	_ = p.cmd.Wait() // as it was killed
	return lines
}

// finish has p end, and returns what it has told and nobody heard. It fails the test if p ends in
// failure.
func (p *process) finish() []string {
	p.k.Helper()
	_, err := io.WriteString(p.in, "\n")
	p.k.must(err)
	lines := p.rest()
	if err := p.cmd.Wait(); err != nil {
		p.k.Fatalf("%s %s: %v: %s", p.job.role, p.job.name, err, strings.Join(p.last, "\n"))
	}
	return lines
}
