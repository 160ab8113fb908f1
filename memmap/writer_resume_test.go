package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// resume opens a Writer of a dataset that may be finished.
func resume(t testing.TB, dir string) *memmap.Writer {
	t.Helper()
	w, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// datasetsOfRows make datasets of the rows 0 to n in several ways.
var datasetsOfRows = map[string]func(t *testing.T, dir string, n int){
	"finished": func(t *testing.T, dir string, n int) {
		w := newWriter(t, dir)
		require.NoError(t, w.Append(rows(t, 0, n)))
		require.NoError(t, w.Finish())
	},
	"finished, resumed and finished": func(t *testing.T, dir string, n int) {
		for _, part := range [][]int{{0, n / 2}, {n / 2, n - n/2}} {
			w := resume(t, dir)
			require.NoError(t, w.Append(rows(t, part[0], part[1])))
			require.NoError(t, w.Finish())
		}
	},
	"not finished": func(t *testing.T, dir string, n int) {
		w := newWriter(t, dir)
		require.NoError(t, w.Append(rows(t, 0, n)))
		require.NoError(t, w.Commit())
		require.NoError(t, w.Close())
	},
	"saved": func(t *testing.T, dir string, n int) { require.NoError(t, memmap.Save(dir, rows(t, 0, n))) },
	"created": func(t *testing.T, dir string, n int) {
		ds, err := memmap.Create(dir, rows(t, 0, n), memmap.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, ds.SetIndex(rows(t, 0, n), ix.All))
		require.NoError(t, ds.Close())
	},
	"created, sums void": func(t *testing.T, dir string, n int) {
		require.NoError(t, memmap.Save(dir, rows(t, 0, n)))
		ds := writable(t, dir)
		require.NoError(t, ds.SetIndex(rows(t, 0, n), ix.All))
		require.NoError(t, os.Rename(dir, dir+".open"))
		require.NoError(t, os.CopyFS(dir, os.DirFS(dir+".open")))
	},
	"saved by another, without sums, with longer files": func(t *testing.T, dir string, n int) {
		require.NoError(t, memmap.Save(dir, rows(t, 0, n)))
		for name, text := range tree(t, dir) {
			if filepath.Base(name) == "meta.json" {
				write(t, dir, name, withoutSums(text))
			} else if name == "obs/pos.memmap" {
				write(t, dir, name, text+"0123456")
			}
		}
	},
	"linked elsewhere": func(t *testing.T, dir string, n int) {
		require.NoError(t, memmap.Save(dir, rows(t, 0, n)))
		if n > 0 {
			require.NoError(t, os.Link(filepath.Join(dir, "reward.memmap"), dir+".backup"))
		}
	},
}

// TestResume has datasets grow again, however they were made.
func TestResume(t *testing.T) {
	for name, dataset := range datasetsOfRows {
		for _, n := range []int{0, 1, 5} {
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(testkit.TempDir(t), "log")
				dataset(t, dir, n)
				requireSame(t, rows(t, 0, n), open(t, dir).TensorDict)
				w := resume(t, dir)
				require.Equal(t, []int{n, n}, []int{w.Len(), w.Committed()})
				requireSame(t, rows(t, 0, n), open(t, dir).TensorDict)
				require.NoError(t, w.Append(rows(t, n, 3)))
				require.NoError(t, w.Commit())
				requireSame(t, rows(t, 0, n+3), open(t, dir).TensorDict)
				require.NoError(t, w.Append(rows(t, n+3)))
				require.NoError(t, w.Finish())
				requireSame(t, rows(t, 0, n+4), open(t, dir).TensorDict)
				requireSound(t, dir)
				report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
				require.NoError(t, err)
				require.Empty(t, report.Unsummed)
				again := filepath.Join(testkit.TempDir(t), "log")
				require.NoError(t, memmap.Save(again, rows(t, 0, n+4)))
				require.Equal(t, tree(t, again), tree(t, dir), "as if it had been saved")
			})
		}
	}
}

