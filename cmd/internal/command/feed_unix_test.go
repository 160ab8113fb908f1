//go:build unix

package command

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A feeder is tdict feed in a process of its own.
type feeder struct {
	cmd    *exec.Cmd
	stderr *bufio.Reader
}

// startFeed runs tdict feed in a directory, with its batches in a directory shm, until it serves.
func startFeed(t *testing.T, dir string, args ...string) feeder {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "shm"), 0o777))
	cmd := exec.Command(executable(t), append([]string{"feed", "--socket", "s", "--shm", "shm"}, args...)...)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // tests may have ended it
	f := feeder{cmd, bufio.NewReader(stderr)}
	line, err := f.stderr.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "tdict: feed: serving ")
	return f
}

// end sends a signal, and returns the exit code and the rest of standard error.
func (f feeder) end(t *testing.T, signal syscall.Signal) (code int, rest string) {
	t.Helper()
	require.NoError(t, f.cmd.Process.Signal(signal))
	return f.ended(t)
}

// ended waits for the end.
func (f feeder) ended(t *testing.T) (code int, rest string) {
	t.Helper()
	all, err := io.ReadAll(f.stderr)
	require.NoError(t, err)
	_ = f.cmd.Wait() // the exit code says it
	return f.cmd.ProcessState.ExitCode(), string(all)
}

// numbers saves rows of numbers from first on.
func numbers(t *testing.T, path string, first, n int64) {
	t.Helper()
	td := tdict.New(int(n))
	require.NoError(t, td.Set("n", tensor.Must(tensor.Arange(first, first+n, 1))))
	require.NoError(t, memmap.Save(path, td))
}

// epochOf returns the numbers of the rest of an epoch, in order.
func epochOf(t *testing.T, c *feed.Client) (all []int64) {
	t.Helper()
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		all = append(all, tensor.Must(tdict.Slice[int64](batch, "n"))...)
	}
	return all
}

// TestFeedEnds: after all epochs and after a signal nothing is left. The socket and the slots of a
// killed feed are gone when the next one serves.
func TestFeedEnds(t *testing.T) {
	dir := testkit.TempDir(t)
	numbers(t, filepath.Join(dir, "d"), 0, 10)
	socket := filepath.Join(dir, "s")
	dial := func() *feed.Client {
		c, err := feed.Dial(t.Context(), socket, feed.DialOptions{})
		require.NoError(t, err)
		return c
	}
	t.Run("all epochs", func(t *testing.T) {
		f := startFeed(t, dir, "d", "--batch", "4", "--epochs", "2", "--shuffle", "--seed", "7")
		c := dial()
		require.ElementsMatch(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, epochOf(t, c))
		require.Len(t, epochOf(t, c), 10)
		require.True(t, c.Ended())
		require.NoError(t, c.Close())
		code, rest := f.ended(t)
		require.Equal(t, 0, code, rest)
		require.Empty(t, rest)
		require.Equal(t, []string{"d", "shm"}, names(t, dir))
		require.Empty(t, names(t, filepath.Join(dir, "shm")))
	})
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			f := startFeed(t, dir, "d", "--batch", "4")
			c := dial()
			defer c.Close()
			require.Len(t, epochOf(t, c), 10)
			code, rest := f.end(t, signal)
			require.Equal(t, 0, code, rest)
			require.Equal(t, []string{"d", "shm"}, names(t, dir))
			require.Empty(t, names(t, filepath.Join(dir, "shm")))
			for _, err := range c.Batches(t.Context()) {
				if err != nil {
					require.ErrorIs(t, err, feed.ErrLost)
				}
			}
		})
	}
	t.Run("killed", func(t *testing.T) {
		f := startFeed(t, dir, "d", "--batch", "4")
		_, _ = f.end(t, syscall.SIGKILL)
		require.Equal(t, []string{"d", "s", "shm"}, names(t, dir))
		left := names(t, filepath.Join(dir, "shm"))
		require.Len(t, left, 1)
		f = startFeed(t, dir, "d", "--batch", "4")
		require.NotEqual(t, left, names(t, filepath.Join(dir, "shm")))
		require.Len(t, names(t, filepath.Join(dir, "shm")), 1)
		require.NoError(t, dial().Close())
		code, _ := f.end(t, syscall.SIGTERM)
		require.Equal(t, 0, code)
	})
}

// TestFeedFollows: a dataset that is replaced is fed from the next epoch on.
func TestFeedFollows(t *testing.T) {
	dir := testkit.TempDir(t)
	numbers(t, filepath.Join(dir, "d"), 0, 100)
	f := startFeed(t, dir, "d", "--batch", "4", "--slots", "2")
	c, err := feed.Dial(t.Context(), filepath.Join(dir, "s"), feed.DialOptions{})
	require.NoError(t, err)
	defer c.Close()
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, []int64{0, 1, 2, 3}, tensor.Must(tdict.Slice[int64](batch, "n")))
		numbers(t, filepath.Join(dir, "d"), 1000, 20)
		break
	}
	deadline := time.Now().Add(time.Minute)
	rest := epochOf(t, c)
	require.Equal(t, []int64{4, 99}, []int64{rest[0], rest[len(rest)-1]}, "the epoch goes on with the old one")
	for all := []int64(nil); len(all) != 20 || all[0] != 1000; all = epochOf(t, c) {
		require.True(t, time.Now().Before(deadline), "the new one is never used")
	}
	code, text := f.end(t, syscall.SIGTERM)
	require.Equal(t, 0, code, text)
}

