package view_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"html"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	tables "github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// readTable returns the text of a table of the examples.
func readTable(name string) []byte {
	packed, err := os.Open(filepath.Join("..", "examples", "internal", "data", name))
	if err != nil {
		panic(err) // the file is part of the repository
	}
	defer packed.Close()
	text, err := io.ReadAll(tensor.Must(gzip.NewReader(packed)))
	if err != nil {
		panic(err)
	}
	return text
}

// rowsOf returns the rows of a table.
func rowsOf(text []byte, schema tdict.Schema, format tables.Format) *tdict.TensorDict {
	for chunk, err := range tables.Read(context.Background(), bytes.NewReader(text), schema, tables.ReadOptions{Rows: math.MaxInt, Format: format}) {
		return tensor.Must(tensor.Must(chunk, err).Clone())
	}
	panic("no rows")
}

// visits is the table of pbcseq: 19 columns, of which 6 have masks.
var visits = sync.OnceValue(func() *tdict.TensorDict {
	text := readTable("pbcseq.csv.gz")
	return rowsOf(text, tensor.Must(tables.Infer(bytes.NewReader(text), 0, tables.Format{})), tables.Format{})
})

// digits are images uint8 [1797 8 8] with meta/label and meta/index.
var digits = sync.OnceValue(func() *tdict.TensorDict {
	td := rowsOf(readTable("digits.csv.gz"), tdict.Schema{
		{Key: "image", DType: tensor.Uint8, Shape: shapeops.Shape{8, 8}}, {Key: "meta/label", DType: tensor.Int64},
	}, tables.Format{NoHeader: true})
	if err := td.Set("meta/index", tensor.Must(tensor.Arange(0, int32(td.Shape()[0]), 1))); err != nil {
		panic(err)
	}
	return td
})

// maskedByName returns the schema of td with KEY_mask as the mask of KEY.
func maskedByName(td *tdict.TensorDict) tdict.Schema {
	s := tdict.SchemaOf(td)
	for i := range s {
		if mask := s[i].Key + "_mask"; td.Has(mask) {
			s[i].Mask = mask
		}
	}
	return s
}

// put sets an entry.
func put(t testing.TB, td *tdict.TensorDict, key nestedkey.Key, v tdict.Value) {
	t.Helper()
	require.NoError(t, td.Set(key, v))
}

// kinds returns a dictionary with a leaf of each kind and of many dtypes, n rows.
func kinds(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(n)
	for _, d := range []tensor.DType{
		tensor.Bool, tensor.Uint8, tensor.Uint64, tensor.Int8, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
		tensor.Complex64, tensor.Complex128,
	} {
		put(t, td, nestedkey.Key("scalar/"+d.String()), tensor.Must(tensor.New(d, n)))
		put(t, td, nestedkey.Key("wide/"+d.String()), tensor.Must(tensor.New(d, n, 3, 5)))
		put(t, td, nestedkey.Key("line/"+d.String()), tensor.Must(tensor.New(d, n, 20)))
	}
	put(t, td, "image", tensor.Must(tensor.New(tensor.Uint8, n, 3, 8, 8)))
	put(t, td, "nothing", tensor.Must(tensor.New(tensor.Float32, n, 0)))
	lengths, inner := make([]int64, n), []int64{}
	for i := range lengths {
		lengths[i] = int64(i % 3)
		for range i % 3 {
			inner = append(inner, 2)
		}
	}
	values := 0
	for _, k := range lengths {
		values += int(k)
	}
	put(t, td, "ragged/flat", tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Float64, values)), lengths)))
	put(t, td, "ragged/featured", tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Int32, values, 2)), lengths)))
	put(t, td, "ragged/deep", tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Int32, 2*values)), lengths, inner)))
	texts := make([]string, n)
	data := make([]any, n)
	for i := range texts {
		texts[i] = strings.Repeat("x", i%7)
		data[i] = []any{nil, true, int64(i), 1.5, "text", []any{int64(1), "<b>"}, tensor.Must(tdict.NewObject(tdict.Field{Name: "a", Value: "b"}))}[i%7]
	}
	put(t, td, "text", tensor.Must(ragged.FromStrings(texts)))
	put(t, td, "data/rows", tensor.Must(tdict.DataFrom(data, n)))
	put(t, td, "data/same", tensor.Must(tdict.NewData("one for all", n)))
	put(t, td, "", tensor.Must(tensor.New(tensor.Int64, n)))
	return td
}

// save saves a dictionary in a new directory, under a name.
func save(t testing.TB, td *tdict.TensorDict, name string) (path string) {
	t.Helper()
	path = filepath.Join(testkit.TempDir(t), name)
	require.NoError(t, memmap.SaveWith(t.Context(), path, td, memmap.SaveOptions{Schema: maskedByName(td)}))
	return path
}

// serve returns the pages of datasets.
func serve(t testing.TB, opt view.Options, paths ...string) *view.Server {
	t.Helper()
	for _, path := range paths {
		opt.Sources = append(opt.Sources, view.Source{Path: path})
	}
	s, err := view.Handler(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// get returns the answer to a request.
func get(t testing.TB, s http.Handler, address string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	path, query, _ := strings.Cut(address, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// page returns the body of a page, which must be answered with 200.
func page(t testing.TB, s http.Handler, address string) string {
	t.Helper()
	w := get(t, s, address)
	require.Equal(t, http.StatusOK, w.Code, "%s: %s", address, words(w.Body.String()))
	return w.Body.String()
}

var (
	tags  = regexp.MustCompile(`(?s)<script.*?</script>|<[^>]*>`)
	space = regexp.MustCompile(`\s+`)
	links = regexp.MustCompile(`(?:href|src|data-events|data-follow)="([^"]*)"`)
)

// words returns the text of a page, with single spaces.
func words(body string) string {
	return html.UnescapeString(space.ReplaceAllString(tags.ReplaceAllString(body, " "), " "))
}

// linked returns the addresses on a page that was got at an address, without the streams of events.
func linked(at, body string) (all []string) {
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		link := html.UnescapeString(m[1])
		switch {
		case strings.HasPrefix(link, "#"), strings.HasPrefix(link, "events"):
		case link == "":
			all = append(all, at)
		default:
			all = append(all, "/"+strings.TrimPrefix(link, "./"))
		}
	}
	return all
}
