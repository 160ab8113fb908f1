package forms_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A record is a row of a table: nil is a missing value.
type record map[string]any

// table writes records as JSON lines, and returns the path.
func table(t *testing.T, name string, rows []record, columns ...string) string {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		fields := make([]string, len(columns))
		for i, column := range columns {
			fields[i] = fmt.Sprintf("%q:%s", column, tensor.Must(json.Marshal(row[column])))
		}
		fmt.Fprintf(&b, "{%s}\n", strings.Join(fields, ","))
	}
	path := filepath.Join(testkit.TempDir(t), name+".jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	return path
}

// records reads JSON lines.
func records(t *testing.T, path string) (rows []record) {
	t.Helper()
	for line := range strings.Lines(string(tensor.Must(os.ReadFile(path)))) {
		row := record{}
		require.NoError(t, json.Unmarshal([]byte(line), &row), line)
		rows = append(rows, row)
	}
	return rows
}

// someRecords returns n records with a few different ids and texts, some of them missing.
func someRecords(r *rand.Rand, n int) (rows []record) {
	for i := range n {
		row := record{"id": float64(r.IntN(8)), "name": []string{"", "a", "b", "ab"}[r.IntN(4)], "row": float64(i)}
		for _, key := range []string{"id", "name"} {
			if r.IntN(6) == 0 {
				row[key] = nil
			}
		}
		rows = append(rows, row)
	}
	return append(rows, record{"id": nil, "name": nil, "row": float64(n)}, record{"id": 9.0, "name": "z", "row": float64(n + 1)})
}

// compareValues is the order of values: a missing one is last.
func compareValues(a, b any, sign int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	if x, ok := a.(float64); ok {
		return sign * cmp.Compare(x, b.(float64))
	}
	return sign * cmp.Compare(a.(string), b.(string))
}

// TestSortIsNaive compares with a stable sort of the records.
func TestSortIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 12 {
		rows, sign := someRecords(r, r.IntN(60)), 1-2*(trial%2)
		in, out := table(t, "in", rows, "id", "name", "row"), filepath.Join(testkit.TempDir(t), "out.jsonl")
		require.NoError(t, forms.Sort(ctx, out, in, forms.SortOptions{By: []nestedkey.Key{"id", "name"}, Descending: sign < 0}))
		slices.SortStableFunc(rows, func(a, b record) int {
			return cmp.Or(compareValues(a["id"], b["id"], sign), compareValues(a["name"], b["name"], sign))
		})
		require.Equal(t, rows, records(t, out))
		litter(t, filepath.Dir(out), "out.jsonl")
	}
}

// TestJoinIsNaive compares with a loop over all pairs.
func TestJoinIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for trial := range 16 {
		left, right := someRecords(r, r.IntN(20)), someRecords(r, r.IntN(20))
		for _, row := range right {
			row["more"] = row["row"]
			if row["row"].(float64) > 3 && r.IntN(3) == 0 {
				row["more"] = nil
			}
		}
		keepLeft := trial%2 == 1
		var want []record
		for _, a := range left {
			matched := false
			for _, b := range right {
				if a["id"] == nil || a["name"] == nil || a["id"] != b["id"] || a["name"] != b["name"] {
					continue
				}
				matched = true
				want = append(want, record{"id": a["id"], "name": a["name"], "row": a["row"], "more": b["more"], "row_right": b["row"]})
			}
			if !matched && keepLeft {
				want = append(want, record{"id": a["id"], "name": a["name"], "row": a["row"], "more": nil, "row_right": nil})
			}
		}
		a, b := table(t, "a", left, "id", "name", "row"), table(t, "b", right, "name", "more", "row", "id")
		dir := testkit.TempDir(t)
		between, out := filepath.Join(dir, "joined"), filepath.Join(dir, "out.jsonl")
		require.NoError(t, forms.Join(ctx, between, a, b, forms.JoinOptions{On: []nestedkey.Key{"id", "name"}, Left: keepLeft}))
		require.NoError(t, forms.Convert(ctx, out, []string{between}, forms.Options{}))
		require.Equal(t, want, records(t, out))
		litter(t, dir, "joined", "out.jsonl")
	}
}