// TestFeedPads: ragged entries are padded, with masks; --keys and --drop choose entries.
func TestFeedPads(t *testing.T) {
	dir := testkit.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.jsonl"), []byte(
		`{"n":1,"name":"Ada","codes":[[1,2],[3]],"more":1}`+"\n"+`{"n":2,"name":"Émilie","codes":[],"more":2}`+"\n"), 0o666))
	require.Equal(t, 0, command(t, dir, "convert", "t.jsonl", "d").code)
	f := startFeed(t, dir, "d", "--batch", "2", "--epochs", "1", "--drop", "more", "--pad", "name=4,codes=2x2")
	c, err := feed.Dial(t.Context(), filepath.Join(dir, "s"), feed.DialOptions{})
	require.NoError(t, err)
	defer c.Close()
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		text, err := batch.MarshalJSON()
		require.NoError(t, err)
		require.Contains(t, string(text), `"name":{"dtype":"uint8","shape":[2,4],"values":[[65,100,97,0],[195,137,109,105]]}`)
		require.Contains(t, string(text), `"codes":{"dtype":"int64","shape":[2,2,2],"values":[[[1,2],[3,0]],[[0,0],[0,0]]]}`)
		require.Contains(t, string(text), `"name":{"dtype":"bool","shape":[2,4],"values":[[true,true,true,false],[true,true,true,true]]}`)
		require.NotContains(t, string(text), "more")
	}
	require.NoError(t, c.Close())
	code, rest := f.ended(t)
	require.Equal(t, 0, code, rest)
}

func TestFeedRefuses(t *testing.T) {
	dir := testkit.TempDir(t)
	numbers(t, filepath.Join(dir, "d"), 0, 10)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.jsonl"), []byte(`{"n":1,"name":"Ada"}`+"\n"), 0o666))
	require.Equal(t, 0, command(t, dir, "convert", "t.jsonl", "texts").code)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	f := startFeed(t, dir, "d", "--batch", "4")
	defer f.end(t, syscall.SIGTERM)
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no socket", []string{"d", "--batch", "4"}, exitUsage, "--socket"},
		{"no batch", []string{"d", "--socket", "new", "--batch", "0"}, exitUsage, "got 0"},
		{"a socket in use", []string{"d", "--socket", "s", "--batch", "4"}, exitFailure, "in use"},
		{"a file", []string{"d", "--socket", "file", "--batch", "4"}, exitFailure, "file"},
		{"no dataset", []string{"none", "--socket", "new", "--batch", "4"}, exitFailure, "none"},
		{"a table", []string{"t.jsonl", "--socket", "new", "--batch", "4"}, exitFailure, "tdict convert makes one"},
		{"an unknown key", []string{"d", "--socket", "new", "--batch", "4", "--keys", "x"}, exitFailure, `"x"`},
		{"text that is not padded", []string{"texts", "--socket", "new", "--batch", "4"}, exitFailure, "--pad name=3"},
		{"a width that is none", []string{"texts", "--socket", "new", "--batch", "4", "--pad", "name=0"}, exitUsage, `"name=0"`},
		{"a width without a key", []string{"texts", "--socket", "new", "--batch", "4", "--pad", "3"}, exitUsage, `"3"`},
		{"two widths for one level", []string{"texts", "--socket", "new", "--batch", "4", "--pad", "name=3x3"}, exitFailure, "got 2 widths, want 1"},
		{"a key twice", []string{"texts", "--socket", "new", "--batch", "4", "--pad", "name=3,name=4"}, exitUsage, "twice"},
		{"what is not ragged", []string{"texts", "--socket", "new", "--batch", "4", "--pad", "n=3"}, exitFailure, `"n"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, _ := process(ctx, t, dir, append([]string{"feed", "--shm", "shm"}, tt.args...)...)
			require.Equal(t, tt.code, got.code, got.stderr)
			require.Contains(t, got.stderr, tt.want)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
			require.NotContains(t, names(t, dir), "new")
			require.Len(t, names(t, filepath.Join(dir, "shm")), 1, "the batches of the running feed")
		})
	}
}

// TestFeedDropsAll: --drop of all entries leaves none, not all.
func TestFeedDropsAll(t *testing.T) {
	dir := testkit.TempDir(t)
	numbers(t, filepath.Join(dir, "d"), 0, 10)
	f := startFeed(t, dir, "d", "--batch", "4", "--drop", "*")
	c, err := feed.Dial(t.Context(), filepath.Join(dir, "s"), feed.DialOptions{})
	require.NoError(t, err)
	require.Empty(t, c.Schema())
	require.NoError(t, c.Close())
	code, text := f.end(t, syscall.SIGTERM)
	require.Equal(t, 0, code, text)
}
