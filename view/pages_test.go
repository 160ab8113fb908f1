package view_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// TestPages looks for what each page must say.
func TestPages(t *testing.T) {
	s := serve(t, view.Options{}, save(t, visits(), "visits"))
	for _, tt := range []struct{ rule, address, want string }{
		{"the name and the counts", "/", "1,945 rows 25 leaves, of which 6 are masks 294 kB checksums 25 of 25"},
		{"a card of text", "/", "sex text f 1,708 m 237 2 different"},
		{"a card of few values", "/", "trt int64 0 967 1 978 50.3 % are 1"},
		{"a card of bars", "/", "chol int64 55 1,775 median 281 821 missing"},
		{"a list", "/?as=list", "chol 15.6 kB 5.3 % int64 [1945] 821 saved"},
		{"the mask of a leaf", "/leaf?k=chol", "mask chol_mask"},
		{"a bin", "/leaf?k=chol", "250 to 299 · 287 · 25.5 %"},
		{"the tail", "/leaf?k=chol", "8 above the scale, to 1,775"},
		{"what is missing", "/leaf?k=chol", "1,124 values 821 missing, 42.2 %"},
		{"the bins as a table", "/leaf?k=chol", "22 bins of 50 as a table"},
		{"quantiles", "/leaf?k=chol", "minimum 55 1 % 132 25 % 235 median 281"},
		{"moments", "/leaf?k=chol", "mean 320.472 std 166.643"},
		{"first and last rows", "/leaf?k=chol", "row first 0 261 1 missing 2 302 3 missing 4 missing row last 1,940 576"},
		{"an index", "/leaf?k=chol&index=[0,1,2,-2,-1]", "int64 [5] 0 1 2 1,943 1,944 261 missing 302 688 741"},
		{"an index of one row", "/leaf?k=chol&index=1", "int64 [] missing"},
		{"an index out of range", "/leaf?k=chol&index=1945", "bad index: got position 1945 of dim 0"},
		{"an index that cannot be read", "/leaf?k=chol&index=0,bad", "0, bad index syntax"},
		{"texts by frequency", "/leaf?k=sex", "2 different, by frequency text rows as a bar rows share f 1,708 87.8 % m 237 12.2 %"},
		{"lengths of texts", "/leaf?k=sex", "all 1,945 values are 1"},
		{"rows", "/rows?from=20", "20 to 69 of 1,945, in the order of the data"},
		{"a row in a table", "/rows?from=20", "20 4 1,925 2 1 54.7406 f 1,462 0"},
		{"the last page", "/rows?from=1940", "1,940 to 1,944 of 1,945"},
		{"a row beyond the end", "/rows?from=9999999", "1,944 to 1,944 of 1,945"},
		{"a row from the end", "/rows?from=-5", "1,940 to 1,944 of 1,945"},
		{"one row in full", "/rows?row=31", "Row 31 of 1,945 ‹ 30 32 › Close id int64 6"},
		{"a missing value of a row", "/rows?row=31", "chol int64 missing"},
		{"the command of a row", "/rows?row=31", "tdict head visits --index 31"},
		{"a search", "/search?q=BI", "Found “BI” 1 to 1 of 1, best first; 25 keys"},
		{"nothing found", "/search?q=xyz", "no key of 25 has “xyz”"},
		{"the keys", "/keys", "find a leaf /"},
	} {
		t.Run(tt.rule, func(t *testing.T) { require.Contains(t, words(page(t, s, tt.address)), tt.want) })
	}
}

// TestRefusals has a row for each address that is refused.
func TestRefusals(t *testing.T) {
	s := serve(t, view.Options{}, save(t, visits(), "visits"))
	for _, tt := range []struct {
		rule, address string
		code          int
		want          string
	}{
		{"no such page", "/nowhere", 404, "There is no such page"},
		{"traversal", "/../visits/age.memmap", 404, "There is no such page"},
		{"a path of a file", "/age.memmap", 404, "There is no such page"},
		{"no such key", "/leaf?k=nothing", 404, "nothing is no key of visits"},
		{"a key that cannot be read", "/leaf?k=a~7", 400, "The key cannot be read"},
		{"a key that is not UTF-8", "/leaf?k=%ff", 400, "The key cannot be read"},
		{"a query that cannot be read", "/leaf?k=%zz", 400, "The address cannot be read"},
		{"no such dataset", "/?d=others", 404, "There is no such dataset"},
		{"no such version", "/?v=others", 410, "visits was replaced"},
		{"a number that cannot be read", "/rows?from=x", 400, "want a whole number"},
		{"a number too large", "/rows?from=99999999999999999999", 400, "want a whole number"},
		{"no such row", "/rows?row=1945", 404, "There is no such row"},
		{"no such row from the end", "/rows?row=-1946", 404, "There is no such row"},
		{"a row that is the least number", "/rows?row=-9223372036854775808", 404, "There is no such row"},
		{"a row as JSON without a number", "/row.json", 400, "Which row?"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := get(t, s, tt.address)
			require.Equal(t, tt.code, w.Code)
			require.Contains(t, words(w.Body.String()), tt.want)
			require.Contains(t, w.Body.String(), "</html>")
		})
	}
}

