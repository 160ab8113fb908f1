package forms_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOddKeys converts keys with characters that forms give a meaning, into each form and back.
func TestOddKeys(t *testing.T) {
	for _, key := range []nestedkey.Key{"a b", "é", "x,y", `q"`, "two\nlines", "a=b", "#", "0", "x.0", "x[0]", "arr_0.npy", "-", "NA", "__metadata__", "meta.json", "a\\b", "_mask", "ﬁ", "x_mask"} {
		td := dict(t, []int{2}, tdict.Entries{key: tensor.Vector[int64](1, 2)})
		in := saved(t, td)
		opened, err := forms.Open(in, forms.OpenOptions{})
		require.NoError(t, err)
		for _, suffix := range all {
			dir := testkit.TempDir(t)
			out, back := filepath.Join(dir, "out"+suffix), filepath.Join(dir, "back")
			opt := forms.Options{Open: forms.OpenOptions{Schema: ofTable(suffix, opened.Schema)}, NoSync: true}
			if err := forms.Convert(ctx, out, []string{in}, opt); err != nil {
				require.Contains(t, err.Error(), "out"+suffix, "%q", key)
				require.True(t, errors.Is(err, forms.ErrLoss) || errors.Is(err, tdict.ErrSchema) || errors.Is(err, safetensors.ErrUnsupported), "%q %s: %v", key, suffix, err)
				litter(t, dir)
				continue
			}
			require.NoError(t, forms.Convert(ctx, back, []string{out}, opt), "%q %s", key, suffix)
			got := read(t, back, nil)
			if suffix == ".npy" {
				require.NoError(t, got.Rename(forms.ArrayKey, key))
			}
			diff, err := td.Diff(got)
			require.NoError(t, err)
			require.Empty(t, diff, "%q %s", key, suffix)
		}
	}
}

// TestIndexOfEveryKind compares expressions over text, ragged leaves, masks and dictionaries with
// those of the dictionary in memory, also where there are no rows.
func TestIndexOfEveryKind(t *testing.T) {
	td := counted(t, 6)
	require.NoError(t, td.Set("x_mask", tensor.Vector(true, true, false, true, true, true)))
	require.NoError(t, td.Set("n/y", tensor.Must(tensor.From([]int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 6, 2))))
	require.NoError(t, td.Set("d", tensor.Must(tdict.NewData("same", 6))))
	require.NoError(t, td.SetNames("time"))
	testIndex(t, td, ":", "::2", "-3:", "6:", "[5, 0, 0, -6]", "[]", "mask[TFTFTF]", "mask[FFFFFF]", "...", "1:5:3", "[2]", "-1")
	none := tensor.Must(td.Narrow(0, 0, 0))
	testIndex(t, none, ":", "::2", "[]", "...", "-3:")
}

// TestRelativePaths has paths within the working directory, and one with a slash at its end.
func TestRelativePaths(t *testing.T) {
	t.Chdir(testkit.TempDir(t))
	require.NoError(t, os.WriteFile("in.csv", []byte("x\n1\n2\n"), 0o666))
	require.NoError(t, forms.Convert(ctx, "out/", []string{"in.csv"}, forms.Options{}))
	require.NoError(t, forms.Convert(ctx, "./b.csv/", []string{"out"}, forms.Options{}))
	require.NoError(t, forms.Slice(ctx, "a.tdz", "out/", forms.SliceOptions{Index: []ix.Index{ix.At(1)}}))
	require.ErrorIs(t, forms.Convert(ctx, "out/../out/x", []string{"out"}, forms.Options{}), forms.ErrOverlap)
	require.ErrorIs(t, forms.Convert(ctx, "OUT/../out", []string{"./out"}, forms.Options{Force: true}), os.ErrNotExist)
	require.NoError(t, forms.Split(ctx, "parts/", "out", forms.SplitOptions{Counts: []int{0, 2, 0}}))
	litter(t, ".", "in.csv", "out", "b.csv", "a.tdz", "parts")
	for part, n := range []int{0, 2, 0} {
		require.Equal(t, []int{n}, []int(read(t, fmt.Sprint("parts/", part), nil).Shape()))
	}
}

