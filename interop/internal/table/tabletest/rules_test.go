package tabletest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	enc "encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A chunks yields dictionaries of rows.
type chunks = iter.Seq2[*tdict.TensorDict, error]

// An options is ReadOptions of any form.
type options struct {
	rows, workers, most int
	skip                bool
	table.Options
}

// A form has the functions of a package.
type form struct {
	name    string
	deepest int // depth of ragged tensors
	read    func(ctx context.Context, r io.Reader, s tdict.Schema, opt options) chunks
	write   func(ctx context.Context, w io.Writer, s tdict.Schema, rows chunks, opt table.Options) error
	infer   func(r io.Reader, n int) (tdict.Schema, error)
	schema  func(s tdict.Schema, opt table.Options) (tdict.Schema, error) // ChunkSchema
	valid   func(text string) error                                       // asks another reader
	many    func(n int) string                                            // a table of n columns
	hostile []string                                                      // beginnings of files, each with what goes on and on
}

func csvForm(f csv.Format) form {
	with := func(opt table.Options) csv.Format {
		f := f
		f.Fill = opt.Fill
		return f
	}
	return form{
		name: "csv",
		read: func(ctx context.Context, r io.Reader, s tdict.Schema, opt options) chunks {
			return csv.Read(ctx, r, s, csv.ReadOptions{Format: with(opt.Options), Rows: opt.rows, Workers: opt.workers, MaxRecord: opt.most, SkipUnknown: opt.skip})
		},
		write: func(ctx context.Context, w io.Writer, s tdict.Schema, rows chunks, opt table.Options) error {
			return csv.Write(ctx, w, s, rows, with(opt))
		},
		infer:  func(r io.Reader, n int) (tdict.Schema, error) { return csv.Infer(r, n, f) },
		schema: func(s tdict.Schema, opt table.Options) (tdict.Schema, error) { return csv.ChunkSchema(s, with(opt)) },
		valid: func(text string) error {
			lines := enc.NewReader(strings.NewReader(text))
			lines.Comma, lines.Comment = rune(f.Comma), rune(f.Comment)
			return testkit.Err(lines.ReadAll())
		},
		many: func(n int) string {
			var headers strings.Builder
			for i := range n {
				fmt.Fprintf(&headers, "x%d.0,", i)
			}
			return headers.String() + "y\n" + strings.Repeat("1,", n) + "1\n"
		},
		hostile: []string{"x\n\"", "xxxxxxxxxxxxxxxx\n", "x\n", "1234567890", "x\n", "1,"},
	}
}

var jsonlForm = form{
	name: "jsonl", deepest: 3,
	read: func(ctx context.Context, r io.Reader, s tdict.Schema, opt options) chunks {
		return jsonl.Read(ctx, r, s, jsonl.ReadOptions{Rows: opt.rows, Workers: opt.workers, MaxRecord: opt.most, SkipUnknown: opt.skip, Fill: opt.Fill})
	},
	write: func(ctx context.Context, w io.Writer, s tdict.Schema, rows chunks, opt table.Options) error {
		return jsonl.Write(ctx, w, s, rows, jsonl.WriteOptions{})
	},
	infer: jsonl.Infer,
	schema: func(s tdict.Schema, opt table.Options) (tdict.Schema, error) {
		return jsonl.ChunkSchema(s, jsonl.ReadOptions{Fill: opt.Fill})
	},
	valid: func(text string) error {
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				return fmt.Errorf("%q is not JSON", line)
			}
		}
		return nil
	},
	many: func(n int) string {
		var fields strings.Builder
		for i := range n + 1 {
			fmt.Fprintf(&fields, "%c\"a%d\":1", "{,"[min(i, 1)], i)
		}
		return fields.String() + "}"
	},
	hostile: []string{`{"z":`, "[", `{"z":`, `{"a":`, `{"z":"`, "x", `{"z":`, "1234567890", `{"z":"`, `\u0041`},
}

