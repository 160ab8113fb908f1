package jsonl_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestLists: what is inferred for rows of lists, and written back as it came.
func TestLists(t *testing.T) {
	tests := []struct {
		name, rows string // each row has the field k
		schema     string // key, kind, dtype, levels and dims, optional, mask
	}{
		{"a list of objects", `[{"name":"a","day":3},{"name":"b","day":4}] []`, "k dictionary *; k/name text *; k/day ragged int64 *"},
		{"of one length", `[{"a":1}] [{"a":2}]`, "k dictionary *; k/a ragged int64 *"},
		{"an object and lists in it", `[{"p":{"x":1},"v":[1,2]},{"p":{"x":2},"v":[3,4]}] []`, "k dictionary *; k/p/x ragged int64 *; k/v ragged int64 * 2"},
		{"lists of other lengths in it", `[{"v":[1,2]},{"v":[]}] []`, "k dictionary *; k/v ragged int64 * *"},
		{"lists of texts in it", `[{"v":["a","b"]},{"v":["",""]}] []`, "k dictionary *; k/v text * *"},
		{"lists of objects in it", `[{"id":1,"t":[{"c":"x"},{"c":"yy"}]},{"id":2,"t":[]}] [{"id":3,"t":[{"c":""}]}]`, "k dictionary *; k/id ragged int64 *; k/t dictionary * *; k/t/c text * *"},
		{"lists of lists of objects", `[[{"a":1}],[]] [] [[{"a":2},{"a":3}]]`, "k dictionary * *; k/a ragged int64 * *"},
		{"an empty object in it", `[{"a":1,"e":{}},{"a":2,"e":{}}] []`, "k dictionary *; k/a ragged int64 *; k/e dictionary *"},
		{"null for a row", `[{"a":1}] null []`, "k dictionary * optional; k/a ragged int64 *"},
		{"null for an object", `[{"a":1},null] [] [null]`, "k dictionary * optional k_mask; k_mask ragged bool *; k/a ragged int64 * optional"},
		{"null for a row and an object", `[{"a":1},null] [] null`, "k dictionary * optional k_mask; k_mask ragged bool * optional k_mask2; k_mask2 tensor bool; k/a ragged int64 * optional"},
		{"null in an object", `[{"a":1},{"a":null}] []`, "k dictionary *; k/a ragged int64 * optional"},
		{"null in and for an object", `[{"a":1},{"a":null},null] [null]`, "k dictionary * optional k_mask; k_mask ragged bool *; k/a ragged int64 * optional"},
		{"null for a list in an object", `[{"v":[1]},{"v":null},{"v":[]}] []`, "k dictionary *; k/v ragged int64 * * optional"},
		{"null in and for a list in an object", `[{"v":[1,null]},{"v":null},{"v":[]}] []`, "k dictionary *; k/v ragged int64 * * optional k/v_mask; k/v_mask ragged bool * * optional k/v_mask2; k/v_mask2 ragged bool *"},
		{"null for a text in an object", `[{"v":"a"},{"v":null}] [{"v":""}]`, "k dictionary *; k/v text * optional"},
		{"null for an inner list of objects", `[[{"a":1}],null] [] [[]]`, "k dictionary * * optional k_mask; k_mask ragged bool *; k/a ragged int64 * *"},
		{"null for an object that is not in a list", `{"a":1} null {"a":null}`, "k dictionary optional; k/a tensor int64 optional"},
		{"lists of texts", `["a","bc"] [] [""]`, "k text *"},
		{"lists of lists of texts", `[["a"],[]] [] [["b","c"]]`, "k text * *"},
		{"null in lists of texts", `["a",null] [] [""]`, "k text * optional k_mask; k_mask ragged bool *"},
		{"null for a list of texts", `["a"] [] null`, "k text * optional"},
		{"null in lists of numbers", `[1.5,null] [] [null]`, "k ragged float64 * optional k_mask; k_mask ragged bool *"},
		{"null in pairs", `[[1,null]] [] [[2,3]]`, "k ragged int64 * * optional k_mask; k_mask ragged bool * *"},
		{"null for a pair", `[[1,2],null] [] [[2,3]]`, "k ragged int64 * 2 optional k_mask; k_mask ragged bool *"},
		{"null for a list in a list", `[[1],null] [] [[]]`, "k ragged int64 * * optional k_mask; k_mask ragged bool *"},
		{"null in dims", `[1,null] [2,3] null`, "k tensor int64 2 optional"},
		{"a list of nothing but null in dims", `[null,null] [2,3] null`, "k ragged int64 * optional k_mask; k_mask ragged bool * optional k_mask2; k_mask2 tensor bool"},
		{"lists of nothing but null", `[null] [] [null,null]`, "k ragged float64 * optional k_mask; k_mask ragged bool *"},
		{"empty lists", `[] [[]]`, "k ragged float64 * *"},
		{"empty objects or null", `{} null`, "k dictionary optional"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := fieldsOf(tt.rows)
			s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
			require.Equal(t, tt.schema, brief(s))
			again(t, text, s)
		})
	}
}

