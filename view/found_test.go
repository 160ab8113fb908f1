package view_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// These tests are of defects that attacks have found.

func opened(t testing.TB, td *tdict.TensorDict) *view.Server {
	t.Helper()
	return serve(t, view.Options{Sources: []view.Source{{Name: "d", Dict: td, Schema: maskedByName(td)}}})
}

// TestBelowPrefix follows the redirect of a leaf where a wall was asked for.
func TestBelowPrefix(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix("/data", opened(t, numbered(t, 0, 3))))
	defer server.Close()
	answer, err := http.Get(server.URL + "/data/?k=n")
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "/data/leaf", answer.Request.URL.Path)
}

// TestBehindMiddleware serves whole pages through a writer that cannot flush, and below a prefix of
// which the slash was cut too.
func TestBehindMiddleware(t *testing.T) {
	s := serve(t, view.Options{}, save(t, visits(), "visits"))
	whole := page(t, s, "/")
	logged := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(struct{ http.ResponseWriter }{w}, r) })
	server := httptest.NewServer(http.StripPrefix("/data/", logged))
	defer server.Close()
	for _, address := range []string{"/data/", "/data/leaf?k=chol"} {
		answer, err := http.Get(server.URL + address)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NotContains(t, string(body), "ends here")
		require.Greater(t, len(body), len(whole)/2)
		answer.Body.Close()
	}
}

// TestDataOfMoreDims shows each row of Data with two batch dims.
func TestDataOfMoreDims(t *testing.T) {
	inner := tdict.New(2, 2)
	put(t, inner, "data", tensor.Must(tdict.DataFrom([]any{"a", "b", "c", 0.1234567890123}, 2, 2)))
	td := tdict.New(2)
	put(t, td, "inner", inner)
	s := opened(t, td)
	require.NotContains(t, words(page(t, s, "/leaf?k=inner/data")), "null")
	text := words(page(t, s, "/rows?row=1"))
	require.Contains(t, text, "list of 2 values c 0.1234567890123")
}

// TestLeftOut counts the numbers that are not shown.
func TestLeftOut(t *testing.T) {
	td := tdict.New(2)
	put(t, td, "x", tensor.Must(tensor.New(tensor.Float32, 2, 3, 700)))
	require.Contains(t, words(page(t, opened(t, td), "/rows?row=0")), "1,400 others are left out")
}

// TestListsAreBounded refuses an index that copies much, and a row that is large as JSON.
func TestListsAreBounded(t *testing.T) {
	td := tdict.New(3)
	put(t, td, "r", tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Uint8, 5<<20, 1)), []int64{5 << 20, 0, 0})))
	put(t, td, "d", tensor.Must(tensor.New(tensor.Uint8, 3, 1<<20)))
	s := opened(t, td)
	for _, key := range []string{"r", "d"} {
		page(t, s, "/leaf?k="+key)
		testkit.MaxBytes(t, 8<<20, func() {
			require.Contains(t, words(page(t, s, "/leaf?k="+key+"&index=[0,"+strings.Repeat("0,", 200)+"0]")), "the result is too large")
		})
	}
	require.Contains(t, words(page(t, s, "/leaf?k=r&index=[1,2]")), "no values")
	require.Equal(t, http.StatusRequestEntityTooLarge, get(t, s, "/row.json?row=0").Code)
	require.NotContains(t, page(t, s, "/rows?row=0"), "Copy as JSON")
	whole := tdict.New(3)
	put(t, whole, "u", tensor.Must(tdict.NewUnbatched(tensor.Must(tensor.New(tensor.Uint8, 2<<20)))))
	require.Equal(t, http.StatusRequestEntityTooLarge, get(t, opened(t, whole), "/row.json?row=0").Code)
}

// TestNames shows names of datasets and metadata as they can be seen, and not without bound.
func TestNames(t *testing.T) {
	s := serve(t, view.Options{Sources: []view.Source{
		{Path: save(t, numbered(t, 0, 3), "a\u202eb\n<img src=x>")},
		{Name: "b\u202e\r\n", Dict: numbered(t, 0, 2), Metadata: map[string]string{"k\u202e": "v\u202e\x00<b>" + strings.Repeat("x", 3<<20)}},
	}})
	for at, body := range crawl(t, s, 40) {
		require.NotContains(t, body, "\u202e", at)
		require.NotContains(t, body, "<img src=x>", at)
		require.Less(t, len(body), 100_000, at)
	}
	require.Contains(t, words(page(t, s, "/")), `a\u202eb\n<img src=x> 3 rows`)
}

