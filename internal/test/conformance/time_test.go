package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rowsOf returns a dictionary of two leaves with the given elements.
func rowsOf(x ...int64) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{len(x)}, tdict.Entries{"x": tensor.Vector(x...), "y": tensor.Vector(x...)}))
}

// states are the names of what the datasets of TestTime hold.
var states = map[string]string{
	"[1 2 3]":   "the old rows",
	"[1 2 3 5]": "the committed rows",
	"[8 2 3]":   "the stored elements",
	"[1 9 3]":   "the new elements",
	"[8 9 3]":   "the new elements",
	"[1 2 3 4]": "the new rows",
	"[7 7 7]":   "the new rows",
	"[0 0 0]":   "the new rows",
}

// stateOf returns the name of what a dataset holds.
func stateOf(td tdict.Dictionary) string {
	x, err := tdict.Get[*tensor.Tensor](td, "x")
	if err == nil {
		x, err = x.Clone()
	}
	if err != nil {
		return errorName(err)
	}
	if td.AsTensorDict().Has("z") {
		return "the new leaf"
	}
	text := fmt.Sprint(tensor.Must(tensor.Of[int64](x)))
	if name := states[text]; name != "" {
		return name
	}
	return text
}

// errorName returns the name of an error in the page, and "works" for nil.
func errorName(err error) string {
	if err == nil {
		return "works"
	}
	for name, known := range map[string]error{
		"ErrBusy": memmap.ErrBusy, "ErrReplaced": memmap.ErrReplaced, "ErrCorrupt": memmap.ErrCorrupt,
		"ErrClosed": memmap.ErrClosed, "ErrFault": memmap.ErrFault, "fs.ErrExist": fs.ErrExist, "fs.ErrNotExist": fs.ErrNotExist,
	} {
		if errors.Is(err, known) {
			return "`" + name + "`"
		}
	}
	return err.Error()
}

// A current is a column of docs/time.md: what one process is doing at a path.
type current struct {
	column string
	// begin begins it. after says what became of it when another process has done something there.
	begin func(t *testing.T, dir string) (after func() string)
}

var currents = []current{
	{"`Open`", reading},
	{"`Live`", living},
	{"Writable", storing},
	{"`Writer`", appending},
	{"`SaveRows`", saving},
	{"unfinished", leaving},
}

// reading has read x, and not y.
func reading(t *testing.T, dir string) func() string {
	ds := tensor.Must(memmap.Open(dir))
	require.Equal(t, "the old rows", stateOf(ds))
	return func() string {
		text := stateOf(ds)
		y, err := ds.Tensor("y")
		require.NoError(t, err)
		if _, err := y.Clone(); err != nil {
			text += ", " + errorName(err) + " for a leaf not read before"
		}
		next, err := ds.Refresh()
		require.NoError(t, err)
		if now := stateOf(next); now != stateOf(ds) {
			text += "; after `Refresh` " + now
		}
		if next != ds {
			require.NoError(t, next.Close())
		}
		require.NoError(t, ds.Close())
		return text
	}
}

func living(t *testing.T, dir string) func() string {
	changed := make(chan bool, 1)
	live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{Interval: 2 * time.Millisecond, OnReplace: func(*memmap.Dataset) {
		select {
		case changed <- true:
		default:
		}
	}}))
	held := tensor.Must(live.Acquire())
	return func() string {
		now := tensor.Must(memmap.Open(dir))
		want, text := stateOf(now), stateOf(held)
		require.NoError(t, now.Close())
		for next := ""; next != want; {
			ds := tensor.Must(live.Acquire())
			next = stateOf(ds)
			require.NoError(t, live.Release(ds))
			if next == want {
				break
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				require.FailNow(t, "no new version", next)
			}
		}
		if want != text {
			text += "; at the next `Acquire` " + want
		}
		require.NoError(t, live.Release(held))
		require.NoError(t, live.Close())
		return text
	}
}

func storing(t *testing.T, dir string) func() string {
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	require.NoError(t, ds.SetIndex(rowsOf(8), ix.Range(0, 1)))
	return func() string {
		text := errorName(ds.SetIndex(rowsOf(3), ix.Range(2, 3)))
		if text == "works" {
			text = errorName(ds.Flush())
		}
		_ = ds.Close() // it returns the error of Flush
		return goesOn(text)
	}
}

func appending(t *testing.T, dir string) func() string {
	w := tensor.Must(memmap.NewWriter(dir, tensor.Must(rowsOf(1).Index(ix.At(0))), memmap.WriterOptions{Resume: true, NoSync: true}))
	require.NoError(t, w.Append(rowsOf(5)))
	require.NoError(t, w.Commit())
	return func() string {
		require.NoError(t, w.Append(rowsOf(6)))
		text := errorName(w.Commit())
		require.NoError(t, w.Close())
		return goesOn(text)
	}
}

// saving has written the first of two chunks.
func saving(t *testing.T, dir string) func() string {
	half, proceed, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		ended <- memmap.SaveRows(context.Background(), dir, func(yield func(*tdict.TensorDict, error) bool) {
			if yield(rowsOf(6), nil) {
				half <- true
				<-proceed
				yield(rowsOf(6), nil)
			}
		}, memmap.SaveOptions{NoSync: true})
	}()
	<-half
	return func() string {
		proceed <- true
		text := errorName(<-ended)
		ds := tensor.Must(memmap.Open(dir))
		if text == "works" && stateOf(ds) == "[6 6]" {
			text = "replaces it"
		}
		require.NoError(t, ds.Close())
		return text
	}
}

