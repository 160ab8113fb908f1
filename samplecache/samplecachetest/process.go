package samplecachetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// jobVariable is the variable of the environment that says which job a process has: test, name and
// place.
const jobVariable = "SAMPLECACHETEST_JOB"

// Child reports whether this process was started by a test that calls [TestEngine].
func Child() bool { return os.Getenv(jobVariable) != "" }

// jobOf returns the job of a test; it is not ok if the test is run for itself.
func jobOf(t *testing.T) (name, place string, ok bool) {
	t.Helper()
	test := ""
	_, err := fmt.Sscan(os.Getenv(jobVariable), &test, &name, &place)
	return name, place, err == nil && test == t.Name()
}

// told begins the lines that a process tells, among those that the testing package prints.
const told = "samplecachetest: "

// begin starts a process that works, and is killed when the test ends at the latest; or it skips
// the test. The function that begin returns kills the process before, and returns the last number
// that it has told.
func (k *kit) begin(name, place string) (kill func() (last uint64)) {
	k.Helper()
	switch {
	case Child():
		k.fatalf("this process was started to do a job, and would start others")
	case k.OneProcess:
		k.skip("other processes cannot join")
	case testing.Short():
		k.skip("it starts processes")
	}
	run := "^" + strings.ReplaceAll(regexp.QuoteMeta(k.test), "/", "$/^") + "$"
	cmd := exec.Command(got(os.Executable())(k), "-test.run="+run)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", jobVariable, k.test, name, place))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	k.must(cmd.Start())
	kill = sync.OnceValue(func() (last uint64) {
		_ = cmd.Process.Kill() // it may have ended
		err := cmd.Wait()
		if cmd.ProcessState.Exited() && runtime.GOOS != "windows" { // where Kill is an exit, too
			k.Errorf("%s has ended by itself: %v\n%s", name, err, &out)
		}
		for line := range strings.Lines(out.String()) {
			if number, ok := strings.CutPrefix(line, told); ok {
				_, _ = fmt.Sscan(number, &last) // it may be half a line
			}
		}
		return last
	})
	k.Cleanup(func() { kill() })
	return kill
}
