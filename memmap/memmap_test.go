package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// saved saves the dictionary of the examples in a new directory.
func saved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "steps")
	require.NoError(t, memmap.Save(dir, steps()))
	return dir
}

func open(t testing.TB, dir string) *memmap.Dataset {
	t.Helper()
	return openWith(t, dir, memmap.OpenOptions{})
}

func writable(t testing.TB, dir string) *memmap.Dataset {
	t.Helper()
	return openWith(t, dir, memmap.OpenOptions{Writable: true})
}

func openWith(t testing.TB, dir string, opt memmap.OpenOptions) *memmap.Dataset {
	t.Helper()
	ds, err := memmap.OpenWith(dir, opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ds.Close() })
	return ds
}

// write replaces a file.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
}

func TestRoundTrip(t *testing.T) {
	deep := tdict.New()
	require.NoError(t, deep.Set(nestedkey.Of("a/b", "", "~"), tensor.Scalar(true)))
	layouts := tdict.New(2, 3)
	base := tensor.Must(tensor.Must(tensor.Arange[int16](0, 24, 1)).Reshape(3, 2, 4))
	require.NoError(t, layouts.Set("transposed", tensor.Must(base.Transpose(0, 1))))
	require.NoError(t, layouts.Set("expanded", tensor.Must(tensor.Scalar(7.5).Expand(2, 3))))
	empty := tdict.New(0, 4)
	require.NoError(t, empty.Set("x/y", tensor.Must(tensor.New(tensor.Float16, 0, 4, 9))))
	all := tdict.New(1)
	for _, dtype := range tensor.DTypes() {
		require.NoError(t, all.Set(nestedkey.Of(dtype.String()), tensor.Must(tensor.New(dtype, 1, 3))))
	}
	tests := []struct {
		name string
		td   *tdict.TensorDict
	}{
		{"a nested dictionary", steps()}, {"keys that files cannot have", deep}, {"any layout", layouts},
		{"no elements", empty}, {"no entries", tdict.New(5)}, {"every dtype", all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
			require.NoError(t, memmap.Save(dir, tt.td))
			ds := open(t, dir)
			require.True(t, tt.td.Equal(ds.TensorDict), "%+v", ds)
			require.True(t, ds.Locked())
		})
	}
}

func TestSaveReplaces(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	_ = tensor.Must(ds.Clone()) // maps every leaf
	changed := tensor.Must(ds.Index(ix.Range(0, 2)))
	require.NoError(t, changed.Delete("obs"))
	require.NoError(t, memmap.Save(dir, changed), "onto the files that it reads")

	again := open(t, dir)
	require.True(t, changed.Equal(again.TensorDict))
	require.ErrorIs(t, testkit.Err(os.Stat(filepath.Join(dir, "obs"))), fs.ErrNotExist, "nothing stale is left")
	require.True(t, steps().Equal(ds.TensorDict), "what was mapped before stays")
	beside := tensor.Must(os.ReadDir(filepath.Dir(dir)))
	require.Len(t, beside, 1, "nothing is left beside")
}

func TestOpenedBeforeReplacedUnmapped(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	require.NoError(t, memmap.Save(dir, steps()))
	_, err := ds.Clone()
	require.ErrorIs(t, err, memmap.ErrReplaced)
	require.ErrorContains(t, err, "obs/pos.memmap: the directory was replaced after it was opened: open it again")
}

func TestSaveRefuses(t *testing.T) {
	set := func(key nestedkey.Key) *tdict.TensorDict {
		td := tdict.New()
		require.NoError(t, td.Set(key, tensor.Scalar(1.0)))
		return td
	}
	twice := set("a")
	require.NoError(t, twice.Set("a.memmap", tdict.New()))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		err  error
		text string
	}{
		{"a field of the format", set("a/device"), memmap.ErrName, `save DIR: a/device.memmap: key cannot be saved: "device": the format has a field of that name`},
		{"a field that only this module has", set("a/_go"), memmap.ErrName, `save DIR: a/_go.memmap: key cannot be saved: "_go": the format has a field of that name`},
		{"a file of the format", set("meta.json/x"), memmap.ErrName, `save DIR: meta.json: key cannot be saved: "meta.json": the format has a file of that name`},
		{"two entries for one file", twice, memmap.ErrName, `save DIR: a.memmap: key cannot be saved: "a.memmap": the entry "a" has the same file name`},
		{"a name too long for a file", set(nestedkey.Of(strings.Repeat("x", 300))), memmap.ErrName, "got a file name of 307 bytes, want at most 255"},
		{"a batch shape that is none", tdict.New(-1), shapeops.ErrShape, "save DIR: shape mismatch: got [-1], want no negative size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			err := memmap.Save(dir, tt.td)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, strings.ReplaceAll(tt.text, "DIR", dir))
			_, ok := errors.AsType[*memmap.DatasetError](err)
			require.True(t, ok)
			require.True(t, steps().Equal(open(t, dir).TensorDict), "what was saved before stays")
		})
	}
}