// brief returns the entries of a schema without masks that table.New adds.
func brief(s tdict.Schema) string {
	var parts []string
	for _, spec := range s {
		text := fmt.Sprint(spec.Key, " ", spec.Kind)
		if spec.DType != 0 {
			text += " " + spec.DType.String()
		}
		text += strings.Repeat(" *", spec.Depth)
		for _, n := range spec.Shape {
			text += fmt.Sprint(" ", n)
		}
		if spec.Optional && (spec.DType != tensor.Bool || spec.Mask != "") {
			text += " optional"
		}
		parts = append(parts, strings.TrimSuffix(text+" "+string(spec.Mask), " "))
	}
	return strings.Join(parts, "; ")
}

// again checks that lines are written as they were read, with the schema of the rows and with the
// one of the chunks, and that each mask is one.
func again(t testing.TB, text string, s tdict.Schema) {
	t.Helper()
	made, err := jsonl.ChunkSchema(s, jsonl.ReadOptions{})
	require.NoError(t, err)
	for _, schema := range []tdict.Schema{s, made} {
		tds, err := read(text, schema, jsonl.ReadOptions{Rows: 3})
		require.NoError(t, err)
		require.Equal(t, text, written(t, s, jsonl.WriteOptions{}, tds...))
		for _, td := range tds {
			require.NoError(t, made.Check(td))
			for _, spec := range made {
				_, err := made.MaskOf(td, spec.Key)
				require.NoError(t, err)
			}
		}
	}
}

// TestListsShareLayouts: the columns of a list of objects have one layout.
func TestListsShareLayouts(t *testing.T) {
	text := `{"k":[{"name":"a","day":3,"t":[{"c":1,"d":""}]},{"name":null,"day":4,"t":[]}]}` + "\n"
	s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
	td := tensor.Must(read(text, s, jsonl.ReadOptions{}))[0]
	layout := func(key nestedkey.Key, depth int) *ragged.Layout {
		return tensor.Must(tensor.Must(tdict.Get[*ragged.Tensor](td, key)).Layout().At(depth))
	}
	for _, key := range []nestedkey.Key{"k/day", "k/name", "k/name_mask", "k/t/c", "k/t/d"} {
		require.Same(t, layout("k/day", 1), layout(key, 1), key)
	}
	require.Same(t, layout("k/t/c", 2), layout("k/t/d", 2))
	names := tensor.Must(tdict.Get[*ragged.Tensor](td, "k/name"))
	require.Equal(t, []string{"a", ""}, textsOf(t, names))
}

// TestListsOnDisk: a dataset of lists of objects has the schema, one layout for the lists, and is
// written as it came.
func TestListsOnDisk(t *testing.T) {
	text := `{"k":[{"name":"a","day":3},{"name":null,"day":4}],"l":["x",null]}
{"k":null,"l":[]}
{"k":[null],"l":["yz"]}
`
	s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
	made := tensor.Must(jsonl.ChunkSchema(s, jsonl.ReadOptions{}))
	dir := filepath.Join(t.TempDir(), "d")
	chunks := jsonl.Read(bg, strings.NewReader(text), s, jsonl.ReadOptions{Rows: 1})
	require.NoError(t, memmap.SaveRows(bg, dir, chunks, memmap.SaveOptions{Schema: made, NoSync: true}))
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	defer ds.Close()
	td := ds.TensorDict
	require.Equal(t, text, written(t, ds.Schema(), jsonl.WriteOptions{}, td))
	days := tensor.Must(tdict.Get[*ragged.Tensor](td, "k/day")).Layout()
	names := tensor.Must(tdict.Get[*ragged.Tensor](td, "k/name")).Layout()
	require.Same(t, days, names.Outer())
}

