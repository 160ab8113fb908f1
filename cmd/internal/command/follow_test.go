//go:build unix

package command

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFollow appends rows to a dataset while tail -f reads it.
func TestFollow(t *testing.T) {
	path := executable(t)
	for as, want := range map[string][]string{
		"jsonl": {`{"x":2}`, `{"x":3}`, `{"x":4}`, `{"x":5}`, `{"x":6}`},
		"csv":   {"x", "2", "3", "4", "5", "6"},
	} {
		t.Run(as, func(t *testing.T) {
			dir := testkit.TempDir(t)
			row := tensor.Must(tdict.FromValues(nil, tdict.Values{"x": int64(0)}))
			w := tensor.Must(memmap.NewWriter(filepath.Join(dir, "log"), row, memmap.WriterOptions{}))
			add := func(values ...int64) {
				for _, x := range values {
					require.NoError(t, w.Append(tensor.Must(tdict.FromValues(nil, tdict.Values{"x": x}))))
				}
				require.NoError(t, w.Commit())
			}
			add(1, 2, 3)
			cmd := exec.CommandContext(t.Context(), path, "tail", "-f", "log", "-n", "2", "--as", as)
			cmd.Dir = dir
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			messages, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines, got := bufio.NewScanner(out), []string(nil)
			for len(got) < len(want) && lines.Scan() {
				switch got = append(got, lines.Text()); len(want) - len(got) {
				case 3:
					add(4, 5)
				case 1:
					add(6)
				}
			}
			require.Equal(t, want, got)
			require.NoError(t, w.Finish())
			said := bufio.NewScanner(messages)
			require.True(t, said.Scan())
			require.Equal(t, "tdict: tail: log is finished: waiting for a Writer to append to it", said.Text())
			w = tensor.Must(memmap.NewWriter(filepath.Join(dir, "log"), row, memmap.WriterOptions{Resume: true}))
			add(7)
			require.True(t, lines.Scan())
			require.Contains(t, lines.Text(), "7", "of a Writer that goes on")
			require.NoError(t, w.Close())
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.NoError(t, cmd.Wait(), "interrupted, which is no error")
		})
	}
}

// TestFollowReplaced ends with an error when the dataset is replaced, or has no rows.
func TestFollowReplaced(t *testing.T) {
	path := executable(t)
	dir := testkit.TempDir(t)
	rows := func(x ...int64) *tdict.TensorDict {
		return tensor.Must(tdict.FromValues([]int{len(x)}, tdict.Values{"x": x}))
	}
	require.NoError(t, memmap.Save(filepath.Join(dir, "log"), rows(1, 2)))
	cmd := exec.CommandContext(t.Context(), path, "tail", "-f", "log", "--as", "csv")
	cmd.Dir = dir
	messages, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := bufio.NewScanner(messages)
	require.True(t, said.Scan())
	require.Contains(t, said.Text(), "log is finished")
	require.NoError(t, memmap.Save(filepath.Join(dir, "log"), rows(3, 4, 5)))
	require.True(t, said.Scan())
	require.Contains(t, said.Text(), "tdict: tail: log: ")
	require.Contains(t, said.Text(), "replaced")
	_ = cmd.Wait() // the exit code says more
	require.Equal(t, exitFailure, cmd.ProcessState.ExitCode())

	require.NoError(t, memmap.Save(filepath.Join(dir, "one"), tensor.Must(tdict.FromValues(nil, tdict.Values{"x": int64(0)}))))
	got := command(t, dir, "tail", "-f", "one")
	require.Equal(t, exitFailure, got.code)
	require.Contains(t, got.stderr, "-f follows rows, got batch shape []")
}
