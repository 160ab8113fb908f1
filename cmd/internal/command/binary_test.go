package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestMain is Main if the test binary is called tdict, or tdict-arrow, which then lacks the
// drivers.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "tdict" || name == "tdict-arrow" {
		Main(nil)
	}
	testkit.Main(m)
}

// executable returns the path of the command, a link to this binary.
func executable(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "tdict")
	require.NoError(t, os.Symlink(exe, path))
	return path
}

// A result is what a run of the binary has left.
type result struct {
	code           int
	stdout, stderr string
}

// command runs a command line in a directory: in this process, or in a separate one if tests are
// long.
func command(t testing.TB, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if longtests.On() {
		got, _ := process(ctx, t, dir, args...)
		return got
	}
	t.Chdir(dir)
	var stdout, stderr bytes.Buffer
	code := run(ctx, nil, args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// process runs the binary, and sends it SIGKILL when ctx ends.
func process(ctx context.Context, t testing.TB, dir string, args ...string) (result, *os.ProcessState) {
	t.Helper()
	cmd := exec.CommandContext(ctx, executable(t), args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, cmd.ProcessState
}

// visits writes the table of visits that the examples have as visits.csv.
func visits(t testing.TB, dir string) {
	t.Helper()
	file, err := os.Open("../../../examples/internal/data/pbcseq.csv.gz")
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	all, err := io.ReadAll(text)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "visits.csv"), all, 0o666))
}
