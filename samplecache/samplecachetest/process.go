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

// jobVariable is the environment variable that says the job of a process: test, name and place.
const jobVariable = "SAMPLECACHETEST_JOB"

// Child reports whether this process was started by a test that calls [TestEngine].
func Child() bool { return os.Getenv(jobVariable) != "" }

// jobOf returns the job of this process. It returns false if the test runs by itself.
func jobOf(t *testing.T) (name, place string, ok bool) {
	t.Helper()
	test := ""
	_, err := fmt.Sscan(os.Getenv(jobVariable), &test, &name, &place)
	return name, place, err == nil && test == t.Name()
}

// reportPrefix begins the lines that a process reports, among the lines that package testing
// prints.
const reportPrefix = "samplecachetest: "

// begin starts a process that does a job, or skips the test. The returned function kills the
// process, and returns the last number that it reported. The end of the test kills it too.
func (k *kit) begin(name, place string) (kill func() (last uint64)) {
	k.Helper()
	switch {
	case Child():
		k.fatalf("this process was started to do a job, and must not start others")
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
		if cmd.ProcessState.Exited() && runtime.GOOS != "windows" { // on Windows, Kill looks like an exit
			k.Errorf("process %s ended before it was killed: %v\n%s", name, err, &out)
		}
		for line := range strings.Lines(out.String()) {
			if number, ok := strings.CutPrefix(line, reportPrefix); ok {
				_, _ = fmt.Sscan(number, &last) // the last line may be incomplete
			}
		}
		return last
	})
	k.Cleanup(func() { kill() })
	return kill
}
