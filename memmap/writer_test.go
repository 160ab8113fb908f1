package memmap_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows returns rows of the tests of Writer, numbered from first: leaves at two depths, one without
// elements, ragged ones that share a layout, data, an unbatched tensor, an empty dictionary, and
// one whose batch shape is longer.
func rows(t testing.TB, first int, batch ...int) *tdict.TensorDict {
	t.Helper()
	n := shapeops.Shape(batch).Size()
	numbers := tensor.Must(tensor.Must(tensor.Arange[int64](int64(first), int64(first+n), 1)).Reshape(batch...))
	wide := tensor.Must(tensor.Must(numbers.Unsqueeze(len(batch))).Expand(append(batch[:len(batch):len(batch)], 3)...))
	words, tags := wordsAndTags(t, first, batch...)
	td := tdict.New(batch...)
	for _, e := range []struct {
		key nestedkey.Key
		v   tdict.Value
	}{
		{"reward", tensor.Must(numbers.Cast(tensor.Float32))},
		{"obs/pos", tensor.Must(wide.Cast(tensor.Int16))},
		{"obs/none", tensor.Must(tensor.New(tensor.Int16, append(batch[:len(batch):len(batch)], 0)...))},
		{"words", words},
		{"obs/tags", tags},
		{"kind", tensor.Must(tdict.NewData("replay"))},
		{"codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2, 3)))},
		{"empty", tdict.New(batch...)},
		{"agents", tdict.New(append(batch[:len(batch):len(batch)], 3)...)},
		{"agents/id", tensor.Must(wide.Cast(tensor.Uint8))},
	} {
		require.NoError(t, td.Set(e.key, e.v))
	}
	return td
}

// wordsAndTags returns ragged rows numbered from first, of which those with two levels have their
// first in common with the others: row i has i%4 words, and word k has (i+k)%3 tags.
func wordsAndTags(t testing.TB, first int, batch ...int) (words, tags *ragged.Tensor) {
	t.Helper()
	var one, two, bytes, codes []int64
	for i := first; i < first+shapeops.Shape(batch).Size(); i++ {
		one = append(one, int64(i%4))
		for k := range i % 4 {
			two, bytes = append(two, int64((i+k)%3)), append(bytes, int64(i+k)%251)
			for range (i + k) % 3 {
				codes = append(codes, int64(i), int64(k))
			}
		}
	}
	layout, err := ragged.LayoutOf(batch, one, two)
	require.NoError(t, err)
	pairs := tensor.Must(tensor.Vector(codes...).Reshape(len(codes)/2, 2))
	words = tensor.Must(ragged.New(tensor.Must(tensor.Vector(bytes...).Cast(tensor.Uint8)), layout.Outer()))
	return words, tensor.Must(ragged.New(tensor.Must(pairs.Cast(tensor.Int32)), layout))
}

func newWriter(t testing.TB, dir string) *memmap.Writer {
	t.Helper()
	w, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestWriterAppendsRowsAndBatches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	require.Zero(t, open(t, dir).Shape()[0], "readers see it at once, without rows")
	require.NoError(t, w.Append(rows(t, 0)))
	require.NoError(t, w.Append(rows(t, 1, 4)))
	require.NoError(t, w.Append(rows(t, 5, 0)))
	require.Equal(t, []int{5, 0}, []int{w.Len(), w.Committed()})
	require.Zero(t, open(t, dir).Shape()[0], "nothing was committed")
	require.NoError(t, w.Commit())
	require.Equal(t, []int{5, 5}, []int{w.Len(), w.Committed()})
	before := open(t, dir)
	requireSame(t, rows(t, 0, 5), before.TensorDict)

	require.NoError(t, w.Append(rows(t, 5, 2)))
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 5), before.TensorDict)
	requireSame(t, rows(t, 0, 7), open(t, dir).TensorDict)
	require.ErrorIs(t, w.Append(rows(t, 7)), memmap.ErrClosed)
	require.ErrorIs(t, w.Finish(), memmap.ErrClosed)
	require.ErrorIs(t, w.Close(), memmap.ErrClosed)
	requireSound(t, dir)
	info := tensor.Must(os.Stat(filepath.Join(dir, "obs", "pos.memmap")))
	require.Equal(t, int64(7*3*2), info.Size())
	require.Equal(t, []string{"agents", "codes.memmap", "empty", "kind", "meta.json", "obs", "reward.memmap", "words"}, names(t, dir))
	require.Len(t, tensor.Must(os.ReadDir(filepath.Dir(dir))), 1, "nothing is left beside it")
}

