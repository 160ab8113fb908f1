package forms_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// dataset saves entries of n rows with a schema, and returns the path.
func dataset(t *testing.T, n int, says tdict.Schema, entries tdict.Entries) string {
	t.Helper()
	path := filepath.Join(testkit.TempDir(t), "data")
	td := tensor.Must(tdict.FromMap(shapeops.Shape{n}, entries))
	require.NoError(t, memmap.SaveWith(ctx, path, td, memmap.SaveOptions{Schema: says}))
	return path
}

// text writes a file of text, and returns the path.
func text(t *testing.T, name, lines string) string {
	t.Helper()
	path := filepath.Join(testkit.TempDir(t), name)
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o666))
	return path
}

// joined joins two inputs to a dataset, and returns its path and its rows as JSON lines.
func joined(t *testing.T, a, b string, opt forms.JoinOptions) (path, lines string) {
	t.Helper()
	path = filepath.Join(testkit.TempDir(t), "joined")
	require.NoError(t, forms.Join(ctx, path, a, b, opt))
	return path, asLines(t, path)
}

// asLines returns the rows of an input as JSON lines.
func asLines(t *testing.T, path string) string {
	t.Helper()
	out := filepath.Join(testkit.TempDir(t), "out.jsonl")
	require.NoError(t, forms.Convert(ctx, out, []string{path}, forms.Options{}))
	return string(tensor.Must(os.ReadFile(out)))
}

// Categories match by their texts, whatever their codes are, and text.
func TestJoinCategories(t *testing.T) {
	says := func(categories ...string) tdict.Schema {
		return tdict.Schema{{Key: "sex", DType: tensor.Int32, Categories: categories}, {Key: "n", DType: tensor.Int64}}
	}
	a := dataset(t, 2, says("f", "m"), tdict.Entries{"sex": tensor.Vector[int32](0, 1), "n": tensor.Vector[int64](1, 2)})
	b := dataset(t, 3, says("x", "m", "f"), tdict.Entries{"sex": tensor.Vector[int32](0, 1, 2), "n": tensor.Vector[int64](7, 8, 9)})
	on := forms.JoinOptions{On: []nestedkey.Key{"sex"}}
	_, lines := joined(t, a, b, on)
	require.Equal(t, "{\"n\":1,\"sex\":\"f\",\"n_right\":9}\n{\"n\":2,\"sex\":\"m\",\"n_right\":8}\n", lines)
	_, lines = joined(t, a, text(t, "b.csv", "sex,k\nm,5\n"), on)
	require.Equal(t, "{\"n\":2,\"sex\":\"m\",\"k\":5}\n", lines)

	to := filepath.Join(testkit.TempDir(t), "out")
	require.ErrorIs(t, forms.Join(ctx, to, a, text(t, "c.csv", "sex,k\n1,5\n"), on), tdict.ErrSchema, "codes and integers")
	days, seconds := text(t, "d.csv", "day,x\n2020-01-02,1\n"), text(t, "e.csv", "day,y\n2020-01-02T00:00:00Z,2\n")
	require.ErrorIs(t, forms.Join(ctx, to, days, seconds, forms.JoinOptions{On: []nestedkey.Key{"day"}}), tdict.ErrSchema)
	err := forms.Join(ctx, to, days, seconds, forms.JoinOptions{On: []nestedkey.Key{"x"}})
	require.ErrorIs(t, err, tdict.ErrMissing)
	require.ErrorContains(t, err, seconds, "the file that lacks the key")
	litter(t, filepath.Dir(to))
}

// Lists with missing values and lists of objects stay what they are, with and without a match.
func TestJoinLists(t *testing.T) {
	rows := `{"id":1,"xs":[1,null,3],"codes":[{"name":"a","day":3},{"name":"b","day":4}],"t":["x","y"]}
{"id":2,"xs":null,"codes":[],"t":[]}
{"id":3,"xs":[4],"codes":null,"t":null}
`
	lists := filepath.Join(testkit.TempDir(t), "lists")
	require.NoError(t, forms.Convert(ctx, lists, []string{text(t, "a.jsonl", rows)}, forms.Options{}))
	require.Equal(t, rows, asLines(t, text(t, "b.jsonl", rows)))
	keys := text(t, "k.jsonl", "{\"id\":3}\n{\"id\":9}\n{\"id\":1}\n")
	_, lines := joined(t, keys, lists, forms.JoinOptions{On: []nestedkey.Key{"id"}, Left: true})
	require.Equal(t, `{"id":3,"xs":[4],"codes":null,"t":null}
{"id":9,"xs":null,"codes":null,"t":null}
{"id":1,"xs":[1,null,3],"codes":[{"name":"a","day":3},{"name":"b","day":4}],"t":["x","y"]}
`, lines)
	for _, left := range []bool{false, true} {
		_, lines = joined(t, lists, lists, forms.JoinOptions{On: []nestedkey.Key{"id"}, Left: left})
		require.Contains(t, lines, `"codes_right":[{"name":"a","day":3},{"name":"b","day":4}]`)
		require.Contains(t, lines, `"xs_right":[1,null,3]`)
		require.Contains(t, lines, `"xs_right":null`)
	}
	for _, sel := range []forms.Selection{{Keys: []nestedkey.Key{"xs"}}, {Drop: []nestedkey.Key{"xs"}}} {
		out := filepath.Join(testkit.TempDir(t), "out.jsonl")
		require.NoError(t, forms.Convert(ctx, out, []string{lists}, forms.Options{Select: sel}))
		if text := string(tensor.Must(os.ReadFile(out))); sel.Keys != nil {
			require.Equal(t, "{\"xs\":[1,null,3]}\n{\"xs\":null}\n{\"xs\":[4]}\n", text)
		} else {
			require.NotContains(t, text, "xs")
		}
	}
}

