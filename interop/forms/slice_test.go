package forms_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// counted returns n rows: x counts from 0, s is its text, and r has x%3 values.
func counted(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	x, s, r := make([]int64, n), make([]string, n), make([][]int64, n)
	for i := range n {
		x[i], s[i] = int64(i), string(rune('a'+i%5))
		r[i] = slices.Repeat([]int64{int64(i)}, i%3)
	}
	return dict(t, []int{n}, tdict.Entries{"x": tensor.Vector(x...), "s": texts(t, s...), "r": lists(t, r...)})
}

// numbers returns the rows of a dataset of counted rows, which must be whole.
func numbers(t testing.TB, path string) []int64 {
	t.Helper()
	td := read(t, path, nil)
	x, err := tdict.Slice[int64](td, "x")
	require.NoError(t, err)
	s, err := tdict.Get[*ragged.Tensor](td, "s")
	require.NoError(t, err)
	letters, err := ragged.Strings(s)
	require.NoError(t, err)
	r, dense := tdict.Get[*ragged.Tensor](td, "r")
	for i, n := range x {
		require.Equal(t, string(rune('a'+n%5)), letters[i])
		if dense != nil { // a table infers so from few rows
			continue
		}
		row, err := r.Row(i)
		require.NoError(t, err)
		require.Equal(t, int(n%3), row.NumValues())
	}
	return x
}

// TestIndex compares expressions with those of the dictionary in memory.
func TestIndex(t *testing.T) {
	grid := make([]int64, 4*3*2)
	for i := range grid {
		grid[i] = int64(i)
	}
	td := dict(t, []int{4, 3}, tdict.Entries{"x": tensor.Must(tensor.From(grid, 4, 3, 2)), "n/y": tensor.Must(tensor.From(grid[:12], 4, 3))})
	testIndex(t, td,
		":", "1:3", "::2", "-2:", "4:", "2", "-1, 1", "1, 1:", "[3, 0, 3, -1]", "[]", "mask[TFFT]", "mask[FFFF]",
		"..., 1", "...", "..., 1:, :", "..., 0, 0", ":, [2, 0]", "1:, mask[TFT]", "[3, 1], 2", "[3, 1], [0, 0]", "mask[TFTF], 1:", "1, [2, 0]", ":, new, 1", "[3, 1], mask[TTF]", "[1], [2, 0]", "[3, 1], [2]",
	)
	many := make([]int64, 7*3*4*2)
	for i := range many {
		many[i] = int64(i)
	}
	td = dict(t, []int{7, 3, 4, 2}, tdict.Entries{"x": tensor.Must(tensor.From(many, 7, 3, 4, 2))})
	testIndex(t, td, ":, [0, 1], :, [1, 0]", "1, :, [2, 0]", "[5, 6, 0], :, [2, 0, 1]", "[5, 6, 0], :, 1", "1:4, 0, :, [1, 0]", "1, ..., [1, 1]", "mask[TTTFFFF], :, [0]", "2, [1, 0], :, [1, 0]", ":, 1, [1, 0], :")
}

// testIndex compares slices of a saved dictionary with its own Index.
func testIndex(t *testing.T, td *tdict.TensorDict, exprs ...string) {
	in := saved(t, td)
	suffixes := []string{"", ".tdz", ".safetensors"}
	if td.Has("r") {
		suffixes = suffixes[:2]
	}
	for _, text := range exprs {
		t.Run(text, func(t *testing.T) {
			expr, err := ix.Parse(text)
			require.NoError(t, err)
			want, err := td.Index(expr...)
			require.NoError(t, err)
			dir := testkit.TempDir(t)
			for _, suffix := range suffixes {
				out := filepath.Join(dir, "out"+suffix)
				require.NoError(t, forms.Slice(ctx, out, in, forms.SliceOptions{Index: expr}))
				diff, err := want.Diff(read(t, out, nil))
				require.NoError(t, err)
				require.Empty(t, diff, suffix)
			}
			var outs []string
			for _, suffix := range suffixes {
				outs = append(outs, "out"+suffix)
			}
			litter(t, dir, outs...)
		})
	}
}