func requireSame(t testing.TB, want, got *tdict.TensorDict) {
	t.Helper()
	diff, err := want.Diff(got)
	require.NoError(t, err)
	require.Empty(t, diff)
}

// requireSound verifies a directory.
func requireSound(t testing.TB, dir string) {
	t.Helper()
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Damage)
	require.Empty(t, report.Unsummed)
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	for _, d := range tensor.Must(os.ReadDir(dir)) {
		names = append(names, d.Name())
	}
	return names
}

// TestWriterGoesOn closes a Writer, with rows that were not committed, and goes on.
func TestWriterGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 3)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Append(rows(t, 90, 5)))
	require.NoError(t, w.Close())
	requireSame(t, rows(t, 0, 3), open(t, dir).TensorDict)
	requireSound(t, dir)

	w = newWriter(t, dir)
	require.Equal(t, 3, w.Len())
	require.NoError(t, w.Append(rows(t, 3, 2)))
	require.NoError(t, w.Commit())
	requireSound(t, dir)
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 5), open(t, dir).TensorDict)
	requireSound(t, dir)
	_, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})
	require.ErrorIs(t, err, fs.ErrExist, "it is finished")
	requireSame(t, rows(t, 0, 5), open(t, dir).TensorDict)
}

func TestWriterHasTheDirectoryToItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	_, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})
	require.ErrorIs(t, err, memmap.ErrBusy)
	require.ErrorIs(t, memmap.Save(dir, steps()), memmap.ErrBusy)
	_, err = memmap.Create(dir, steps(), memmap.CreateOptions{})
	require.ErrorIs(t, err, memmap.ErrBusy)
	_, err = memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
	require.ErrorIs(t, err, memmap.ErrBusy)
	require.NoError(t, w.Append(rows(t, 0, 2)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	require.NoError(t, memmap.Save(dir, steps()), "the Writer is gone")
	requireSame(t, steps(), open(t, dir).TensorDict)
}

// TestWhatPythonSees reads meta.json of a growing dictionary.
func TestGrowingLiesFlat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 2)))
	require.NoError(t, w.Commit())
	text := metaText(t, dir)
	require.True(t, strings.HasPrefix(text, `{"reward":{"device":"cpu","shape":[2],"dtype":"torch.float32","is_nested":false,"go":{"v":1,"path":["reward"],"sums":["`), text)
	require.Contains(t, text, `"obs.pos":{"device":"cpu","shape":[2,3],"dtype":"torch.int16","is_nested":false,"go":{"v":1,"path":["obs","pos"],`)
	require.Contains(t, text, `"kind":{"type":"NonTensorData","go":{"v":1,"path":["kind"]`)
	require.Contains(t, text, `"codes":{"device":"cpu","shape":[3],"dtype":"torch.uint8","is_nested":false,"go":{"v":1,"path":["codes"],"unbatched":[2],`)
	require.Contains(t, text, `"shape":[2],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>","_go":[{"v":1,"growing":true,"nodes":[{"path":["obs"],"shape":[]},{"path":["empty"],"shape":[]},{"path":["agents"],"shape":[3]}]}]}`)
	require.Equal(t, []string{".lock", "agents.id.memmap", "codes.memmap", "kind", "meta.json", "obs.pos.memmap",
		"obs.tags.@lengths.memmap", "obs.tags.@lengths2.memmap", "obs.tags.@pool.memmap", "obs.tags.@row.memmap", "reward.memmap", "words.@lengths.memmap", "words.@pool.memmap", "words.@row.memmap"}, names(t, dir))
}

