package jsonl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestHints: what is inferred with a hint is read, and written as it came.
func TestHints(t *testing.T) {
	dtype := func(d tensor.DType) jsonl.Hints {
		return jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{"k": d}}
	}
	dates := func(layout string) jsonl.Hints { return jsonl.Hints{Dates: map[nestedkey.Key]string{"k": layout}} }
	codes := jsonl.Hints{Categories: map[nestedkey.Key]bool{"k": true}}
	tests := []struct {
		name, rows string
		hints      jsonl.Hints
		explain    string
	}{
		{"dates of ISO 8601", `"2024-02-29" "1969-12-31" null`, jsonl.Hints{}, `"k": times as "2006-01-02" in d, 2 of 3 rows, 1 null: dates from 1969-12-31 to 2024-02-29`},
		{"in lists", `["2024-02-29"] [] ["2023-01-01",null]`, jsonl.Hints{}, `"k": times as "2006-01-02" in d, 3 of 3 rows: lists of 0 to 2 dates from 2023-01-01 to 2024-02-29`},
		{"asked for", `"2024-02-29T01:02:03Z"`, dates(""), `"k": times as "2006-01-02T15:04:05Z" in s, 1 of 1 rows: times from 2024-02-29T01:02:03Z to 2024-02-29T01:02:03Z`},
		{"of a layout", `"29.02.2024" "01.03.2024"`, dates("02.01.2006"), `"k": times as "02.01.2006" in d, 2 of 2 rows: times`},
		{"categories", `"m" "f" "m"`, codes, `"k": 2 categories, 3 of 3 rows: strings, 2 different`},
		{"in lists", `["m"] [] ["f","m"]`, codes, `"k": 2 categories, 3 of 3 rows: lists of 0 to 2 strings, 2 different`},
		{"a dtype", `1 2 null`, dtype(tensor.Int8), `"k": int8, 2 of 3 rows, 1 null: values as int8`},
		{"in lists", `[1.5] [] [2.5,"NaN"]`, dtype(tensor.Float32), `"k": float32, 3 of 3 rows: lists of 0 to 2 values as float32`},
		{"no values", `null null`, dtype(tensor.Int8), `"k": int8, 0 of 2 rows, 2 null: values as int8`},
		{"bools", `true false`, dtype(tensor.Bool), `"k": bool, 2 of 2 rows: values as bool`},
		{"text", `"1" "2"`, dtype(0), `"k": text, 2 of 2 rows: texts`},
		{"text that would be dates", `"2024-02-29"`, dtype(0), `"k": text, 1 of 1 rows: texts`},
		{"float32", `1.5 2`, jsonl.Hints{Float32: true}, `"k": float32, 2 of 2 rows: numbers from 1.5 to 2`},
		{"nearly dates", `"2024-02-29" "2023-01-01" "2023-01-02" "soon"`, jsonl.Hints{}, `"k": text, 4 of 4 rows: strings; 1 of 4 values are not dates as 2006-01-02, first "soon" in line 4`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, text := jsonl.Inferrer{Hints: tt.hints}, fieldsOf(tt.rows)
			require.NoError(t, in.Add(strings.NewReader(text), 0))
			s, err := in.Schema()
			require.NoError(t, err)
			require.Equal(t, []string{tt.explain}, in.Explain())
			again(t, text, s)
		})
	}
}

func TestHintRefusals(t *testing.T) {
	k := nestedkey.Key("k")
	tests := []struct {
		name, rows string
		hints      jsonl.Hints
		line       int
	}{
		{"a number for a category", `"a" 1`, jsonl.Hints{Categories: map[nestedkey.Key]bool{k: true}}, 2},
		{"a string for a number", `1 "1"`, jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{k: tensor.Int8}}, 2},
		{"a number out of range", `1 [[300]]`, jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{k: tensor.Int8}}, 2},
		{"a number for a bool", `1`, jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{k: tensor.Bool}}, 1},
		{"a string for a float", `"x"`, jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{k: tensor.Float32}}, 1},
		{"no such date", `"2024-01-01" "2023-02-29"`, jsonl.Hints{Dates: map[nestedkey.Key]string{k: "2006-01-02"}}, 2},
		{"no date of ISO 8601", `"2024-01-01" "soon"`, jsonl.Hints{Dates: map[nestedkey.Key]string{k: ""}}, 2},
		{"a number for a date", `"2024-01-01" 3`, jsonl.Hints{Dates: map[nestedkey.Key]string{k: "2006-01-02"}}, 2},
		{"lists and numbers", `1 [2]`, jsonl.Hints{DTypes: map[nestedkey.Key]tensor.DType{k: tensor.Int8}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := jsonl.Inferrer{Hints: tt.hints}
			err := in.Add(strings.NewReader(fieldsOf(tt.rows)), 0)
			if err == nil {
				_, err = in.Schema()
			}
			testkit.Fails(t, jsonl.ErrValue, err)
			if e, isParse := errors.AsType[*jsonl.ParseError](err); isParse {
				require.Equal(t, tt.line, e.Line)
				require.Equal(t, k, e.Key)
			} else {
				require.Zero(t, tt.line)
			}
		})
	}
	t.Run("a hint without a field", func(t *testing.T) {
		in := jsonl.Inferrer{Hints: jsonl.Hints{Categories: map[nestedkey.Key]bool{"z": true}}}
		require.NoError(t, in.Add(strings.NewReader(`{"k":1}`), 0))
		testkit.Fails(t, tdict.ErrSchema, testkit.Err(in.Schema()))
	})
}

// TestLimits: a record may be longer and deeper than the defaults if the program says so.
func TestLimits(t *testing.T) {
	deep := `{"k":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}\n"
	in := jsonl.Inferrer{MaxDepth: 3000}
	require.NoError(t, in.Add(strings.NewReader(deep), 0))
	s := tdict.Schema{{Key: "k", Kind: tdict.KindText}}
	require.NoError(t, testkit.Err(read(deep, s, jsonl.ReadOptions{Raw: true, MaxDepth: 3000})))
	require.NoError(t, testkit.Err(read(deep, nil, jsonl.ReadOptions{SkipUnknown: true, MaxDepth: 3000})))
	require.ErrorIs(t, testkit.Err(read(deep, s, jsonl.ReadOptions{Raw: true, MaxDepth: 2000})), jsonl.ErrSyntax)
	in = jsonl.Inferrer{MaxRecord: 100}
	require.ErrorIs(t, in.Add(strings.NewReader(deep), 0), jsonl.ErrTooLong)
}
