package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

// binary returns the path of the command, which it builds once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "bin", "tdict")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = home // a test may be elsewhere
	out, err := build.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// scratch is a directory of the test binary, home the directory of the package.
var scratch, home string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tdict-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	if home, err = os.Getwd(); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
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
	code := run(ctx, args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// process runs the binary, and sends it SIGKILL when ctx ends.
func process(ctx context.Context, t testing.TB, dir string, args ...string) (result, *os.ProcessState) {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, cmd.ProcessState
}

// visits writes the table of visits that the examples have as visits.csv.
func visits(t testing.TB, dir string) {
	t.Helper()
	file, err := os.Open("../../examples/internal/data/pbcseq.csv.gz")
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	all, err := io.ReadAll(text)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "visits.csv"), all, 0o666))
}