// TestRules runs each rule on each form.
func TestRules(t *testing.T) {
	for name, rule := range map[string]func(t *testing.T, f form){
		"rows are read once":                      readsOnce,
		"an error of the reader":                  readerFails,
		"rows do not depend on chunks or workers": chunked,
		"the loop ends":                           loopEnds,
		"allocations do not grow with rows":       allocates,
		"files that are not text":                 notTexts,
		"files that are compressed or UTF-16":     sources,
		"records that do not end":                 hostile,
		"long records":                            longRecords,
		"categories, times and values that fill":  withOptions,
		"write refuses":                           writeRefuses,
		"write takes no memory for rows":          writeStreams,
		"infer reads the first rows":              infersFirst,
		"many columns":                            manyColumns,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []form{csvForm(csv.Format{}), jsonlForm} {
				t.Run(f.name, func(t *testing.T) { rule(t, f) })
			}
		})
	}
}

var (
	number = tdict.Schema{{Key: "x", DType: tensor.Int64}}
	text   = tdict.Schema{{Key: "s", Kind: tdict.KindText}}
	visits = tdict.Schema{
		{Key: "id", DType: tensor.Int64}, {Key: "age", DType: tensor.Float64, Optional: true}, {Key: "sick", DType: tensor.Bool},
		{Key: "obs/pos", DType: tensor.Float32, Shape: shapeops.Shape{3}}, {Key: "name", Kind: tdict.KindText},
	}
)

// one yields a dictionary.
func one(td *tdict.TensorDict) chunks {
	return func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
}

// dict returns a dictionary of rows of one entry.
func dict(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{v.Shape()[0]}, tdict.Entries{key: v}))
}

func texts(s ...string) *tdict.TensorDict { return dict("s", tensor.Must(ragged.FromStrings(s))) }

// written returns what write writes.
func (f form) written(t testing.TB, s tdict.Schema, opt table.Options, td *tdict.TensorDict) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, f.write(t.Context(), &b, s, one(td), opt))
	return b.String()
}

// all returns all rows of a text, as clones of the chunks.
func (f form) all(t testing.TB, text string, s tdict.Schema, opt options) ([]*tdict.TensorDict, error) {
	return tabletest.Clones(f.read(t.Context(), strings.NewReader(text), s, opt))
}

// table returns a table of n visits.
func (f form) table(t testing.TB, n int) string {
	return f.written(t, visits, table.Options{}, rowsOf(rand.New(rand.NewPCG(1, 2)), visits, n))
}

func readsOnce(t *testing.T, f form) {
	rows := f.read(t.Context(), strings.NewReader(f.table(t, 2)), visits, options{})
	require.NoError(t, testkit.Err(tabletest.Clones(rows)))
	testkit.Fails(t, table.ErrUsed, testkit.Err(tabletest.Clones(rows)))
}

// readerFails: the error comes after the rows before it, with its line.
func readerFails(t *testing.T, f form) {
	mine := errors.New("mine")
	text := strings.TrimSuffix(f.written(t, number, table.Options{}, dict("x", tensor.Vector[int64](1, 2, 3))), "\n")
	r := io.MultiReader(strings.NewReader(text), iotest.ErrReader(mine))
	got, err := tabletest.Clones(f.read(t.Context(), r, number, options{}))
	require.Len(t, got, 1)
	require.Equal(t, []int{2}, []int(got[0].Shape()))
	require.ErrorIs(t, err, mine)
	e, ok := errors.AsType[*table.ParseError](err)
	require.True(t, ok)
	require.Equal(t, strings.Count(text, "\n")+1, e.Line)
	require.ErrorIs(t, testkit.Err(f.infer(iotest.ErrReader(mine), 0)), mine)
	testkit.Fails(t, tdict.ErrSchema, testkit.Err(f.all(t, text, tdict.Schema{{Key: "x"}}, options{})))
}

