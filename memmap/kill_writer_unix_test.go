//go:build unix

package memmap_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// logRows returns rows numbered from first: those of rows, and more depths, dtypes and widths, up
// to the one of wide columns.
func logRows(t testing.TB, wide, first int, batch ...int) *tdict.TensorDict {
	t.Helper()
	td := rows(t, first, batch...)
	n := 1
	if len(batch) == 1 {
		n = batch[0]
	}
	set := func(key nestedkey.Key, dtype tensor.DType, width int) {
		shape := append(batch[:len(batch):len(batch)], width)
		x := tensor.Must(numbered(dtype, first*width, n*width).Reshape(shape...))
		require.NoError(t, td.Set(key, x))
	}
	set("obs/deep/frame", tensor.Float32, wide)
	set("obs/deep/deeper/seven", tensor.Int32, 7)
	set("odd key", tensor.Float64, 2)
	set("half", tensor.Float16, 5)
	set("agents/x", tensor.Uint64, 3)
	odd, err := tensor.Map(numbered(tensor.Int64, first, n), func(v int64) bool { return v%3 == 0 })
	require.NoError(t, err)
	require.NoError(t, td.Set("obs/odd", tensor.Must(odd.Reshape(batch...))))
	require.NoError(t, td.Set("obs/runs", runs(t, first, batch...)))
	return td
}

// runs returns ragged rows numbered from first, of which 50 have values and the next 50 have none:
// the widths of their pools grow and shrink.
func runs(t testing.TB, first int, batch ...int) *ragged.Tensor {
	t.Helper()
	var outer, inner, values []int64
	for i := first; i < first+shapeops.Shape(batch).Size(); i++ {
		length := int64(i / 50 % 2 * (i % 9))
		outer = append(outer, length)
		for j := range length {
			inner, values = append(inner, j%4), append(values, slices.Repeat([]int64{int64(i)}, int(j%4))...)
		}
	}
	return tensor.Must(ragged.New(tensor.Vector(values...), tensor.Must(ragged.LayoutOf(batch, outer, inner))))
}

// logLimit is how many rows a process appends to one directory at most.
const logLimit = 6000

// logDir is the directory of the n-th log.
func logDir(top string, n int) string { return filepath.Join(top, "log-"+strconv.Itoa(n)) }

// TestProcessAppends is a process that appends to a log, and to the next when that is finished. It
// tells how many rows are committed.
func TestProcessAppends(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	a := &appender{Task: k, rng: k.Random(t, 3), wide: k.Number(t, 2)}
	for a.log = k.Number(t, 1); ; a.log++ {
		for !a.session(t, logDir(k.Args[0], a.log)) {
			if !a.again {
				k.Tell("closed %d 0", a.log)
			}
		}
	}
}

// An appender appends to a log.
type appender struct {
	*processkit.Task
	rng       *rand.Rand
	log, wide int
	again     bool // the log is finished, and is to grow again
}

// session writes until the log is finished, or until it is closed for no reason.
func (a *appender) session(t *testing.T, dir string) (finished bool) {
	t.Helper()
	w, err := memmap.NewWriter(dir, logRows(t, a.wide, 0), memmap.WriterOptions{NoSync: a.rng.IntN(2) == 0, Resume: a.again})
	a.again = false
	if errors.Is(err, fs.ErrExist) {
		a.Tell("finished %d -1", a.log) // by one that was killed
		return true
	}
	require.NoError(t, err)
	a.Tell("opened %d %d", a.log, w.Len())
	for {
		switch what := a.rng.IntN(300); {
		case what == 0:
			require.NoError(t, w.Close())
			return false
		case what == 1 || w.Len() > logLimit:
			n := w.Len()
			a.Tell("finishing %d %d", a.log, n)
			require.NoError(t, w.Finish())
			if a.again = n <= logLimit && a.rng.IntN(3) > 0; a.again {
				a.Tell("again %d %d", a.log, n)
				return false
			}
			a.Tell("finished %d %d", a.log, n)
			return true
		case what < 100:
			require.NoError(t, w.Commit())
			a.Tell("committed %d %d", a.log, w.Committed())
		default:
			require.NoError(t, w.Append(a.batch(t, w.Len())))
		}
	}
}

// batch returns the next rows: one by itself, a few, or now and then many.
func (a *appender) batch(t *testing.T, first int) *tdict.TensorDict {
	t.Helper()
	switch a.rng.IntN(20) {
	case 0:
		return logRows(t, a.wide, first, a.rng.IntN(300))
	case 1, 2, 3, 4, 5, 6, 7:
		return logRows(t, a.wide, first)
	}
	return logRows(t, a.wide, first, a.rng.IntN(30))
}

// A promise is what a process has told of its logs.
type promise struct {
	log       int  // the last one
	rows      int  // committed there, at least
	opened    bool // it is there
	finishing bool // it may be in its final form
}

// hear takes in what a process told, and returns how many rows the logs have that were finished;
// -1 for one that had been before.
func (p *promise) hear(t *testing.T, heard []string) map[int]int {
	t.Helper()
	finished := map[int]int{}
	for _, line := range heard {
		what, log, n := "", 0, 0
		_, err := fmt.Sscan(line, &what, &log, &n)
		require.NoError(t, err, line)
		switch what {
		case "opened", "committed":
			require.GreaterOrEqual(t, n, p.rows, line)
			*p = promise{log, n, true, false}
		case "again":
			*p = promise{log, n, true, true}
		case "finishing":
			p.finishing = true
		case "finished":
			finished[log] = n
			*p = promise{log: log + 1}
		}
	}
	return finished
}