// TestCategoriesInLists: texts in lists become codes, and times numbers, and are written as texts.
func TestCategoriesInLists(t *testing.T) {
	text := `{"k":[{"sex":"f","day":"1970-01-03","tags":["a","b"]},{"sex":null,"day":null,"tags":[]}]}
{"k":[{"sex":"m","day":"1969-12-31","tags":["b"]}]}
`
	s := tdict.Schema{
		{Key: "k", Kind: tdict.KindDict, Depth: 1},
		{Key: "k/sex", Kind: tdict.KindRagged, DType: tensor.Int32, Depth: 1, Categories: []string{"m", "f"}, Optional: true},
		{Key: "k/day", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Time: time.DateOnly, Unit: "d", Optional: true},
		{Key: "k/tags", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 2, Categories: []string{"a", "b"}},
	}
	again(t, text, s)
	td := tensor.Must(read(text, s, jsonl.ReadOptions{}))[0]
	require.True(t, tensor.Must(ragged.From[int64]([][]int64{{2, 0}, {-1}})).Equal(tensor.Must(tdict.Get[*ragged.Tensor](td, "k/day"))))
	require.True(t, tensor.Must(ragged.From[int32]([][]int32{{1, 0}, {0}})).Equal(tensor.Must(tdict.Get[*ragged.Tensor](td, "k/sex"))))
	require.True(t, tensor.Must(ragged.From[int8]([][][]int8{{{0, 1}, {}}, {{1}}})).Equal(tensor.Must(tdict.Get[*ragged.Tensor](td, "k/tags"))))
	testkit.Fails(t, jsonl.ErrValue, testkit.Err(read(`{"k":[{"sex":"x"}]}`, s, jsonl.ReadOptions{})))
}

// TestListRefusals: lists that do not fit the schema, and schemas that rows of lists cannot have.
func TestListRefusals(t *testing.T) {
	list := tdict.Spec{Key: "k", Kind: tdict.KindDict, Depth: 1}
	a := tdict.Spec{Key: "k/a", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1}
	for name, json := range map[string]string{
		"null for a row": `null`, "null for an object": `[null]`, "no list": `{"a":1}`, "a list too many": `[[{"a":1}]]`, "a number for an object": `[1]`,
		"null in an object": `[{"a":null}]`, "no field": `[{}]`, "a value out of range": `[{"a":1},{"a":300}]`,
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, jsonl.ErrValue, testkit.Err(read(`{"k":`+json+`}`, tdict.Schema{list, a}, jsonl.ReadOptions{})))
		})
	}
	for name, json := range map[string]string{"an unknown field": `[{"a":1,"b":2}]`, "a field twice": `[{"a":1},{"a":2,"a":3}]`} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, jsonl.ErrField, testkit.Err(read(`{"k":`+json+`}`, tdict.Schema{list, a}, jsonl.ReadOptions{})))
		})
	}
	masked := func(s tdict.Spec, key nestedkey.Key) tdict.Spec { s.Mask = key; return s }
	for name, s := range map[string]tdict.Schema{
		"a tensor in a list":                {list, {Key: "k/a", DType: tensor.Int8}},
		"a dictionary with too few levels":  {list, a, {Key: "k/d", Kind: tdict.KindDict}},
		"a list of objects without fields":  {list, {Key: "k/d", Kind: tdict.KindDict, Depth: 1}},
		"a mask of rows in a list":          {list, masked(a, "m"), {Key: "m", DType: tensor.Bool}},
		"a mask of a mask with more levels": {masked(a, "m"), {Key: "m", DType: tensor.Bool, Mask: "n"}, {Key: "n", DType: tensor.Bool}},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, tdict.ErrSchema, testkit.Err(jsonl.ChunkSchema(s, jsonl.ReadOptions{})))
		})
	}
	t.Run("columns with other lengths", func(t *testing.T) {
		td := tensor.Must(tdict.FromMap([]int{1}, tdict.Entries{
			"k/a": tensor.Must(ragged.From[int8]([][]int8{{1, 2}})), "k/b": tensor.Must(ragged.From[int8]([][]int8{{1}})),
		}))
		b := a
		b.Key = "k/b"
		err := jsonl.Write(bg, io.Discard, tdict.Schema{list, a, b}, chunks(td), jsonl.WriteOptions{})
		testkit.Fails(t, ragged.ErrLengths, err)
	})
	t.Run("entries that the dictionary lacks", func(t *testing.T) {
		list, a, b := list, a, a
		list.Optional, a.Optional, b.Optional, b.Key = true, true, true, "k/b"
		td := tensor.Must(tdict.FromMap([]int{2}, tdict.Entries{"k/a": tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {}}))}))
		require.Equal(t, `{"k":[{"a":1,"b":null},{"a":2,"b":null}]}`+"\n"+`{"k":[]}`+"\n", written(t, tdict.Schema{list, a, b}, jsonl.WriteOptions{}, td))
		require.Equal(t, `{"k":null}`+"\n", written(t, tdict.Schema{list, a, b}, jsonl.WriteOptions{}, tdict.New(1)))
	})
}

