package jsonl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var bg = context.Background()

// read reads all rows, as clones of the chunks.
func read(text string, schema tdict.Schema, opt jsonl.ReadOptions) ([]*tdict.TensorDict, error) {
	return tabletest.Clones(jsonl.Read(bg, strings.NewReader(text), schema, opt))
}

// rows returns the entries of all rows as JSON, without dtypes.
func rows(t testing.TB, text string, schema tdict.Schema, opt jsonl.ReadOptions) string {
	t.Helper()
	chunks, err := read(text, schema, opt)
	require.NoError(t, err)
	return values(t, chunks)
}

// values returns the entries of chunks, one after the other, texts as their bytes.
func values(t testing.TB, chunks []*tdict.TensorDict) string {
	t.Helper()
	if len(chunks) == 0 {
		return ""
	}
	all := tensor.Must(shapeops.Cat(chunks, 0))
	var parts []string
	for key, v := range all.Leaves() {
		text := tensor.Must(json.Marshal(v))
		var node struct{ Values json.RawMessage }
		require.NoError(t, json.Unmarshal(text, &node))
		if r, ok := v.(*ragged.Tensor); ok && r.DType() == tensor.Uint8 {
			node.Values = tensor.Must(json.Marshal(tensor.Must(ragged.Strings(r))))
		}
		parts = append(parts, fmt.Sprintf("%s %s", key, node.Values))
	}
	return strings.Join(parts, ", ")
}