func TestJoinRefuses(t *testing.T) {
	rows := []record{{"id": 1.0, "x": 2.0}}
	a, b := table(t, "a", rows, "id", "x"), table(t, "b", rows, "id")
	to := filepath.Join(testkit.TempDir(t), "out")
	for name, on := range map[string][]nestedkey.Key{"no key": nil, "a key that only the left has": {"x"}, "a key that neither has": {"z"}} {
		require.Error(t, forms.Join(ctx, to, a, b, forms.JoinOptions{On: on}), name)
	}
	require.ErrorIs(t, forms.Join(ctx, to, a, b, forms.JoinOptions{On: []nestedkey.Key{"x"}}), tdict.ErrMissing)
	litter(t, filepath.Dir(to))
}

// TestSample: rows are distinct, in order and uniform; the same seed chooses the same, and a
// condition comes first.
func TestSample(t *testing.T) {
	var rows []record
	for i := range 40 {
		rows = append(rows, record{"i": float64(i)})
	}
	in := table(t, "in", rows, "i")
	sample := func(n int, seed uint64, sel forms.Selection) (got []float64) {
		out := filepath.Join(testkit.TempDir(t), "out.jsonl")
		require.NoError(t, forms.Sample(ctx, out, in, forms.SampleOptions{Options: forms.Options{Select: sel}, N: n, Seed: seed}))
		for _, row := range records(t, out) {
			got = append(got, row["i"].(float64))
		}
		return got
	}
	first := sample(10, 1, forms.Selection{})
	require.Equal(t, first, sample(10, 1, forms.Selection{}))
	require.NotEqual(t, first, sample(10, 2, forms.Selection{}))
	require.Len(t, slices.Compact(slices.Clone(first)), 10)
	require.True(t, slices.IsSorted(first))
	require.Len(t, sample(40, 3, forms.Selection{}), 40)
	require.Empty(t, sample(0, 3, forms.Selection{}))
	counts := map[float64]int{}
	for seed := range uint64(60) {
		for _, i := range sample(3, seed, forms.Selection{Where: parsed(t, "i >= 20 and i < 26")}) {
			counts[i]++
		}
	}
	require.Len(t, counts, 6, "180 draws of 6 rows")
	for i, n := range counts {
		require.InDelta(t, 30, n, 20, "row %v", i)
	}
	err := forms.Sample(ctx, filepath.Join(testkit.TempDir(t), "out"), in, forms.SampleOptions{N: 41})
	require.ErrorIs(t, err, shapeops.ErrIndex)
	require.ErrorContains(t, err, "got a sample of 41 rows, want 0 to 40")
}

// TestStratify: each part has its share of each class; groups stay together.
func TestStratify(t *testing.T) {
	var rows []record
	for i := range 120 {
		class := any([]string{"a", "b", "c"}[i/4%3])
		if i >= 108 {
			class = nil
		}
		rows = append(rows, record{"class": class, "group": float64(i / 4), "i": float64(i)})
	}
	in := table(t, "in", rows, "class", "group", "i")
	for _, by := range []nestedkey.Key{"", "group"} {
		out := filepath.Join(testkit.TempDir(t), "parts")
		require.NoError(t, forms.Split(ctx, out, in, forms.SplitOptions{
			Fractions: []float64{2. / 3, 1. / 3}, Names: []string{"x.jsonl", "y.jsonl"}, By: by, Stratify: "class", Seed: 5,
		}))
		x, y := records(t, filepath.Join(out, "x.jsonl")), records(t, filepath.Join(out, "y.jsonl"))
		require.Len(t, append(slices.Clone(x), y...), len(rows))
		classes, parts := map[any]int{}, map[any]int{}
		for i, part := range [][]record{x, y} {
			for _, row := range part {
				if i == 1 {
					classes[row["class"]]++
				}
				if by != "" {
					parts[row["group"]] |= i + 1
				}
			}
		}
		require.Equal(t, map[any]int{"a": 12, "b": 12, "c": 12, nil: 4}, classes, "by %q", by)
		for group, in := range parts {
			require.NotEqual(t, 3, in, "group %v is in both parts", group)
		}
	}
	opt := forms.SplitOptions{Counts: []int{60, 60}, Stratify: "class"}
	require.ErrorContains(t, forms.Split(ctx, filepath.Join(testkit.TempDir(t), "parts"), in, opt), "want Fractions")
}

