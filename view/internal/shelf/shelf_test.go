package shelf

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// dict returns a dictionary with int64 vectors under some keys, and bool ones for masks.
func dict(t testing.TB, keys ...nestedkey.Key) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(2)
	for _, key := range keys {
		dtype := tensor.Int64
		if len(key) > 5 && key[len(key)-5:] == "_mask" {
			dtype = tensor.Bool
		}
		require.NoError(t, td.Set(key, tensor.Must(tensor.New(dtype, 2))))
	}
	return td
}

func indexOf(td *tdict.TensorDict, schema tdict.Schema) *Index {
	return newIndex(td, schema, memmap.ListingOf(td).Entries)
}

// TestIndex compares the tree with one by hand.
func TestIndex(t *testing.T) {
	x := indexOf(dict(t, "a", "d/b", "d/b_mask", "d/e/c", "f", "", "d2/g"), tdict.Schema{{Key: "d/b", Mask: "d/b_mask"}})
	var text string
	for _, n := range x.Nodes {
		text += fmt.Sprintf("%q depth %d in %d to %d, %d leaves, %d bytes, mask %d %v\n", n.Key, n.Depth, n.Parent, n.End, n.Leaves, n.Size, n.Mask, n.IsMask)
	}
	require.Equal(t, `"" depth 0 in -1 to 11, 7 leaves, 98 bytes, mask 0 false
"a" depth 1 in 0 to 2, 1 leaves, 16 bytes, mask 0 false
"d" depth 1 in 0 to 7, 3 leaves, 34 bytes, mask 0 false
"d/b" depth 2 in 2 to 4, 1 leaves, 16 bytes, mask 4 false
"d/b_mask" depth 2 in 2 to 5, 1 leaves, 2 bytes, mask 0 true
"d/e" depth 2 in 2 to 7, 1 leaves, 16 bytes, mask 0 false
"d/e/c" depth 3 in 5 to 7, 1 leaves, 16 bytes, mask 0 false
"f" depth 1 in 0 to 8, 1 leaves, 16 bytes, mask 0 false
"" depth 1 in 0 to 9, 1 leaves, 16 bytes, mask 0 false
"d2" depth 1 in 0 to 11, 1 leaves, 16 bytes, mask 0 false
"d2/g" depth 2 in 9 to 11, 1 leaves, 16 bytes, mask 0 false
`, text)
	require.Equal(t, []int{1, 7, 8, 3, 6, 10}, x.Shown, "leaves first, then dictionaries; no masks")
	require.Equal(t, 1, x.Masks)
	require.Equal(t, 3, x.Dicts)
	n, ok := x.Find("d/e/c")
	require.True(t, ok)
	require.Equal(t, "c", string(n.Name()))
	path := x.Path(n)
	require.Equal(t, []int{2, 5, 6}, []int{path[0].At, path[1].At, path[2].At})
	d, _ := x.Find("d")
	require.Equal(t, []int{3, 6}, x.In(d))
	_, ok = x.Find("nothing")
	require.False(t, ok)
}

// TestMasks: the schema alone says what a mask is.
func TestMasks(t *testing.T) {
	td := dict(t, "a", "a_mask", "b", "c_mask")
	require.Equal(t, 0, indexOf(td, nil).Masks)
	require.Equal(t, 0, indexOf(td, tdict.Schema{{Key: "a", Optional: true}, {Key: "a_mask"}}).Masks)
	require.Equal(t, 1, indexOf(td, tdict.Schema{{Key: "a", Mask: "a_mask"}, {Key: "b", Mask: "a_mask"}}).Masks, "two leaves with one mask")
	require.Equal(t, 0, indexOf(td, tdict.Schema{{Key: "a", Mask: "b"}, {Key: "b", Mask: "none"}, {Key: "none", Mask: "a_mask"}}).Masks, "no bools, no mask, no leaf")
}

