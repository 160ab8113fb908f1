//go:build unix

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// sound are cases that the commands open, with the reason.
var sound = map[string]string{
	"memmap/go-sums-many":  "only verify looks at checksums",
	"memmap/go-sums-wrong": "only verify looks at checksums",
	"memmap/growing-sound": "only a Writer refuses it",
	"npy/archive":          "it is not one array",
	"npy/byteorder":        "within the default limits",
	"npy/dict-array":       "it is one array",
	"npy/structured":       "it is not one array",
	"npy/member-bomb":      "within the default limits",
}

// TestHostile has show, verify and convert look at every broken file that the packages have.
func TestHostile(t *testing.T) {
	for _, corpus := range []struct {
		name, glob string
		build      func(t testing.TB, dir string, sections []string) (path string)
	}{
		{"memmap", "../../../memmap/testdata/broken/*.txt", buildDataset},
		{"npy", "../../../interop/npy/testdata/broken/*.txt", buildNpy},
		{"safetensors", "../../../interop/safetensors/testdata/broken/*.txt", buildSafetensors},
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
				if name != "memmap/growing-sound" && (corpus.name != "npy" || sound[name] == "") { // an archive of arrays has checksums
					refuse(t, dir, path, "verify", path)
				}
				if sound[name] == "" {
					refuse(t, dir, path, "show", path)
					refuse(t, dir, path, "convert", path, "out.tdz")
				}
				if sound[name] == "" && longtests.On() {
					refuse(t, dir, path, "convert", path, "out.jsonl", "--lossy")
				}
			})
		}
	}
}

// TestHostileFiles has the commands look at broken files of forms that have no corpus.
func TestHostileFiles(t *testing.T) {
	for _, tt := range []struct{ rule, name, text string }{
		{"a quote that does not end", "in.csv", "a,b\n1,\"2\n"},
		{"fields without a header", "in.csv", "a\n1,2\n"},
		{"a quote that does not end in 64 MB", "in.csv", "a\n\"" + strings.Repeat("x", 64<<20) + "\n"},
		{"half of an object", "in.jsonl", "{\"a\":1}\n{\"a\":"},
		{"lists nested a million deep", "in.jsonl", `{"a":` + strings.Repeat("[", 1_000_000)},
		{"bytes that are not UTF-8", "in.jsonl", "{\"a\":\"\xff\"}\n"},
		{"nothing", "in.nrt", ""},
		{"a header that is not there", "in.nrt", "\xff\xff\xff\xff\xff\xff\xff\xff{"},
		{"the beginning of an archive", "in.tdz", "PK\x03\x04" + strings.Repeat("\x00", 100)},
		{"nothing", "in.tdz", ""},
		{"no form", "in", "\x00\x01\x02"},
	} {
		t.Run(tt.name+", "+tt.rule, func(t *testing.T) {
			dir := testkit.TempDir(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, tt.name), []byte(tt.text), 0o666))
			for _, command := range []string{"show", "verify", "stats", "head", "schema"} {
				refuse(t, dir, tt.name, command, tt.name)
			}
			refuse(t, dir, tt.name, "convert", tt.name, "out.tdz")
		})
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

// refuse requires that a command fails, says so on one line, takes little, and leaves nothing. Only
// the memory of a process is measured, so only if tests are long.
func refuse(t *testing.T, dir, path string, args ...string) {
	t.Helper()
	before := names(t, dir)
	var got result
	if longtests.On() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var state *os.ProcessState
		got, state = process(ctx, t, dir, args...)
		require.Less(t, state.SysUsage().(*syscall.Rusage).Maxrss, int64(300<<10), "%q: KiB", args)
	} else {
		got = command(t, dir, args...)
	}
	text := got.stdout + got.stderr
	require.Contains(t, []int{exitNo, exitFailure}, got.code, "%q: %s", args, text)
	require.Contains(t, text, strings.TrimSuffix(path, "model.safetensors.index.json"), args) // or a shard beside it
	if got.stderr != "" {
		requireOneLine(t, got.stderr)
	}
	require.Equal(t, before, names(t, dir), "%q leaves nothing", args)
}