// check checks the log that the process was at when it was killed, and returns how many rows it
// has.
func (p *promise) check(t *testing.T, top string, wide int) (n int) {
	t.Helper()
	dir := logDir(top, p.log)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && !p.opened {
		return 0
	}
	m := readPython(t, dir)
	require.True(t, m.growing() || p.finishing, "in its final form too early")
	m.requireRules(t, !m.growing())
	n = requireLog(t, dir, wide)
	require.GreaterOrEqual(t, n, p.rows, "rows that were committed are gone")
	return n
}

// requireLog checks that each row of a log is right, in every leaf, and returns how many there
// are.
func requireLog(t *testing.T, dir string, wide int) int {
	t.Helper()
	ds := open(t, dir)
	n := ds.Shape()[0]
	for first := 0; first < n; first += 512 {
		last := min(n, first+512)
		got, err := ds.Index(ix.Range(first, last))
		require.NoError(t, err)
		requireSame(t, logRows(t, wide, first, last-first), got)
	}
	require.NoError(t, ds.Close())
	requireSound(t, dir)
	return n
}

// requireFinished finishes a log, and checks that it is a nested tree of files of exactly the size
// of their leaves.
func requireFinished(t *testing.T, dir string, wide, n int) {
	t.Helper()
	w, err := memmap.NewWriter(dir, logRows(t, wide, 0), memmap.WriterOptions{})
	if !errors.Is(err, fs.ErrExist) {
		require.NoError(t, err)
		require.Equal(t, n, w.Len())
		require.NoError(t, w.Finish())
	}
	m := readPython(t, dir)
	require.False(t, m.growing())
	m.requireRules(t, false) // pools may be longer
	require.Equal(t, n, requireLog(t, dir, wide))
	for key, v := range open(t, dir).Leaves() {
		at := filepath.Join(dir, filepath.FromSlash(encoded(string(key))))
		switch v := v.(type) {
		case *tensor.Tensor:
			requireSize(t, v.ByteSize(), at+".memmap")
		case *ragged.Tensor:
			requirePools(t, at, v)
		}
	}
	require.NotContains(t, names(t, dir), ".lock")
}

// requireSize checks that a file has the bytes of a leaf, or is absent if the leaf has none.
func requireSize(t *testing.T, size int, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if size == 0 {
		require.ErrorIs(t, err, fs.ErrNotExist, file)
		return
	}
	require.NoError(t, err)
	require.Equal(t, int64(size), info.Size(), file)
}

// requirePools checks the sizes of the files of ragged rows: a pool may be longer than its shape,
// since it is never truncated.
func requirePools(t *testing.T, dir string, r *ragged.Tensor) {
	t.Helper()
	for _, p := range tensor.Must(pool.PartsOf(r)) {
		file := filepath.Join(dir, p.Name+".memmap")
		if p.Name == pool.Row || p.Name == pool.Lengths {
			requireSize(t, p.Size(), file)
		} else if p.Size() > 0 {
			require.GreaterOrEqual(t, tensor.Must(os.Stat(file)).Size(), int64(p.Size()), file)
		}
	}
}

// A writerTest is a row of logs with processes that append to them.
type writerTest struct {
	top  string
	wide int
	rng  *rand.Rand
	promise

	told, found, most, finished, absent int
}

// TestKillWriter kills processes while they append, and has others go on: all rows that were
// committed are there, none is torn, and Python can read what is there at each moment.
func TestKillWriter(t *testing.T) {
	needsExchange(t)
	n := kills(t, 10, 200)
	w := &writerTest{top: t.TempDir(), rng: processkit.Random(t), wide: 61}
	if n >= 100 {
		w.wide = 4096 // more than one block of sums
	}
	for range n {
		c := start(t, "TestProcessAppends", w.top, w.log, w.wide, w.rng.IntN(1<<30))
		c.killAt(t, w.rng, 400*time.Millisecond)
		for log, rows := range w.hear(t, c.Heard) {
			if rows < 0 {
				rows = requireLog(t, logDir(w.top, log), w.wide)
			}
			w.finish(t, log, rows)
		}
		w.current(t)
	}
	t.Logf("%d kills: %d rows found of %d told of, at most %d in a log; %d logs finished, %d not begun",
		n, w.found, w.told, w.most, w.finished, w.absent)
	requireNothingBeside(t, w.top)
}

// finish finishes a log, if it is not, checks and removes it.
func (w *writerTest) finish(t *testing.T, log, rows int) {
	t.Helper()
	requireFinished(t, logDir(w.top, log), w.wide, rows)
	require.NoError(t, os.RemoveAll(logDir(w.top, log)))
	w.finished++
}

// current checks the log that a process was at when it was killed, and now and then finishes it.
func (w *writerTest) current(t *testing.T) {
	t.Helper()
	rows := w.check(t, w.top, w.wide)
	w.told, w.found, w.most = w.told+w.rows, w.found+rows, max(w.most, rows)
	if _, err := os.Lstat(logDir(w.top, w.log)); err != nil {
		w.absent++
	} else if w.rng.IntN(10) == 0 {
		w.finish(t, w.log, rows)
		w.promise = promise{log: w.log + 1}
	}
}

// requireNothingBeside checks that what those that were killed have left can be removed: the first
// new Writer of a process does so.
func requireNothingBeside(t *testing.T, top string) {
	t.Helper()
	require.NoError(t, vfs.Sweep(top))
	for _, name := range names(t, top) {
		require.NotEqual(t, '.', rune(name[0]), "leftover %s", name)
	}
}