// TestSearch has a row for each rank.
func TestSearch(t *testing.T) {
	x := indexOf(dict(t, "ecg/late", "visits/my-ecg", "visits/ECG2", "visits/ecg", "other", "ecg2/ecg"), nil)
	for _, tt := range []struct {
		rule, text string
		want       []nestedkey.Key
	}{
		{"equal, then the beginning, then a part, then elsewhere", "ecg", []nestedkey.Key{"ecg", "visits/ecg", "ecg2/ecg", "visits/ECG2", "ecg2", "visits/my-ecg", "ecg/late"}},
		{"upper and lower case", "Ecg2", []nestedkey.Key{"visits/ECG2", "ecg2", "ecg2/ecg"}},
		{"every word", "visits my", []nestedkey.Key{"visits/my-ecg"}},
		{"nothing", "xyz", nil},
		{"no word", " ", nil},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var got []nestedkey.Key
			for _, at := range x.Search(tt.text) {
				got = append(got, x.Nodes[at].Key)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// TestProfiles keeps results and no errors, and not more than its bound.
func TestProfiles(t *testing.T) {
	v := &Version{}
	made := 0
	get := func(at int, err error) error {
		_, got := v.Profile(ProfileKey{At: at}, func() ([]inspect.Profile, error) { made++; return nil, err })
		return got
	}
	require.Error(t, get(1, context.Canceled))
	require.NoError(t, get(1, nil))
	require.NoError(t, get(1, nil))
	require.Equal(t, 2, made)
	for i := range 2 * mostProfiles {
		require.NoError(t, get(i, nil))
	}
	require.LessOrEqual(t, len(v.profiles), mostProfiles)
}

func vector(t testing.TB, values ...int64) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(len(values))
	require.NoError(t, td.Set("n", tensor.Vector(values...)))
	return td
}

// TestVersions keeps a version as long as somebody uses it, and the one before a replacement as
// long as somebody looks at the dataset.
func TestVersions(t *testing.T) {
	before := mapping.Live()
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, vector(t, 1)))
	s := New([]Source{{Name: "d", Path: dir}}, Options{Idle: time.Hour, Interval: 20 * time.Millisecond})
	ctx := context.Background()
	first, err := s.Set("d").Acquire(ctx, "")
	require.NoError(t, err)
	var ids []string
	for i := range int64(3) {
		_, changed := s.Set("d").State()
		require.NoError(t, memmap.Save(dir, vector(t, i, i)))
		<-changed
		v, err := s.Set("d").Acquire(ctx, "")
		require.NoError(t, err)
		ids = append(ids, v.ID)
		v.Release()
	}
	require.Equal(t, []int64{1}, tensor.Must(tdict.Slice[int64](first.Dict, "n")), "it is still used")
	_, err = s.Set("d").Acquire(ctx, first.ID)
	require.ErrorIs(t, err, ErrReplaced, "only the last one is kept")
	was, err := s.Set("d").Acquire(ctx, ids[1])
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1}, tensor.Must(tdict.Slice[int64](was.Dict, "n")))
	was.Release()
	first.Release()
	require.NoError(t, s.Close())
	require.Equal(t, before, mapping.Live())
	_, err = s.Set("d").Acquire(ctx, "")
	require.ErrorIs(t, err, ErrClosed)
}

// TestUsedAfterClose reads a version that was acquired before Close.
func TestUsedAfterClose(t *testing.T) {
	before := mapping.Live()
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, vector(t, 7)))
	s := New([]Source{{Name: "d", Path: dir}}, Options{Idle: time.Hour, Interval: 20 * time.Millisecond})
	v, err := s.Set("d").Acquire(context.Background(), "")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, []int64{7}, tensor.Must(tdict.Slice[int64](v.Dict, "n")))
	v.Release()
	require.Equal(t, before, mapping.Live())
}

// TestNotThere tries again at each look.
func TestNotThere(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	s := New([]Source{{Name: "d", Path: dir}}, Options{Idle: time.Hour, Interval: 20 * time.Millisecond})
	failed := make(chan error, 64)
	for range cap(failed) {
		go func() {
			_, err := s.Set("d").Acquire(context.Background(), "")
			failed <- err
		}()
	}
	for range cap(failed) {
		require.ErrorIs(t, <-failed, fs.ErrNotExist, "all who wait for one attempt get its error")
	}
	require.NoError(t, memmap.Save(dir, vector(t, 7)))
	v, err := s.Set("d").Acquire(context.Background(), "")
	require.NoError(t, err)
	v.Release()
	require.NoError(t, s.Close())
}

// TestReplacedWhileClosed sees a replacement although the system gave the new dataset the numbers
// of the removed files.
func TestReplacedWhileClosed(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, vector(t, 1)))
	s := New([]Source{{Name: "d", Path: dir}}, Options{Idle: time.Hour})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	again := func() string {
		v, err := s.Set("d").Acquire(context.Background(), "")
		require.NoError(t, err)
		v.Release()
		require.NoError(t, s.Set("d").close())
		return v.ID
	}
	first := again()
	require.Equal(t, first, again())
	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "n.memmap"), later, later))
	require.NotEqual(t, first, again(), "the same numbers, other elements")

	require.NoError(t, os.RemoveAll(dir))
	w, err := memmap.NewWriter(dir, tensor.Must(vector(t, 7).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	first = again()
	require.NoError(t, w.Append(vector(t, 7)))
	require.NoError(t, w.Close())
	require.Equal(t, first, again())
	require.NoError(t, os.Chtimes(filepath.Join(dir, lockFile), later, later))
	require.NotEqual(t, first, again(), "the same numbers, made by another Writer")
}

// TestResumedBetweenLooks describes a finished dataset before and after a Writer goes on with it,
// and finishes it again.
func TestResumedBetweenLooks(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, nested(t, 7)))
	set := newSet(nil, Source{Name: "d", Path: dir})
	describe := func() *Version {
		ds, err := memmap.Open(dir)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ds.Close()) })
		v, err := versionOf(set, ds, time.Now())
		require.NoError(t, err)
		return v
	}
	before := describe()
	for n := range 3 {
		w, err := memmap.NewWriter(dir, tensor.Must(nested(t, 7).Index(ix.At(0))), memmap.WriterOptions{Resume: true})
		require.NoError(t, err)
		require.NoError(t, w.Append(nested(t, make([]int64, n)...)))
		require.NoError(t, w.Finish())
		v := describe()
		require.True(t, continues(before, v), "%d rows more", n)
		before = v
	}
	require.NoError(t, memmap.Save(dir, nested(t, make([]int64, before.Rows)...)))
	require.False(t, continues(before, describe()))
}

