package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var keyed = tdict.Schema{{Key: "k", DType: tensor.Int64}}

// TestNotLines: an array of objects, and objects of several lines, have the rows of lines.
func TestNotLines(t *testing.T) {
	for name, text := range map[string]string{
		"lines":                    "{\"k\":1}\n{\"k\":2}\n",
		"an array":                 `[{"k":1},{"k":2}]`,
		"with spaces":              "\ufeff \r\n [ {\"k\":1} ,\r\n\t{\"k\":2} ]\r\n",
		"an object a line":         "[\n{\"k\":1},\n{\"k\":2}\n]\n",
		"with commas first":        "[{\"k\":1}\n,{\"k\":2}\n]\n",
		"of several lines":         "[\n  {\n    \"k\": 1\n  },\n  {\n    \"k\": 2\n  }\n]\n",
		"objects of several lines": "{\n  \"k\": 1\n}\n{\n  \"k\": 2\n}\n",
		"without a line between":   "\n{\n\"k\":1}{\"k\":2\n}",
		"a line of more than 64k":  `{"k":1` + strings.Repeat(" ", 1<<17) + "}\n{\"k\":2}\n",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "k [1,2]", rows(t, text, keyed, jsonl.ReadOptions{}))
			tds, err := tabletest.Clones(jsonl.Read(bg, iotest.OneByteReader(strings.NewReader(text)), keyed, jsonl.ReadOptions{Rows: 1}))
			require.NoError(t, err)
			require.Equal(t, "k [1,2]", values(t, tds))
			require.Equal(t, "2 of 2 rows: integers from 1 to 2", tensor.Must(jsonl.Infer(iotest.DataErrReader(strings.NewReader(text)), 0))[0].Doc)
		})
	}
	require.Empty(t, rows(t, " [ \n ] ", keyed, jsonl.ReadOptions{}))
	strange := `[{"k":"]},{\"\\"},{"k":"[\\\\"}]`
	require.Equal(t, `k ["]},{\"\\","[\\\\"]`, rows(t, strange, tdict.Schema{{Key: "k", Kind: tdict.KindText}}, jsonl.ReadOptions{}))
}

// TestNotLinesRefusals: errors have the line in the file, and the rows before them are read.
func TestNotLinesRefusals(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
		want       error
	}{
		{"a value that does not fit", "[{\"k\":1},\n\n {\n  \"k\": \"x\"}, {\"k\":3}]", 4, jsonl.ErrValue},
		{"a value on the same line", "\n[{\"k\":1}, {\"k\":true}]", 2, jsonl.ErrValue},
		{"a value in an object of several lines", "{\n\"k\":1}\n\n{\n\"k\":\n\n1.5}", 7, jsonl.ErrValue},
		{"no comma", "[{\"k\":1}\n{\"k\":2}]", 2, jsonl.ErrSyntax},
		{"two commas", "[{\"k\":1},\n,{\"k\":2}]", 2, jsonl.ErrSyntax},
		{"a comma at the end", "[{\"k\":1},\n]", 2, jsonl.ErrSyntax},
		{"a comma at the beginning", "[{\"k\":1}][,", 1, jsonl.ErrSyntax},
		{"no end", "[{\"k\":1},\n{\"k\":2", 2, jsonl.ErrSyntax},
		{"no end after a value", "[{\"k\":1}\n", 2, jsonl.ErrSyntax},
		{"more after the end", "[{\"k\":1}]\n[]", 2, jsonl.ErrSyntax},
		{"no object", "[{\"k\":1},\n7 , {\"k\":1}]", 2, jsonl.ErrSyntax},
		{"a string", "[{\"k\":1},\n\"7\"]", 2, jsonl.ErrSyntax},
		{"a list", "[{\"k\":1},\n[7]]", 2, jsonl.ErrSyntax},
		{"a line end in quotes", "[{\"k\":1},{\"\n\":1}]", 1, jsonl.ErrSyntax},
		{"brackets that do not fit", "[{\"k\":1},\n{\"k\":[1}]}]", 2, jsonl.ErrSyntax},
		{"a bracket too many", "{\n\"k\":1}\n}", 3, jsonl.ErrSyntax},
		{"an object that goes on after one that does not", "{\"k\":1}\n{\n\"k\":2}", 2, jsonl.ErrSyntax},
		{"too long", "[{\"k\":1},\n{\n\"k\":" + strings.Repeat(" ", 1000) + "2}]", 1, jsonl.ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tds, err := read(tt.text, keyed, jsonl.ReadOptions{MaxRecord: 500})
			testkit.Fails(t, tt.want, err)
			e, _ := errors.AsType[*jsonl.ParseError](err)
			require.Equal(t, tt.line, e.Line)
			require.Equal(t, "k [1]", values(t, tds))
			if tt.want == jsonl.ErrSyntax {
				err := testkit.Err(jsonl.Infer(strings.NewReader(tt.text), 0))
				require.ErrorIs(t, err, tt.want)
				e, _ := errors.AsType[*jsonl.ParseError](err)
				require.Equal(t, tt.line, e.Line)
			}
		})
	}
}

// FuzzDocument reads an array as encoding/json splits it, in parts of any size.
func FuzzDocument(f *testing.F) {
	f.Add(`[{"k":1},{"k":"]\"}"},{}]`, uint64(1))
	f.Add("{\n\"k\":[1,{}]}\n{\n}", uint64(2))
	f.Add(`[{"k":1}{`, uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		s := tdict.Schema{{Key: "k", Kind: tdict.KindText, Optional: true}}
		opt := jsonl.ReadOptions{Raw: true, SkipUnknown: true, Workers: 1, MaxRecord: 1 << 16}
		tds, err := read(text, s, opt)
		parts, err2 := tabletest.Clones(jsonl.Read(bg, &someBytes{strings.NewReader(text), rand.New(rand.NewPCG(seed, 0))}, s, opt))
		require.Equal(t, err == nil, err2 == nil)
		require.Equal(t, len(tds), len(parts))
		for i := range tds {
			require.True(t, tds[i].Equal(parts[i]))
		}
		if err != nil {
			require.Equal(t, err.Error(), err2.Error())
			return
		}
		n := 0
		for _, td := range tds {
			n += td.Shape()[0]
		}
		text = strings.TrimPrefix(text, "\ufeff")
		if text := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(text, "[") {
			var want []map[string]json.RawMessage
			if json.Unmarshal([]byte(text), &want) == nil { // what is lenient here is refused there
				require.Equal(t, len(want), n)
			}
			return
		}
		d, want := json.NewDecoder(strings.NewReader(text)), 0
		for ; ; want++ {
			var v map[string]json.RawMessage
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				return
			}
		}
		require.Equal(t, want, n)
	})
}

// A someBytes reads a random number of bytes at a time.
type someBytes struct {
	r   io.Reader
	rng *rand.Rand
}

func (s *someBytes) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 1+s.rng.IntN(20))]) }

// BenchmarkForms reads the same rows as lines, as an array on one line, and as an array of many.
func BenchmarkForms(b *testing.B) {
	lines := bytes.TrimSpace(linesOf(made(20_000)))
	array := append(append([]byte("["), bytes.ReplaceAll(lines, []byte("\n"), []byte(","))...), ']')
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, array, "", "  "); err != nil {
		b.Fatal(err)
	}
	for _, form := range []struct {
		name string
		text []byte
	}{{"lines", lines}, {"array", array}, {"pretty", pretty.Bytes()}} {
		b.Run("form="+form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.text)))
			for b.Loop() {
				for _, err := range jsonl.Read(bg, bytes.NewReader(form.text), visits, jsonl.ReadOptions{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