// TestHeaders checks what every answer has, and the methods.
func TestHeaders(t *testing.T) {
	s := serve(t, view.Options{}, save(t, digits(), "digits"))
	body := page(t, s, "/")
	for _, address := range append(linked("/", body), "/nowhere", "/leaf?k=x", "/row.json?row=1") {
		w := get(t, s, address)
		h := w.Header()
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", address)
		for _, other := range []string{"form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			require.Contains(t, h.Get("Content-Security-Policy"), other, "it does not follow default-src")
		}
		require.NotContains(t, h.Get("Content-Security-Policy"), "unsafe")
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
		require.NotEmpty(t, h.Get("Content-Type"), address)
		require.NotEmpty(t, h.Get("Cache-Control"), address)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, "/", strings.NewReader("x")))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", nil))
	require.Equal(t, http.StatusOK, w.Code)
}

// crawl follows all links from the first page, and returns the bodies by address. Every page must
// be answered with 200.
func crawl(t testing.TB, s http.Handler, most int) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	next := []string{"/"}
	for len(next) > 0 && len(bodies) < most {
		at := next[0]
		next = next[1:]
		if _, seen := bodies[at]; seen {
			continue
		}
		bodies[at] = page(t, s, at)
		next = append(next, linked(at, bodies[at])...)
	}
	return bodies
}

// TestCrawl reaches every page of several datasets by links.
func TestCrawl(t *testing.T) {
	empty := tdict.New(0)
	put(t, empty, "a", tensor.Must(tensor.New(tensor.Float32, 0)))
	scalars := tdict.New()
	put(t, scalars, "lr", tensor.Scalar(0.1))
	put(t, scalars, "deep/weights", tensor.Must(tensor.New(tensor.Float32, 20, 30)))
	put(t, scalars, "name", tensor.Must(tdict.NewData("net")))
	deep := tdict.New(4, 5)
	put(t, deep, "x", tensor.Must(tensor.New(tensor.Float32, 4, 5, 3)))
	put(t, deep, "y", tensor.Must(tensor.New(tensor.Uint8, 4, 5, 16, 16)))
	put(t, deep, "z", tensor.Must(tensor.New(tensor.Int64, 4, 5)))
	for _, tt := range []struct {
		rule string
		td   *tdict.TensorDict
		most int
	}{
		{"pictures", digits(), 60},
		{"a table", visits(), 60},
		{"every kind of leaf", kinds(t, 9), 150},
		{"one row", kinds(t, 1), 60},
		{"no rows", empty, 50},
		{"no rows of every kind", kinds(t, 0), 60},
		{"no batch dims", scalars, 50},
		{"two batch dims", deep, 100},
		{"nothing", tdict.New(3), 20},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			s := serve(t, view.Options{}, save(t, tt.td, "d"))
			for at, body := range crawl(t, s, tt.most) {
				if strings.Contains(body, "<html") {
					require.Equal(t, 1, strings.Count(body, "<h1"), at)
					require.NotContains(t, body, "cannot be read", at)
					require.NotContains(t, body, "ends here", at)
				}
			}
		})
	}
}

// TestGiven shows a dictionary that the program has opened.
func TestGiven(t *testing.T) {
	s := serve(t, view.Options{Sources: []view.Source{{Name: "given", Dict: visits(), Schema: maskedByName(visits()), Form: "csv", Metadata: map[string]string{"by": "<b>"}}}})
	body := page(t, s, "/")
	require.Contains(t, words(body), "given csv 1,945 rows")
	require.Contains(t, body, "&lt;b&gt;")
	require.NotContains(t, body, "data-events", "nothing can change")
	crawl(t, s, 40)
}