func chunked(t *testing.T, f form) {
	file := f.table(t, 1000)
	want := tensor.Must(f.all(t, file, visits, options{rows: 1000, workers: 1}))[0]
	for _, workers := range []int{0, 1, 2, 5} {
		for _, n := range []int{1, 7, 100, 1001} {
			got, err := f.all(t, file, visits, options{rows: n, workers: workers})
			require.NoError(t, err)
			require.Len(t, got, (999+n)/n)
			require.Equal(t, tabletest.Bits(want), tabletest.Bits(tensor.Must(shapeops.Cat(got, 0))))
		}
	}
	got, err := tabletest.Clones(f.read(t.Context(), iotest.OneByteReader(strings.NewReader("\ufeff"+file)), visits, options{}))
	require.NoError(t, err)
	require.Equal(t, tabletest.Bits(want), tabletest.Bits(got[0]))
}

func loopEnds(t *testing.T, f form) {
	file, opt := f.table(t, 1000), options{rows: 10, workers: 4}
	before := runtime.NumGoroutine()
	for range f.read(t.Context(), strings.NewReader(file), visits, opt) {
		break
	}
	require.LessOrEqual(t, goroutines(before), before)
	mine := errors.New("mine")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for _, err := range f.read(ctx, strings.NewReader(file), visits, opt) {
		cancel(mine)
		last = err
	}
	require.ErrorIs(t, last, mine)
	require.LessOrEqual(t, goroutines(before), before)
	require.ErrorIs(t, f.write(ctx, io.Discard, number, one(dict("x", tensor.Vector[int64](1))), table.Options{}), mine)
}

// goroutines returns how many goroutines there are, after at most 20 seconds in which those beyond
// a number may end: one that is waited for still has to return.
func goroutines(most int) int {
	for range 20_000 {
		if runtime.NumGoroutine() <= most {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return runtime.NumGoroutine()
}

func allocates(t *testing.T, f form) {
	count := func(n int) float64 {
		file := f.table(t, 20*n)
		return testing.AllocsPerRun(3, func() {
			for _, err := range f.read(t.Context(), strings.NewReader(file), visits, options{rows: n, workers: 1}) {
				require.NoError(t, err)
			}
		})
	}
	few, many := count(10), count(1000)
	require.LessOrEqual(t, many, few+400, "memory grows in steps, once")
	require.Less(t, many, 20*120.0)
}

// notTexts: the error names the format of the file, and not a byte that breaks the grammar.
func notTexts(t *testing.T, f form) {
	for name, begin := range map[string]string{"gzip": "\x1f\x8b\x08", "zstd": "\x28\xb5\x2f\xfd", "UTF-16": "x\x00\n\x00", "UTF-32": "\x00\x00\xfe\xff"} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, table.ErrText, testkit.Err(f.all(t, begin, number, options{})))
			require.ErrorIs(t, testkit.Err(f.infer(strings.NewReader(begin), 0)), table.ErrText)
		})
	}
}

// sources: a file that is compressed or UTF-16 has the rows of its text. Of one that is cut, the
// rows before the cut are read.
func sources(t *testing.T, f form) {
	text := f.table(t, 100)
	want := tensor.Must(f.all(t, text, visits, options{}))[0]
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, errors.Join(err, w.Close()))
	units := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		units = append(units, byte(u), byte(u>>8))
	}
	for name, file := range map[string]string{"gzip": b.String(), "UTF-16": string(units)} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tabletest.Bits(want), tabletest.Bits(tensor.Must(f.all(t, file, visits, options{}))[0]))
			require.Equal(t, tensor.Must(f.infer(strings.NewReader(text), 0)), tensor.Must(f.infer(strings.NewReader(file), 0)))
			got, err := f.all(t, file[:len(file)-3], visits, options{})
			testkit.Fails(t, table.ErrText, err)
			require.Greater(t, got[0].Shape()[0], 50)
		})
	}
}

