//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
)

// sound are cases of the corpora that the command opens: they are broken for one way of opening, or
// with options that the command does not have.
var sound = map[string][]string{}

// TestHostile has show, verify and convert look at every broken file that the packages have.
func TestHostile(t *testing.T) {
	for _, corpus := range []struct {
		name, glob string
		build      func(t testing.TB, dir string, sections []string) (path string)
	}{
		{"memmap", "../../memmap/testdata/broken/*.txt", buildDataset},
		{"npy", "../../interop/npy/testdata/broken/*.txt", buildNpy},
		{"safetensors", "../../interop/safetensors/testdata/broken/*.txt", buildSafetensors},
	} {
		files, err := filepath.Glob(corpus.glob)
		require.NoError(t, err)
		require.Greater(t, len(files), 40)
		for _, file := range files {
			name := corpus.name + "/" + strings.TrimSuffix(filepath.Base(file), ".txt")
			t.Run(name, func(t *testing.T) {
				_, sections := testkit.Sections(t, file)
				dir := testkit.TempDir(t)
				path := corpus.build(t, dir, sections)
				for _, args := range [][]string{{"show", path}, {"verify", path}, {"convert", path, "out.tdz"}, {"convert", path, "out.jsonl", "--lossy"}} {
					if !slices.Contains(sound[name], args[0]) {
						refuse(t, dir, path, args)
					}
				}
			})
		}
	}
}

func buildDataset(t testing.TB, dir string, sections []string) string {
	require.NoError(t, os.Mkdir(filepath.Join(dir, "in"), 0o777))
	testkit.BuildDir(t, filepath.Join(dir, "in"), sections)
	return "in"
}

func buildNpy(t testing.TB, dir string, sections []string) string {
	content, name := testkit.BuildFile(t, sections), "in.npy"
	if bytes.HasPrefix(content, []byte("PK")) {
		name = "in.npz"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
	return name
}

func buildSafetensors(t testing.TB, dir string, sections []string) string {
	require.NoError(t, os.Mkdir(filepath.Join(dir, "in"), 0o777))
	testkit.BuildDir(t, filepath.Join(dir, "in"), sections)
	if index := "in/model.safetensors.index.json"; exists(filepath.Join(dir, index)) {
		return index
	}
	return "in/x.safetensors"
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// refuse requires that a command fails, says so on one line, takes little, and leaves nothing.
func refuse(t *testing.T, dir, path string, args []string) {
	t.Helper()
	bin, err := binary()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says more
	text := stdout.String() + stderr.String()
	require.Contains(t, []int{exitNo, exitFailure}, cmd.ProcessState.ExitCode(), "%q: %s", args, text)
	require.Contains(t, text, strings.TrimSuffix(filepath.Base(path), "/"), args)
	if stderr.Len() > 0 {
		requireOneLine(t, stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.Less(t, usage.Maxrss, int64(300<<10), "%q: KiB", args)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "%q leaves nothing", args)
}