// TestAppendShowsBothValues: where what all rows share differs, the error has what was got and what
// is wanted, of long texts the part around the first difference.
func TestAppendShowsBothValues(t *testing.T) {
	value := func(v any, batch ...int) tdict.Value { return tensor.Must(tdict.NewData(v, batch...)) }
	each := func(v ...any) tdict.Value { return tensor.Must(tdict.DataFrom(v, len(v))) }
	shared := func(x *tensor.Tensor) tdict.Value { return tensor.Must(tdict.NewUnbatched(x)) }
	long := strings.Repeat("ä", 5000)
	grid := func(v float32) tdict.Value {
		return shared(tensor.Must(tensor.From([]float32{0, 1, 2, 3, v, float32(math.NaN())}, 2, 3)))
	}
	tests := []struct {
		name      string
		want, got tdict.Value
		text      string // "" if it is appended
	}{
		{"a text", value("replay"), value("live"), `row 0: got "live", want "replay"`},
		{"a text in a row", value("replay"), each("replay", "live"), `row 1: got "live", want "replay"`},
		{"a number of another type", value(1), value(1.0), `row 0: got 1.0, want 1`},
		{"a field", value(map[string]any{"lr": 0.1, "n": 5}), value(map[string]any{"lr": 0.2, "n": 5}), `row 0: got {"lr":0.2,"n":5}, want {"lr":0.1,"n":5}`},
		{"long texts", value(long + "x" + long), value(long + "y" + long),
			`row 0: got ...` + strings.Repeat("ä", 10) + "y" + strings.Repeat("ä", 19) + `..., want ...` + strings.Repeat("ä", 10) + "x" + strings.Repeat("ä", 19) + `...`},
		{"a long text and its beginning", value(long), value("ä"), `row 0: got "ä", want "ä` + strings.Repeat("ä", 28) + "..."},
		{"NaN in each row", value(math.NaN()), each(math.NaN(), math.NaN()), ""},
		{"a tensor of another dtype", shared(tensor.Vector[int8](1)), shared(tensor.Vector[uint8](1)), `uint8 [1], other int8 [1]`},
		{"an element", grid(4), grid(5), `element [1 1] is 5, other 4`},
		{"the sign of zero", shared(tensor.Scalar(0.0)), shared(tensor.Scalar(math.Copysign(0, -1))), `element [] is -0, other 0`},
		{"NaN in a tensor", grid(4), grid(4), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := func(v tdict.Value) *tdict.TensorDict {
				td := tdict.New()
				if v.Shape().Equal(shapeops.Shape{2}) {
					td = tdict.New(2)
				}
				require.NoError(t, td.Set("d/v", v))
				return td
			}
			w := tensor.Must(memmap.NewWriter(filepath.Join(t.TempDir(), "log"), row(tt.want), memmap.WriterOptions{}))
			defer w.Close()
			err := w.Append(row(tt.got))
			if tt.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tdict.ErrDiffers)
			_, text, _ := strings.Cut(err.Error(), ": append ")
			want := `"d/v": values differ: ` + tt.text
			if _, ok := tt.got.(*tdict.Unbatched); ok {
				want += ": an unbatched tensor must be the same in all rows"
			} else {
				want += ", the value of all rows"
			}
			if d, ok := tt.got.(*tdict.Data); ok && len(d.Shape()) > 0 {
				want += ": data that differs between rows cannot be appended: store text as ragged uint8, and a time as int64"
			}
			require.Equal(t, want, text)
			require.Zero(t, w.Len())
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	changed := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := rows(t, 0, 2)
		require.NoError(t, td.Set(key, v))
		return td
	}
	tests := []struct {
		name string
		td   *tdict.TensorDict
		err  error
		text string
	}{
		{"nil", nil, tdict.ErrKind, "got a nil dictionary"},
		{"a batch shape of too many dims", rows(t, 0, 2, 2), shapeops.ErrShape, "got batch shape [2 2], want [] for one row"},
		{"a key too many", changed("more", tensor.Vector[int8](1, 2)), tdict.ErrMissing, `append "more": missing key: the row of NewWriter has no such key`},
		{"a key too few", tensor.Must(rows(t, 0, 2).Select("reward", "obs", "words", "kind", "codes", "empty")), tdict.ErrMissing, `append "agents": `},
		{"another dtype", changed("obs/pos", tensor.Must(tensor.New(tensor.Int32, 2, 3))), tensor.ErrDType, `append "obs/pos": dtype mismatch: got int32, want int16`},
		{"another shape", changed("obs/pos", tensor.Must(tensor.New(tensor.Int16, 2, 4))), shapeops.ErrShape, `append "obs/pos": shape mismatch: got [2 4], want [2 3]`},
		{"other data", changed("kind", tensor.Must(tdict.NewData("live"))), tdict.ErrDiffers, `append "kind": `},
		{"data that differs", changed("kind", tensor.Must(tdict.DataFrom([]string{"replay", "live"}, 2))), tdict.ErrDiffers, `append "kind": `},
		{"another unbatched tensor", changed("codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2, 4)))), tdict.ErrDiffers, `append "codes": values differ: element [2] is 4, other 3: an unbatched tensor must be the same in all rows`},
		{"another kind", changed("codes", tensor.Must(tensor.New(tensor.Uint8, 2, 3))), tdict.ErrKind, `append "codes": `},
	}
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := w.Append(tt.td)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.text)
			require.Zero(t, w.Len())
		})
	}
	require.NoError(t, w.Append(rows(t, 0, 2)))
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 2), open(t, dir).TensorDict)
}