// TestResumeThenClose ends without a commit: the dataset is as it was.
func TestResumeThenClose(t *testing.T) {
	for _, n := range []int{0, 5} {
		dir := filepath.Join(testkit.TempDir(t), "log")
		datasetsOfRows["finished"](t, dir, n)
		before := tree(t, dir)
		w := resume(t, dir)
		require.NoError(t, w.Close())
		require.Equal(t, before, tree(t, dir))
		w = resume(t, dir)
		require.NoError(t, w.Append(rows(t, n, 3000)), "some of which reach the files")
		require.NoError(t, w.Close())
		require.Equal(t, before, tree(t, dir))
		require.NoError(t, writable(t, dir).Close())
		w = resume(t, dir)
		require.NoError(t, w.Append(rows(t, n)))
		require.NoError(t, w.Commit())
		require.NoError(t, w.Close())
		require.Equal(t, n+1, resume(t, dir).Committed(), "what was committed stays")
	}
}

// TestResumeLeavesLinksAlone appends to a dataset whose file has another name, as that of a backup
// or of another leaf.
func TestResumeLeavesLinksAlone(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	td := tdict.New(3)
	require.NoError(t, td.Set("a", tensor.Vector[int64](1, 2, 3)))
	require.NoError(t, td.Set("b", tensor.Vector[int64](1, 2, 3)))
	require.NoError(t, memmap.Save(dir, td))
	require.NoError(t, os.Remove(filepath.Join(dir, "b.memmap")))
	require.NoError(t, os.Link(filepath.Join(dir, "a.memmap"), filepath.Join(dir, "b.memmap")))
	row := tensor.Must(tensor.Must(td.Index(ix.At(0))).Clone())
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true})
	require.NoError(t, err)
	require.NoError(t, row.Set("b", tensor.Scalar[int64](7)))
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Finish())
	ds := open(t, dir)
	require.Equal(t, []int64{1, 2, 3, 1}, tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("a")))))
	require.Equal(t, []int64{1, 2, 3, 7}, tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("b")))))
}

// TestResumeKeepsReaders has readers of the finished dataset, and a Live, while it grows.
func TestResumeKeepsReaders(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	datasetsOfRows["finished"](t, dir, 5)
	before, late := open(t, dir), open(t, dir)
	requireSame(t, rows(t, 0, 5), before.TensorDict)
	w := resume(t, dir)
	require.NoError(t, w.Append(rows(t, 5, 1000)))
	require.NoError(t, w.Commit())
	requireSame(t, rows(t, 0, 5), before.TensorDict)
	_, err := late.Clone()
	require.ErrorIs(t, err, memmap.ErrReplaced, "a leaf that was not read before")
	now, err := before.Refresh()
	require.NoError(t, err)
	requireSame(t, rows(t, 0, 1005), now.TensorDict)
	require.NoError(t, now.Close())
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 5), before.TensorDict)
}

