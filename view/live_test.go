package view_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// numbered returns n rows, numbered from a row on.
func numbered(t testing.TB, from, n int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(n)
	put(t, td, "n", tensor.Must(tensor.Arange(int64(from), int64(from+n), 1)))
	return td
}

// eventually waits until a page has some words.
func eventually(t testing.TB, s http.Handler, address, want string) {
	t.Helper()
	text, end := "", time.Now().Add(time.Minute)
	for ; !strings.Contains(text, want); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "got %q, want %q", text, want)
		text = words(get(t, s, address).Body.String())
	}
}

// versionOf returns the name of the version that the links of a page have.
func versionOf(t testing.TB, body string) string {
	t.Helper()
	for _, link := range linked("/", body) {
		if u, err := url.Parse(link); err == nil && u.Query().Get("v") != "" {
			return u.Query().Get("v")
		}
	}
	t.Fatal("no link has a version")
	return ""
}

// TestGrowing follows a Writer from its first commit to its end: the version keeps its name.
func TestGrowing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testkit.TempDir(t), "events")
	w, err := memmap.NewWriter(dir, tensor.Must(numbered(t, 0, 1).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	s := serve(t, view.Options{}, dir)
	body := page(t, s, "/")
	require.Contains(t, words(body), "No rows yet")
	require.Contains(t, words(body), "growing 0 rows")
	v := versionOf(t, body)
	require.NoError(t, w.Append(numbered(t, 0, 3)))
	require.NoError(t, w.Commit())
	eventually(t, s, "/rows?v="+v, "0 to 2 of 3")
	require.NoError(t, w.Append(numbered(t, 3, 2)))
	require.NoError(t, w.Finish())
	eventually(t, s, "/rows?v="+v, "0 to 4 of 5")
	body = page(t, s, "/?v="+v)
	require.NotContains(t, words(body), "growing")
	require.NotContains(t, words(body), "Replaced")
	require.Contains(t, words(page(t, s, "/rows?part=rows&from=3&v="+v)), "3 3 4 4")
}

// TestEvents reads the stream of a growing dataset, over a socket, until it is replaced.
func TestEvents(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testkit.TempDir(t), "events")
	w, err := memmap.NewWriter(dir, tensor.Must(numbered(t, 0, 1).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	s := serve(t, view.Options{}, dir)
	server := httptest.NewServer(s)
	defer server.Close()
	v := versionOf(t, page(t, s, "/"))
	answer, err := http.Get(server.URL + "/events?v=" + v)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	next := func() (e struct {
		N              int
		Word, Replaced string
		Growing        bool
	}) {
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				require.NoError(t, json.Unmarshal([]byte(data), &e))
				return e
			}
		}
		t.Fatal("the stream has ended")
		return e
	}
	first := next()
	require.True(t, first.Growing)
	require.Equal(t, 0, first.N)
	for i := range 3 {
		require.NoError(t, w.Append(numbered(t, 2*i, 2)))
		require.NoError(t, w.Commit())
		require.Equal(t, 2*i+2, next().N)
	}
	require.NoError(t, w.Finish())
	require.Equal(t, "finished", next().Word)
	require.NoError(t, memmap.Save(dir, numbered(t, 100, 4)))
	last := next()
	require.NotEmpty(t, last.Replaced)
	require.Equal(t, 4, last.N)
	for lines.Scan() {
		require.Empty(t, lines.Text(), "nothing more can happen to the version")
	}
}

// TestReplaced shows the version before a replacement to those who look at it, says so, and answers
// with 410 once nobody looks.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, numbered(t, 0, 3)))
	s := serve(t, view.Options{Idle: 2 * time.Second}, dir) // and 2 s pass, in parallel
	was := versionOf(t, page(t, s, "/leaf?k=n"))
	require.NoError(t, memmap.Save(dir, numbered(t, 10, 4)))
	eventually(t, s, "/", "4 rows")
	text := words(page(t, s, "/rows?v="+was))
	require.Contains(t, text, "You see the version before it, of 3 rows; the new one has 4 rows.")
	require.Contains(t, text, "row n 0 0 1 1 2 2")
	is := versionOf(t, page(t, s, "/"))
	require.NotEqual(t, was, is)
	require.Contains(t, words(page(t, s, "/rows?v="+is)), "row n 0 10 1 11")
	require.Eventually(t, func() bool { return get(t, s, "/?v="+was).Code == http.StatusGone }, time.Minute, 2100*time.Millisecond)
	require.Equal(t, http.StatusOK, get(t, s, "/?v="+is).Code, "it is closed and open again")
	other := serve(t, view.Options{}, dir)
	require.Equal(t, http.StatusOK, get(t, other, "/?v="+is).Code, "another server knows the version, as bookmarks need")
}

// TestIdle closes what nobody looks at.
func TestIdle(t *testing.T) {
	before := mapping.Live()
	s := serve(t, view.Options{Idle: 50 * time.Millisecond}, save(t, digits(), "digits"))
	page(t, s, "/")
	require.Eventually(t, func() bool { return mapping.Live() == before }, time.Minute, 10*time.Millisecond)
	page(t, s, "/")
}