// TestNewWriterOnADamagedLog cuts and removes a file of a dictionary that a Writer has left.
func TestNewWriterOnADamagedLog(t *testing.T) {
	damages := map[string]func(file string) error{
		"cut": func(file string) error { return os.Truncate(file, 3) }, "removed": os.Remove,
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			w := newWriter(t, dir)
			require.NoError(t, w.Append(rows(t, 0, 4)))
			require.NoError(t, w.Commit())
			require.NoError(t, w.Close())
			require.NoError(t, damage(filepath.Join(dir, "reward.memmap")))
			_, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})
			require.ErrorIs(t, err, memmap.ErrCorrupt)
			require.ErrorContains(t, err, "append "+dir+": reward.memmap: corrupt: ")
			require.Equal(t, 1, strings.Count(err.Error(), dir))
		})
	}
}

func TestNewWriterRefuses(t *testing.T) {
	with := func(entries ...any) *tdict.TensorDict {
		td := tdict.New()
		for i := 0; i < len(entries); i += 2 {
			require.NoError(t, td.Set(entries[i].(nestedkey.Key), entries[i+1].(tdict.Value)))
		}
		return td
	}
	one := tensor.Scalar(1.5)
	perRow := tdict.New(2)
	require.NoError(t, perRow.Set("k", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))))
	growing := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, growing)
	require.NoError(t, w.Append(rows(t, 0)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	fresh := func() string { return filepath.Join(t.TempDir(), "log") }
	tests := []struct {
		name, dir string
		row       *tdict.TensorDict
		err       error
	}{
		{"nil", fresh(), nil, tdict.ErrKind},
		{"an empty path", "", tdict.New(), fs.ErrInvalid},
		{"two leaves that would be one file", fresh(), with(nestedkey.Key("a/b"), one, nestedkey.Key("a.b"), one), memmap.ErrName},
		{"a leaf and data that would be one entry", fresh(), with(nestedkey.Key("a/b"), tensor.Must(tdict.NewData("x")), nestedkey.Key("a.b"), one), memmap.ErrName},
		{"a leaf whose name Python would nest another in", fresh(), with(nestedkey.Key("a"), one, nestedkey.Key("a.b"), one), memmap.ErrName},
		{"the other first", fresh(), with(nestedkey.Key("a.b"), one, nestedkey.Key("a"), one), memmap.ErrName},
		{"in a dictionary", fresh(), with(nestedkey.Key("n/a.b.c"), one, nestedkey.Key("n/a"), one), memmap.ErrName},
		{"the empty name", fresh(), with(nestedkey.Of(""), one, nestedkey.Key(".a"), one), memmap.ErrName},
		{"a name of the format", fresh(), with(nestedkey.Key("_go"), one), memmap.ErrName},
		{"data with a value for each row", fresh(), perRow, memmap.ErrUnsupported},
		{"a finished dictionary", saved(t), tdict.New(), fs.ErrExist},
		{"rows that are not like those there", growing, with(nestedkey.Key("a"), one), tdict.ErrMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := memmap.NewWriter(tt.dir, tt.row, memmap.WriterOptions{})
			require.ErrorIs(t, err, tt.err)
		})
	}
	for _, change := range []struct {
		key nestedkey.Key
		v   tdict.Value
		err error
	}{
		{"obs/pos", tensor.Must(tensor.New(tensor.Int32, 3)), tensor.ErrDType},
		{"obs/pos", tensor.Must(tensor.New(tensor.Int16, 4)), shapeops.ErrShape},
		{"kind", tensor.Must(tdict.NewData("live")), tdict.ErrDiffers},
		{"empty", tdict.New(2), shapeops.ErrShape},
	} {
		row := rows(t, 0)
		require.NoError(t, row.Set(change.key, change.v))
		_, err := memmap.NewWriter(growing, row, memmap.WriterOptions{})
		require.ErrorIs(t, err, change.err, change.key)
	}
	require.NoError(t, newWriter(t, growing).Close(), "the refused ones have let it go")
}

