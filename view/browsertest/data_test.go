package browsertest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"io"
	"iter"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	tables "github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// A file is a table of the examples, as text and as records.
type file struct {
	text    []byte
	records [][]string // without the header
	head    []string   // nil without a header
}

func readFile(t testing.TB, name string, header bool) file {
	t.Helper()
	packed, err := os.Open(filepath.Join("..", "..", "examples", "internal", "data", name))
	require.NoError(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	f := file{text: text, records: records}
	if header {
		f.head, f.records = records[0], records[1:]
	}
	return f
}

// column returns the fields of a column.
func (f file) column(name string) (fields []string) {
	for i, head := range f.head {
		if head == name {
			for _, record := range f.records {
				fields = append(fields, record[i])
			}
		}
	}
	return fields
}

// numbers returns the numbers of a column, and how many are missing.
func (f file) numbers(t testing.TB, name string) (numbers []float64, missing int) {
	t.Helper()
	for _, field := range f.column(name) {
		if field == "NA" {
			missing++
			continue
		}
		x, err := strconv.ParseFloat(field, 64)
		require.NoError(t, err)
		numbers = append(numbers, x)
	}
	return numbers, missing
}

var pbcseq = sync.OnceValue(func() file { return readFile(quiet{}, "pbcseq.csv.gz", true) })
var digitsFile = sync.OnceValue(func() file { return readFile(quiet{}, "digits.csv.gz", false) })

// quiet is a testing.TB that panics, for files that are part of the repository.
type quiet struct{ testing.TB }

func (quiet) Helper()                      {}
func (quiet) Errorf(f string, args ...any) { panic(f) }
func (quiet) FailNow()                     { panic("a file of the examples is missing") }

// one returns the rows of a table that has only one chunk.
func one(t testing.TB, chunks iter.Seq2[*tdict.TensorDict, error]) *tdict.TensorDict {
	t.Helper()
	var all []*tdict.TensorDict
	for chunk, err := range chunks {
		require.NoError(t, err)
		whole, err := chunk.Clone()
		require.NoError(t, err)
		all = append(all, whole)
	}
	require.Len(t, all, 1)
	return all[0]
}

// The datasets of the examples. No test changes them.
var visitsOnce = sync.OnceValue(func() *tdict.TensorDict { return readVisits(quiet{}) })
var digitsOnce = sync.OnceValue(func() *tdict.TensorDict { return readDigits(quiet{}) })

func visits(testing.TB) *tdict.TensorDict { return visitsOnce() }
func digits(testing.TB) *tdict.TensorDict { return digitsOnce() }

// readVisits returns the table of pbcseq: 19 columns, of which 6 have masks.
func readVisits(t testing.TB) *tdict.TensorDict {
	t.Helper()
	f := pbcseq()
	schema, err := tables.Infer(bytes.NewReader(f.text), 0, tables.Format{})
	require.NoError(t, err)
	return one(t, tables.Read(context.Background(), bytes.NewReader(f.text), schema, tables.ReadOptions{Rows: math.MaxInt}))
}

// schemaOf returns the schema of visits, which says which entries are masks, or nil for others.
func schemaOf(td *tdict.TensorDict) tdict.Schema {
	if !td.Has("chol_mask") {
		return nil
	}
	return visitsSchema()
}

var visitsSchema = sync.OnceValue(func() tdict.Schema {
	schema := tensor.Must(tables.Infer(bytes.NewReader(pbcseq().text), 0, tables.Format{}))
	return tensor.Must(tables.ChunkSchema(schema, tables.Format{}))
})

// readDigits returns the digits: image uint8 [1797 8 8], meta/label int64, meta/index int32.
func readDigits(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := one(t, tables.Read(context.Background(), bytes.NewReader(digitsFile().text), tdict.Schema{
		{Key: "image", DType: tensor.Uint8, Shape: shapeops.Shape{8, 8}}, {Key: "meta/label", DType: tensor.Int64},
	}, tables.ReadOptions{Rows: math.MaxInt, Format: tables.Format{NoHeader: true}}))
	set(t, td, "meta/index", tensor.Must(tensor.Arange(0, int32(td.Shape()[0]), 1)))
	return td.SortKeys()
}

func set(t testing.TB, td *tdict.TensorDict, key string, v tdict.Value) {
	t.Helper()
	require.NoError(t, td.Set(nestedkey.Key(key), v))
}

var digitNames = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// digitsInk returns the digits with their names, their mean, and the positions of inked pixels.
func digitsInk(t testing.TB) *tdict.TensorDict {
	t.Helper()
	f := digitsFile()
	n := len(f.records)
	var labels, pixels []int64
	var names []string
	means, ink := make([]float64, n), make([][]int64, n)
	for row, record := range f.records {
		for at, field := range record[:64] {
			x, err := strconv.ParseInt(field, 10, 64)
			require.NoError(t, err)
			pixels = append(pixels, x)
			means[row] += float64(x) / 64
			if x > 0 {
				ink[row] = append(ink[row], int64(at))
			}
		}
		label, err := strconv.Atoi(record[64])
		require.NoError(t, err)
		labels, names = append(labels, int64(label)), append(names, digitNames[label])
	}
	td := tdict.New(n)
	set(t, td, "index", tensor.Must(tensor.Arange(0, int64(n), 1)))
	set(t, td, "label", tensor.Must(tensor.From(labels, n)))
	set(t, td, "name", tensor.Must(ragged.FromStrings(names)))
	set(t, td, "mean", tensor.Must(tensor.From(means, n)))
	set(t, td, "image", tensor.Must(tensor.From(pixels, n, 8, 8)))
	set(t, td, "ink", tensor.Must(ragged.From[int64](ink)))
	return td
}

// patients returns a row for each patient of pbcseq, with ragged visits.
func patients(t testing.TB) *tdict.TensorDict {
	t.Helper()
	f := pbcseq()
	at := map[string]int{}
	for i, name := range f.head {
		at[name] = i
	}
	whole := func(s string) int64 { x, err := strconv.ParseInt(s, 10, 64); require.NoError(t, err); return x }
	float := func(s string) float64 { x, err := strconv.ParseFloat(s, 64); require.NoError(t, err); return x }
	var ids, futimes []int64
	var ages []float64
	var sexes, outcomes []string
	var days, platelets [][]int64
	var bilis [][]float64
	for i, r := range f.records {
		if i == 0 || r[at["id"]] != f.records[i-1][at["id"]] {
			ids, futimes, ages = append(ids, whole(r[at["id"]])), append(futimes, whole(r[at["futime"]])), append(ages, float(r[at["age"]]))
			sexes = append(sexes, r[at["sex"]])
			outcomes = append(outcomes, map[string]string{"0": "alive", "1": "transplanted", "2": "dead"}[r[at["status"]]])
			days, platelets, bilis = append(days, nil), append(platelets, []int64{}), append(bilis, nil)
		}
		last := len(ids) - 1
		days[last], bilis[last] = append(days[last], whole(r[at["day"]])), append(bilis[last], float(r[at["bili"]]))
		if p := r[at["platelet"]]; p != "NA" {
			platelets[last] = append(platelets[last], whole(p))
		}
	}
	n := len(ids)
	td := tdict.New(n)
	set(t, td, "id", tensor.Must(tensor.From(ids, n)))
	set(t, td, "age", tensor.Must(tensor.From(ages, n)))
	set(t, td, "sex", tensor.Must(ragged.FromStrings(sexes)))
	set(t, td, "outcome", tensor.Must(ragged.FromStrings(outcomes)))
	set(t, td, "futime", tensor.Must(tensor.From(futimes, n)))
	set(t, td, "day", tensor.Must(ragged.From[int64](days)))
	set(t, td, "bili", tensor.Must(ragged.From[float64](bilis)))
	set(t, td, "platelet", tensor.Must(ragged.From[int64](platelets)))
	return td
}

// save saves a dictionary as a directory of a name.
func save(t testing.TB, name string, td *tdict.TensorDict) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, memmap.SaveWith(t.Context(), path, td, memmap.SaveOptions{NoSync: true, Schema: schemaOf(td)}))
	return path
}

// serve serves pages of the datasets at some paths, and returns their address.
func serve(t *testing.T, paths ...string) (base string) {
	t.Helper()
	var sources []view.Source
	for _, path := range paths {
		sources = append(sources, view.Source{Path: path})
	}
	return serveSources(t, sources)
}

const noBrowser = "there is no browser: chromium, chromium-browser and google-chrome are not in PATH, and BROWSER_TEST names none"

// serveSources serves pages of datasets, and returns their address.
func serveSources(t *testing.T, sources []view.Source) (base string) {
	t.Helper()
	if browser == nil {
		t.Skip(noBrowser)
	}
	pages, err := view.Handler(view.Options{Sources: sources})
	require.NoError(t, err)
	s := httptest.NewServer(pages)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		require.NoError(t, pages.Close())
	})
	return s.URL + "/"
}

// serveVisits serves the table of visits.
func serveVisits(t *testing.T) (base string) {
	t.Helper()
	return serve(t, save(t, "visits", visits(t)))
}

// numbersOrNone is numbers for columns that may be texts.
func (f file) numbersOrNone(t testing.TB, name string) (numbers []float64, missing int) {
	if name == "sex" {
		return nil, 0
	}
	return f.numbers(t, name)
}