// TestTextsOfTables are the same after a conversion into the form they came from.
func TestTextsOfTables(t *testing.T) {
	for _, test := range []struct {
		name, text string
		format     csv.Format
	}{
		{"a.csv", "x;s\n1;a\n2;\"b;c\"\n", csv.Format{Comma: ';'}},
		{"tab.csv", "x\ts\n1\ta,b\n2\tb\n", csv.Format{Comma: '\t'}},
		{"no.csv", "1,a\n2,b\n", csv.Format{NoHeader: true}},
		{"null.jsonl", "{\"x\":1,\"s\":null}\n{\"x\":null,\"s\":\"\"}\n", csv.Format{}},
		{"raw.jsonl", "{\"x\":\"1\"}\n{\"x\":\"a\"}\n", csv.Format{}},
		{"lists.jsonl", "{\"x\":[1,2],\"l\":[[1],[]]}\n{\"x\":[],\"l\":[]}\n", csv.Format{}},
		{"nested.jsonl", "{\"a\":{\"b\":1,\"c\":{\"d\":true}}}\n{\"a\":{\"b\":2,\"c\":{\"d\":false}}}\n", csv.Format{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			in, out := filepath.Join(dir, test.name), filepath.Join(dir, "out"+filepath.Ext(test.name))
			require.NoError(t, os.WriteFile(in, []byte(test.text), 0o666))
			opt := forms.Options{Open: forms.OpenOptions{CSV: test.format}}
			require.NoError(t, forms.Convert(ctx, out, []string{in}, opt))
			require.Equal(t, test.text, string(tensor.Must(os.ReadFile(out))))
			opt.Force = true
			require.NoError(t, forms.Convert(ctx, out, []string{in, in}, opt))
			head, rows := "", test.text
			if strings.HasSuffix(in, ".csv") && !test.format.NoHeader {
				head, rows, _ = strings.Cut(test.text, "\n")
				head += "\n"
			}
			require.Equal(t, head+rows+rows, string(tensor.Must(os.ReadFile(out))))
			require.NoError(t, forms.Slice(ctx, out, in, forms.SliceOptions{Options: opt, Index: []ix.Index{ix.Range(0, ix.End)}}))
			require.Equal(t, test.text, string(tensor.Must(os.ReadFile(out))))
		})
	}
}

// TestKeysOfSlice has keys of masks, dictionaries and nothing.
func TestKeysOfSlice(t *testing.T) {
	in := filepath.Join(testkit.TempDir(t), "in")
	x := tdict.Schema{{Key: "x", DType: tensor.Int64, Mask: "x_mask"}, {Key: "x_mask", DType: tensor.Bool}, {Key: "n/y", DType: tensor.Int64}}
	require.NoError(t, memmap.SaveWith(ctx, in, dict(t, []int{2}, tdict.Entries{"x": tensor.Vector[int64](1, 0), "x_mask": tensor.Vector(true, false), "n/y": tensor.Vector[int64](3, 4)}),
		memmap.SaveOptions{Schema: x}))
	for _, test := range []struct {
		name       string
		keys, drop []nestedkey.Key
		want       string // of jsonl, or of the error
	}{
		{"a mask goes with its entry", nil, []nestedkey.Key{"n"}, "{\"x\":1}\n{\"x\":null}\n"},
		{"a mask alone is an entry", []nestedkey.Key{"x_mask"}, nil, "{\"x_mask\":true}\n{\"x_mask\":false}\n"},
		{"an entry without its mask", nil, []nestedkey.Key{"x_mask", "n"}, "{\"x\":1}\n{\"x\":0}\n"},
		{"a dictionary", []nestedkey.Key{"n"}, nil, "{\"n\":{\"y\":3}}\n{\"n\":{\"y\":4}}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(testkit.TempDir(t), "out.jsonl")
			require.NoError(t, forms.Slice(ctx, out, in, selecting(test.keys, test.drop)))
			require.Equal(t, test.want, string(tensor.Must(os.ReadFile(out))))
		})
	}
	dir := testkit.TempDir(t)
	require.NoError(t, forms.Slice(ctx, filepath.Join(dir, "none"), in, selecting([]nestedkey.Key{}, nil)))
	got := read(t, filepath.Join(dir, "none"), nil)
	require.Equal(t, []int{2}, []int(got.Shape()))
	require.Zero(t, got.NumEntries())
	require.Error(t, forms.Slice(ctx, filepath.Join(dir, "none.csv"), in, selecting([]nestedkey.Key{}, nil)))
	litter(t, dir, "none")
}

// TestOddSplits has groups larger than a part, fractions that need rounding, and one group.
func TestOddSplits(t *testing.T) {
	ids := tensor.Vector[int64](1, 1, 1, 1, 1, 1, 2)
	in := saved(t, dict(t, []int{7}, tdict.Entries{"x": tensor.Vector[int64](0, 1, 2, 3, 4, 5, 6), "g": ids, "one": tensor.Vector[uint8](3, 3, 3, 3, 3, 3, 3)}))
	sizes := func(opt forms.SplitOptions) (n []int) {
		out := filepath.Join(testkit.TempDir(t), "out")
		require.NoError(t, forms.Split(ctx, out, in, opt))
		for part := range len(opt.Fractions) + len(opt.Counts) {
			n = append(n, read(t, filepath.Join(out, fmt.Sprint(part)), nil).Shape()[0])
		}
		return n
	}
	third := 1.0 / 3
	total := 0
	for _, n := range sizes(forms.SplitOptions{Fractions: []float64{third, third, third}}) {
		require.True(t, n == 2 || n == 3)
		total += n
	}
	require.Equal(t, 7, total)
	require.ElementsMatch(t, []int{1, 6}, sizes(forms.SplitOptions{Counts: []int{1, 1}, By: "g"}))
	require.ElementsMatch(t, []int{7, 0}, sizes(forms.SplitOptions{Counts: []int{1, 0}, By: "one"}))
}