func TestSaveRefusesForeignDirectory(t *testing.T) {
	dir := saved(t)
	write(t, dir, "obs/notes.txt", "mine")
	err := memmap.Save(dir, steps())
	require.ErrorIs(t, err, memmap.ErrForeign)
	require.ErrorContains(t, err, filepath.Join("obs", "notes.txt")+" would be lost; save elsewhere")
	text := tensor.Must(os.ReadFile(filepath.Join(dir, "obs", "notes.txt")))
	require.Equal(t, "mine", string(text))

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	require.Error(t, memmap.Save(file, steps()))

	raw := t.TempDir()
	write(t, raw, "features.memmap", "not ours, there is no meta.json")
	require.ErrorIs(t, memmap.Save(raw, steps()), memmap.ErrForeign)

	t.Chdir(t.TempDir())
	require.ErrorIs(t, memmap.Save(".", steps()), fs.ErrInvalid, "the working directory")
	require.Error(t, memmap.Save("", steps()))
	around := saved(t)
	t.Chdir(filepath.Join(around, "obs"))
	require.ErrorIs(t, memmap.Save(around, steps()), fs.ErrInvalid, "around the working directory")
	require.True(t, steps().Equal(open(t, around).TensorDict))
}

func TestSaveThroughALink(t *testing.T) {
	target, link := saved(t), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(target, link))
	changed := tensor.Must(steps().Index(ix.Range(0, 1)))
	require.NoError(t, memmap.Save(link, changed))
	require.True(t, changed.Equal(open(t, target).TensorDict))
}

func TestSaveKeepsPermissions(t *testing.T) {
	dir := saved(t)
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, memmap.Save(dir, steps()))
	info := tensor.Must(os.Stat(dir))
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
}

func TestSaveRefusesWhatOpenWould(t *testing.T) {
	dir := saved(t)
	deep := tdict.New()
	for outer, depth := deep, 0; depth < 300; depth++ { // from the top down, so that no Set sees it all
		inner := tdict.New()
		require.NoError(t, outer.Set("d", inner))
		outer = inner
	}
	require.ErrorIs(t, memmap.Save(dir, deep), memmap.ErrName)
	require.True(t, steps().Equal(open(t, dir).TensorDict))
}

