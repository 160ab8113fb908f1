//go:build unix

package memmap_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// poolBatch is how many rows are appended between two commits.
const poolBatch = 1000

// poolRows returns n rows, numbered from first, whose lengths are 1 but for the last of each
// poolBatch: 2, or 0 every other time. So there is a value more than rows at every other commit,
// and the pool is twice as wide as at the others: it has more bytes than after the next commit.
func poolRows(t *testing.T, first, n int) *tdict.TensorDict {
	t.Helper()
	var one, two []int64
	var words, tags []float64 // the number of the row
	for i := first; i < first+n; i++ {
		length := int64(1)
		if i%poolBatch == poolBatch-1 {
			length = 2 - int64(i/poolBatch%2)*2
		}
		one = append(one, length)
		for range length {
			two, words = append(two, int64(i%3)), append(words, float64(i))
			for range i % 3 {
				tags = append(tags, float64(i))
			}
		}
	}
	layout, err := ragged.LayoutOf(shapeops.Shape{n}, one, two)
	require.NoError(t, err)
	td := tdict.New(n)
	require.NoError(t, td.Set("words", tensor.Must(ragged.New(tensor.Vector(words...), layout.Outer()))))
	require.NoError(t, td.Set("obs/tags", tensor.Must(ragged.New(tensor.Vector(tags...), layout))))
	return td
}

// seenCommits is how many commits of a Writer a reader loads one by one.
const seenCommits = 3

// TestProcessAppendsPools is a process that appends poolBatch rows, commits, and tells how many
// rows there are. It waits before the first commit and after each of the first ones. Then it
// finishes, if it is to, or goes on until it is killed.
func TestProcessAppendsPools(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	row := tensor.Must(poolRows(t, 0, 1).Index(ix.At(0)))
	w, err := memmap.NewWriter(k.Args[0], row, memmap.WriterOptions{NoSync: true, Resume: k.Args[1] == "resume"})
	require.NoError(t, err)
	k.Tell("opened %d", w.Len())
	k.Wait()
	for commits := 1; ; commits++ {
		require.NoError(t, w.Append(poolRows(t, w.Len(), poolBatch)))
		require.NoError(t, w.Commit())
		k.Tell("committed %d", w.Committed())
		if commits <= seenCommits {
			k.Wait()
		}
		if k.Args[1] == "finish" && commits == seenCommits {
			require.NoError(t, w.Finish())
			return
		}
		if commits > seenCommits {
			time.Sleep(30 * time.Millisecond)
		}
	}
}

// startPython starts a script of testdata/python with the Python that TENSORDICT_PYTHON names.
func startPython(t *testing.T, script string, args ...string) *process {
	t.Helper()
	cmd := processkit.PythonCommand(t, append([]string{filepath.Join("testdata", "python", script)}, args...)...)
	return &process{processkit.Run(t, cmd)}
}

// loads hears a reader out until it has loaded n rows.
func (p *process) loads(t *testing.T, n string) {
	t.Helper()
	for line := []string{""}; line[0] != "loaded" || line[1] != n; {
		line = p.Words(t)
		require.NotEqual(t, "changed:", line[0], "%s", p.Tail())
	}
}

// touches has a reader touch all bytes once more.
func (p *process) touches(t *testing.T) {
	t.Helper()
	p.Proceed(t)
	for line := ""; line != "touched"; {
		line = p.Words(t)[0]
		require.NotEqual(t, "changed:", line, "%s", p.Tail())
	}
}

// TestPythonReadsPoolsBesideWriter has Python touch all bytes of the pools that it has mapped,
// while a Writer commits, is killed, goes on, finishes, and grows again: no byte is gone, and no
// value changes. Python takes some seconds to start.
func TestPythonReadsPoolsBesideWriter(t *testing.T) {
	needsExchange(t)
	dir, rng := filepath.Join(testkit.TempDir(t), "log"), processkit.Random(t)
	var reader *process
	for _, how := range []string{"start", "go on", "finish", "resume", "go on", "finish"} {
		w, n := start(t, "TestProcessAppendsPools", dir, how), ""
		w.Words(t)
		if reader == nil {
			reader = startPython(t, "pools.py", dir)
		}
		reader.touches(t)
		w.Proceed(t)
		for range seenCommits {
			n = w.Words(t)[1]
			reader.loads(t, n)
			reader.touches(t)
			w.Proceed(t)
		}
		if how == "finish" {
			require.NoError(t, w.Ended(), "%s", w.Tail())
		} else {
			w.killAt(t, rng, 100*time.Millisecond)
		}
		ds := open(t, dir)
		got := ds.Shape()[0]
		require.GreaterOrEqual(t, got, tensor.Must(strconv.Atoi(n)), how)
		requireSame(t, poolRows(t, 0, got), ds.TensorDict)
		require.NoError(t, ds.Close())
		requireSound(t, dir)
	}
	reader.touches(t)
	require.NoError(t, reader.In.Close())
	require.NoError(t, reader.Ended(), "%s", reader.Tail())
	requirePoolsSeen(t, reader.Heard)
}

// requirePoolsSeen checks the lines that a reader printed: it saw pools become narrower, and the
// last line counts rounds.
func requirePoolsSeen(t *testing.T, heard []string) {
	t.Helper()
	narrower, width := 0, 0
	for _, line := range heard {
		var rows, values, w int
		if _, err := fmt.Sscanf(line, "loaded %d %d %d", &rows, &values, &w); err != nil {
			continue
		}
		if w < width {
			narrower++
		}
		width = w
	}
	require.Positive(t, narrower, "no pool has fewer bytes than before")
	var rounds, kept, retries int
	_, err := fmt.Sscanf(heard[len(heard)-1], "done %d %d %d", &rounds, &kept, &retries)
	require.NoError(t, err)
	require.Greater(t, rounds, 10)
	require.GreaterOrEqual(t, kept, 18)
	t.Logf("%d rounds over up to %d datasets, %d narrower than the one before; %d loads again", rounds, kept, narrower, retries)
}