// TestSeveral shows several datasets, two of one name, and one that is damaged.
func TestSeveral(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "gone")
	s := serve(t, view.Options{}, save(t, visits(), "d"), save(t, digits(), "d"), missing)
	text := words(page(t, s, "/"))
	require.Contains(t, text, "3 datasets")
	require.Contains(t, text, "d 1,945 rows, 294 kB d-2 1,797 rows, 137 kB")
	require.Contains(t, text, "d-2 1,797 rows, 3 leaves")
	require.Contains(t, text, "gone cannot be opened")
	require.NotContains(t, text, filepath.Dir(missing), "a path of the machine")
	require.Contains(t, words(page(t, s, "/leaf?d=d-2&k=image")), "N H W")
	require.Contains(t, words(page(t, s, "/search?q=label")), "d 0 keys d-2 1 key key dtype shape bytes meta/ label int64 [1797] 14.4 kB gone cannot be opened")
	require.Equal(t, 500, get(t, s, "/?d=gone").Code)
	require.Equal(t, 404, get(t, s, "/leaf?k=image").Code, "it names no dataset")
}

// TestOptions has a row for each option that is refused.
func TestOptions(t *testing.T) {
	for _, opt := range []view.Options{
		{}, {Sources: []view.Source{{}}},
		{Sources: []view.Source{{Path: "a"}}, MaxRead: -1}, {Sources: []view.Source{{Path: "a"}}, Idle: -1},
		{Sources: []view.Source{{Path: "a"}}, MaxRequests: -1}, {Sources: []view.Source{{Path: "a"}}, MaxStreams: -1},
	} {
		_, err := view.Handler(opt)
		require.ErrorIs(t, err, view.ErrSource, "%+v", opt)
	}
}

// TestBudget bounds the bytes of pages and assets.
func TestBudget(t *testing.T) {
	s := serve(t, view.Options{}, save(t, visits(), "visits"))
	body := page(t, s, "/")
	for address, most := range map[string]int{"/": 60_000, "/leaf?k=chol": 16 << 10, "/rows": 40_000} {
		require.LessOrEqual(t, len(page(t, s, address)), most, address)
	}
	sizes := map[string]int{}
	css := ""
	for _, link := range linked("/", body) {
		switch filepath.Ext(link) {
		case ".css":
			css = page(t, s, link)
			sizes["style"] = len(css)
		case ".js":
			script := page(t, s, link)
			sizes["script"] = len(script)
			require.Less(t, strings.Count(script, "\n"), 300)
		}
	}
	for _, m := range strings.Split(css, "url(")[1:] {
		if name, _, _ := strings.Cut(m, ")"); strings.HasSuffix(name, ".woff2") {
			sizes["fonts"] += len(page(t, s, "/"+name))
		}
	}
	require.LessOrEqual(t, sizes["style"], 18<<10)
	require.LessOrEqual(t, sizes["script"], 12_000)
	require.LessOrEqual(t, sizes["fonts"], 48_000)
	require.Greater(t, sizes["fonts"], 20_000)
}

// hostile returns a dictionary with keys and texts that try to be markup, or to hide.
func hostile(t testing.TB) *tdict.TensorDict {
	t.Helper()
	texts := []string{"<img src=x onerror=alert(2)>", "\u202eabc", "line\nbreak \x1b[31mred", strings.Repeat("y", 300), "\xff\xfe\x00", "\u202e\u200f", `" onmouseover="x`}
	n := len(texts)
	td := tdict.New(n)
	for i, key := range []string{"<script>alert(1)</script>", "\u202egnp.exe", "a/b", "", "x\x00y\n", "\u200fשלום", strings.Repeat("k", 200), `style="background:url(//evil)"`, "javascript:alert(1)", "{{.}}", "'\"><svg onload=alert(3)>"} {
		put(t, td, nestedkey.Of(key), tensor.Must(tensor.Full(int64(i), n)))
		put(t, td, nestedkey.Of("text", key), tensor.Must(ragged.FromStrings(texts)))
		put(t, td, nestedkey.Of("data", key), tensor.Must(tdict.DataFrom([]any{key, "<b>", nil, []any{"<script>"}, tensor.Must(tdict.NewObject(tdict.Field{Name: "<i>", Value: "</script>"})), 1e308, int64(-1 << 63)}, n)))
	}
	return td
}

var fields = regexp.MustCompile(`<input type="hidden"[^>]*>`)

