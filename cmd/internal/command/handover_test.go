//go:build unix

package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// parquet writes a file that begins as Parquet does, and a table.
func parquet(t testing.TB) (dir string) {
	dir = testkit.TempDir(t)
	for name, text := range map[string]string{"x.parquet": "PAR1", "other": "PAR1", "a.csv": "a,b\n1,2\n", "b.csv": "a\n1,2\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// TestNoTdictArrow: without tdict-arrow, the error says how to get it, and nothing is read or
// written.
func TestNoTdictArrow(t *testing.T) {
	dir := parquet(t)
	t.Setenv("PATH", "")
	const advice = "parquet: in a clone, go install -C cmd/tdict-arrow . makes tdict-arrow, which tdict runs if it is on the PATH\n"
	for _, args := range []string{
		"show x.parquet", "head other", "tail x.parquet --keys a", "stats x.parquet", "view a.csv x.parquet", "diff a.csv x.parquet", "schema x.parquet",
		"convert x.parquet out", "convert a.csv x.parquet out", "convert a.csv out.parquet", "convert b.csv out --to parquet", "slice a.csv out.pq --index 0",
		"sort a.csv out.parquet --by a", "join a.csv x.parquet out --on a", "split a.csv out --count 1 --names a.parquet", "sample a.csv out.parquet -n 1", "cache create c --like x.parquet --samples 1",
	} {
		got := command(t, dir, strings.Fields(args)...)
		require.Equal(t, 3, got.code, args)
		require.True(t, strings.HasSuffix(got.stderr, advice), "%s: %s", args, got.stderr)
		require.Empty(t, got.stdout, args)
		requireOneLine(t, got.stderr)
		require.NoFileExists(t, filepath.Join(dir, "out"))
	}
	got := command(t, dir, "verify", "x.parquet")
	require.Contains(t, got.stderr, "x.parquet: parquet has no checksums")
}

// withTdictArrow makes a PATH with tdict and a script as tdict-arrow.
func withTdictArrow(t testing.TB, script string) {
	tdict := executable(t)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(tdict), "tdict-arrow"), []byte("#!/bin/sh\n"+script), 0o777))
	t.Setenv("PATH", filepath.Dir(tdict)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestHandOver: tdict-arrow gets the arguments, the streams and the directory, and its exit code is
// the one of tdict.
func TestHandOver(t *testing.T) {
	dir := parquet(t)
	withTdictArrow(t, `printf '<%s>' "$@"; cat; pwd >&2; exit 7`)
	cmd := exec.CommandContext(t.Context(), "tdict", "slice", "x.parquet", "a b", "--where", "a > 1 and b == \"x\"")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader("input")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	require.Equal(t, 7, cmd.ProcessState.ExitCode())
	require.Equal(t, `<slice><x.parquet><a b><--where><a > 1 and b == "x">input`, string(out))
	require.Equal(t, dir+"\n", stderr.String())

	cmd = exec.CommandContext(t.Context(), "tdict", "convert", "x.parquet", "out", "--schema", "/dev/fd/63") // which tdict-arrow reads
	cmd.Dir = dir
	out, _ = cmd.Output()
	require.Equal(t, "<convert><x.parquet><out><--schema></dev/fd/63>", string(out))

	cmd = exec.CommandContext(t.Context(), "tdict", "show", "x.parquet") // as a program of tdict-arrow
	cmd.Dir, cmd.Env = dir, append(os.Environ(), handedOver+"=1")
	_ = cmd.Run()
	require.Equal(t, 7, cmd.ProcessState.ExitCode())

	cmd = exec.CommandContext(t.Context(), "tdict", "show", "a.csv") // not for files that tdict has
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), "dictionary [1], 2 leaves")
}

// TestHandOverSignals: a signal for tdict is one for tdict-arrow.
func TestHandOverSignals(t *testing.T) {
	dir := parquet(t)
	withTdictArrow(t, `trap 'exit 9' TERM; : > ready; while :; do sleep 0.01; done`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tdict", "show", "x.parquet")
	cmd.Dir = dir
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait()
	require.Equal(t, 9, cmd.ProcessState.ExitCode())
}

// TestHandOverEnds: a wrapper called tdict-arrow that starts tdict, not only in its own process,
// ends.
func TestHandOverEnds(t *testing.T) {
	dir := parquet(t)
	withTdictArrow(t, `( sh -c "tdict $*"; true )`)
	cmd := exec.CommandContext(t.Context(), "tdict", "show", "x.parquet")
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	require.Equal(t, 1, strings.Count(string(out), "no driver for the form"), string(out))
}

// TestHandOverOnce: a tdict-arrow that lacks the form itself does not start itself.
func TestHandOverOnce(t *testing.T) {
	dir := parquet(t)
	tdict := executable(t)
	require.NoError(t, os.Symlink(tdict, filepath.Join(filepath.Dir(tdict), "tdict-arrow")))
	t.Setenv("PATH", filepath.Dir(tdict))
	for _, name := range []string{"tdict", "tdict-arrow"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, "show", "x.parquet")
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		require.Equal(t, 3, cmd.ProcessState.ExitCode(), name)
		require.Equal(t, 1, strings.Count(string(out), "no driver for the form"), string(out))
	}
}
