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
)

// binary returns the path of the command, which it builds once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "bin", "tdict")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// scratch is a directory of the test binary.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tdict-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// A result is what a run of the binary has left.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the binary in a directory.
func command(t testing.TB, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return commandUntil(ctx, t, dir, args...)
}

// commandUntil runs the binary, and sends it SIGKILL when ctx ends.
func commandUntil(ctx context.Context, t testing.TB, dir string, args ...string) result {
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
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
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
