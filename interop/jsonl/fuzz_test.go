package jsonl_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fuzzed is a row of fuzzedSchema for encoding/json.
type fuzzed struct {
	I *int16       `json:"i"`
	F *json.Number `json:"f"`
	S *string      `json:"s"`
	D *[2]uint8    `json:"d"`
	V *[][2]int64  `json:"v"`
	O *struct {
		B *bool `json:"b"`
	} `json:"o"`
}

var fuzzedSchema = tdict.Schema{
	{Key: "i", DType: tensor.Int16},
	{Key: "f", DType: tensor.Float64},
	{Key: "s", Kind: tdict.KindText},
	{Key: "d", DType: tensor.Uint8, Shape: []int{2}},
	{Key: "v", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Shape: []int{2}},
	{Key: "o/b", DType: tensor.Bool},
}

// FuzzRead reads what encoding/json reads, and the same, but for what the package documents. What
// is read is written, and read back equal.
func FuzzRead(f *testing.F) {
	f.Add(`{"i":-7,"f":1.5e3,"s":"a\u00e9\ud83d\ude00","d":[1,2],"v":[[1,2],[3,4]],"o":{"b":true}}`)
	f.Add(`{"o":{"b":false,"z":[1,{"a":null}]},"v":[],"d":[0,255],"s":"","f":-0,"i":0,"more":"\uzzzz"}` + "\r\n\n{}")
	f.Add(`{"i":1.0,"i":1}`)
	f.Add("\f")
	f.Fuzz(func(t *testing.T, text string) {
		opt := jsonl.ReadOptions{SkipUnknown: true, MaxRecord: 1 << 16}
		var got []*tdict.TensorDict
		var err error
		if testkit.Allocated(func() { got, err = read(text, fuzzedSchema, opt) }) > 4<<20 {
			t.Fatal("much memory")
		}
		n := 0
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
			if strings.Trim(line, " \t\r") == "" {
				continue
			}
			var want fuzzed
			refused := unmarshal(line, &want)
			if len(got) > 0 && n < got[0].Shape()[0] {
				if refused == nil {
					compare(t, got[0], n, want)
				} else if !lenient(line) {
					t.Fatalf("read %q, which is %v", line, refused)
				}
				n++
				continue
			}
			if refused == nil && err == nil {
				t.Fatalf("%q is lacking", line)
			}
			if refused == nil && complete(want) && !strict(line) {
				t.Fatalf("%q is refused: %v", line, err)
			}
			break
		}
		if err != nil {
			_, ok := errors.AsType[*jsonl.ParseError](err)
			require.True(t, ok)
		}
		if len(got) > 0 {
			again := tensor.Must(read(written(t, fuzzedSchema, jsonl.WriteOptions{}, got...), fuzzedSchema, opt))
			require.Equal(t, tabletest.Bits(got[0]), tabletest.Bits(again[0]))
		}
	})
}

// unmarshal reads a line by encoding/json.
func unmarshal(line string, to *fuzzed) error {
	d := json.NewDecoder(strings.NewReader(line))
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("trailing data")
	}
	return nil
}

// lenient reports whether a line may have what encoding/json refuses: words for numbers.
func lenient(line string) bool {
	return strings.Contains(line, "NaN") || strings.Contains(line, "Inf")
}

// complete reports whether a row has all that the schema says.
func complete(w fuzzed) bool {
	return w.I != nil && w.F != nil && w.S != nil && w.D != nil && w.V != nil && w.O != nil && w.O.B != nil
}

// strict reports whether a line may have what encoding/json takes: bytes that are not UTF-8, halves
// of characters, fields twice or in another case, numbers beyond a float, a number as a string,
// lists of other lengths, null in a list, and what is nested deep.
func strict(line string) bool {
	if !utf8.ValidString(line) || strings.Contains(line, `\u`) || strings.Contains(line, "null") || len(line) > 1<<15 {
		return true
	}
	names := 0
	for _, name := range []string{"i", "f", "s", "d", "v", "o", "b"} {
		names += strings.Count(line, `"`+name+`"`)
	}
	var w struct {
		F json.RawMessage
		D []json.RawMessage
		V [][]json.RawMessage
	}
	if json.Unmarshal([]byte(line), &w) != nil || names != 7 || len(w.D) != 2 || strings.HasPrefix(string(w.F), `"`) {
		return true
	}
	for _, pair := range w.V {
		if len(pair) != 2 {
			return true
		}
	}
	var f float64
	return json.Unmarshal(w.F, &f) != nil || strings.Count(line, "[")+strings.Count(line, "{") > 60
}

// compare compares a row with what encoding/json read.
func compare(t *testing.T, got *tdict.TensorDict, i int, w fuzzed) {
	if lenientOrTwice := !complete(w); lenientOrTwice {
		t.Fatal("a field lacks")
	}
	require.Equal(t, *w.I, tensor.Must(tdict.Slice[int16](got, "i"))[i])
	want, err := w.F.Float64()
	require.NoError(t, err)
	require.Equal(t, math.Float64bits(want), math.Float64bits(tensor.Must(tdict.Slice[float64](got, "f"))[i]))
	texts := tensor.Must(got.Get("s")).(*ragged.Tensor)
	require.Equal(t, *w.S, tensor.Must(ragged.StringAt(texts, i)))
	require.Equal(t, w.D[:], tensor.Must(tdict.Slice[uint8](got, "d"))[2*i:2*i+2])
	require.Equal(t, *w.O.B, tensor.Must(tdict.Slice[bool](got, "o/b"))[i])
	lists := tensor.Must(tensor.Must(got.Get("v")).(*ragged.Tensor).Values())
	offsets := tensor.Must(tensor.Must(got.Get("v")).(*ragged.Tensor).Layout().Offsets(1))
	var flat []int64
	for _, pair := range *w.V {
		flat = append(flat, pair[:]...)
	}
	require.Equal(t, flat, append([]int64(nil), testkit.Elements[int64](t, lists)[2*offsets[i]:2*offsets[i+1]]...))
}

// FuzzInfer reads what was inferred.
func FuzzInfer(f *testing.F) {
	f.Add(`{"a":[[1,2],[null]],"b":{"c":"x"}}` + "\n" + `{"a":1e999,"b":null}`)
	f.Add("\v")
	f.Add(`{"a":[],"b":{}}` + "\n" + `{"a":[[]],"b":[{}],"c":NaN}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := jsonl.Infer(strings.NewReader(text), 0)
		if err != nil {
			_, ok := errors.AsType[*jsonl.ParseError](err)
			require.True(t, ok)
			return
		}
		_, err = read(text, s, jsonl.ReadOptions{Raw: true})
		if strings.Contains(text, "_mask") || errors.Is(err, jsonl.ErrSyntax) { // not UTF-8 in a raw text
			return
		}
		require.NoError(t, err)
	})
}