// TestSchemaTravels: what a schema says of the entries is kept by each operation, under new keys
// too, without the entries that are left out.
func TestSchemaTravels(t *testing.T) {
	schema := tdict.Schema{
		{Key: "n/x", DType: tensor.Float32, Mask: "has", Unit: "mmHg", Doc: "pressure"},
		{Key: "has", DType: tensor.Bool},
		{Key: "day", DType: tensor.Int64, Unit: "d", Time: "2006-01-02", Columns: []string{"the day"}},
		{Key: "sex", DType: tensor.Int32, Categories: []string{"f", "m"}},
		{Key: "s", Kind: tdict.KindText},
	}
	td := tensor.Must(schema.Zeros(4))
	require.NoError(t, td.Set("day", tensor.Vector[int64](4, 3, 2, 1)))
	in := filepath.Join(testkit.TempDir(t), "in")
	require.NoError(t, memmap.SaveWith(ctx, in, td, memmap.SaveOptions{Schema: schema}))
	all, some := []string{"n/x", "has", "day", "sex", "s"}, forms.Options{Select: forms.Selection{
		Keys: []nestedkey.Key{"n/*", "d*"}, Rename: [][2]nestedkey.Key{{"n", "m"}, {"day", "date"}},
	}}
	for name, tt := range map[string]struct {
		run  func(out string) error
		want []string
	}{
		"copy": {func(out string) error { return forms.Convert(ctx, out, []string{in}, forms.Options{}) }, all},
		"archive": {func(out string) error {
			return forms.Convert(ctx, out, []string{in}, forms.Options{Form: forms.Archive})
		}, all},
		"cat": {func(out string) error { return forms.Convert(ctx, out, []string{in, in}, forms.Options{}) }, all},
		"slice": {func(out string) error {
			return forms.Slice(ctx, out, in, forms.SliceOptions{Index: []ix.Index{ix.Range(1, 3)}})
		}, all},
		"sort":     {func(out string) error { return forms.Sort(ctx, out, in, forms.SortOptions{By: []nestedkey.Key{"day"}}) }, all},
		"sample":   {func(out string) error { return forms.Sample(ctx, out, in, forms.SampleOptions{N: 2}) }, all},
		"some":     {func(out string) error { return forms.Convert(ctx, out, []string{in}, some) }, []string{"m/x", "has", "date"}},
		"some cat": {func(out string) error { return forms.Convert(ctx, out, []string{in, in}, some) }, []string{"m/x", "has", "date"}},
		"split": {func(out string) error {
			err := forms.Split(ctx, out+"s", in, forms.SplitOptions{Counts: []int{1, 3}})
			return cmp.Or(err, forms.Convert(ctx, out, []string{filepath.Join(out+"s", "1")}, forms.Options{}))
		}, all},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(testkit.TempDir(t), "out")
			require.NoError(t, tt.run(out))
			ds, err := memmap.Open(out)
			require.NoError(t, err)
			defer ds.Close()
			var keys []string
			for _, s := range ds.Schema() {
				keys = append(keys, string(s.Key))
				from, _ := schema.Find(map[nestedkey.Key]nestedkey.Key{"m/x": "n/x", "date": "day"}[s.Key])
				if from.Key == "" {
					from, _ = schema.Find(s.Key)
				}
				from.Key = s.Key
				if s.Key == "date" {
					from.Columns = nil // the new key is the name
				}
				require.Equal(t, from, s)
			}
			require.ElementsMatch(t, tt.want, keys)
		})
	}
}