// TestSliceRows selects rows of every kind from a dataset, and from a table.
func TestSliceRows(t *testing.T) {
	in := saved(t, counted(t, 50))
	table := filepath.Join(testkit.TempDir(t), "in.jsonl")
	require.NoError(t, forms.Convert(ctx, table, []string{in}, forms.Options{}))
	even := func(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
		x, err := tdict.Slice[int64](chunk, "x")
		keep := make([]bool, len(x))
		for i := range x {
			keep[i] = x[i]%2 == 0
		}
		return tensor.Vector(keep...), err
	}
	for _, test := range []struct {
		name string
		opt  forms.SliceOptions
		want func(i int64) bool
	}{
		{"range", forms.SliceOptions{Index: []ix.Index{ix.Range(10, 20)}}, func(i int64) bool { return i >= 10 && i < 20 }},
		{"step", forms.SliceOptions{Index: []ix.Index{ix.Range(0, ix.End).Step(7)}}, func(i int64) bool { return i%7 == 0 }},
		{"list", forms.SliceOptions{Index: []ix.Index{ix.Take(1, 4, -1)}}, func(i int64) bool { return i == 1 || i == 4 || i == 49 }},
		{"keep", forms.SliceOptions{Keep: even}, func(i int64) bool { return i%2 == 0 }},
		{"all", forms.SliceOptions{}, func(int64) bool { return true }},
	} {
		for _, from := range []string{in, table} {
			for _, suffix := range []string{"", ".tdz", ".jsonl"} {
				dir := testkit.TempDir(t)
				out := filepath.Join(dir, "out"+suffix)
				require.NoError(t, forms.Slice(ctx, out, from, test.opt))
				var want []int64
				for i := range int64(50) {
					if test.want(i) {
						want = append(want, i)
					}
				}
				require.Equal(t, want, numbers(t, out), "%s of %s to %s", test.name, from, suffix)
				litter(t, dir, "out"+suffix)
			}
		}
	}
}

func TestSliceKeys(t *testing.T) {
	in := saved(t, dict(t, []int{2}, tdict.Entries{"a": tensor.Vector[int64](1, 2), "b/c": tensor.Vector[int64](3, 4), "b/d": tensor.Vector[int64](5, 6)}))
	for _, test := range []struct {
		name string
		keys []nestedkey.Key
		drop []nestedkey.Key
		want string
	}{
		{"keys", []nestedkey.Key{"b/d", "a"}, nil, "a b/d"},
		{"a dictionary", []nestedkey.Key{"b"}, nil, "b/c b/d"},
		{"all but one", nil, []nestedkey.Key{"b/c"}, "a b/d"},
		{"both", []nestedkey.Key{"b"}, []nestedkey.Key{"b/c"}, "b/d"},
	} {
		out := filepath.Join(testkit.TempDir(t), "out")
		require.NoError(t, forms.Slice(ctx, out, in, selecting(test.keys, test.drop)), test.name)
		var got []string
		for key := range read(t, out, nil).Leaves() {
			got = append(got, string(key))
		}
		require.Equal(t, test.want, strings.Join(got, " "), test.name)
	}
}

// selecting returns the options to save some entries.
func selecting(keys, drop []nestedkey.Key) (opt forms.SliceOptions) {
	opt.Select = forms.Selection{Keys: keys, Drop: drop}
	return opt
}