// TestResumeRefuses leaves what is there as it is.
func TestResumeRefuses(t *testing.T) {
	row := func(change func(td *tdict.TensorDict) error) *tdict.TensorDict {
		td := rows(t, 0)
		require.NoError(t, change(td))
		return td
	}
	set := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		return row(func(td *tdict.TensorDict) error { return td.Set(key, v) })
	}
	dataset := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := rows(t, 0, 2)
		require.NoError(t, td.Set(key, v))
		return td
	}
	two := tensor.Must(ragged.From[int64]([][]int64{{1}, {2, 3}}))
	named := rows(t, 0, 2)
	require.NoError(t, named.SetNames("time"))
	tests := []struct {
		name  string
		there *tdict.TensorDict
		row   *tdict.TensorDict
		err   error
		text  string
	}{
		{"another dtype", rows(t, 0, 2), set("reward", tensor.Scalar(1.5)), tensor.ErrDType, `the rows of the dataset are not like row: "reward": dtype mismatch: got float32, want float64`},
		{"another shape", rows(t, 0, 2), set("obs/pos", tensor.Vector[int16](1)), shapeops.ErrShape, `the rows of the dataset are not like row: "obs/pos": shape mismatch: got [2 3], want [2 1]`},
		{"a key that the dataset lacks", rows(t, 0, 2), set("more", tensor.Scalar(1.5)), tdict.ErrMissing, `the rows of the dataset are not like row: "more": missing key: have `},
		{"a key that the row lacks", rows(t, 0, 2), row(func(td *tdict.TensorDict) error { return td.Delete("obs/pos") }), tdict.ErrMissing, `the rows of the dataset are not like row: "obs/pos": missing key: the row of NewWriter has no such key`},
		{"other data", rows(t, 0, 2), set("kind", tensor.Must(tdict.NewData("other"))), tdict.ErrDiffers, `the rows of the dataset are not like row: "kind": `},
		{"another unbatched tensor", rows(t, 0, 2), set("codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2, 4)))), tdict.ErrDiffers, `the rows of the dataset are not like row: "codes": `},
		{"names of dims", named, rows(t, 0), tdict.ErrName, `got rows whose dims are named [""], want ["time"]`},
		{"a row of a longer batch shape", rows(t, 0, 2), rows(t, 0, 2), shapeops.ErrShape, "the rows of the dataset are not like row: "},
		{"a dataset without rows", rows(t, 0), rows(t, 0), shapeops.ErrShape, "the rows of the dataset are not like row: "},
		{"ragged rows", dataset("r", two), set("r", tensor.Must(ragged.FromDepth[int32]([]int32{1}, 0))), tensor.ErrDType, `the rows of the dataset are not like row: "r": dtype mismatch: got int64, want int32`},
		{"data with a value for each row", dataset("kind", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))), rows(t, 0), memmap.ErrForeign, `"kind" has a value for each row`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(testkit.TempDir(t), "d")
			require.NoError(t, memmap.Save(dir, tt.there))
			before := tree(t, dir)
			_, err := memmap.NewWriter(dir, tt.row, memmap.WriterOptions{Resume: true})
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "append "+dir+": ")
			require.ErrorContains(t, err, tt.text)
			require.Equal(t, before, tree(t, dir))
			require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
		})
	}
}

// TestResumeRefusesNestedTensors: a Writer would make ragged rows of them, whatever their key.
func TestResumeRefusesNestedTensors(t *testing.T) {
	for _, key := range []nestedkey.Key{"r", "values", "in/values"} {
		dir := filepath.Join(testkit.TempDir(t), "d")
		td := tdict.New(2)
		require.NoError(t, td.Set(key, tensor.Must(ragged.From[int64]([][]int64{{1}, {2, 3}}))))
		name, nested := key, false
		if _, name, nested = key.Cut(); !nested {
			name = key
		}
		require.NoError(t, memmap.Save(dir, tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"other": tensor.Vector[int32](1, 2)}))))
		above := dir
		if nested {
			above = filepath.Join(dir, "in")
			write(t, dir, "meta.json", `{"in":{"type":"TensorDict"},"shape":[2],`+dictTail)
		}
		writeNested(t, above, string(name))
		before := tree(t, dir)
		_, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{Resume: true})
		require.ErrorIs(t, err, memmap.ErrForeign)
		require.ErrorContains(t, err, fmt.Sprintf("%q is a nested tensor of Python's", key))
		require.Equal(t, before, tree(t, dir))
	}
}