// TestMissingNaN: missing floats become NaN if it is asked for, and in files without a schema.
func TestMissingNaN(t *testing.T) {
	in := filepath.Join(testkit.TempDir(t), "in.csv")
	require.NoError(t, os.WriteFile(in, []byte("x,n\n0.5,1\nNA,NA\n"), 0o666))
	for name, want := range map[string]string{"d": "x n n_mask", "d.npz": "x n n_mask", "d.safetensors": "n n_mask x"} {
		out := filepath.Join(testkit.TempDir(t), name)
		require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{MissingNaN: name == "d"}))
		td := read(t, out, nil)
		var keys []string
		for key := range td.Leaves() {
			keys = append(keys, string(key))
		}
		require.Equal(t, want, strings.Join(keys, " "), name)
		require.Equal(t, "[0.5 NaN]", fmt.Sprint(tensor.Must(tdict.Slice[float64](td, "x"))), name)
		require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "n_mask")), name)
	}
}

// TestSelection: patterns, masks that several entries have, and keys that are not there.
func TestSelection(t *testing.T) {
	schema := tdict.Schema{
		{Key: "a/x", DType: tensor.Int64, Mask: "has"}, {Key: "a/y", DType: tensor.Int64, Mask: "has"},
		{Key: "b", DType: tensor.Int64}, {Key: "has", DType: tensor.Bool}, {Key: "c*", DType: tensor.Int64},
	}
	in := filepath.Join(testkit.TempDir(t), "in")
	require.NoError(t, memmap.SaveWith(ctx, in, tensor.Must(schema.Zeros(2)), memmap.SaveOptions{Schema: schema}))
	for _, tt := range []struct{ keys, drop, want string }{
		{"a/*", "", "a/x a/y has"},
		{"a", "", "a/x a/y has"},
		{"*", "", "a/x a/y b has c*"},
		{"?", "", "a/x a/y b has"},
		{"[ab]", "", "a/x a/y b has"},
		{"c*", "", "c*"},
		{"", "a/x", "a/y b has c*"},
		{"", "a/*", "b c*"},
		{"", "a", "b c*"},
		{"", "has", "a/x a/y b c*"},
		{"a/x,b", "b", "a/x has"},
	} {
		var sel forms.Selection
		for _, list := range []struct {
			to   *[]nestedkey.Key
			text string
		}{{&sel.Keys, tt.keys}, {&sel.Drop, tt.drop}} {
			for key := range strings.SplitSeq(list.text, ",") {
				if key != "" {
					*list.to = append(*list.to, nestedkey.Key(key))
				}
			}
		}
		out, notes := filepath.Join(testkit.TempDir(t), "out"), 0
		note := forms.OpenOptions{Note: func(string) { notes++ }}
		require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{Select: sel, Open: note}))
		require.Equal(t, strings.Count(tt.want, "a/")*strings.Count(tt.drop, "has"), notes, "an entry loses its mask: %+v", tt)
		var keys []string
		for key := range read(t, out, nil).Leaves() {
			keys = append(keys, string(key))
		}
		require.ElementsMatch(t, strings.Fields(tt.want), keys, "%+v", tt)
	}
	for _, sel := range []forms.Selection{{Keys: []nestedkey.Key{"z*"}}, {Drop: []nestedkey.Key{"z"}}, {Rename: [][2]nestedkey.Key{{"z", "y"}}}} {
		err := forms.Convert(ctx, filepath.Join(testkit.TempDir(t), "out"), []string{in}, forms.Options{Select: sel})
		require.ErrorIs(t, err, tdict.ErrMissing)
	}
}