// TestContinues has a version with three rows, and another that is described when the directory may
// have been replaced since it was opened, or is replaced a little later.
func TestContinues(t *testing.T) {
	finish := func(t *testing.T, w *memmap.Writer, dir string) { require.NoError(t, w.Finish()) }
	replace := func(t *testing.T, w *memmap.Writer, dir string) {
		_ = w.Close() // it may be finished
		require.NoError(t, memmap.Save(dir, nested(t, 1, 2, 3, 4, 5, 6)))
	}
	for _, tt := range []struct {
		name                    string
		open, describe, compare func(t *testing.T, w *memmap.Writer, dir string) // before it
		stale, continues        bool
	}{
		{name: "committed", continues: true},
		{name: "committed, later finished", compare: finish, continues: true},
		{name: "finished", open: finish, continues: true},
		{name: "finished, later replaced", open: finish, compare: replace, continues: true},
		{name: "replaced", open: replace},
		{name: "committed, and finished before it is described", describe: finish, stale: true},
		{name: "committed, and replaced before it is described", describe: replace, stale: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(testkit.TempDir(t), "d")
			w, err := memmap.NewWriter(dir, tensor.Must(nested(t, 7).Index(ix.At(0))), memmap.WriterOptions{})
			require.NoError(t, err)
			t.Cleanup(func() { _ = w.Close() }) // most have finished it
			set := newSet(nil, Source{Name: "d", Path: dir})
			open := func() *memmap.Dataset {
				ds, err := memmap.Open(dir)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, ds.Close()) })
				return ds
			}
			commit := func(td *tdict.TensorDict) {
				require.NoError(t, w.Append(td))
				require.NoError(t, w.Commit())
			}
			at := func(step func(t *testing.T, w *memmap.Writer, dir string)) {
				if step != nil {
					step(t, w, dir)
				}
			}
			commit(nested(t, 7, 8, 9))
			before, err := versionOf(set, open(), time.Now())
			require.NoError(t, err)
			commit(nested(t, 7, 7))
			at(tt.open)
			ds := open()
			at(tt.describe)
			v, err := versionOf(set, ds, time.Now())
			require.NoError(t, err)
			at(tt.compare)
			require.Equal(t, tt.stale, v.stale)
			require.Equal(t, tt.continues, continues(before, v))
			if tt.stale {
				later, err := versionOf(set, open(), time.Now())
				require.NoError(t, err)
				require.False(t, continues(v, later), "it is not known which dataset v was")
			}
		})
	}
}

// nested returns a dictionary with a leaf in a dictionary.
func nested(t testing.TB, values ...int64) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(len(values))
	require.NoError(t, td.Set("a/n", tensor.Vector(values...)))
	return td
}

// TestFinishedVersionIsKept replaces a dataset that nobody has looked at since it was finished.
// Pages that the server sent before still lead to it.
func TestFinishedVersionIsKept(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	w, err := memmap.NewWriter(dir, tensor.Must(vector(t, 7).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(vector(t, 7)))
	require.NoError(t, w.Commit())
	s := New([]Source{{Name: "d", Path: dir}}, Options{Idle: 20 * time.Second})
	v, err := s.Set("d").Acquire(context.Background(), "")
	require.NoError(t, err)
	id := v.ID
	v.Release()
	until := func(done func(State) bool) {
		for {
			state, changed := s.Set("d").State()
			if done(state) {
				return
			}
			<-changed
		}
	}
	require.NoError(t, w.Finish())
	until(func(state State) bool { return !state.Growing })
	require.NoError(t, memmap.Save(dir, vector(t, 1, 2, 3)))
	until(func(state State) bool { return state.ID != id })
	time.Sleep(2100 * time.Millisecond) // two looks of the shelf, of one a second
	v, err = s.Set("d").Acquire(context.Background(), id)
	require.NoError(t, err)
	require.Equal(t, []int64{7}, tensor.Must(tdict.Slice[int64](v.Dict, "n")))
	v.Release()
	require.NoError(t, s.Close())
}