// TestResumeBesideOthers has others at work on the dataset.
func TestResumeBesideOthers(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, rows(t, 0, 2)))
	opt := memmap.WriterOptions{Resume: true}
	ds := writable(t, dir)
	require.ErrorIs(t, testkit.Err(memmap.NewWriter(dir, rows(t, 0), opt)), memmap.ErrBusy)
	require.NoError(t, ds.Close())
	require.ErrorIs(t, testkit.Err(memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})), os.ErrExist)
	w := resume(t, dir)
	require.ErrorIs(t, testkit.Err(memmap.NewWriter(dir, rows(t, 0), opt)), memmap.ErrBusy)
	require.ErrorIs(t, testkit.Err(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})), memmap.ErrBusy)
	require.ErrorIs(t, memmap.Save(dir, rows(t, 0, 1)), memmap.ErrBusy)
	require.NoError(t, w.Close())
}

// TestResumeAtOnce has two resume while a third saves: one of them has it, and nothing is mixed.
func TestResumeAtOnce(t *testing.T) {
	for range kills(t, 30, 1000) {
		dir := filepath.Join(testkit.TempDir(t), "d")
		require.NoError(t, memmap.Save(dir, rows(t, 0, 3)))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				w, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: true})
				if err != nil {
					requireOneOf(t, err, memmap.ErrBusy, memmap.ErrReplaced, os.ErrExist)
					return
				}
				first := w.Len()
				requireOneOf(t, errors.Join(w.Append(rows(t, first)), w.Finish()), nil, memmap.ErrReplaced)
			})
		}
		wg.Go(func() {
			err := memmap.SaveWith(context.Background(), dir, rows(t, 0, 1), memmap.SaveOptions{NoSync: true})
			requireOneOf(t, err, nil, memmap.ErrBusy)
		})
		wg.Wait()
		ds := open(t, dir)
		n := ds.Shape()[0]
		require.True(t, 1 <= n && n <= 5, n)
		requireSame(t, rows(t, 0, n), ds.TensorDict)
		require.NoError(t, ds.Close())
		requireSound(t, dir)
		require.Len(t, names(t, filepath.Dir(dir)), 1)
	}
}

// withoutSums returns a meta.json without native facts about leaves, but those that say how they
// lie.
func withoutSums(text string) string {
	return sumsText.ReplaceAllString(withoutSum(text), "")
}

var sumsText = regexp.MustCompile(`,"sums":\[[^]]*\]`)

// TestReplaceInTurn has another hold the lock that whoever replaces a directory takes.
func TestReplaceInTurn(t *testing.T) {
	replace := map[string]func(t *testing.T, dir string) error{
		"save": func(t *testing.T, dir string) error { return memmap.Save(dir, rows(t, 0, 1)) },
		"resume": func(t *testing.T, dir string) error {
			w, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: true})
			if err == nil {
				t.Cleanup(func() { require.NoError(t, w.Close()) })
			}
			return err
		},
	}
	for name, replace := range replace {
		for _, held := range []time.Duration{100 * time.Millisecond, 11 * time.Second} {
			t.Run(fmt.Sprint(name, " after ", held), func(t *testing.T) {
				if held > time.Second && !longtests.On() {
					t.Skip("takes longer")
				}
				dir := filepath.Join(testkit.TempDir(t), "d")
				require.NoError(t, memmap.Save(dir, rows(t, 0, 3)))
				before := tensor.Must(os.Stat(dir))
				lock, err := vfs.TryLock(filepath.Join(dir, "meta.json"), vfs.Exclusive)
				if errors.Is(err, errors.ErrUnsupported) || runtime.GOOS == "windows" {
					t.Skip("no lock is held here")
				}
				require.NoError(t, err)
				done := make(chan error)
				go func() { done <- replace(t, dir) }()
				time.Sleep(held)
				require.True(t, os.SameFile(before, tensor.Must(os.Stat(dir))), "it waits")
				require.NoError(t, lock.Unlock())
				err = <-done
				if held > time.Second {
					require.ErrorIs(t, err, memmap.ErrBusy)
					return
				}
				require.NoError(t, err)
				require.False(t, os.SameFile(before, tensor.Must(os.Stat(dir))))
			})
		}
	}
}