// hostile: memory is in proportion to the limit.
func hostile(t *testing.T, f form) {
	for pair := range slices.Chunk(f.hostile, 2) {
		endless := strings.NewReader(pair[0] + strings.Repeat(pair[1], 10<<20/len(pair[1])))
		testkit.MaxBytes(t, 8<<20, func() {
			require.ErrorIs(t, testkit.Err(tabletest.Clones(f.read(t.Context(), endless, number, options{most: 1 << 20, workers: 1, skip: true}))), table.ErrTooLong)
		})
	}
}

// longRecords: without options a record may be longer than any buffer.
func longRecords(t *testing.T, f form) {
	td := texts("a", strings.Repeat("xyz\"", 5<<20), "b")
	file := f.written(t, text, table.Options{}, td)
	s := tensor.Must(f.infer(strings.NewReader(file), 0))
	require.True(t, td.Equal(tensor.Must(shapeops.Cat(tensor.Must(f.all(t, file, s, options{})), 0))))
}

func withOptions(t *testing.T, f form) {
	s := tdict.Schema{
		{Key: "color", DType: tensor.Int16, Categories: []string{"red", "a\"\nb", "", "NA"}, Optional: true},
		{Key: "day", DType: tensor.Int64, Unit: "d", Time: time.DateOnly},
		{Key: "x", DType: tensor.Float64, Optional: true},
	}
	chunk := tensor.Must(tensor.Must(f.schema(s, table.Options{})).Zeros(5))
	for key, v := range map[nestedkey.Key]tdict.Value{
		"color": tensor.Vector[int16](0, 1, 2, 3, 0), "color_mask": tensor.Vector(true, true, true, true, false), "day": tensor.Vector[int64](2, -1, 0, 1, 1),
		"x": tensor.Vector(1.5, 0, 2, 3, 4), "x_mask": tensor.Vector(true, false, true, true, true),
	} {
		require.NoError(t, chunk.Set(key, v))
	}
	file := f.written(t, s, table.Options{}, chunk)
	require.Contains(t, file, "1969-12-31")
	for _, fill := range []string{"", "-7"} {
		var opt table.Options
		want := tensor.Must(chunk.Clone())
		if fill != "" {
			opt.Fill = map[nestedkey.Key]string{"x": fill}
			require.NoError(t, want.Set("x", tensor.Vector(1.5, -7, 2, 3, 4)))
		}
		got := tensor.Must(f.all(t, file, s, options{Options: opt}))
		require.Equal(t, tabletest.Bits(want), tabletest.Bits(got[0]))
		require.Equal(t, file, f.written(t, s, opt, got[0]))
		require.NoError(t, tensor.Must(f.schema(s, opt)).Check(got[0]))
	}
	_, err := f.all(t, file, tdict.Schema{{Key: "color", DType: tensor.Int16, Categories: []string{"red"}, Optional: true}}, options{skip: true})
	testkit.Fails(t, table.ErrValue, err)
	require.ErrorIs(t, testkit.Err(f.schema(tdict.Schema{{Key: "x"}}, table.Options{})), tdict.ErrSchema)
}

// TestRoundTrip writes random tables of every dtype and reads them back.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(30) {
		roundTrip(t, rand.New(rand.NewPCG(seed, 0)))
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { roundTrip(t, rand.New(rand.NewPCG(a, b))) })
}

func roundTrip(t *testing.T, rng *rand.Rand) {
	format := csv.Format{Comma: ",;\t"[rng.IntN(3)], Comment: "\x00#"[rng.IntN(2)], NoHeader: rng.IntN(4) == 0, NA: [][]string{nil, {"?", ""}, {"null"}}[rng.IntN(3)]}
	for _, f := range []form{csvForm(format), jsonlForm} {
		s := schemaOf(rng, f.deepest)
		s = s[:1+rng.IntN(len(s))]
		td := rowsOf(rng, s, rng.IntN(8))
		if n := td.Shape()[0]; n > 0 && rng.IntN(2) == 0 { // a view: rows in another order, some twice
			td = tensor.Must(td.Index(ix.Take(n-1, 0, n-1, n/2)))
		}
		file := f.written(t, s, table.Options{}, td)
		require.NoError(t, f.valid(file))
		got, err := f.all(t, file, s, options{rows: 100})
		require.NoError(t, err)
		if td.Shape()[0] == 0 {
			require.Empty(t, got)
			continue
		}
		require.Equal(t, tabletest.Bits(td), tabletest.Bits(got[0]), file)
	}
}

