package jsonl_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// written returns what Write writes.
func written(t testing.TB, s tdict.Schema, opt jsonl.WriteOptions, tds ...*tdict.TensorDict) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jsonl.Write(bg, &b, s, chunks(tds...), opt))
	return b.String()
}

func TestWrite(t *testing.T) {
	text := `{"id":1,"obs":{"x":2,"a/b":3},"empty":{}}
{"id":5,"obs":{"x":null,"a/b":4},"empty":{}}
`
	td := tensor.Must(read(text, nested, jsonl.ReadOptions{}))
	require.Equal(t, text, written(t, nested, jsonl.WriteOptions{}, td...))
	require.Equal(t, text+text, written(t, nested, jsonl.WriteOptions{}, td[0], td[0]))
	require.Empty(t, written(t, nested, jsonl.WriteOptions{}))
	require.Empty(t, written(t, nested, jsonl.WriteOptions{}, tensor.Must(nested.Zeros(0))))
	require.Equal(t, `{"id":0,"obs":{"x":0,"a/b":0},"empty":{}}`+"\n", written(t, nested, jsonl.WriteOptions{}, tensor.Must(nested.Zeros(1))), "no mask: nothing is missing")
}

func TestExtremes(t *testing.T) {
	s := tdict.Schema{{Key: "f", DType: tensor.Float64}, {Key: "u", DType: tensor.Uint64}, {Key: "c", DType: tensor.Complex128}}
	td := tensor.Must(tdict.FromMap(shapeops.Shape{5}, tdict.Entries{
		"f": tensor.Vector(math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64),
		"u": tensor.Vector[uint64](0, 1<<53+1, math.MaxUint64, 10, 1e19),
		"c": tensor.Vector(0, complex(math.NaN(), math.Inf(-1)), 1-2i, 1e100, 3i),
	}))
	require.Equal(t, `{"f":"NaN","u":0,"c":"(0+0i)"}
{"f":"+Inf","u":9007199254740993,"c":"(NaN-Infi)"}
{"f":"-Inf","u":18446744073709551615,"c":"(1-2i)"}
{"f":-0.0,"u":10,"c":"(1e+100+0i)"}
{"f":5e-324,"u":10000000000000000000,"c":"(0+3i)"}
`, written(t, s, jsonl.WriteOptions{}, td))
}

// TestWriteRefusals: a text that is not UTF-8 is an error with its line.
func TestWriteRefusals(t *testing.T) {
	s := tdict.Schema{{Key: "a", Kind: tdict.KindText}}
	bad := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"a": tensor.Must(ragged.FromStrings([]string{"fine", "\xff"}))}))
	err := jsonl.Write(bg, io.Discard, s, chunks(tensor.Must(bad.Narrow(0, 0, 1)), bad), jsonl.WriteOptions{})
	testkit.Fails(t, jsonl.ErrValue, err)
	e, _ := errors.AsType[*jsonl.ParseError](err)
	require.Equal(t, 3, e.Line)
}