// What a mask of the output hides is zero, and a mask that On shares with another entry stays.
func TestJoinMasks(t *testing.T) {
	says := tdict.Schema{
		{Key: "id", DType: tensor.Int64, Mask: "m"}, {Key: "x", DType: tensor.Int64, Mask: "m"}, {Key: "m", DType: tensor.Bool},
		{Key: "none", DType: tensor.Int64, Optional: true},
	}
	right := dataset(t, 2, says, tdict.Entries{
		"id": tensor.Vector[int64](1, 2), "x": tensor.Vector[int64](70, 80), "m": tensor.Vector(true, false),
	})
	left := text(t, "a.jsonl", "{\"id\":2}\n{\"id\":1}\n")
	on := forms.JoinOptions{On: []nestedkey.Key{"id"}}
	path, lines := joined(t, left, right, on)
	require.Equal(t, "{\"id\":1,\"x\":70}\n", lines)
	ds := tensor.Must(memmap.Open(path))
	defer ds.Close()
	spec, _ := ds.Schema().Find("x")
	require.Equal(t, nestedkey.Key("m"), spec.Mask)

	on.Left = true
	path, lines = joined(t, left, right, on)
	require.Equal(t, "{\"id\":2,\"x\":null}\n{\"id\":1,\"x\":70}\n", lines)
	ds = tensor.Must(memmap.Open(path))
	defer ds.Close()
	require.Equal(t, "int64 [2]\n[ 0 70]", tensor.Must(ds.Tensor("x")).String())
	none := dataset(t, 0, says, tdict.Entries{"id": tensor.Vector[int64](), "x": tensor.Vector[int64](), "m": tensor.Vector[bool]()})
	_, lines = joined(t, left, none, on)
	require.Equal(t, "{\"id\":2,\"x\":null}\n{\"id\":1,\"x\":null}\n", lines)
}

// A schema outlives new keys, also a key that another entry had.
func TestSelectionKeepsSchema(t *testing.T) {
	says := tdict.Schema{
		{Key: "x", DType: tensor.Int64, Mask: "m", Optional: true}, {Key: "m", DType: tensor.Bool},
		{Key: "y", DType: tensor.Int64, Unit: "kg"}, {Key: "none", DType: tensor.Int64, Optional: true, Unit: "m"},
	}
	in := dataset(t, 1, says, tdict.Entries{"x": tensor.Vector[int64](1), "y": tensor.Vector[int64](2), "m": tensor.Vector(true)})
	for name, sel := range map[string]forms.Selection{
		"x": {Drop: []nestedkey.Key{"x"}, Rename: [][2]nestedkey.Key{{"y", "x"}}}, "none": {Rename: [][2]nestedkey.Key{{"y", "none"}}},
		"m": {Drop: []nestedkey.Key{"x"}, Rename: [][2]nestedkey.Key{{"y", "m"}}},
	} {
		out := filepath.Join(testkit.TempDir(t), "out")
		require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{Select: sel}))
		ds := tensor.Must(memmap.Open(out))
		spec, ok := ds.Schema().Find(nestedkey.Key(name))
		require.True(t, ok, name)
		require.Equal(t, "kg", spec.Unit, name)
		require.NoError(t, ds.Close())
	}
}

// An input without a schema means what the schema of another says, whichever is first.
func TestSeveralKeepSchema(t *testing.T) {
	entries := tdict.Entries{"x": tensor.Vector[int64](1), "m": tensor.Vector(true)}
	says := tdict.Schema{{Key: "x", DType: tensor.Int64, Mask: "m", Unit: "kg"}, {Key: "m", DType: tensor.Bool}}
	other := tdict.Schema{{Key: "x", DType: tensor.Int64, Unit: "g"}, {Key: "m", DType: tensor.Bool}}
	plain, with, grams := dataset(t, 1, nil, entries), dataset(t, 1, says, entries), dataset(t, 1, other, entries)
	for _, inputs := range [][]string{{plain, with}, {with, plain}, {plain, plain, with}} {
		out := filepath.Join(testkit.TempDir(t), "out")
		require.NoError(t, forms.Convert(ctx, out, inputs, forms.Options{}))
		ds := tensor.Must(memmap.Open(out))
		require.Empty(t, ds.Schema().Diff(says))
		require.NoError(t, ds.Close())
	}
	to := filepath.Join(testkit.TempDir(t), "out")
	require.ErrorIs(t, forms.Convert(ctx, to, []string{plain, with, grams}, forms.Options{}), tdict.ErrSchema)
	litter(t, filepath.Dir(to))
}

// A csv file holds no lists, also of texts: they and their masks are a loss.
func TestListsOfTextAreLosses(t *testing.T) {
	lists := text(t, "a.jsonl", `{"id":1,"t":["x","y"],"x":[1,null]}
{"id":2,"t":null,"x":null}
{"id":3,"t":["z"],"x":[]}
`)
	to := filepath.Join(testkit.TempDir(t), "out.csv")
	require.ErrorIs(t, forms.Convert(ctx, to, []string{lists}, forms.Options{}), forms.ErrLoss)
	require.NoError(t, forms.Convert(ctx, to, []string{lists}, forms.Options{Lossy: true}))
	require.Equal(t, "id\n1\n2\n3\n", string(tensor.Must(os.ReadFile(to))))
}
