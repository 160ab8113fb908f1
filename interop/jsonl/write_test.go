package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
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

func TestWriteOptions(t *testing.T) {
	s := tdict.Schema{{Key: "color", Kind: tdict.KindText}, {Key: "day", DType: tensor.Int64}}
	codes := map[nestedkey.Key]*ragged.TextCodes{"color": {}}
	times := map[nestedkey.Key]jsonl.Time{"day": {Layout: time.DateOnly, Unit: 24 * time.Hour}}
	text := `{"color":"red","day":"1970-01-03"}
{"color":"\"blue\"\n","day":"1969-12-31"}
`
	td := tensor.Must(read(text, s, jsonl.ReadOptions{Categories: codes, Times: times}))
	require.Equal(t, text, written(t, s, jsonl.WriteOptions{Categories: codes, Times: times}, td...))
}

// TestRoundTrip writes random tables and reads them back.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		roundTrip(t, rand.New(rand.NewPCG(seed, 0)))
	}
}

func roundTrip(t *testing.T, rng *rand.Rand) {
	s := tabletest.Schema(rng, 3)
	td := tabletest.Rows(rng, s, rng.IntN(8))
	text := written(t, s, jsonl.WriteOptions{}, td)
	for line := range strings.Lines(text) {
		require.True(t, json.Valid([]byte(line)))
	}
	got, err := read(text, s, jsonl.ReadOptions{Rows: 100})
	require.NoError(t, err)
	if td.Shape()[0] == 0 {
		require.Empty(t, got)
		return
	}
	require.Equal(t, tabletest.Bits(td), tabletest.Bits(got[0]))
}

// TestViews: rows that are picked and turned are written as they are.
func TestViews(t *testing.T) {
	text := linesOf(made(10))
	td := tensor.Must(read(string(text), visits, jsonl.ReadOptions{}))[0]
	lines := bytes.SplitAfter(text, []byte("\n"))
	picked := tensor.Must(td.Index(ix.Range(3, 7)))
	require.JSONEq(t, string(lines[3]), strings.SplitAfter(written(t, visits, jsonl.WriteOptions{}, picked), "\n")[0])
	picked = tensor.Must(td.Index(ix.Take(9, 2, 2)))
	require.JSONEq(t, string(lines[2]), strings.SplitAfter(written(t, visits, jsonl.WriteOptions{}, picked), "\n")[1])
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

func TestWriteRefusals(t *testing.T) {
	s := tdict.Schema{{Key: "a", Kind: tdict.KindText}}
	bad := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"a": tensor.Must(ragged.FromStrings([]string{"fine", "\xff"}))}))
	write := func(s tdict.Schema, opt jsonl.WriteOptions, tds ...*tdict.TensorDict) error {
		return jsonl.Write(bg, io.Discard, s, chunks(tds...), opt)
	}
	t.Run("bytes that are not UTF-8", func(t *testing.T) {
		err := write(s, jsonl.WriteOptions{}, tensor.Must(bad.Narrow(0, 0, 1)), bad)
		testkit.Fails(t, jsonl.ErrValue, err)
		e, _ := errors.AsType[*jsonl.ParseError](err)
		require.Equal(t, 3, e.Line)
	})
	t.Run("another dtype", func(t *testing.T) {
		testkit.Fails(t, tdict.ErrSchema, write(tdict.Schema{{Key: "a", DType: tensor.Int8}}, jsonl.WriteOptions{}, bad))
	})
	t.Run("two batch dims", func(t *testing.T) {
		testkit.Fails(t, shapeops.ErrDim, write(nested[:1], jsonl.WriteOptions{}, tensor.Must(nested[:1].Zeros(2, 2))))
	})
	t.Run("a schema of Data", func(t *testing.T) {
		testkit.Fails(t, tdict.ErrSchema, write(tdict.Schema{{Key: "a", Kind: tdict.KindData}}, jsonl.WriteOptions{}))
	})
	mine := errors.New("mine")
	require.ErrorIs(t, jsonl.Write(bg, failing{mine}, nested, chunks(tensor.Must(nested.Zeros(1))), jsonl.WriteOptions{}), mine)
	require.ErrorIs(t, jsonl.Write(bg, io.Discard, nested, func(yield func(*tdict.TensorDict, error) bool) { yield(nil, mine) }, jsonl.WriteOptions{}), mine)
}

// failing is a Writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestPythonReads has Python's json read every line of random tables.
func TestPythonReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := tabletest.Schema(rng, 3)
	cmd := processkit.PythonCommand(t, "-c", "import sys, json\nfor l in sys.stdin.buffer: sys.stdout.write(json.dumps(json.loads(l)) + '\\n')")
	td := tabletest.Rows(rng, s, 50)
	text := written(t, s, jsonl.WriteOptions{}, td)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(t, err)
	back := tensor.Must(read(string(out), s, jsonl.ReadOptions{}))
	require.Equal(t, tabletest.Bits(td), tabletest.Bits(back[0]), "Python keeps what it reads")
}