// TestHead answers HEAD as GET, without a body, also where GET would not end.
func TestHead(t *testing.T) {
	s := serve(t, view.Options{}, save(t, kinds(t, 10), "d"))
	page(t, s, "/")
	server := httptest.NewServer(s)
	defer server.Close()
	for _, at := range []string{"/", "/leaf?k=image", "/leaf?k=nix", "/rows?row=3", "/row.json?row=1", "/picture?k=image&row=0", "/nix"} {
		with, err := http.Get(server.URL + at)
		require.NoError(t, err)
		with.Body.Close()
		without, err := http.Head(server.URL + at)
		require.NoError(t, err, at)
		body, err := io.ReadAll(without.Body)
		require.NoError(t, err)
		require.Empty(t, body)
		require.Equal(t, with.StatusCode, without.StatusCode, at)
		require.Equal(t, with.Header.Get("Content-Type"), without.Header.Get("Content-Type"), at)
	}
	answer, err := http.Head(server.URL + "/events")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// TestCloseWhileAsked leaves nothing open, whenever requests come.
func TestCloseWhileAsked(t *testing.T) {
	dir := save(t, numbered(t, 0, 3), "d")
	before, goroutines := mapping.Live(), runtime.NumGoroutine()
	for i := range 40 {
		s, err := view.Handler(view.Options{Sources: []view.Source{{Path: dir}}, Idle: 5 * time.Millisecond})
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 10 {
					s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/leaf?k=n", nil))
				}
			})
		}
		time.Sleep(time.Duration(i) * 50 * time.Microsecond)
		require.NoError(t, s.Close())
		all.Wait()
	}
	require.Equal(t, before, mapping.Live())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, time.Minute, 10*time.Millisecond)
}

// TestMovedAndBack follows a dataset again that was away for a while.
func TestMovedAndBack(t *testing.T) {
	t.Parallel()
	dir := save(t, numbered(t, 0, 3), "d")
	s := serve(t, view.Options{Idle: time.Minute}, dir)
	page(t, s, "/")
	require.NoError(t, os.Rename(dir, dir+"x"))
	eventually(t, s, "/", "cannot follow")
	require.NoError(t, os.Rename(dir+"x", dir))
	require.Eventually(t, func() bool { return !strings.Contains(page(t, s, "/"), "cannot follow") }, time.Minute, 20*time.Millisecond)
}

// TestOldVersionIsClosed closes the version before a replacement while somebody looks at the new
// one.
func TestOldVersionIsClosed(t *testing.T) {
	before := mapping.Live()
	dir := save(t, numbered(t, 0, 300), "d")
	s := serve(t, view.Options{Idle: 200 * time.Millisecond}, dir)
	page(t, s, "/leaf?k=n")
	require.NoError(t, memmap.Save(dir, numbered(t, 10, 4)))
	eventually(t, s, "/", "4 rows")
	require.Eventually(t, func() bool { page(t, s, "/rows"); return mapping.Live() == before+1 }, time.Minute, 10*time.Millisecond)
}

// TestDeepTree bounds the page of a dictionary that is deep, and has many neighbours at each level.
func TestDeepTree(t *testing.T) {
	td := tdict.New(1)
	key := strings.Repeat("dddddddddd/", 100)
	for i := 0; i < len(key); i += 110 {
		for j := range 80 {
			require.NoError(t, td.Set(nestedkey.Key(key[:i]+"n"+string(rune('a'+j%26))+string(rune('a'+j/26))), tensor.Vector[int64](1)))
		}
	}
	require.NoError(t, td.Set(nestedkey.Key(key+"leaf"), tensor.Vector[int64](1)))
	require.Less(t, len(page(t, opened(t, td), "/leaf?k="+key+"leaf")), 400_000)
}

// TestManyDatasets shows a page of datasets at a time.
func TestManyDatasets(t *testing.T) {
	opt := view.Options{}
	for range 100 {
		opt.Sources = append(opt.Sources, view.Source{Name: "d", Dict: numbered(t, 0, 3)})
	}
	s := serve(t, opt)
	require.Contains(t, words(page(t, s, "/?from=96")), "100 datasets d-97 3 rows")
	require.Less(t, len(page(t, s, "/")), 30_000)
	require.Less(t, len(page(t, s, "/leaf?d=d-50&k=n")), 12_000)
	require.Contains(t, words(page(t, s, "/leaf?d=d-50&k=n")), "d-49 d-50 3")
	require.Contains(t, page(t, s, "/leaf?d=d-50&k=n"), `href="./?from=48"`, "the page that it is on")
}
