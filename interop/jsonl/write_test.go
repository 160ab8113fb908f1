package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
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

// anySchema returns a random schema, of every dtype, and ragged tensors of depth 1 to 3.
func anySchema(rng *rand.Rand) (s tdict.Schema) {
	sizes := func() (shape shapeops.Shape) {
		for range rng.IntN(3) {
			shape = append(shape, 1+rng.IntN(3))
		}
		return shape
	}
	for i, d := range append(tensor.DTypes(), 0) {
		for depth := range 4 {
			spec := tdict.Spec{DType: d, Depth: depth, Shape: sizes(), Optional: rng.IntN(2) == 0}
			spec.Key = nestedkey.Of([]string{"a", `"b"/é`, ""}[rng.IntN(3)], fmt.Sprint(i), fmt.Sprint(depth))
			switch {
			case d == 0 && depth > 0:
				continue
			case d == 0:
				spec.Kind = tdict.KindText
			case depth > 0:
				spec.Kind = tdict.KindRagged
			}
			s = append(s, spec)
		}
	}
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// anyTable returns random rows of a schema. What is missing is zero, as it is when it is read.
func anyTable(rng *rand.Rand, s tdict.Schema, n int) *tdict.TensorDict {
	td := tdict.New(n)
	for _, spec := range s {
		batch := shapeops.Shape{n}
		if spec.Kind != tdict.KindRagged {
			batch = append(batch, spec.Shape...)
		}
		present := make([]bool, batch.Size())
		for i := range present {
			present[i] = !spec.Optional || rng.IntN(3) > 0
		}
		must(td.Set(spec.Key, anyValue(rng, spec, batch, present)))
		if spec.Optional {
			must(td.Set(spec.Key+"_mask", tensor.Must(tensor.From(present, batch...))))
		}
	}
	return td
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// anyValue returns a random value.
func anyValue(rng *rand.Rand, spec tdict.Spec, batch shapeops.Shape, present []bool) tdict.Value {
	switch spec.Kind {
	case tdict.KindText:
		texts := make([]string, len(present))
		for i := range texts {
			if present[i] {
				texts[i] = []string{"", "plain", "é😀\u2028", "\"\\\x00\x1f\n", "NaN", "null"}[rng.IntN(6)]
			}
		}
		return tensor.Must(ragged.FromStrings(texts, batch...))
	case tdict.KindRagged:
		l := tensor.Must(ragged.NewLayout(batch))
		for rows, level := len(present), 0; level < spec.Depth; level++ {
			offsets := make([]int64, rows+1)
			for i := range rows {
				if offsets[i+1] = offsets[i]; level > 0 || present[i] {
					offsets[i+1] += int64(rng.IntN(4))
				}
			}
			l, rows = tensor.Must(l.Nest(offsets)), int(offsets[rows])
			if level == spec.Depth-1 {
				return tensor.Must(ragged.New(anyTensor(rng, spec.DType, append(shapeops.Shape{rows}, spec.Shape...), nil), l))
			}
		}
	}
	return anyTensor(rng, spec.DType, batch, present)
}

// anyTensor returns a tensor of random bits: extremes, subnormal numbers, and infinities are there.
func anyTensor(rng *rand.Rand, d tensor.DType, shape shapeops.Shape, present []bool) *tensor.Tensor {
	b := make([]byte, shape.Size()*d.Size())
	for i := range shape.Size() {
		if present != nil && !present[i] {
			continue
		}
		one := b[i*d.Size() : (i+1)*d.Size()]
		fill := byte(rng.IntN(256))
		for k := range one {
			if one[k] = byte(rng.IntN(256)); rng.IntN(4) == 0 {
				one[k] = fill
			}
			if d == tensor.Bool {
				one[k] &= 1
			}
		}
	}
	return tensor.Must(tensor.FromBytes(d, b, shape...))
}

// TestRoundTrip writes random tables and reads them back.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		roundTrip(t, rand.New(rand.NewPCG(seed, 0)))
	}
}

func roundTrip(t *testing.T, rng *rand.Rand) {
	s := anySchema(rng)
	td := anyTable(rng, s, rng.IntN(8))
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
	require.Equal(t, bits(td), bits(got[0]))
}

// bits returns a line of JSON for each leaf, sorted: the same for equal elements, NaN of any payload.
func bits(td *tdict.TensorDict) string {
	var lines []string
	for key, v := range td.Leaves() {
		lines = append(lines, string(key)+" "+string(tensor.Must(json.Marshal(v))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
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
{"f":-0,"u":10,"c":"(1e+100+0i)"}
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
	exe := os.Getenv("TENSORDICT_PYTHON")
	if exe == "" {
		t.Skip("TENSORDICT_PYTHON names no Python")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s := anySchema(rng)
	cmd := exec.Command(exe, "-c", "import sys, json\nfor l in sys.stdin.buffer: sys.stdout.write(json.dumps(json.loads(l)) + '\\n')")
	td := anyTable(rng, s, 50)
	text := written(t, s, jsonl.WriteOptions{}, td)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(t, err)
	back := tensor.Must(read(string(out), s, jsonl.ReadOptions{}))
	require.Equal(t, bits(td), bits(back[0]), "Python keeps what it reads")
}
