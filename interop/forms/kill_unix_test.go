//go:build unix

package forms_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// killDir is the variable with the directory in which a process that is to be killed saves.
const killDir = "FORMS_TEST_DIR"

// versions are the numbers of rows of the two inputs.
var versions = []int{3000, 2000}

// with returns options with a selection.
func with(opt forms.Options, sel forms.Selection) forms.Options {
	opt.Select = sel
	return opt
}

// ops save the input of a version in a directory, each in a form of its own.
var verbs = map[string]func(dir, in string, n int, opt forms.Options) error{
	"npz": func(dir, in string, n int, opt forms.Options) error {
		return forms.Slice(ctx, filepath.Join(dir, "a.npz"), in, forms.SliceOptions{Options: with(opt, forms.Selection{Keys: []nestedkey.Key{"x"}}), Index: []ix.Index{ix.All, ix.Rest}})
	},
	"list": func(dir, in string, n int, opt forms.Options) error {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return forms.Slice(ctx, filepath.Join(dir, "b.npz"), in, forms.SliceOptions{Options: with(opt, forms.Selection{Keys: []nestedkey.Key{"x"}}), Index: []ix.Index{ix.Take(all...)}})
	},
	"copy": func(dir, in string, n int, opt forms.Options) error {
		return forms.Convert(ctx, filepath.Join(dir, "c.tdz"), []string{in}, opt)
	},
	"table": func(dir, in string, n int, opt forms.Options) error {
		return forms.Convert(ctx, filepath.Join(dir, "d.jsonl"), []string{in}, opt)
	},
	"step": func(dir, in string, n int, opt forms.Options) error {
		return forms.Slice(ctx, filepath.Join(dir, "e"), in, forms.SliceOptions{Options: with(opt, forms.Selection{Drop: []nestedkey.Key{"s"}}), Index: []ix.Index{ix.Range(0, ix.End).Step(1)}})
	},
	"split": func(dir, in string, n int, opt forms.Options) error {
		return forms.Split(ctx, filepath.Join(dir, "f"), in, forms.SplitOptions{Options: opt, Fractions: []float64{0.5, 0.5}, Names: []string{"0", "1.jsonl"}})
	},
}

// TestProcess saves versions again and again until it is killed. It says when it begins.
func TestProcess(t *testing.T) {
	out := os.Getenv(killDir)
	if out == "" {
		t.Skip("run by TestKilled")
	}
	fmt.Println("begins")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		which := rand.IntN(2)
		for _, verb := range verbs { // in any order
			opt := forms.Options{Force: true, NoSync: rand.IntN(2) == 0}
			require.NoError(t, verb(out, filepath.Join(filepath.Dir(out), fmt.Sprint("in", which)), versions[which], opt))
		}
	}
}

// TestKilled kills processes at random moments: each output is absent or whole, and a later save
// removes all that lies beside them.
func TestKilled(t *testing.T) {
	dir := testkit.TempDir(t)
	for i, n := range versions {
		require.NoError(t, forms.Convert(ctx, filepath.Join(dir, fmt.Sprint("in", i)), []string{saved(t, counted(t, n))}, forms.Options{}))
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	leftovers := 0
	for round := range longtests.Times(3, 80) {
		out := filepath.Join(dir, fmt.Sprint("out", round)) // this process sweeps when it first saves there
		require.NoError(t, os.Mkdir(out, 0o777))
		cmd := exec.Command(exe, "-test.run=^TestProcess$")
		cmd.Env = append(os.Environ(), killDir+"="+out)
		said, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(said).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "begins\n", line)
		time.Sleep(time.Duration(rand.Int64N(int64(400 * time.Millisecond))))
		require.NoError(t, cmd.Process.Kill())
		require.EqualError(t, cmd.Wait(), "signal: killed")
		for _, entry := range whole(t, out) {
			if strings.HasPrefix(entry, ".") {
				leftovers++
			}
		}
		for _, verb := range verbs {
			require.NoError(t, verb(out, filepath.Join(dir, "in0"), versions[0], forms.Options{Force: true, NoSync: true}))
		}
		litter(t, out, "a.npz", "b.npz", "c.tdz", "d.jsonl", "e", "f")
		require.NoError(t, os.RemoveAll(out))
	}
	t.Logf("%d leftovers were removed", leftovers)
}

// whole checks each output that is there, and returns the names of all that is.
func whole(t *testing.T, dir string) (names []string) {
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	for _, name := range []string{"a.npz", "b.npz", "c.tdz", "d.jsonl", "e", "f"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var x []int64
		parts := []string{path}
		if name == "f" {
			parts = []string{filepath.Join(path, "0"), filepath.Join(path, "1.jsonl")}
		}
		for _, part := range parts {
			more, err := tdict.Slice[int64](read(t, part, nil), "x")
			require.NoError(t, err)
			x = append(x, more...)
		}
		slices.Sort(x)
		require.Contains(t, versions, len(x), name)
		for i := range x {
			require.Equal(t, int64(i), x[i], name)
		}
	}
	return names
}