func TestSliceRefusals(t *testing.T) {
	in := saved(t, counted(t, 5))
	keep := func(mask *tensor.Tensor) func(*tdict.TensorDict) (*tensor.Tensor, error) {
		return func(*tdict.TensorDict) (*tensor.Tensor, error) { return mask, nil }
	}
	for _, test := range []struct {
		name string
		opt  forms.SliceOptions
		want error
	}{
		{"both", forms.SliceOptions{Index: []ix.Index{ix.All}, Keep: keep(nil)}, shapeops.ErrIndex},
		{"a position beyond the end", forms.SliceOptions{Index: []ix.Index{ix.At(5)}}, shapeops.ErrIndex},
		{"a list beyond the end", forms.SliceOptions{Index: []ix.Index{ix.Take(0, 5)}}, shapeops.ErrIndex},
		{"a mask of other rows", forms.SliceOptions{Index: []ix.Index{ix.Mask([]bool{true})}}, shapeops.ErrIndex},
		{"more dims", forms.SliceOptions{Index: []ix.Index{ix.All, ix.At(0)}}, shapeops.ErrIndex},
		{"a new dim first", forms.SliceOptions{Index: []ix.Index{ix.New}}, shapeops.ErrIndex},
		{"a list of two dims", forms.SliceOptions{Index: []ix.Index{ix.TakeND([]int{0, 1}, 1, 2)}}, shapeops.ErrIndex},
		{"a key that is not there", selecting([]nestedkey.Key{"z"}, nil), tdict.ErrMissing},
		{"a key to drop that is not there", selecting(nil, []nestedkey.Key{"z"}), tdict.ErrMissing},
		{"no mask", forms.SliceOptions{Keep: keep(nil)}, tensor.ErrKind},
		{"a mask of another shape", forms.SliceOptions{Keep: keep(tensor.Vector(true))}, shapeops.ErrShape},
		{"a mask of numbers", forms.SliceOptions{Keep: keep(tensor.Vector[int64](1, 1, 1, 1, 1))}, tensor.ErrDType},
		{"an error of Keep", forms.SliceOptions{Keep: func(*tdict.TensorDict) (*tensor.Tensor, error) { return nil, fs.ErrClosed }}, fs.ErrClosed},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			require.ErrorIs(t, forms.Slice(ctx, filepath.Join(dir, "out"), in, test.opt), test.want)
			litter(t, dir)
		})
	}
}

// TestUnevenRows takes rows of which a few have most of the bytes.
func TestUnevenRows(t *testing.T) {
	rows := make([][]int64, 2000)
	for i := range 40 {
		rows[i] = make([]int64, 1<<18)
	}
	td := dict(t, []int{len(rows)}, tdict.Entries{"r": lists(t, rows...)})
	in := saved(t, td)
	opened, err := forms.Open(in, forms.OpenOptions{})
	require.NoError(t, err)
	defer opened.Close()
	n := 0
	for chunk, err := range opened.Chunks(context.Background()) {
		require.NoError(t, err)
		require.LessOrEqual(t, chunk.ByteSize(), 33<<20)
		n += chunk.Shape()[0]
	}
	require.Equal(t, len(rows), n)
	every := make([]int, len(rows))
	for i := range every {
		every[i] = len(rows) - 1 - i
	}
	out := filepath.Join(testkit.TempDir(t), "out")
	allocated := testkit.Allocated(func() {
		require.NoError(t, forms.Slice(ctx, out, in, forms.SliceOptions{Index: []ix.Index{ix.Take(every...)}}))
	})
	require.Less(t, allocated, uint64(400<<20)) // all chunks together
}

// TestSplit deals every row to one part, in order, and the same way again.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(20) {
		n := rng.IntN(60)
		in := saved(t, counted(t, n))
		a := rng.IntN(n + 1)
		opt := forms.SplitOptions{Counts: []int{a, n - a}, Names: []string{"train", "test.jsonl"}, Seed: seed}
		opt.NoSync = true
		if seed%2 == 0 {
			opt.Counts, opt.Fractions = nil, []float64{0.75, 0.25}
		}
		dir := testkit.TempDir(t)
		var before [2][]int64
		for round, name := range []string{"one", "two"} {
			out := filepath.Join(dir, name)
			require.NoError(t, forms.Split(ctx, out, in, opt))
			litter(t, out, "train", "test.jsonl")
			parts := [2][]int64{numbers(t, filepath.Join(out, "train")), nil}
			if n > len(parts[0]) {
				parts[1] = numbers(t, filepath.Join(out, "test.jsonl"))
			}
			require.True(t, slices.IsSorted(parts[0]) && slices.IsSorted(parts[1]))
			all := append(slices.Clone(parts[0]), parts[1]...)
			slices.Sort(all)
			require.Len(t, all, n)
			for i := range all {
				require.Equal(t, int64(i), all[i])
			}
			if opt.Counts != nil {
				require.Len(t, parts[0], a)
			}
			if round == 1 {
				require.Equal(t, before, parts)
			}
			before = parts
		}
		litter(t, dir, "one", "two")
	}
}