func writeRefuses(t *testing.T, f form) {
	refuses := func(name string, want error, s tdict.Schema, opt table.Options, td *tdict.TensorDict) {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, want, f.write(t.Context(), io.Discard, s, one(td), opt))
		})
	}
	codes := tdict.Schema{{Key: "s", DType: tensor.Int32, Categories: []string{"a", "b", "c"}}}
	refuses("another kind", tdict.ErrSchema, number, table.Options{}, texts("a"))
	refuses("two batch dims", shapeops.ErrDim, number, table.Options{}, tensor.Must(number.Zeros(2, 2)))
	refuses("data", tdict.ErrSchema, tdict.Schema{{Key: "a", Kind: tdict.KindData}}, table.Options{}, tdict.New(1))
	refuses("a code without a text", table.ErrValue, codes, table.Options{}, dict("s", tensor.Vector[int32](3)))
	refuses("a negative code", table.ErrValue, codes, table.Options{}, dict("s", tensor.Vector[int32](-1)))
	mine := errors.New("mine")
	require.ErrorIs(t, f.write(t.Context(), failing{mine}, text, one(texts("a")), table.Options{}), mine)
	require.ErrorIs(t, f.write(t.Context(), io.Discard, text, func(yield func(*tdict.TensorDict, error) bool) { yield(nil, mine) }, table.Options{}), mine)
}

// failing is a Writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func writeStreams(t *testing.T, f form) {
	long := texts(slices.Repeat([]string{"a text, with a delimiter, longer than small ones"}, 1<<16)...)
	for _, c := range []struct {
		schema tdict.Schema
		td     *tdict.TensorDict
	}{{number, tensor.Must(number.Zeros(1 << 20))}, {text, long}} {
		testkit.MaxBytes(t, 2<<20, func() {
			require.NoError(t, f.write(t.Context(), io.Discard, c.schema, one(c.td), table.Options{}))
		})
	}
}

// infersFirst reads the first rows only. A chunk of text before them may have none.
func infersFirst(t *testing.T, f form) {
	file := strings.Repeat("\n", 17<<20) + f.written(t, number, table.Options{}, dict("x", tensor.Vector[int64](1, 2))) + "?\n"
	s := tensor.Must(f.infer(strings.NewReader(file), 2))
	require.Equal(t, tensor.Int64, s[0].DType)
	require.Contains(t, s[0].Doc, "2 of 2 ")
}

// manyColumns takes time in proportion to them: with their square it would be a minute.
func manyColumns(t *testing.T, f form) {
	const n = 30_000
	file, start := f.many(n), time.Now()
	s := tensor.Must(f.infer(strings.NewReader(file), 0))
	require.Len(t, s, n+1)
	require.Len(t, tensor.Must(f.all(t, file, s, options{workers: 1})), 1)
	require.Less(t, time.Since(start), 30*time.Second)
}

// TestPythonReads has Python's json read every line of random tables.
func TestPythonReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := schemaOf(rng, 3)
	cmd := processkit.PythonCommand(t, "-c", "import sys, json\nfor l in sys.stdin.buffer: sys.stdout.write(json.dumps(json.loads(l)) + '\\n')")
	td := rowsOf(rng, s, 50)
	cmd.Stdin = strings.NewReader(jsonlForm.written(t, s, table.Options{}, td))
	out, err := cmd.Output()
	require.NoError(t, err)
	back := tensor.Must(jsonlForm.all(t, string(out), s, options{}))
	require.Equal(t, tabletest.Bits(td), tabletest.Bits(back[0]), "Python keeps what it reads")
}