// TestOpenDuringSave opens a directory while it is replaced again and again: it holds the one or
// the other.
func TestOpenDuringSave(t *testing.T) {
	dir, other := saved(t), tensor.Must(steps().Index(ix.Range(0, 1)))
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for range 20 {
			for _, td := range []*tdict.TensorDict{other, steps()} {
				if err := memmap.Save(dir, td); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		ds, err := memmap.Open(dir)
		if !assert.NoError(t, err) {
			break
		}
		td, err := ds.Clone()
		assert.True(t, errors.Is(err, memmap.ErrReplaced) || err == nil && (td.Equal(other) || td.Equal(steps())), "%v", err)
		assert.NoError(t, ds.Close())
	}
	wg.Wait()
}

func TestSaveStopsWithContext(t *testing.T) {
	dir := saved(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, memmap.SaveWith(ctx, dir, tensor.Must(tdict.FromMap(nil, map[nestedkey.Key]tdict.Value{"x": tensor.Scalar(1.0)})), memmap.SaveOptions{}), context.Canceled)
	require.True(t, steps().Equal(open(t, dir).TensorDict))
}

func TestSaveOfClosedSourceKeepsThePreviousSave(t *testing.T) {
	dir, other := saved(t), saved(t)
	ds := open(t, other)
	require.NoError(t, ds.Close())
	require.ErrorIs(t, memmap.Save(dir, ds.TensorDict), memmap.ErrClosed)
	require.True(t, steps().Equal(open(t, dir).TensorDict))
}

// What else Open refuses is in testdata/broken.
func TestOpenOfNothing(t *testing.T) {
	require.ErrorIs(t, testkit.Err(memmap.Open(filepath.Join(t.TempDir(), "nowhere"))), fs.ErrNotExist)
}

func TestOpenReadsOtherSpellings(t *testing.T) {
	tests := []struct{ name, meta string }{
		{"spaces and escapes", `{ "\u0078" : {"device": "cuda:0", "shape": [1], "dtype": "torch.int64"} , "shape": [ 1 ], "device": "None", "_type": "<class 'tensordict._td.TensorDict'>" }`},
		{"fields nobody knows", `{"version":"1","x":{"dtype":"torch.int64","shape":[1],"crc32c":7},"extra":{"a":[1,{}]},"shape":[1],"_type":"<class 'tensordict.persistent.PersistentTensorDict'>"}`},
		{"names twice that are no entries", `{"x":1,"y":{},"x":{"dtype":"torch.int64","shape":[1]},"y":2,"shape":[1],"_type":"<class 'tensordict._td.TensorDict'>"}`},
		{"entries behind the type", `{"shape":[1],"_type":"<class 'tensordict._td.TensorDict'>","x":{"shape":[1],"dtype":"torch.int64","device":"cpu"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "meta.json", tt.meta)
			write(t, dir, "x.memmap", "\x07\x00\x00\x00\x00\x00\x00\x00 and more than needed")
			ds := open(t, dir)
			require.Equal(t, 1, ds.NumEntries())
			require.True(t, tensor.Vector[int64](7).Equal(tensor.Must(ds.Tensor("x"))))
		})
	}
}

// TestUnlistedDictionaries: before v0.4 meta.json did not list nested dictionaries.
func TestUnlistedDictionaries(t *testing.T) {
	dir := t.TempDir()
	const x, tail = `{"x":{"shape":[1],"dtype":"torch.uint8"},`, `"shape":[1],"_type":"<class 'tensordict._td.TensorDict'>"}`
	write(t, dir, "meta.json", x+tail)
	write(t, dir, "x.memmap", "a")
	write(t, dir, "cache/unrelated", "")
	require.Equal(t, 1, open(t, dir).NumEntries())
	write(t, dir, "old name/meta.json", x+tail)
	write(t, dir, "old name/x.memmap", "b")
	for _, top := range []string{x + tail, "{" + tail} {
		write(t, dir, "meta.json", top)
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrUnsupported)
		require.EqualError(t, err, "open "+dir+`: meta.json: unsupported: it does not list the dictionary in the directory "old name", `+
			`as tensordict before v0.4 wrote it: add "old name":{"type":"TensorDict"} to it, or move the directory away`)
	}
	write(t, dir, "meta.json", x+`"old name":{"type":"TensorDict"},`+tail)
	require.True(t, tensor.Vector[uint8]('b').Equal(tensor.Must(open(t, dir).Tensor("old name/x"))))

	write(t, dir, "meta.json", `{"x":{"shape":[1],"dtype":"torch.uint8","is_nested":false},`+tail)
	require.Equal(t, 1, open(t, dir).NumEntries(), "a later writer lists them, so this one is stale")
}

func TestLeavesAreMappedWhenWanted(t *testing.T) {
	live := mapping.Live()
	ds := open(t, saved(t))
	require.Equal(t, live, mapping.Live())
	view := tensor.Must(ds.Index(ix.At(0)))
	require.Equal(t, live, mapping.Live(), "a view reads nothing")
	_ = tensor.Must(tensor.Must(view.Tensor("reward")).Clone())
	require.Equal(t, live+1, mapping.Live())
	require.NoError(t, ds.Close())
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, ds.Close(), memmap.ErrClosed)
	require.ErrorIs(t, testkit.Err(view.Clone()), memmap.ErrClosed)
	require.ErrorIs(t, testkit.Err(tensor.Of[int64](tensor.Must(ds.Tensor("reward")))), memmap.ErrClosed)
}

func TestDroppedDictIsUnmapped(t *testing.T) {
	live, dir := mapping.Live(), saved(t)
	func() {
		ds := tensor.Must(memmap.Open(dir))
		_ = tensor.Must(ds.Clone())
		require.Equal(t, live+2, mapping.Live())
	}()
	requireDropped(t, live)
}

// requireDropped waits until the garbage collector has left live mappings.
func requireDropped(t *testing.T, live int) {
	t.Helper()
	require.Eventually(t, func() bool { runtime.GC(); return mapping.Live() == live }, time.Minute, 10*time.Millisecond)
}

func TestViewKeepsTheMapping(t *testing.T) {
	live, dir := mapping.Live(), saved(t)
	reward := func() *tensor.Tensor {
		ds := tensor.Must(memmap.Open(dir))
		return tensor.Must(tensor.Must(ds.Index(ix.At(1))).Tensor("reward"))
	}()
	for range 5 {
		runtime.GC()
		require.Equal(t, int64(20), tensor.Must(tensor.Item[int64](reward)))
	}
	requireDropped(t, live) // reward is not used any more
}

// cut saves a dictionary of 100,000 rows of x, opens and reads it, and cuts the file.
func cut(t *testing.T, x *tensor.Tensor) (*tdict.TensorDict, *memmap.Dataset) {
	t.Helper()
	dir, td := filepath.Join(t.TempDir(), "big"), tdict.New(100_000)
	require.NoError(t, td.Set("x", tensor.Must(x.Expand(100_000))))
	require.NoError(t, memmap.Save(dir, td))
	ds := open(t, dir)
	_ = tensor.Must(ds.Index(ix.Take(99_999)))
	require.NoError(t, os.Truncate(filepath.Join(dir, "x.memmap"), 8))
	return td, ds
}

func TestCutFileIsAnError(t *testing.T) {
	td, ds := cut(t, tensor.Scalar[int64](3))
	require.ErrorIs(t, testkit.Err(ds.Index(ix.Take(0, 99_999))), memmap.ErrFault)
	require.ErrorIs(t, testkit.Err(ds.Clone()), memmap.ErrFault)
	_, err := tensor.Map(tensor.Must(ds.Tensor("x")), func(v int64) int64 { return v })
	require.ErrorIs(t, err, memmap.ErrFault)
	require.False(t, ds.Equal(td))
	require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "again"), ds.TensorDict), memmap.ErrFault)
	require.ErrorContains(t, err, "x.memmap: fault in mapped memory")
}

func TestFileCutBeforeItIsMapped(t *testing.T) {
	dir := saved(t)
	ds := open(t, dir)
	require.NoError(t, os.Truncate(filepath.Join(dir, "reward.memmap"), 8))
	_, err := ds.Clone()
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.ErrorContains(t, err, `clone "reward": read `+dir+`: reward.memmap: corrupt: `)
	require.Equal(t, 1, strings.Count(err.Error(), dir), "the directory, once: %v", err)
}

func TestCutBoolsAreAnError(t *testing.T) {
	_, ds := cut(t, tensor.Scalar(false))
	require.ErrorIs(t, testkit.Err(tensor.Of[bool](tensor.Must(ds.Tensor("x")))), memmap.ErrFault)
}

// TestOneDirectoryOpenedTwice: writing one of them reads the other as it was, like any overlap.
func TestOneDirectoryOpenedTwice(t *testing.T) {
	dir := saved(t)
	w := writable(t, dir)
	r := open(t, dir)
	require.True(t, tensor.Must(w.Tensor("reward")).SharesMemory(tensor.Must(r.Tensor("reward"))))
	head := tensor.Must(r.Index(ix.Range(0, 3)))
	want := tensor.Must(head.Clone())
	require.NoError(t, w.SetIndex(head, ix.Take(1, 2, 3)))
	require.True(t, want.Equal(tensor.Must(w.Index(ix.Range(1, 4)))))
}

// TestShiftBetweenMappings: two mappings of a file have two addresses, of which no memmove knows
// that they are one memory.
func TestShiftBetweenMappings(t *testing.T) {
	const rows = 4096
	dir := t.TempDir() + "/ds"
	td := tdict.New(rows)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Arange[int64](0, rows, 1))))
	require.NoError(t, memmap.Save(dir, td))
	w, r := writable(t, dir), open(t, dir)
	for _, by := range []int{1, 7, 500, -1, -64, rows / 2} {
		to, from := ix.Range(max(by, 0), min(rows, rows+by)), ix.Range(max(-by, 0), min(rows, rows-by))
		want := tensor.Must(tensor.Must(r.Index(from)).Clone())
		part := tensor.Must(w.Index(to))
		require.NoError(t, tensor.Must(r.Index(from)).IndexInto(part, ix.Rest), by)
		require.True(t, want.Equal(part), by)
	}
}

// TestClosedSourceChangesNothing: leaves in Go memory are not written if one on a closed mapping
// cannot be read.
func TestClosedSourceChangesNothing(t *testing.T) {
	ds := open(t, saved(t))
	mixed := tdict.New(4)
	require.NoError(t, mixed.Set("a", tensor.Vector[int64](1, 2, 3, 4)))
	require.NoError(t, mixed.Set("reward", tensor.Must(ds.Tensor("reward"))))
	dst := tensor.Must(tensor.Must(mixed.Clone()).Index(ix.Range(0, 2)))
	was := tensor.Must(dst.Clone())
	require.NoError(t, ds.Close())
	require.ErrorIs(t, mixed.IndexInto(dst, ix.Take(3, 2)), memmap.ErrClosed)
	require.True(t, was.Equal(dst))
}

func TestReadOnly(t *testing.T) {
	ds := open(t, saved(t))
	reward := tensor.Must(ds.Tensor("reward"))
	require.ErrorIs(t, reward.SetIndex(tensor.Scalar[int64](0), ix.At(0)), tensor.ErrReadOnly)
	require.ErrorIs(t, ds.SetIndex(tensor.Scalar[int64](0), ix.At(0)), tensor.ErrDType)
	require.ErrorIs(t, ds.Set("new", tensor.Vector(1, 2, 3, 4.0)), tdict.ErrLocked)
	require.NoError(t, ds.Unlock())
	require.NoError(t, ds.Set("new", tensor.Vector(1, 2, 3, 4.0)), "in memory")
}

func TestWritesReachTheFile(t *testing.T) {
	dir := saved(t)
	ds := writable(t, dir)
	value := tdict.New()
	require.NoError(t, value.Set("reward", tensor.Scalar[int64](-5)))
	require.NoError(t, ds.SetIndex(value, ix.At(-1)))
	require.NoError(t, ds.Flush())
	other := open(t, dir)
	require.Equal(t, int64(-5), tensor.Must(tensor.Item[int64](tensor.Must(tensor.Must(other.Tensor("reward")).Index(ix.At(3))))))
}

func TestBoolsFromAFileAreChecked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "meta.json", `{"m":{"shape":[3],"dtype":"torch.bool"},"shape":[3],"_type":"TensorDict"}`)
	write(t, dir, "m.memmap", "\x00\x01\x02")
	ds := open(t, dir)
	m := tensor.Must(ds.Tensor("m"))
	require.ErrorIs(t, testkit.Err(tensor.Of[bool](m)), tensor.ErrDType)
	require.ErrorIs(t, testkit.Err(m.AsIndex()), tensor.ErrDType)
}

func TestConcurrentReadersAndClose(t *testing.T) {
	ds := open(t, saved(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				batch, err := ds.Index(ix.Take(3, 1))
				if err != nil {
					if !errors.Is(err, memmap.ErrClosed) {
						t.Error(err)
					}
					return
				}
				if got := tensor.Must(batch.Tensor("reward")); !got.Equal(tensor.Vector[int64](40, 20)) {
					t.Errorf("got %v", got)
				}
			}
		})
	}
	time.Sleep(time.Millisecond)
	require.NoError(t, ds.Close())
	wg.Wait()
}

// A fault in a copy between two files names the one that was cut.
func TestFaultNamesTheFile(t *testing.T) {
	const rows = 1 << 17
	copies := []struct {
		name string
		do   func(dst, src *tdict.TensorDict) error
	}{
		{"set index", func(dst, src *tdict.TensorDict) error { return dst.SetIndex(src, ix.All) }},
		{"index into", func(dst, src *tdict.TensorDict) error { return src.IndexInto(dst, ix.All) }},
		{"set index by a list", func(dst, src *tdict.TensorDict) error {
			return dst.SetIndex(tensor.Must(src.Index(ix.Range(rows-2, rows))), ix.Take(rows-1, rows-2))
		}},
		{"stack", func(dst, src *tdict.TensorDict) error { return shapeops.CatInto(dst, []*tdict.TensorDict{src}, 0) }},
	}
	for _, cut := range []string{"dst", "src"} {
		for _, c := range copies {
			t.Run(cut+"/"+c.name, func(t *testing.T) {
				mapped := map[string]*tdict.TensorDict{}
				top := t.TempDir()
				for _, name := range []string{"dst", "src"} {
					td := tdict.New(rows)
					require.NoError(t, td.Set("x", tensor.Must(tensor.Full(int64(3), rows, 8)))) // two cores copy that
					named := tdict.New()
					require.NoError(t, named.Set(nestedkey.Key("in-"+name), td))
					require.NoError(t, memmap.Save(filepath.Join(top, name), named))
					ds := writable(t, filepath.Join(top, name))
					mapped[name] = tensor.Must(ds.Dict(nestedkey.Key("in-" + name)))
					_ = tensor.Must(mapped[name].Index(ix.Take(0))) // maps the leaf
				}
				require.NoError(t, os.Truncate(filepath.Join(top, cut, "in-"+cut, "x.memmap"), 4096))
				err := c.do(mapped["dst"], mapped["src"])
				require.ErrorIs(t, err, memmap.ErrFault)
				require.ErrorContains(t, err, "in-"+cut+"/x.memmap: fault in mapped memory")
			})
		}
	}
}

// What only says where elements lie, or was copied from them, does not keep their file mapped.
func TestHeldShapesKeepNoMapping(t *testing.T) {
	live, dir := mapping.Live(), saved(t)
	var held []any
	func() {
		ds := tensor.Must(memmap.Open(dir))
		reward := tensor.Must(ds.Tensor("reward"))
		part := tensor.Must(ds.Index(ix.Range(1, 3)))
		row := tensor.Must(tensor.Must(part.Tensor("obs/pos")).Index(ix.At(0)))
		held = append(held, ds.Shape(), reward.Shape(), reward.View(), part.Shape(), row.Shape(), row.View(),
			tensor.Must(reward.AsIndex()), tensor.Must(reward.Clone()), tensor.Must(ds.Index(ix.Take(0))),
			tensor.Must(shapeops.Stack([]*tensor.Tensor{reward, reward}, 0)), tensor.Must(row.Reshape(-1)).Shape())
		require.NotEqual(t, live, mapping.Live())
	}()
	requireDropped(t, live)
	runtime.KeepAlive(held)
}

// What is set in an opened dictionary would not be saved, so it says why it is locked, and what to
// do.
func TestOpenedIsLockedAndSaysWhy(t *testing.T) {
	for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
		t.Run(fmt.Sprintf("writable=%v", opt.Writable), func(t *testing.T) {
			ds := openWith(t, saved(t), opt)
			x := tensor.Must(tensor.Zeros[int8](4))
			const why = "locked: its leaves are mapped files, so a changed entry would not be saved: change a Copy and Save it, or call AddLeaf"
			for op, err := range map[string]error{
				`set "x": `: ds.Set("x", x), `set "obs/x": `: ds.Set("obs/x", x), `delete "reward": `: ds.Delete("reward"),
				`rename "reward": `: ds.Rename("reward", "x"), `update "obs/pos": `: ds.Update(ds.TensorDict),
			} {
				require.ErrorIs(t, err, tdict.ErrLocked)
				require.EqualError(t, err, op+why)
			}
			c := ds.Copy()
			require.NoError(t, c.Set("x", x), "as it says")
			dir := filepath.Join(t.TempDir(), "again")
			require.NoError(t, memmap.Save(dir, c))
			require.True(t, open(t, dir).Has("x"))
		})
	}
}

// Nothing is not saved, and leaves what is there as it was.
func TestSaveRefusesNil(t *testing.T) {
	dir := saved(t)
	require.ErrorIs(t, memmap.SaveWith(t.Context(), filepath.Join(t.TempDir(), "no"), nil, memmap.SaveOptions{}), tdict.ErrKind)
	err := memmap.Save(dir, nil)
	require.ErrorIs(t, err, tdict.ErrKind)
	require.EqualError(t, err, "save "+dir+": wrong kind of value: got a nil dictionary")
	require.True(t, open(t, dir).Has("reward"))
}

// A comparison names the file that was cut, whichever side it is on.
func TestDiffNamesTheFileThatWasCut(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Int64, tensor.Float32} {
		dir := filepath.Join(t.TempDir(), "d")
		rows := tensor.Must(tensor.New(dtype, 1<<16))
		td := tensor.Must(tdict.FromMap(shapeops.Shape{1 << 16}, tdict.Entries{"cut": rows, "whole": rows}))
		require.NoError(t, memmap.Save(dir, td))
		ds := open(t, dir)
		cut, whole := tensor.Must(ds.Tensor("cut")), tensor.Must(ds.Tensor("whole"))
		require.True(t, cut.Equal(whole))
		require.NoError(t, os.Truncate(filepath.Join(dir, "cut.memmap"), 4096))
		for _, err := range []error{testkit.Err(cut.Diff(whole)), testkit.Err(whole.Diff(cut))} {
			require.ErrorIs(t, err, memmap.ErrFault)
			require.ErrorContains(t, err, "cut.memmap: ")
			require.NotContains(t, err.Error(), "whole")
		}
	}
}