// TestSplitGroups keeps rows with equal texts, or numbers, together.
func TestSplitGroups(t *testing.T) {
	in := saved(t, counted(t, 50))
	for seed := range uint64(10) {
		for _, by := range []nestedkey.Key{"s", "x"} {
			out := filepath.Join(testkit.TempDir(t), "out")
			opt := forms.SplitOptions{Fractions: []float64{0.4, 0.6}, By: by, Seed: seed}
			require.NoError(t, forms.Split(ctx, out, in, opt))
			parts := [2][]int64{numbers(t, filepath.Join(out, "0")), numbers(t, filepath.Join(out, "1"))}
			require.Len(t, parts[0], 20)
			require.Len(t, parts[1], 30)
			for _, a := range parts[0] {
				for _, b := range parts[1] {
					require.NotEqual(t, a, b)
					require.False(t, by == "s" && a%5 == b%5, "rows %d and %d are of one group", a, b)
				}
			}
		}
	}
}

func TestSplitRefusals(t *testing.T) {
	td := counted(t, 4)
	require.NoError(t, td.Set("w", tensor.Vector(1., 2, 3, 4)))
	require.NoError(t, td.Set("g", tensor.Vector[int64](1, 1, 2, 2)))
	in := saved(t, td)
	half := []float64{0.5, 0.5}
	for _, test := range []struct {
		name string
		opt  forms.SplitOptions
		want string
	}{
		{"no sizes", forms.SplitOptions{}, "Fractions or Counts"},
		{"two kinds of sizes", forms.SplitOptions{Fractions: half, Counts: []int{2, 2}}, "Fractions or Counts"},
		{"fractions that do not add up", forms.SplitOptions{Fractions: []float64{0.5}}, "unusable size"},
		{"counts that do not add up", forms.SplitOptions{Counts: []int{3, 2}}, "unusable size"},
		{"a name too few", forms.SplitOptions{Fractions: half, Names: []string{"a"}}, "1 names for 2 parts"},
		{"a name twice", forms.SplitOptions{Fractions: half, Names: []string{"a", "A"}}, "distinct"},
		{"a path", forms.SplitOptions{Fractions: half, Names: []string{"a", "../b"}}, "names of files"},
		{"a name of no form", forms.SplitOptions{Fractions: half, Names: []string{"a", "b.c"}}, "unknown form"},
		{"a key that is not there", forms.SplitOptions{Fractions: half, By: "z"}, "missing key"},
		{"a key of floats", forms.SplitOptions{Fractions: half, By: "w"}, `"w": dtype mismatch: got float64, want integers, bools or text`},
		{"a key of ragged numbers", forms.SplitOptions{Fractions: half, By: "r"}, `"r": dtype mismatch: got ragged int64 [4 *], want integers, bools or text`},
		{"counts of rows, not of groups", forms.SplitOptions{Counts: []int{2, 2}, By: "g"}, `split by "g": unusable size: got sizes of parts that add up to more than 2, the number of rows or groups to split; sizes count groups`},
		{"a form that cannot hold a part", forms.SplitOptions{Fractions: half, Names: []string{"a", "b.npz"}}, "cannot hold"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			require.ErrorContains(t, forms.Split(ctx, filepath.Join(dir, "out"), in, test.opt), test.want)
			litter(t, dir)
		})
	}
}