// leaving leaves a dataset that a Writer has not finished, as a Close or a kill does.
func leaving(t *testing.T, dir string) func() string {
	unfinished(t, dir, rowsOf(5))
	return func() string { return "" }
}

// unfinished appends rows to a dataset, or to a new one, and does not finish it.
func unfinished(t *testing.T, dir string, td *tdict.TensorDict) {
	t.Helper()
	w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{Resume: true, NoSync: true})
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.Append(td), w.Commit(), w.Close()))
}

func goesOn(text string) string {
	if text == "works" {
		return "goes on"
	}
	return text
}

// A start is a row of docs/time.md: what another process starts at the path, and ends. Run returns
// the name of its error, or what it sees.
type start struct {
	row string
	run func(dir string) string
	// grows starts with a dataset that a Writer has left unfinished, which readers have opened; the
	// other columns do not begin with that.
	grows bool
}

// reaches reports whether the row has a cell in a column.
func (s start) reaches(column int) bool { return !s.grows || column < 2 }

// continued appends a row as a Writer that continues, or starts anew.
func continued(dir string, end func(w *memmap.Writer) error) string {
	w, err := memmap.NewWriter(dir, tensor.Must(rowsOf(1).Index(ix.At(0))), memmap.WriterOptions{Resume: true, NoSync: true})
	if err != nil {
		return errorName(err)
	}
	return errorName(errors.Join(w.Append(rowsOf(4)), end(w)))
}

var starts = []start{
	{row: "`Open`, and read", run: func(dir string) string {
		ds, err := memmap.Open(dir)
		if err != nil {
			return errorName(err)
		}
		defer ds.Close()
		return "sees " + stateOf(ds)
	}},
	{row: "`Verify`", run: func(dir string) string {
		_, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
		return errorName(err)
	}},
	{row: "`Copy` from it", run: func(dir string) string {
		return errorName(memmap.Copy(context.Background(), dir, dir+".tdz", memmap.CopyOptions{}))
	}},
	{row: "`Save`", run: func(dir string) string {
		return errorName(memmap.SaveWith(context.Background(), dir, rowsOf(7, 7, 7), memmap.SaveOptions{NoSync: true}))
	}},
	{row: "`Create` with Replace", run: func(dir string) string {
		ds, err := memmap.Create(dir, rowsOf(7, 7, 7), memmap.CreateOptions{Replace: true, NoSync: true})
		if err != nil {
			return errorName(err)
		}
		return errorName(ds.Close())
	}},
	{row: "Writable, and store", run: func(dir string) string {
		return writable(dir, func(ds *memmap.Dataset) error { return ds.SetIndex(rowsOf(9), ix.Range(1, 2)) })
	}},
	{row: "Writable, and `AddLeaf`", run: func(dir string) string {
		return writable(dir, func(ds *memmap.Dataset) error {
			return ds.AddLeaf("z", tensor.Must(tensor.New(tensor.Float32, ds.Shape()...)))
		})
	}},
	{row: "`Writer` with Resume, to `Finish`", run: func(dir string) string { return continued(dir, (*memmap.Writer).Finish) }},
	{row: "`Writer`, to `Commit`, if it was unfinished", grows: true, run: func(dir string) string {
		return continued(dir, func(w *memmap.Writer) error { return errors.Join(w.Commit(), w.Close()) })
	}},
	{row: "`Seal`", run: func(dir string) string { return errorName(memmap.Seal(context.Background(), dir)) }},
}

// writable opens a dataset with Writable, and closes it after fn.
func writable(dir string, fn func(ds *memmap.Dataset) error) string {
	ds, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
	if err != nil {
		return errorName(err)
	}
	return errorName(errors.Join(fn(ds), ds.Close()))
}

// TestTime checks the table of docs/time.md: for each cell, this process does what the column says,
// and meanwhile another process, or this one too, does what the row says. Seal waits for a second
// for those who write.
func TestTime(t *testing.T) {
	if task, ok := processkit.TaskOf(t); ok {
		for _, s := range starts {
			for c := range currents {
				if s.reaches(c) {
					task.Wait()
					task.Tell("%s", s.run(cell(task.Args[0], s, c)))
				}
			}
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("directories are not exchanged, or not locked, as the table says")
	}
	head := []string{"the second starts"}
	for _, now := range currents {
		head = append(head, now.column)
	}
	want := table(t, "../../../docs/time.md", "The table", head...)
	t.Run("two processes", func(t *testing.T) {
		top := t.TempDir()
		p := processkit.Start(t, "TestTime", top)
		requireTable(t, matrix(t, top, func(start, string) string {
			p.Proceed(t)
			return p.Line(t)
		}), want)
	})
	t.Run("one process", func(t *testing.T) {
		requireTable(t, matrix(t, t.TempDir(), func(s start, dir string) string { return s.run(dir) }), want)
	})
}

// cell returns the directory of a cell of the table.
func cell(top string, s start, column int) string {
	return filepath.Join(top, fmt.Sprint(column), s.row)
}

// matrix returns the rows of the table. run runs what a row starts.
func matrix(t *testing.T, top string, run func(s start, dir string) string) (rows [][]string) {
	for _, s := range starts {
		row := []string{s.row}
		for c, now := range currents {
			if !s.reaches(c) {
				row = append(row, "-")
				continue
			}
			dir := cell(top, s, c)
			if s.grows {
				require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o777))
				unfinished(t, dir, rowsOf(1, 2, 3))
			} else {
				require.NoError(t, memmap.SaveWith(t.Context(), dir, rowsOf(1, 2, 3), memmap.SaveOptions{NoSync: true}))
			}
			after := now.begin(t, dir)
			text := run(s, dir)
			if became := after(); became != "" {
				text += "; " + became
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}
