package memmap_test

import (
	"fmt"
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

// TestNoClass saves dictionaries without their classes, at any depth and in each form; the
// dictionary itself keeps them.
func TestNoClass(t *testing.T) {
	td := frames(t)
	stack := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{frames(t), frames(t)}, 0))
	require.NoError(t, stack.SetClass("my.Stack"))
	for _, name := range []string{"d", "d.tdz", "d.tdc"} {
		for _, td := range []*tdict.TensorDict{td, stack} {
			at := filepath.Join(t.TempDir(), name)
			require.NoError(t, memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{NoClass: true}))
			ds := open(t, at)
			require.Empty(t, ds.Class())
			require.Empty(t, tensor.Must(ds.Dict("in")).Class())
			require.NotEmpty(t, td.Class())
			require.NotEmpty(t, tensor.Must(td.Dict("in")).Class())
			if name == "d" {
				for file, text := range tree(t, at) {
					require.NotContains(t, file, "_tensordict")
					require.NotContains(t, text, "my.", file)
				}
			}
			require.NoError(t, memmap.Copy(t.Context(), at, at+"2", memmap.CopyOptions{}))
			require.Empty(t, open(t, at+"2").Class())
		}
	}
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, td))
	require.NoError(t, memmap.Copy(t.Context(), dir, dir+"2", memmap.CopyOptions{Save: memmap.SaveOptions{NoClass: true}}))
	require.Empty(t, open(t, dir+"2").Class())
}

// TestRowsCountOnce: a ragged leaf is one entry for MaxEntries, in each form, whatever its depth.
func TestRowsCountOnce(t *testing.T) {
	td := visits(t) // ts, codes, age, more, more/weight, more/ward
	ats := []string{saveRows(t, td), savedArchive(t, td), filepath.Join(t.TempDir(), "d.tdc"), filepath.Join(t.TempDir(), "log")}
	require.NoError(t, memmap.Save(ats[2], td))
	w := tensor.Must(memmap.NewWriter(ats[3], tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{}))
	require.NoError(t, w.Append(td))
	require.NoError(t, w.Commit())
	defer w.Close()
	for i, at := range ats {
		counted := 6
		switch i {
		case 2: // jagged tensors are two leaves
			counted = 8
		case 3: // a dictionary is no entry
			counted = 5
		}
		require.NoError(t, tensor.Must(memmap.OpenWith(at, memmap.OpenOptions{MaxEntries: counted})).Close(), at)
		require.ErrorIs(t, testkit.Err(memmap.OpenWith(at, memmap.OpenOptions{MaxEntries: counted - 1})), memmap.ErrUnsupported, at)
	}
}

// TestRowsCountOnceEach: parts of different ragged leaves, one leaf after the other, are not
// counted as a run of parts of one leaf.
func TestRowsCountOnceEach(t *testing.T) {
	const n = 50
	td := tdict.New(1)
	for i := range n {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i)), tensor.Must(ragged.From[int8]([][][]int8{{{1}}}))))
	}
	top := testkit.TempDir(t)
	for _, name := range []string{"d", "d.tdz", "d.tdc"} {
		at := filepath.Join(top, name)
		require.NoError(t, memmap.Save(at, td))
		require.NoError(t, tensor.Must(memmap.OpenWith(at, memmap.OpenOptions{MaxEntries: n})).Close(), at)
		require.ErrorIs(t, testkit.Err(memmap.OpenWith(at, memmap.OpenOptions{MaxEntries: n - 1})), memmap.ErrUnsupported, at)
	}
}

// TestPartsAreBounded: entries with the names of parts are no way around MaxEntries.
func TestPartsAreBounded(t *testing.T) {
	for _, part := range []string{"@pool", "@row", "@lengths2"} {
		dir := t.TempDir()
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, `"%d.%s":{"shape":[0],"dtype":"torch.int64"},`, i, part)
		}
		write(t, dir, "meta.json", `{`+b.String()+`"shape":[0],`+dictTail)
		size := uint64(b.Len())
		testkit.MaxBytes(t, 3*size, func() {
			_, err := memmap.OpenWith(dir, memmap.OpenOptions{MaxEntries: 10})
			require.ErrorIs(t, err, memmap.ErrUnsupported)
		})
	}
}