// textsOf returns the texts of lists of texts, end to end.
func textsOf(t testing.TB, r *ragged.Tensor) (texts []string) {
	t.Helper()
	values := tensor.Must(r.Values())
	offsets := tensor.Must(r.Layout().Compact().Offsets(-1))
	require.NoError(t, tensor.Read(values, func(b []uint8) {
		for i := range len(offsets) - 1 {
			texts = append(texts, string(b[offsets[i]:offsets[i+1]]))
		}
	}))
	return texts
}

// TestMissingFields: a field that an object lacks is null, and is written so.
func TestMissingFields(t *testing.T) {
	text := `{"k":[{"a":1,"b":{"x":1}},{"b":{}},{"a":2}]}
{}
{"k":[]}
`
	s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
	tds := tensor.Must(read(text, s, jsonl.ReadOptions{}))
	require.Equal(t, `{"k":[{"a":1,"b":{"x":1}},{"a":null,"b":{"x":null}},{"a":2,"b":null}]}
{"k":null}
{"k":[]}
`, written(t, s, jsonl.WriteOptions{}, tds...))
}

// TestNames: the name of a field is its key, or the only name in Columns.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", 300)
	text := `{"a/b":1,"a~1b":2,"":3,"km/h":{"device":4,"a.b":5},"` + long + `":[{"/":1}],"\u0000":6}` + "\n"
	s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
	again(t, text, s)
	s = tdict.Schema{{Key: "x", DType: tensor.Int64, Columns: []string{"a/b"}}, {Key: "k", Kind: tdict.KindDict, Depth: 1, Columns: []string{"x"}}, {Key: "k/y", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Columns: []string{""}}}
	again(t, `{"a/b":7,"x":[{"":1}]}`+"\n", s)
	s[1].Columns = []string{"a/b"}
	_, err := read(`{}`, s, jsonl.ReadOptions{})
	require.ErrorIs(t, err, tdict.ErrSchema)
}

// A kind is a type of random values.
type kind struct {
	what   int // 0 integer, 1 float, 2 bool, 3 text, 4 list, 5 object
	null   bool
	of     *kind
	fields []*kind
}

// anyKind returns a random kind that is nested at most deep.
func anyKind(rng *rand.Rand, deep int) *kind {
	k := &kind{what: rng.IntN(4), null: rng.IntN(3) == 0}
	if deep > 0 && rng.IntN(2) == 0 {
		k.what = 4 + rng.IntN(2)
	}
	switch k.what {
	case 4:
		k.of = anyKind(rng, deep-1)
	case 5:
		for range 1 + rng.IntN(3) {
			k.fields = append(k.fields, anyKind(rng, deep-1))
		}
	}
	return k
}

// append appends a random value as JSON.
func (k *kind) append(b []byte, rng *rand.Rand) []byte {
	if k.null && rng.IntN(3) == 0 {
		return append(b, "null"...)
	}
	switch k.what {
	case 0:
		return fmt.Append(b, rng.IntN(100)-50)
	case 1:
		return fmt.Append(b, rng.IntN(100), ".5")
	case 2:
		return fmt.Append(b, rng.IntN(2) == 0)
	case 3:
		return fmt.Append(b, `"`, []string{"", "a", "é😀", `\n\"`, "NaN text"}[rng.IntN(5)], `"`)
	case 4:
		b = append(b, '[')
		for i := range rng.IntN(4) {
			if i > 0 {
				b = append(b, ',')
			}
			b = k.of.append(b, rng)
		}
		return append(b, ']')
	}
	for i, f := range k.fields {
		b = f.append(fmt.Append(b, string("{,"[min(i, 1)]), `"f`, i, `":`), rng)
	}
	return append(b, '}')
}

// TestRandomRecords: records of random types are written as they came.
func TestRandomRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		root := &kind{what: 5}
		for range 1 + rng.IntN(4) {
			root.fields = append(root.fields, anyKind(rng, 4))
		}
		var b []byte
		for range 1 + rng.IntN(12) {
			b = append(root.append(b, rng), '\n')
		}
		s, err := jsonl.Infer(strings.NewReader(string(b)), 0)
		require.NoError(t, err)
		again(t, string(b), s)
	}
}