// TestWriterWithoutRowsIsMadeAnew changes what the rows are like while there are none.
func TestWriterWithoutRowsIsMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	require.NoError(t, newWriter(t, dir).Close())
	row := tdict.New()
	require.NoError(t, row.Set("x", tensor.Scalar(1.5)))
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Finish())
	require.Equal(t, 1, open(t, dir).NumEntries())
}

// TestWriterCrossesBlocks appends more than one block of sums.
func TestWriterCrossesBlocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	row := tdict.New()
	require.NoError(t, row.Set("x", tensor.Must(tensor.New(tensor.Uint8, 1<<20))))
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{NoSync: true})
	require.NoError(t, err)
	batch := tdict.New(30)
	require.NoError(t, batch.Set("x", tensor.Must(tensor.Full[uint8](7, 30, 1<<20))))
	for range 3 {
		require.NoError(t, w.Append(batch))
		require.NoError(t, w.Commit())
		requireSound(t, dir)
		require.NoError(t, w.Close())
		w, err = memmap.NewWriter(dir, row, memmap.WriterOptions{NoSync: true})
		require.NoError(t, err)
	}
	require.NoError(t, w.Finish())
	requireSound(t, dir)
	require.Equal(t, shapeops.Shape{90}, open(t, dir).Shape())
	last := tensor.Must(tensor.Must(open(t, dir).Tensor("x")).Index(ix.At(-1), ix.At(-1)))
	require.Equal(t, uint8(7), tensor.Must(tensor.Item[uint8](last)))
}

// TestGrowingEntriesAreInOrder compares the order of entries, before Finish and after it, with the
// order in a row.
func TestGrowingEntriesAreInOrder(t *testing.T) {
	row := tensor.Must(tdict.FromValues(nil, tdict.Values{
		"a": int8(1), "b/x": int8(2), "b/y/z": int8(3), "c": int8(4), "d/x": int8(5), "e": int8(6),
	}))
	require.NoError(t, row.Set("f", tdict.New()))
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := tensor.Must(memmap.NewWriter(dir, row, memmap.WriterOptions{}))
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Commit())
	want := slices.Collect(row.Keys())
	require.Equal(t, want, slices.Collect(open(t, dir).Keys()), "growing")
	require.NoError(t, w.Finish())
	require.Equal(t, want, slices.Collect(open(t, dir).Keys()), "finished")
}

// TestLargeAppends: leaves of a large dictionary are written at the same time. All elements are
// there, and an error names the file of the first leaf in order that cannot be read.
func TestLargeAppends(t *testing.T) {
	const n = 200_000
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, slices.Repeat([]int64{0, 2}, n/2)))
	rows := func(first int64) *tdict.TensorDict {
		values := tensor.Must(tensor.Arange(first, first+n, 1))
		lists := func() *ragged.Tensor { return tensor.Must(ragged.New(values, layout)) }
		return tensor.Must(tdict.FromMap(shapeops.Shape{n}, tdict.Entries{"a": values, "b": values, "r": lists(), "s": lists()}))
	}
	dir := filepath.Join(t.TempDir(), "d")
	w, err := memmap.NewWriter(dir, tensor.Must(rows(0).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(rows(0)))
	require.NoError(t, w.Append(rows(n)))
	require.NoError(t, w.Commit())
	gone := func(text string) *tensor.Tensor {
		return tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New(text)}, 0, n))
	}
	bad := rows(0)
	require.NoError(t, bad.Set("a", gone("a is gone")))
	require.NoError(t, bad.Set("b", gone("b is gone")))
	require.EqualError(t, w.Append(bad), "append "+dir+": a.memmap: a is gone")
	require.ErrorContains(t, w.Append(rows(0)), "an earlier write failed")
	require.NoError(t, w.Close())
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	defer ds.Close()
	want, err := shapeops.Cat([]*tdict.TensorDict{rows(0), rows(n)}, 0)
	require.NoError(t, err)
	require.True(t, ds.Equal(want))
}