// TestRowsAreNotDictionaries: whoever looks at the directory of a ragged leaf sees that it is one.
func TestRowsAreNotDictionaries(t *testing.T) {
	dir := saveRows(t, visits(t))
	codes := filepath.Join(dir, "more", "weight")
	before := pictureOf(t, dir)
	for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
		_, err := memmap.OpenWith(codes, opt)
		require.ErrorIs(t, err, memmap.ErrUnsupported)
		require.ErrorContains(t, err, "open the directory that contains it")
	}
	require.ErrorIs(t, testkit.Err(memmap.Verify(t.Context(), codes, memmap.VerifyOptions{})), memmap.ErrUnsupported)
	require.ErrorIs(t, memmap.Copy(t.Context(), codes, dir+"2", memmap.CopyOptions{}), memmap.ErrUnsupported)
	require.Error(t, memmap.AppendMember(codes, tdict.New(3)))
	require.Error(t, testkit.Err(memmap.NewWriter(codes, tdict.New(), memmap.WriterOptions{Resume: true})))
	require.Equal(t, before, pictureOf(t, dir))
}

// TestFlatRows: parts of a ragged leaf in a flat dictionary, as Python's flatten_keys makes it, are
// one leaf, whose key ends in the name before the dot.
func TestFlatRows(t *testing.T) {
	dir := saveRows(t, visits(t))
	flat := filepath.Join(t.TempDir(), "flat")
	var entries []string
	for _, leaf := range []string{"more/weight", "ts", "more/ward"} {
		name := strings.ReplaceAll(leaf, "/", ".")
		f := readFields(t, filepath.Join(dir, leaf))
		for part, text := range f.raw {
			if strings.HasPrefix(part, "@") {
				entries = append(entries, `"`+name+"."+part+`":`+withoutNative(string(text)))
				if b, err := os.ReadFile(filepath.Join(dir, leaf, part+".memmap")); err == nil {
					write(t, flat, name+"."+part+".memmap", string(b))
				}
			}
		}
	}
	slices.Sort(entries)
	write(t, flat, "meta.json", `{`+strings.Join(entries, ",")+`,"shape":[3],`+dictTail)
	ds := open(t, flat)
	require.Equal(t, 3, ds.NumEntries())
	for _, leaf := range []nestedkey.Key{"more/weight", "ts", "more/ward"} {
		require.True(t, rowsAt(t, visits(t), leaf).Equal(rowsAt(t, ds.TensorDict, nestedkey.Of(strings.ReplaceAll(string(leaf), "/", ".")))), leaf)
	}
	for _, name := range []string{"d", "d.tdz", "d.tdc"} {
		at := filepath.Join(t.TempDir(), name)
		require.NoError(t, memmap.Copy(t.Context(), flat, at, memmap.CopyOptions{}))
		require.True(t, ds.Equal(open(t, at).TensorDict))
	}
	wr := writable(t, flat)
	require.NoError(t, rowsAt(t, wr.TensorDict, "ts").SetIndex(rowsAt(t, visits(t), "ts")))
	require.NoError(t, wr.Close())
	require.NoError(t, testkit.Err(memmap.Verify(t.Context(), flat, memmap.VerifyOptions{})))
	require.NoError(t, os.Remove(filepath.Join(flat, "ts.@row.memmap")))
	require.ErrorIs(t, testkit.Err(memmap.Open(flat)), memmap.ErrCorrupt)
}

// TestCopyKeepsNestedTensors: nested tensors of Python's are copied as nested tensors, whatever
// their shapes, in directories and archives, also within a lazy stack, and sums are added.
func TestCopyKeepsNestedTensors(t *testing.T) {
	tests := []struct {
		name  string
		shape string // of the shapes
		sizes []int64
		bytes int
	}{
		{"one ragged dim", "[2,1]", []int64{2, 3}, 5},
		{"features", "[2,3]", []int64{2, 3, 1, 4, 3, 1}, 18},
		{"two ragged dims", "[2,2]", []int64{2, 3, 4, 5}, 26},
		{"three ragged dims", "[2,3]", []int64{1, 2, 3, 2, 1, 4}, 14},
		{"the last dim is ragged", "[2,2]", []int64{2, 1, 2, 3}, 8},
		{"an empty dim before a ragged one", "[2,2]", []int64{0, 5, 2, 3}, 6},
		{"empty components of several shapes", "[2,3]", []int64{0, 5, 7, 4, 0, 9}, 0},
		{"equal components", "[2,2]", []int64{2, 2, 2, 2}, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			for _, at := range []string{"one", "stack/0", "stack/1"} {
				write(t, top, at+"/meta.json", `{"in":{"type":"TensorDict"},"shape":[2],`+dictTail)
				write(t, top, at+"/in/meta.json", `{"x y":{"device":"cpu","shape":`+tt.shape+`,"dtype":"torch.uint8","is_nested":true},"shape":[2],`+dictTail)
				write(t, top, at+"/in/x%20y.memmap", strings.Repeat("7", tt.bytes))
				write(t, top, at+"/in/x%20y.shape.memmap", int64s(tt.sizes...))
			}
			write(t, top, "stack/meta.json", `{"_type":"<class 'tensordict._lazy.LazyStackedTensorDict'>","stack_dim":0}`)
			for _, from := range []string{"one", "stack"} {
				want := tree(t, filepath.Join(top, from))
				archive, again := filepath.Join(top, from+".tdz"), filepath.Join(top, from+"-again")
				require.NoError(t, memmap.Copy(t.Context(), filepath.Join(top, from), archive, memmap.CopyOptions{}))
				require.NoError(t, memmap.Copy(t.Context(), archive, again, memmap.CopyOptions{}))
				got := tree(t, again)
				for file := range got {
					if strings.HasSuffix(file, "meta.json") && !strings.HasSuffix(want[file], `"stack_dim":0}`) {
						require.Equal(t, want[file], withoutNative(got[file]), file)
					} else if !strings.HasSuffix(file, "meta.json") {
						require.Equal(t, want[file], got[file], file)
					}
				}
				require.Len(t, got, len(want))
				require.Empty(t, tensor.Must(memmap.Verify(t.Context(), again, memmap.VerifyOptions{})).Unsummed)
				require.True(t, open(t, filepath.Join(top, from)).Equal(open(t, again).TensorDict))
				consolidated := filepath.Join(top, from+".tdc")
				require.NoError(t, memmap.Copy(t.Context(), again, consolidated, memmap.CopyOptions{}))
				require.True(t, open(t, again).Equal(open(t, consolidated).TensorDict))
			}
		})
	}
}