// TestHostileTexts shows keys and texts that try to be markup, as text.
func TestHostileTexts(t *testing.T) {
	td := hostile(t)
	put(t, td, "large", tensor.Must(ragged.FromStrings([]string{strings.Repeat("y", 10<<20), strings.Repeat("\xff", 10<<20), "", "", "", "", ""})))
	s := serve(t, view.Options{}, save(t, td, "hostile"))
	bodies := crawl(t, s, 100)
	bodies["large"] = page(t, s, "/leaf?k=large")
	all := strings.Builder{}
	for at, body := range bodies {
		if !strings.Contains(body, "<html") {
			continue
		}
		all.WriteString(body)
		body = fields.ReplaceAllString(body, "") // they carry what the address has
		for _, raw := range []string{"<script>alert", "<img src=x", "<svg onload", "\u202e", "\u200f", "\x1b", "\x00", `onmouseover="x`, `href="javascript:`} {
			require.False(t, strings.Contains(body, raw), "%q at %s", raw, at)
		}
		require.Less(t, len(body), 400_000, at)
	}
	require.Contains(t, all.String(), "&lt;script&gt;alert(1)&lt;~1script&gt;", "it is shown")
	require.Contains(t, all.String(), `\u202e`)
}

// TestMaskedValues never shows what a mask hides: of rows, of elements, and of values of ragged
// rows.
func TestMaskedValues(t *testing.T) {
	td := tdict.New(2)
	put(t, td, "row", tensor.Vector[int64](777, 5))
	put(t, td, "row_mask", tensor.Vector(false, true))
	put(t, td, "wide", tensor.Must(tensor.From([]int64{777, 5, 6, 777}, 2, 2)))
	put(t, td, "wide_mask", tensor.Must(tensor.From([]bool{false, true, true, false}, 2, 2)))
	put(t, td, "rows", tensor.Must(tensor.From([]int64{777, 777, 6, 7}, 2, 2)))
	put(t, td, "rows_mask", tensor.Must(tensor.From([]bool{false, false, true, true}, 2, 2)))
	put(t, td, "list", tensor.Must(ragged.From[int64]([][]int64{{777, 5}, {6}})))
	put(t, td, "list_mask", tensor.Must(ragged.From[bool]([][]bool{{false, true}, {true}})))
	put(t, td, "lists", tensor.Must(ragged.From[int64]([][]int64{{777, 777}, {6}})))
	put(t, td, "lists_mask", tensor.Vector(false, true))
	put(t, td, "name", tensor.Must(ragged.FromStrings([]string{"777", "ann"})))
	put(t, td, "name_mask", tensor.Vector(false, true))
	deep := tensor.Must(ragged.From[int64]([][][]int64{{{777, 5}}, {{6}, {}}}))
	put(t, td, "deep", deep)
	put(t, td, "deep_mask", tensor.Must(ragged.New(tensor.Vector(false, true, true), deep.Layout())))
	s := serve(t, view.Options{}, save(t, td, "d"))
	addresses := []string{"/", "/?as=list", "/rows", "/rows?row=0", "/rows?row=1"}
	for _, key := range []string{"row", "wide", "rows", "list", "lists", "name", "deep"} {
		for _, index := range []string{"", "0", "1", ":", "[0, 1]", "::1", "0:1"} {
			addresses = append(addresses, "/leaf?k="+key+"&index="+url.QueryEscape(index))
		}
		addresses = append(addresses, "/leaf?k="+key+"&index=0,0", "/leaf?k="+key+"&index=...,0", "/lines?k="+key)
	}
	for _, address := range addresses {
		require.NotContains(t, words(get(t, s, address).Body.String()), "777", address)
	}
	require.Contains(t, words(page(t, s, "/rows?row=0")), "wide int64 [2] missing 5")
	require.Contains(t, words(page(t, s, "/rows?row=0")), "list int64 [*], 2 values missing 5")
}

// TestLeafWithoutRows: a leaf of a dictionary with the batch shape [] has no columns and no lines.
func TestLeafWithoutRows(t *testing.T) {
	td := tdict.New()
	put(t, td, "v", tensor.Must(tensor.Arange(int64(0), 30, 1)))
	s := given(t, td)
	body := page(t, s, "/leaf?k=v")
	require.NotContains(t, words(body), "Columns")
	for _, link := range linked("/leaf?k=v", body) {
		page(t, s, link)
	}
}