// TestSliceOfOneRow loses the dim of rows, which a table needs, and says how to keep it.
func TestSliceOfOneRow(t *testing.T) {
	in, out := saved(t, counted(t, 4)), filepath.Join(testkit.TempDir(t), "out.csv")
	opt := selecting([]nestedkey.Key{"x"}, nil)
	opt.Index = []ix.Index{ix.At(2)}
	require.ErrorContains(t, forms.Slice(ctx, out, in, opt), "want a dim of rows; the index [2] keeps it")
	opt.Index = []ix.Index{ix.Take(2)}
	require.NoError(t, forms.Slice(ctx, out, in, opt))
}

// TestSplitForce replaces parts, and nothing else.
func TestSplitForce(t *testing.T) {
	in := saved(t, counted(t, 4))
	dir := testkit.TempDir(t)
	out := filepath.Join(dir, "out")
	opt := forms.SplitOptions{Counts: []int{1, 3}}
	require.NoError(t, forms.Split(ctx, out, in, opt))
	require.ErrorIs(t, forms.Split(ctx, out, in, opt), fs.ErrExist)
	opt.Force, opt.Counts = true, []int{3, 1}
	require.NoError(t, forms.Split(ctx, out, in, opt))
	require.Len(t, numbers(t, filepath.Join(out, "0")), 3)
	require.NoError(t, os.WriteFile(filepath.Join(out, "notes.txt"), nil, 0o666))
	require.ErrorContains(t, forms.Split(ctx, out, in, opt), "notes.txt would be lost")
	litter(t, out, "0", "1", "notes.txt")
	litter(t, dir, "out")
}

// TestDataOfEachRow is carried where rows are not appended, and a loss where they are.
func TestDataOfEachRow(t *testing.T) {
	data, err := tdict.DataFrom([]string{"a", "b", "c"}, 3)
	require.NoError(t, err)
	in := saved(t, dict(t, []int{3}, tdict.Entries{"d": data, "x": tensor.Vector[int64](1, 2, 3)}))
	for _, test := range []struct {
		index string
		lost  bool
	}{{"1:", false}, {"...", false}, {"1", false}, {"::2", true}, {"[0, 1]", true}} {
		expr, err := ix.Parse(test.index)
		require.NoError(t, err)
		dir := testkit.TempDir(t)
		out := filepath.Join(dir, "out")
		err = forms.Slice(ctx, out, in, forms.SliceOptions{Index: expr})
		require.Equal(t, test.lost, err != nil, "%s: %v", test.index, err)
		if test.lost {
			require.ErrorContains(t, err, `"d": data with a value for each row`)
			litter(t, dir)
			opt := forms.SliceOptions{Index: expr}
			opt.Lossy = true
			require.NoError(t, forms.Slice(ctx, out, in, opt))
			require.False(t, read(t, out, nil).Has("d"))
		}
	}
}

// TestFortranOrder is written row by row, since its leaf is not contiguous.
func TestFortranOrder(t *testing.T) {
	x := tensor.Must(tensor.From([]int64{1, 2, 3, 4, 5, 6}, 2, 3))
	turned, err := x.Permute(1, 0)
	require.NoError(t, err)
	dir := testkit.TempDir(t)
	path := filepath.Join(dir, "x.npy")
	require.NoError(t, npy.Save(path, turned))
	for _, suffix := range all {
		if suffix == ".nrt" {
			continue
		}
		out := filepath.Join(dir, "out"+suffix)
		require.NoError(t, forms.Convert(ctx, out, []string{path}, forms.Options{}))
		got, err := read(t, out, nil).Tensor(forms.ArrayKey)
		require.NoError(t, err)
		require.True(t, turned.Equal(got), suffix)
	}
}

// parsed returns a condition.
func parsed(t *testing.T, text string) *where.Condition {
	t.Helper()
	return tensor.Must(where.Parse(text))
}