func TestValues(t *testing.T) {
	tensorOf := func(d tensor.DType, shape ...int) tdict.Spec { return tdict.Spec{DType: d, Shape: shape} }
	text := tdict.Spec{Kind: tdict.KindText}
	lists := func(depth int, shape ...int) tdict.Spec {
		return tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int64, Depth: depth, Shape: shape}
	}
	optional := func(s tdict.Spec) tdict.Spec { s.Optional = true; return s }
	tests := []struct {
		name, json string // of fields k, one a row
		spec       tdict.Spec
		want       string
	}{
		{"integers beyond 2^53", `9007199254740993 -9223372036854775808 -0`, tensorOf(tensor.Int64), `k [9007199254740993,-9223372036854775808,0]`},
		{"unsigned ones", `18446744073709551615 0`, tensorOf(tensor.Uint64), `k [18446744073709551615,0]`},
		{"floats in any spelling", `1 -0 1.5e3 1E-2 1e+2 0.1`, tensorOf(tensor.Float64), `k [1,-0,1500,0.01,100,0.1]`},
		{"numbers that JSON does not have", `"NaN" "+Inf" "-Inf" "Infinity" "-Infinity" NaN Infinity -Infinity`, tensorOf(tensor.Float32), `k ["NaN","+Inf","-Inf","+Inf","-Inf","NaN","+Inf","-Inf"]`},
		{"16 bits", `65504 0.1`, tensorOf(tensor.Float16), `k [65504,0.099975586]`},
		{"complex numbers", `"(1+2i)" 3 "4i" "(NaN-Infi)"`, tensorOf(tensor.Complex64), `k ["(1+2i)","(3+0i)","(0+4i)","(NaN-Infi)"]`},
		{"bools", `true false`, tensorOf(tensor.Bool), `k [true,false]`},
		{"dims", `[[1,2,3],[4,5,6]] [[0,0,0],[7,8,9]]`, tensorOf(tensor.Int8, 2, 3), `k [[[1,2,3],[4,5,6]],[[0,0,0],[7,8,9]]]`},
		{"a dim of size 0", `[] []`, tensorOf(tensor.Int8, 0), `k []`},
		{"strings", `"" "a\u00e9\ud83d\ude00\n\"\\\/" "\u0000é"`, text, `k ["","aé😀\n\"\\/","\u0000é"]`},
		{"lists of strings", `["a","b"] ["","c"]`, tdict.Spec{Kind: tdict.KindText, Shape: shapeops.Shape{2}}, `k ["a","b","","c"]`},
		{"lists", `[1,2] [] [3]`, lists(1), `k [[1,2],[],[3]]`},
		{"lists of pairs", `[[1,2],[3,4]] [] [[5,6]]`, lists(1, 2), `k [[[1,2],[3,4]],[],[[5,6]]]`},
		{"lists of lists", `[[1],[]] [] [[],[2,3]]`, lists(2), `k [[[1],[]],[],[[],[2,3]]]`},
		{"three levels of pairs", `[[[[1,2]],[]],[]] [] [[[]]]`, lists(3, 2), `k [[[[[1,2]],[]],[]],[],[[[]]]]`},
		{"null", `1 null - 2`, optional(tensorOf(tensor.Int8)), `k [1,0,0,2], k_mask [true,false,false,true]`},
		{"null in a list", `[1,null] null [null,2]`, optional(tensorOf(tensor.Int8, 2)), `k [[1,0],[0,0],[0,2]], k_mask [[true,false],[false,false],[false,true]]`},
		{"null for a list in a list", `[[1,2],null]`, optional(tensorOf(tensor.Int8, 2, 2)), `k [[[1,2],[0,0]]], k_mask [[[true,true],[false,false]]]`},
		{"no string", `"a" null - ""`, optional(text), `k ["a","","",""], k_mask [true,false,false,true]`},
		{"no list", `[1] null - []`, optional(lists(1)), `k [[1],[],[],[]], k_mask [true,false,false,true]`},
		{"no lists of lists", `[[1]] null - []`, optional(lists(2)), `k [[[1]],[],[],[]], k_mask [true,false,false,true]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Key = "k"
			require.Equal(t, tt.want, rows(t, fieldsOf(tt.json), tdict.Schema{tt.spec}, jsonl.ReadOptions{}))
		})
	}
}

// fieldsOf returns a row with a field k for each value, and without one for "-".
func fieldsOf(values string) string {
	var b strings.Builder
	for v := range strings.FieldsSeq(values) {
		if v == "-" {
			b.WriteString("{}\n")
		} else {
			b.WriteString(`{"k":` + v + "}\n")
		}
	}
	return b.String()
}

var nested = tdict.Schema{
	{Key: "id", DType: tensor.Int64},
	{Key: "obs/x", DType: tensor.Int64, Optional: true},
	{Key: nestedkey.Of("obs", "a/b"), DType: tensor.Int64, Optional: true},
	{Key: "empty", Kind: tdict.KindDict, Optional: true},
}

func TestObjects(t *testing.T) {
	text := `{"id":1,"obs":{"x":2,"a/b":3},"empty":{}}
{"obs":{"a\/b":4},"id":5}
{"empty":null,"obs":null,"id":6}`
	require.Equal(t, `id [1,5,6], obs/x [2,0,0], obs/x_mask [true,false,false], obs/a~1b [3,4,0], obs/a~1b_mask [true,true,false], empty_mask [true,false,false]`,
		rows(t, text, nested, jsonl.ReadOptions{}))
}

func TestLines(t *testing.T) {
	for name, text := range map[string]string{
		"newlines":               "{\"k\":1}\n{\"k\":2}\n",
		"no last newline":        "{\"k\":1}\n{\"k\":2}",
		"CRLF":                   "{\"k\":1}\r\n{\"k\":2}\r\n",
		"blank lines":            "\n \t\r\n{\"k\":1}\n\n\n{\"k\":2}\n\n ",
		"a byte order mark":      "\ufeff{\"k\":1}\n{\"k\":2}\n",
		"white space":            " { \"k\"\t: 1 } \n\t{\"k\":2}\r\n",
		"a line longer than 64k": "{\"k\":1" + strings.Repeat(" ", 1<<17) + "}\n{\"k\":2}\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := tdict.Schema{{Key: "k", DType: tensor.Int64}}
			require.Equal(t, "k [1,2]", rows(t, text, s, jsonl.ReadOptions{}))
			chunks, err := read(text, s, jsonl.ReadOptions{Rows: 1, Workers: 1})
			require.NoError(t, err)
			require.Len(t, chunks, 2)
		})
	}
	require.Empty(t, rows(t, " \n\n", nested, jsonl.ReadOptions{}))
}

func TestOptions(t *testing.T) {
	s := tdict.Schema{{Key: "x", DType: tensor.Int64}, {Key: "any", Kind: tdict.KindText}}
	text := `{"x":1,"any":"s","more":{"a":[1,"]"]}}
{"x":2,"any":[1.50, {"a" :"\ud83d\ude00"}]}
{"x":null,"any":true}
`
	opt := jsonl.ReadOptions{SkipUnknown: true, Raw: true, Fill: map[nestedkey.Key]string{"x": "-1"}}
	require.Equal(t, `x [1,2,-1], any ["s","[1.50, {\"a\" :\"\\ud83d\\ude00\"}]","true"]`, rows(t, text, s, opt))
}

func TestRefusals(t *testing.T) {
	ok := `{"k":1,"s":"","f":0,"d":[1,2],"v":[],"b":true}`
	s := tdict.Schema{
		{Key: "k", DType: tensor.Int8}, {Key: "s", Kind: tdict.KindText}, {Key: "f", DType: tensor.Float32},
		{Key: "d", DType: tensor.Int64, Shape: shapeops.Shape{2}},
		{Key: "v", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Shape: shapeops.Shape{2}},
		{Key: "b", DType: tensor.Bool},
	}
	with := func(field, value string) string {
		var parts []string
		for _, part := range []string{`"k":1`, `"s":""`, `"f":0`, `"d":[1,2]`, `"v":[]`, `"b":true`} {
			if strings.HasPrefix(part, `"`+field+`"`) {
				part = `"` + field + `":` + value
			}
			parts = append(parts, part)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	tests := []struct {
		name, line string
		want       error
	}{
		{"an integer out of range", with("k", "128"), jsonl.ErrValue},
		{"a fraction", with("k", "1.0"), jsonl.ErrValue},
		{"an exponent", with("k", "1e2"), jsonl.ErrValue},
		{"NaN for an integer", with("k", "NaN"), jsonl.ErrValue},
		{"a string for an integer", with("k", `"1"`), jsonl.ErrValue},
		{"a list for an integer", with("k", `[1]`), jsonl.ErrValue},
		{"true for an integer", with("k", "true"), jsonl.ErrValue},
		{"null", with("k", "null"), jsonl.ErrValue},
		{"a field that lacks", `{"k":1}`, jsonl.ErrValue},
		{"a number for a string", with("s", "1"), jsonl.ErrValue},
		{"a float out of range", with("f", "1e39"), jsonl.ErrValue},
		{"a string for a float", with("f", `"1"`), jsonl.ErrValue},
		{"a bool that is a number", with("b", "1"), jsonl.ErrValue},
		{"a list too short", with("d", "[1]"), jsonl.ErrValue},
		{"a list too long", with("d", "[1,2,3]"), jsonl.ErrValue},
		{"a number for a list", with("d", "1"), jsonl.ErrValue},
		{"a list too deep", with("d", "[[1,2],3]"), jsonl.ErrValue},
		{"null in a list", with("d", "[null,1]"), jsonl.ErrValue},
		{"null in a ragged list", with("v", "[null]"), jsonl.ErrValue},
		{"half a value", with("v", "[[1]]"), jsonl.ErrValue},
		{"a number where lists are", with("v", "7"), jsonl.ErrValue},
		{"an object for a list", with("v", `{"a":1}`), jsonl.ErrValue},
		{"a field twice", `{"k":1,"k":1}`, jsonl.ErrField},
		{"an unknown field", `{"z":1}`, jsonl.ErrField},
		{"a list for a row", `[1]`, jsonl.ErrSyntax},
		{"null for a row", `null`, jsonl.ErrSyntax},
		{"two objects", ok + ok, jsonl.ErrSyntax},
		{"an object that goes on", `{"k":1,`, jsonl.ErrSyntax},
		{"half of a pair", with("s", `"\ud83d"`), jsonl.ErrSyntax},
		{"bytes that are not UTF-8", with("s", "\"\xff\""), jsonl.ErrSyntax},
		{"a control character", with("s", "\"\x01\""), jsonl.ErrSyntax},
		{"a leading zero", with("k", "01"), jsonl.ErrSyntax},
		{"broken where another type is", with("k", `[1`), jsonl.ErrSyntax},
		{"nested too deep", with("v", strings.Repeat("[", 100)), jsonl.ErrSyntax},
		{"a line too long", with("s", `"`+strings.Repeat("x", 1<<10)+`"`), jsonl.ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(ok+"\n\n"+ok+"\n"+tt.line+"\n"+ok, s, jsonl.ReadOptions{MaxRecord: 1 << 9})
			testkit.Fails(t, tt.want, err)
			e, isParse := errors.AsType[*jsonl.ParseError](err)
			require.True(t, isParse)
			require.Equal(t, 4, e.Line)
			require.Equal(t, `k [1,1], s ["",""], f [0,0], d [[1,2],[1,2]], v [[],[]], b [true,true]`, values(t, chunks), "the rows before")
		})
	}
	t.Run("a nested key", func(t *testing.T) {
		_, err := read(`{"id":1,"obs":{"a/b":"x"}}`, nested, jsonl.ReadOptions{})
		testkit.Fails(t, jsonl.ErrValue, err)
	})
	t.Run("skipped and broken", func(t *testing.T) {
		_, err := read(`{"id":1,"z":{"a":tru}}`, nested, jsonl.ReadOptions{SkipUnknown: true})
		testkit.Fails(t, jsonl.ErrSyntax, err)
	})
	t.Run("a value in a deep list, raw", func(t *testing.T) {
		_, err := read(`{"s":`+strings.Repeat("[", 64), tdict.Schema{{Key: "s", Kind: tdict.KindText}}, jsonl.ReadOptions{Raw: true})
		testkit.Fails(t, jsonl.ErrSyntax, err)
	})
	t.Run("bytes that are not UTF-8, raw", func(t *testing.T) {
		_, err := read("{\"s\":[\"\xff\"]}", tdict.Schema{{Key: "s", Kind: tdict.KindText}}, jsonl.ReadOptions{Raw: true})
		testkit.Fails(t, jsonl.ErrSyntax, err)
	})
}