// TestStacks shows leaves of a lazy stack: their members as rows.
func TestStacks(t *testing.T) {
	var members []*tdict.TensorDict
	for i := range 3 {
		td := tdict.New()
		put(t, td, "same", tensor.Vector(int64(i), 7))
		put(t, td, "apart", tensor.Must(tensor.New(tensor.Float32, i+1)))
		members = append(members, td)
	}
	s := opened(t, tensor.Must(tdict.LazyStack(members, 0)))
	text := words(page(t, s, "/rows?row=2"))
	require.Contains(t, text, "same int64 [2] 2 7")
	require.Contains(t, text, "apart float32 [*] 0 0 0")
	require.Contains(t, words(page(t, s, "/leaf?k=same")), "present 6")
	require.Contains(t, words(page(t, s, "/leaf?k=apart")), "Length of rows")
	crawl(t, s, 30)
	members = nil
	for i := range 3 {
		td := tdict.New(4)
		put(t, td, "x", tensor.Must(tensor.Arange(int64(10*i), int64(10*i+4), 1)))
		members = append(members, td)
	}
	s = serve(t, view.Options{MaxRead: 24, Sources: []view.Source{{Dict: tensor.Must(tdict.LazyStack(members, 1))}}})
	require.Contains(t, words(page(t, s, "/rows?row=3")), "x int64 [3] 3 13 23", "a row has 24 bytes, the leaf 96")
}

// TestReadsAll samples a large leaf, and reads all of it if somebody asks.
func TestReadsAll(t *testing.T) {
	td := tdict.New(2 << 20)
	x := make([]int32, 2<<20)
	x[123_456] = 5 // between the blocks of the sample
	put(t, td, "x", tensor.Vector(x...))
	s := serve(t, view.Options{MaxRead: 1 << 20, Sources: []view.Source{{Name: "d", Dict: td}}})
	text := words(page(t, s, "/leaf?k=x"))
	require.Contains(t, text, "of a sample: 1,048,576 of 2,097,152 values. read all 8.39 MB, in about 1 second")
	require.Contains(t, text, "all 1,048,576 values are 0")
	require.Contains(t, text, "Minimum and maximum are the ones of the sample.")
	require.Contains(t, words(page(t, s, "/")), "of a sample: 1,048,576 of 2,097,152 values")
	body := page(t, s, "/leaf?k=x&all=1")
	require.Contains(t, words(body), "5 · 1 · < 0.1 %")
	require.NotContains(t, words(body), "sample")
	require.Equal(t, 1, strings.Count(body, "<header"))
}

// TestMaskedScalars hides what masks hide where there are no rows, and in Data of two batch dims.
func TestMaskedScalars(t *testing.T) {
	td := tdict.New()
	put(t, td, "x", tensor.Vector[int64](777, 5))
	put(t, td, "x_mask", tensor.Vector(false, true))
	put(t, td, "one", tensor.Scalar[int64](777))
	put(t, td, "one_mask", tensor.Scalar(false))
	put(t, td, "data", tensor.Must(tdict.NewData("777")))
	put(t, td, "data_mask", tensor.Scalar(false))
	s := opened(t, td)
	for _, key := range []string{"x", "one", "data"} {
		require.NotContains(t, words(page(t, s, "/leaf?k="+key)), "777", key)
	}
	two := tdict.New(2, 2)
	put(t, two, "data", tensor.Must(tdict.DataFrom([]any{"777", "b", "c", "777"}, 2, 2)))
	put(t, two, "data_mask", tensor.Must(tensor.From([]bool{false, true, true, false}, 2, 2)))
	s = opened(t, two)
	for _, address := range []string{"/", "/rows", "/rows?row=0", "/rows?row=1", "/leaf?k=data"} {
		require.NotContains(t, words(page(t, s, address)), "777", address)
	}
	inner := tdict.New()
	nested := tdict.New(2)
	put(t, nested, "data", tensor.Must(tdict.DataFrom([]any{"a", "b"}, 2)))
	put(t, nested, "ragged", tensor.Must(ragged.FromLengths(tensor.Vector[int64](777), []int64{0, 1})))
	put(t, nested, "ragged_mask", tensor.Must(ragged.FromLengths(tensor.Vector(false), []int64{0, 1})))
	put(t, inner, "nested", nested)
	require.Contains(t, words(page(t, opened(t, inner), "/leaf?k=nested/data")), "list of 2 values a b")
	require.NotContains(t, words(page(t, opened(t, inner), "/leaf?k=nested/ragged&index=:")), "777")
}
