//go:build unix

package command

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestKilled interrupts and kills commands that write, at moments of the time that they take. Then
// either nothing is at the output, or all of it; an interrupted command leaves nothing else.
func TestKilled(t *testing.T) {
	dir := testkit.TempDir(t)
	large(t, filepath.Join(dir, "in"))
	require.Equal(t, result{}, command(t, dir, "slice", "in", "in.csv", "--index", ":1000"))
	clean(t, dir)
	for _, tt := range []struct {
		args   []string
		out    string // which appears as a whole
		verify string // in it
	}{
		{[]string{"convert", "in", "out.tdz"}, "out.tdz", ""},
		{[]string{"convert", "in.csv", "out"}, "out", ""},
		{[]string{"slice", "in", "out", "--where", "id >= 100"}, "out", ""},
		{[]string{"split", "in", "out", "--sizes", "0.5,0.5"}, "out", "1"},
		{[]string{"show", "in.csv"}, "none", ""},
	} {
		t.Run(tt.args[0]+" "+tt.args[1], func(t *testing.T) {
			out := filepath.Join(dir, tt.out)
			start := time.Now()
			require.Equal(t, 0, command(t, dir, tt.args...).code)
			whole := time.Since(start)
			require.NoError(t, os.RemoveAll(out))
			for range longtests.Times(1, 20) {
				for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
					code := signalled(t, dir, signal, rand.N(whole*5/4), tt.args)
					if exists(out) {
						require.Equal(t, 0, command(t, dir, "verify", filepath.Join(out, tt.verify)).code, "whole")
					} else if tt.out != "none" {
						require.NotZero(t, code)
					}
					require.NoError(t, os.RemoveAll(out))
					if signal != syscall.SIGKILL {
						require.Equal(t, []string{"in", "in.csv", "tmp"}, names(t, dir), "litter after %v", signal)
						require.Empty(t, names(t, filepath.Join(dir, "tmp")), "litter after %v", signal)
					}
					clean(t, dir)
				}
			}
		})
	}
}

// TestNextCommandSweeps kills commands that read a table, until one leaves it in the temporary
// directory: nobody else can enter what it leaves, and the next command removes it.
func TestNextCommandSweeps(t *testing.T) {
	dir := testkit.TempDir(t)
	large(t, filepath.Join(dir, "in"))
	require.Equal(t, result{}, command(t, dir, "slice", "in", "in.csv", "--index", ":1000"))
	tmp := filepath.Join(dir, "tmp")
	exe := executable(t)
	t.Setenv("TMPDIR", tmp)
	for _, args := range [][]string{{"head", "in.csv"}, {"stats", "in.csv"}, {"diff", "in.csv", "in.csv"}} {
		for try := 0; ; try++ {
			require.Less(t, try, 100, "no command was killed in time")
			clean(t, dir)
			killedOnceThere(t, exe, dir, tmp, args)
			if left := names(t, tmp); len(left) > 0 {
				info, err := os.Stat(filepath.Join(tmp, left[0]))
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
				break
			}
		}
		require.Equal(t, 0, command(t, dir, "verify", "in").code)
		require.Empty(t, names(t, tmp), "after %v", args)
	}
}

// killedOnceThere runs a command, and kills it once there is something in tmp.
func killedOnceThere(t *testing.T, exe, dir, tmp string, args []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+tmp)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
			if len(names(t, tmp)) > 0 {
				_ = cmd.Process.Kill()
				<-ended
				return
			}
		}
	}
}

// large saves a dataset of some 30 MB.
func large(t *testing.T, path string) {
	const rows = 20_000
	td := tdict.New(rows)
	require.NoError(t, td.Set("id", tensor.Must(tensor.Arange[int64](0, rows, 1))))
	for _, key := range []nestedkey.Key{"x", "y", "z"} {
		require.NoError(t, td.Set(key, tensor.Must(tensor.New(tensor.Float32, rows, 100))))
	}
	require.NoError(t, memmap.Save(path, td))
}

// signalled runs a command, sends it a signal after a time, and returns its exit code.
func signalled(t *testing.T, dir string, signal syscall.Signal, after time.Duration, args []string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), executable(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"))
	require.NoError(t, cmd.Start())
	time.Sleep(after)
	_ = cmd.Process.Signal(signal) // it may have ended
	_ = cmd.Wait()                 // the exit code says more
	code := cmd.ProcessState.ExitCode()
	if code != 0 && code != -1 { // -1 is a signal before main
		require.Equal(t, exitInterrupted, code)
	}
	return code
}

// names returns the names in a directory.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// clean removes what a killed command has left.
func clean(t *testing.T, dir string) {
	t.Helper()
	for _, name := range names(t, dir) {
		if name != "in" && name != "in.csv" {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o777))
}
