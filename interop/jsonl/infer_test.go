package jsonl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestInfer(t *testing.T) {
	tests := []struct{ name, json, want string }{ // of fields k, one a row
		{"bools", `true false`, `tensor bool [] "2 of 2 rows: true or false"`},
		{"integers", `3 -7 12`, `tensor int64 [] "3 of 3 rows: integers from -7 to 12"`},
		{"beyond Uint64, in lists", `[1,2] [18446744073709551616,3]`, `text [] "2 of 2 rows: mixed, as text: 4 integers, 2 lists, no dtype holds 18446744073709551616 in line 2"`},
		{"fractions", `3 1e2 "NaN"`, `tensor float64 [], whole numbers without .0 "3 of 3 rows: numbers from 3 to 1e2"`},
		{"NaN only", `NaN -Infinity`, `tensor float64 [] "2 of 2 rows: no numbers but NaN and infinities"`},
		{"strings", `"a" "NaN"`, `text [] "2 of 2 rows: strings"`},
		{"strings that say NaN", `"NaN" "-Inf"`, `tensor float64 [] "2 of 2 rows: no numbers but NaN and infinities"`},
		{"null", `1 null -`, `tensor int64 [], optional "1 of 3 rows, 1 null: integers from 1 to 1"`},
		{"nothing but null", `null null`, `text [], optional "0 of 2 rows, 2 null: as text"`},
		{"dims", `[[1,2],[3,4]] [[5,6],[7,8]]`, `tensor int64 [2 2] "2 of 2 rows: lists of 2 lists of 2 integers from 1 to 8"`},
		{"dims with null", `[1,null] [2,3]`, `tensor int64 [2], optional "2 of 2 rows: lists of 2 integers from 1 to 3"`},
		{"dims of strings", `["a","b"] ["c","d"]`, `text [2] "2 of 2 rows: lists of 2 strings"`},
		{"lists", `[1] [2,3]`, `ragged int64 [*] "2 of 2 rows: lists of 1 to 2 integers from 1 to 3"`},
		{"lists of pairs", `[[1,2]] [[3,4],[5,6]] []`, `ragged int64 [* 2] "3 of 3 rows: lists of 0 to 2 lists of 2 integers from 1 to 6"`},
		{"pairs of lists", `[[1],[2,3]] [[4],[5.5]]`, `ragged float64 [* *], whole numbers without .0 "2 of 2 rows: lists of 2 lists of 1 to 2 numbers from 1 to 5.5"`},
		{"empty lists", `[] [[]]`, `ragged float64 [* *] "2 of 2 rows: lists without values, as lists of numbers"`},
		{"lists of strings", `["a"] []`, `text [*] "2 of 2 rows: lists of 0 to 1 strings"`},
		{"lists of lists of strings", `[["a","b"]] [["c","d"],["e","f"]]`, `text [* *] "2 of 2 rows: lists of 1 to 2 lists of 2 strings"`},
		{"different types", `1 "a" true`, `text [] "3 of 3 rows: mixed, as text: 1 bools, 1 integers, 1 strings"`},
		{"different depths", `1 [1]`, `text [] "2 of 2 rows: mixed, as text: 2 integers, 1 lists"`},
		{"numbers beside lists", `[1,[1]]`, `text [] "1 of 1 rows: mixed, as text: 2 integers, 1 lists"`},
		{"lists of objects without fields", `[{}] []`, `text [] "2 of 2 rows: mixed, as text: 2 lists, 1 objects without fields"`},
		{"lists of objects and numbers", `[{"a":1}] [2]`, `text [] "2 of 2 rows: mixed, as text: 1 integers, 2 lists, 1 objects"`},
		{"objects and lists of them", `[{"a":1}] {"a":2}`, `text [] "2 of 2 rows: mixed, as text: 1 lists, 2 objects"`},
		{"objects and numbers", `{"a":1} 1`, `text [] "2 of 2 rows: mixed, as text: 1 integers, 1 objects"`},
		{"empty objects", `{} null`, `dictionary [], optional "1 of 2 rows, 1 null: empty objects"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := fieldsOf(tt.json)
			s := tensor.Must(jsonl.Infer(strings.NewReader(text), 0))
			require.Len(t, s, 1)
			what := strings.TrimPrefix(s.Diff(nil), `"k": `)
			require.Equal(t, tt.want, strings.TrimSuffix(what, ", other none")+` "`+s[0].Doc+`"`)
			require.NoError(t, testkit.Err(read(text, s, jsonl.ReadOptions{Raw: true})))
		})
	}
}

// TestNotes: what becomes text though it is something else is told, with its key.
func TestNotes(t *testing.T) {
	var in jsonl.Inferrer
	require.NoError(t, in.Add(strings.NewReader(`{"a":"x","o":{"":[{"b":1},2]},"n":1,"l":[1,[2]]}`+"\n\n \n"+`{"a":"y","n":"z","l":[],"f":1e999}`), 0))
	require.NoError(t, testkit.Err(in.Schema()))
	require.Equal(t, []string{
		`"o/" becomes text: 1 integers, 1 lists, 1 objects`,
		`"n" becomes text: 1 integers, 1 strings`,
		`"l" becomes text: 2 integers, 2 lists`,
		`"f" becomes text: 1 numbers beyond float64, float64 does not hold 1e999 in line 4`,
	}, in.Notes())
}

func TestInferObjects(t *testing.T) {
	text := `{"b":{"x":1,"deep":{"":[1,2]}},"a/b":1}

{"b":{"x":1.5},"c":true}
{"d":"beyond n"}`
	s := tensor.Must(jsonl.Infer(strings.NewReader(text), 2))
	require.Equal(t, `key      kind        dtype    shape  doc
b/x      tensor      float64  []     whole numbers without .0, 2 of 2 rows: numbers from 1 to 1.5
b/deep   dictionary           []     optional, 1 of 2 rows: objects
b/deep/  tensor      int64    [2]    optional, 1 of 2 rows: lists of 2 integers from 1 to 2
a~1b     tensor      int64    []     optional, 1 of 2 rows: integers from 1 to 1
c        tensor      bool     []     optional, 1 of 2 rows: true or false`, s.String())
	require.Empty(t, tensor.Must(jsonl.Infer(strings.NewReader("\n"), 3)))
}

func TestInferRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		want error
	}{
		"no object":     {`1`, jsonl.ErrSyntax},
		"a field twice": {`{"a":1,"a":2}`, jsonl.ErrField},
		"trailing data": {`{"a":1} 2`, jsonl.ErrSyntax},
		"cut":           {`{"a":[1`, jsonl.ErrSyntax},
		"too deep":      {`{"a":` + strings.Repeat("[", 100), jsonl.ErrSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jsonl.Infer(strings.NewReader("{}\n\n"+tt.line), 0)
			testkit.Fails(t, tt.want, err)
			e, _ := errors.AsType[*jsonl.ParseError](err)
			require.Equal(t, 3, e.Line)
		})
	}
	t.Run("a mask beside a field of its name", func(t *testing.T) {
		s, err := jsonl.Infer(strings.NewReader(`{"a":null,"a_mask":true}`), 0)
		require.NoError(t, err)
		made, err := jsonl.ChunkSchema(s, jsonl.ReadOptions{})
		require.NoError(t, err)
		spec, _ := made.Find("a")
		require.Equal(t, "a_mask2", string(spec.Mask))
	})
}

// TestInferrer proposes one schema for several files, of which the first has no last line end.
func TestInferrer(t *testing.T) {
	var in jsonl.Inferrer
	for _, text := range []string{`{"x":1,"l":[1]}`, "", `{"x":0.5,"l":[1,2]}` + "\n" + `{"l":[]}`} {
		require.NoError(t, in.Add(strings.NewReader(text), 0))
	}
	s, err := in.Schema()
	require.NoError(t, err)
	require.Equal(t, tdict.Spec{Key: "x", DType: tensor.Float64, Optional: true, Bare: true, Doc: "2 of 3 rows: numbers from 0.5 to 1"}, s[0])
	require.Equal(t, tdict.Spec{Key: "l", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Doc: "3 of 3 rows: lists of 0 to 2 integers from 1 to 2"}, s[1])
	require.ErrorContains(t, in.Add(strings.NewReader("\n?"), 0), "line 2")
}