// TestSaveBesideResume has a dataset grow again while a save that looked at it before is writing.
func TestSaveBesideResume(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, rows(t, 0, 3)))
	var w *memmap.Writer
	err := memmap.SaveWith(t.Context(), dir, pair(t), memmap.SaveOptions{Progress: func(_, _ int64) {
		if w == nil {
			w = resume(t, dir)
			require.NoError(t, w.Append(rows(t, 3, 2)))
			require.NoError(t, w.Commit())
		}
	}})
	require.ErrorIs(t, err, memmap.ErrBusy)
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 5), open(t, dir).TensorDict)
}

// TestResumesInTurn has several goroutines take turns at one log: every row that was committed is
// there.
func TestResumesInTurn(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	datasetsOfRows["finished"](t, dir, 1)
	var committed atomic.Int64
	committed.Store(1)
	end := time.Now().Add(time.Duration(min(10, kills(t, 1, 10))) * time.Second)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for time.Now().Before(end) {
				w, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: true, NoSync: true})
				if err != nil {
					requireOneOf(t, err, memmap.ErrBusy, memmap.ErrReplaced)
					continue
				}
				first := w.Len()
				if want := int(committed.Load()); first != want {
					t.Errorf("a Writer begins with %d rows, want %d", first, want)
				}
				err = w.Append(rows(t, first, 2))
				if err == nil {
					err = w.Commit()
				}
				if err == nil {
					committed.Add(2)
				}
				requireOneOf(t, errors.Join(err, w.Finish()), nil)
			}
		})
	}
	wg.Wait()
	ds := open(t, dir)
	requireSame(t, rows(t, 0, int(committed.Load())), ds.TensorDict)
	require.NoError(t, ds.Close())
	requireSound(t, dir)
}

// TestResumeThatFails cannot write a leaf, or remove one: the dataset stays finished.
func TestResumeThatFails(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write every file")
	}
	for name, mode := range map[string]os.FileMode{"reward.memmap": 0o444, "obs": 0o555, "agents": 0o555} {
		dir := filepath.Join(testkit.TempDir(t), "log")
		datasetsOfRows["finished"](t, dir, 5)
		require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
		before := tree(t, dir)
		_, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: true})
		require.ErrorIs(t, err, os.ErrPermission, name)
		require.Equal(t, before, tree(t, dir))
		require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o777))
	}
}

// TestCommitErrDone makes each operation on the disk of a Commit, of a new and of a resumed
// dataset, fail in turn, and closes the Writer. After an error that is ErrDone the dataset has the
// rows; after another error it does not.
func TestCommitErrDone(t *testing.T) {
	for _, again := range []bool{false, true} {
		done := 0
		for n := int64(1); ; n++ {
			dir := filepath.Join(testkit.TempDir(t), "log")
			w := newWriter(t, dir)
			require.NoError(t, w.Append(rows(t, 0, 2)))
			require.NoError(t, w.Finish())
			if !again {
				require.NoError(t, os.RemoveAll(dir))
			}
			w = tensor.Must(memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{Resume: again}))
			before := w.Committed()
			require.NoError(t, w.Append(rows(t, 2, 3)))
			failed := errors.New("injected failure")
			var ops atomic.Int64
			vfs.Observe(func(string, string) error {
				if ops.Add(1) == n {
					return failed
				}
				return nil
			})
			err := w.Commit()
			vfs.Observe(nil)
			want := before + 3
			switch {
			case errors.Is(err, memmap.ErrDone):
				done++
			case err != nil:
				require.ErrorIs(t, err, failed)
				want = before
			}
			require.NoError(t, w.Close())
			require.Equal(t, want, open(t, dir).Shape()[0], err)
			requireSound(t, dir)
			if ops.Load() < n {
				require.NoError(t, err)
				break
			}
		}
		require.Positive(t, done)
	}
}
