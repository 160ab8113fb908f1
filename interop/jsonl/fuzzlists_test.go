package jsonl_test

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/jsonl"
)

// FuzzLists infers, reads and writes rows, and compares what is written with what was read, by
// encoding/json: a field that was missing is null.
func FuzzLists(f *testing.F) {
	f.Add(`{"codes":[{"name":"a","day":3,"t":[{"c":1}]},null,{"day":null,"t":[null]}],"l":[["x"],null,[]]}` + "\n" + `{"codes":null}`)
	f.Add(`{"a":[[1,2],[3,null]],"b":{"c":[{}]}}` + "\n" + `{"a":[null,[null,null]]}`)
	f.Add(`[{"k":[{"v":[true]},{"v":null}]},{"k":[]}]`)
	f.Add(`{"d":["2024-01-02"],"e":{"f":{}}}` + "\n" + `{"d":[],"e":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in jsonl.Inferrer
		if err := in.Add(strings.NewReader(text), 0); err != nil {
			_, ok := errors.AsType[*jsonl.ParseError](err)
			require.True(t, ok)
			return
		}
		s, err := in.Schema()
		require.NoError(t, err)
		tds, err := read(text, s, jsonl.ReadOptions{Raw: true, Rows: 2})
		if errors.Is(err, jsonl.ErrSyntax) { // not UTF-8 in a raw text
			return
		}
		require.NoError(t, err)
		out := written(t, s, jsonl.WriteOptions{}, tds...)
		for _, note := range in.Notes() {
			if strings.Contains(note, "becomes text") { // its JSON is written as a string
				return
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			return
		}
		want, ok := decoded(text)
		if !ok {
			return
		}
		got, ok := decoded(out)
		require.True(t, ok)
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.True(t, same(want[i], got[i]), "row %d of %q is written as\n%s", i, text, out)
		}
	})
}

// decoded returns the objects of a file. ok is false if encoding/json refuses it.
func decoded(text string) (all []any, ok bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		return all, d.Decode(&all) == nil
	}
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return all, true
		} else if err != nil {
			return nil, false
		}
		all = append(all, v)
	}
}

// same reports whether a value is written as another: numbers in another notation, and fields that
// were missing as null.
func same(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		out, ok := got.(map[string]any)
		for name := range want {
			_, has := out[name]
			ok = ok && has
		}
		for name := range out {
			ok = ok && same(want[name], out[name])
		}
		return ok
	case []any:
		out, ok := got.([]any)
		ok = ok && len(want) == len(out)
		for i := 0; ok && i < len(want); i++ {
			ok = same(want[i], out[i])
		}
		return ok
	case json.Number:
		out, ok := got.(json.Number)
		a, err := strconv.ParseFloat(string(want), 64)
		b, err2 := strconv.ParseFloat(string(out), 64)
		return ok && err == nil && err2 == nil && a == b
	}
	return want == got
}
