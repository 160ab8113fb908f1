package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// serve feeds shuffled digits for some epochs, and returns the socket.
func serve(t *testing.T, epochs uint64) string {
	t.Helper()
	src, err := loader.From(must(data.Digits()))
	require.NoError(t, err)
	socket := filepath.Join(t.TempDir(), "s")
	f, err := feed.Listen(socket, src, feed.Options{
		Loader: loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1}, Epochs: epochs, Dir: t.TempDir(),
	})
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- f.Serve(context.Background()) }()
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.NoError(t, <-served)
	})
	return socket
}

// sums is the output of a client that sums the labels of two epochs.
const sums = `epoch 0: 1797 rows, the labels add up to 8070
epoch 1: 1797 rows, the labels add up to 8070
`

// TestClients reads the feed in Go, and in Python without packages where there is a python3.
func TestClients(t *testing.T) {
	t.Run("Go", func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), serve(t, 2), &out))
		require.Equal(t, sums, out.String())
	})
	t.Run("Python without packages", func(t *testing.T) {
		python, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("there is no python3: only Go was tried")
		}
		require.Equal(t, sums, output(t, exec.Command(python, "-I", "plain.py", serve(t, 2))))
	})
}

// output returns the output of a command, which must end well.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// torch returns the output of a program with torch and the package of this repository.
func torch(t *testing.T, args ...string) string {
	t.Helper()
	cmd := processkit.PythonCommand(t, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+must(filepath.Abs("../../python/src")))
	return output(t, cmd)
}

// TestTrain learns for ten epochs.
func TestTrain(t *testing.T) {
	processkit.PythonCommand(t)
	digits := filepath.Join(t.TempDir(), "digits")
	require.NoError(t, memmap.Save(digits, must(data.Digits())))
	out := torch(t, "train.py", serve(t, 10), digits)
	require.Regexp(t, `^epoch 5: .*% right\nepoch 10: 9[0-9]\.\d% right\nan epoch takes \d+ ms, and \d+ ms with DataLoader\n$`, out)
}

// TestLive replaces a dataset as long as live.py reads it.
func TestLive(t *testing.T) {
	processkit.PythonCommand(t)
	dir := filepath.Join(t.TempDir(), "d")
	replace := func(version int64) {
		td := tdict.New(1000)
		require.NoError(t, td.Set("row", must(tensor.Arange(1000*version, 1000*version+1000, 1))))
		require.NoError(t, td.Set("version", must(must(tensor.Full(version, 1)).Expand(1000))))
		require.NoError(t, memmap.SaveWith(t.Context(), dir, td, memmap.SaveOptions{NoSync: true}))
	}
	replace(0)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for version := int64(1); ; version++ {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
				replace(version)
			}
		}
	}()
	defer func() { close(ended); <-done }()
	require.Regexp(t, `^opened \d+ times, \d+ versions, each whole\n$`, torch(t, "live.py", dir, "1"))
}

func TestText(t *testing.T) {
	processkit.PythonCommand(t)
	dir := t.TempDir()
	in, reviews, good := filepath.Join(dir, "reviews.jsonl"), filepath.Join(dir, "reviews"), filepath.Join(dir, "good")
	require.NoError(t, os.WriteFile(in, []byte(`{"text":"great","tokens":[7],"stars":5,"day":"2026-11-03"}
{"text":"not for me","tokens":[1,2,3],"stars":2,"day":"2026-11-04"}
{"text":"","tokens":[],"stars":null,"day":"2026-11-05"}
{"text":"très bien","tokens":[4,4],"stars":4,"day":"2026-11-06"}
`), 0o666))
	require.NoError(t, forms.Convert(t.Context(), reviews, []string{in}, forms.Options{}))
	require.Equal(t, `the first text: great
tokens of row 1: [1, 2, 3]
days: ['2026-11-03', '2026-11-04']
2 rows with 4 stars or more: ['great', 'très bien']
`, torch(t, "text.py", reviews, good))
	ds := must(memmap.Open(good))
	defer ds.Close()
	require.Equal(t, []int64{5, 4}, must(tdict.Slice[int64](ds, "stars")))
}