// TestFault cuts a file while it is served: one card fails, and the others go on.
func TestFault(t *testing.T) {
	dir := save(t, visits(), "visits")
	s := serve(t, view.Options{}, dir)
	page(t, s, "/leaf?k=age") // it is mapped
	v := versionOf(t, page(t, s, "/?as=list"))
	require.NoError(t, os.Truncate(filepath.Join(dir, "age.memmap"), 8192))
	require.NoError(t, os.Truncate(filepath.Join(dir, "bili.memmap"), 8192)) // it is not
	other := serve(t, view.Options{}, dir)
	text := words(page(t, s, "/?v="+v))
	require.Contains(t, text, `bili float64 profiles "bili": `)
	require.Contains(t, text, "chol int64 55 1,775 median 281 821 missing", "the other leaves go on")
	for _, address := range []string{"/leaf?k=bili", "/leaf?k=bili&all=1"} {
		w := get(t, s, address)
		require.Equal(t, http.StatusInternalServerError, w.Code, address)
		text := words(w.Body.String())
		require.Contains(t, text, "bili cannot be read")
		require.Contains(t, text, "bili.memmap: fault in mapped memory")
		require.NotContains(t, text, filepath.Dir(dir), "a path of the machine")
	}
	w := get(t, s, "/leaf?k=age")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Contains(t, words(w.Body.String()), "age.memmap: fault in mapped memory")
	require.NotContains(t, words(w.Body.String()), filepath.Dir(dir))
	require.Contains(t, words(page(t, s, "/rows?row=1000")), "bili")
	require.Contains(t, words(page(t, s, "/rows")), "1 cannot be read f", "it is not called missing")
	w = get(t, other, "/")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Contains(t, words(w.Body.String()), "visits cannot be opened")
	require.NotContains(t, words(w.Body.String()), filepath.Dir(dir))
}

// TestMany sends more requests at a time than are worked on: each is answered, or refused with 503.
func TestMany(t *testing.T) {
	s := serve(t, view.Options{MaxRequests: 2}, save(t, visits(), "visits"))
	server := httptest.NewServer(s)
	defer server.Close()
	codes := make([]int, 60)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() {
			answer, err := http.Get(server.URL + fmt.Sprintf("/rows?from=%d", i))
			if err == nil {
				codes[i] = answer.StatusCode
				answer.Body.Close()
			}
		})
	}
	all.Wait()
	for _, code := range codes {
		require.Contains(t, []int{http.StatusOK, http.StatusServiceUnavailable}, code)
	}
	require.Contains(t, codes, http.StatusOK)
	free := s.Fill()
	require.Equal(t, http.StatusServiceUnavailable, get(t, s, "/").Code)
	require.Equal(t, http.StatusServiceUnavailable, get(t, s, "/picture?k=image&row=0").Code)
	free()
	require.Equal(t, http.StatusOK, get(t, s, "/").Code, "nothing is held")
}

// TestStreams opens more streams than there may be. Each is given back at its end.
func TestStreams(t *testing.T) {
	s := serve(t, view.Options{MaxStreams: 2}, save(t, digits(), "digits"))
	server := httptest.NewServer(s)
	defer server.Close()
	open := func(ctx context.Context) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		return answer.StatusCode
	}
	ctx, cancel := context.WithCancel(context.Background())
	require.Equal(t, http.StatusOK, open(ctx))
	require.Equal(t, http.StatusOK, open(ctx))
	require.Equal(t, http.StatusServiceUnavailable, open(context.Background()))
	cancel()
	later, cancel := context.WithCancel(context.Background())
	defer cancel()
	require.Eventually(t, func() bool { return open(later) == http.StatusOK }, time.Minute, 10*time.Millisecond)
}

// TestClosedTab ends the reading of a wall when the browser is gone.
func TestClosedTab(t *testing.T) {
	s := serve(t, view.Options{}, save(t, visits(), "visits"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	require.NotContains(t, w.Body.String(), `class="card"`)
}

// TestClosed answers requests after Close with an error.
func TestClosed(t *testing.T) {
	s, err := view.Handler(view.Options{Sources: []view.Source{{Path: save(t, digits(), "digits")}}})
	require.NoError(t, err)
	page(t, s, "/")
	require.NoError(t, s.Close())
	w := get(t, s, "/")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Contains(t, words(w.Body.String()), "closed")
}

// TestReplacedByOtherRows: other data with as many rows, of the same schema, does not pass for the
// end of a growing dataset.
func TestReplacedByOtherRows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no numbers")
	}
	dir := filepath.Join(testkit.TempDir(t), "events")
	w, err := memmap.NewWriter(dir, tensor.Must(numbered(t, 0, 1).Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(numbered(t, 0, 3)))
	require.NoError(t, w.Commit())
	s := serve(t, view.Options{}, dir)
	was := versionOf(t, page(t, s, "/leaf?k=n"))
	require.NoError(t, w.Close())
	require.NoError(t, memmap.Save(dir, numbered(t, 500, 4)))
	eventually(t, s, "/", "4 rows")
	text := words(page(t, s, "/rows?v="+was))
	require.Contains(t, text, "Replaced")
	require.Contains(t, text, "row n 0 0 1 1 2 2")
}