// TestPoolsAreNeverTruncated: readers of an earlier commit may have mapped more than a later shape
// has, since the width decreases where rows without values are appended.
func TestPoolsAreNeverTruncated(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	rows := func(lengths ...int64) *tdict.TensorDict {
		inner := make([]int64, 0)
		for _, n := range lengths {
			for range n {
				inner = append(inner, n%3)
			}
		}
		td := tdict.New(len(lengths))
		require.NoError(t, td.Set("r", rowsOver(t, layoutOf(t, shapeops.Shape{len(lengths)}, lengths, inner))))
		return td
	}
	row := tensor.Must(rows(1).Index(ix.At(0)))
	size := func(part string) int64 {
		for _, at := range []string{"r." + part, "r/" + part} {
			if info, err := os.Stat(filepath.Join(dir, at+".memmap")); err == nil {
				return info.Size()
			}
		}
		return 0
	}
	all := rows()
	var least, least2 int64
	step := func(what string) {
		t.Helper()
		require.GreaterOrEqual(t, size("@pool"), least, what)
		require.GreaterOrEqual(t, size("@lengths2"), least2, what)
		least, least2 = size("@pool"), size("@lengths2")
		ds := open(t, dir)
		require.True(t, all.Equal(ds.TensorDict), what)
		require.NoError(t, ds.Close())
		readPython(t, dir) // as long as their shapes
	}
	var w *memmap.Writer
	var err error
	for i, lengths := range [][]int64{{1, 1, 2}, {0}, {0, 0, 0}, {7}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 2}, {0}} {
		if w == nil {
			w, err = memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true, NoSync: true})
			require.NoError(t, err)
			if i > 0 {
				step("resumed")
			}
		}
		require.NoError(t, w.Append(rows(9, 9, 9)), "lost")
		if i%2 == 0 { // rows that are written, and never committed
			require.NoError(t, w.Close())
			w = tensor.Must(memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true, NoSync: true}))
		} else {
			all = tensor.Must(shapeops.Cat([]*tdict.TensorDict{all, rows(9, 9, 9)}, 0))
		}
		require.NoError(t, w.Append(rows(lengths...)))
		all = tensor.Must(shapeops.Cat([]*tdict.TensorDict{all, rows(lengths...)}, 0))
		require.NoError(t, w.Commit())
		step("committed")
		if i%3 == 2 {
			require.NoError(t, w.Finish())
			w = nil
			step("finished")
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})))
}

// TestAddLeafBesideFlatRows: another process has added a ragged leaf of the same key, in the flat
// form.
func TestAddLeafBesideFlatRows(t *testing.T) {
	dir, flat := testkit.TempDir(t), testkit.TempDir(t)
	brokenRows(t, flat)
	require.NoError(t, memmap.Save(dir, tdict.New(2)))
	ds := writable(t, dir)
	for file, text := range tree(t, filepath.Join(flat, "n")) {
		write(t, dir, file, text)
	}
	before := pictureOf(t, dir)
	require.ErrorIs(t, ds.AddLeaf("c", tensor.Vector[int8](1, 2)), tdict.ErrExists)
	require.Equal(t, before, pictureOf(t, dir))
	require.Equal(t, 2, open(t, dir).NumEntries())
}
