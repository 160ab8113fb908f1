package view_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// many returns a dictionary with n leaves in dictionaries of 1,000.
func many(b testing.TB, n int) *tdict.TensorDict {
	td := tdict.New(4)
	x := tensor.Vector[float32](1, 2, 3, 4)
	for i := range n {
		put(b, td, nestedkey.Key(fmt.Sprintf("clinic-%03d/patient-%04d", i/1000, i%1000)), x)
	}
	return td
}

// BenchmarkPages times pages of a dataset that is open: of 1,000 and of 100,000 leaves.
func BenchmarkPages(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		path := filepath.Join(testkit.TempDir(b), "cohort.tdc")
		require.NoError(b, memmap.Save(path, many(b, n)))
		s := serve(b, view.Options{}, path)
		for get(b, s, "/").Code != http.StatusOK || len(links.FindAllString(get(b, s, "/").Body.String(), -1)) < 5 {
			time.Sleep(10 * time.Millisecond)
		}
		for _, address := range []string{"/", "/?k=clinic-000", "/search?q=patient-0005", "/leaf?k=clinic-000/patient-0999", "/rows"} {
			b.Run(fmt.Sprintf("leaves=%d%s", n, address), func(b *testing.B) {
				for b.Loop() {
					page(b, s, address)
				}
			})
		}
		b.Run(fmt.Sprintf("leaves=%d/inspect.Dataset", n), func(b *testing.B) {
			for b.Loop() {
				_, err := inspect.Dataset(path)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("leaves=%d/open", n), func(b *testing.B) {
			for b.Loop() {
				s, err := view.Handler(view.Options{Sources: []view.Source{{Path: path}}})
				require.NoError(b, err)
				for len(get(b, s, "/search?q=zzz").Body.String()) == 0 {
				}
				require.NoError(b, s.Close())
			}
		})
	}
}

// BenchmarkWall times the first byte and the whole of a wall of 60 cards of 1 MB, and a page of
// Describe of the same leaves.
func BenchmarkWall(b *testing.B) {
	td := tdict.New(125_000)
	for i := range 60 {
		x := make([]float64, 125_000)
		for j := range x {
			x[j] = rand.NormFloat64()
		}
		put(b, td, nestedkey.Key(fmt.Sprintf("leaf-%02d", i)), tensor.Vector(x...))
	}
	path := filepath.Join(testkit.TempDir(b), "wall")
	require.NoError(b, memmap.Save(path, td))
	var first time.Duration
	for b.Loop() {
		s, err := view.Handler(view.Options{Sources: []view.Source{{Path: path}}})
		require.NoError(b, err)
		page(b, s, "/rows?row=1&from=100000&part=rows") // it is open
		server := httptest.NewServer(s)
		began := time.Now()
		answer, err := http.Get(server.URL + "/")
		require.NoError(b, err)
		first += time.Since(began)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(b, err)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/wall")
		answer.Body.Close()
		server.Close()
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms/first-byte")
}

// BenchmarkLargeLeaf times the page of a leaf of 4 GB, of which a sample is read.
func BenchmarkLargeLeaf(b *testing.B) {
	path := filepath.Join(testkit.TempDir(b), "large")
	zero := tensor.Must(tensor.New(tensor.Float64))
	td := tdict.New(500_000_000)
	put(b, td, "x", tensor.Must(zero.Expand(500_000_000)))
	ds, err := memmap.Create(path, td, memmap.CreateOptions{})
	require.NoError(b, err)
	require.NoError(b, ds.Close())
	for b.Loop() {
		s, err := view.Handler(view.Options{Sources: []view.Source{{Path: path}}})
		require.NoError(b, err)
		page(b, s, "/?as=list")
		began := time.Now()
		page(b, s, "/leaf?k=x")
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/page")
		require.NoError(b, s.Close())
	}
}

// BenchmarkPictures times 64 images of 224 x 224 x 3, got by six connections.
func BenchmarkPictures(b *testing.B) {
	td := tdict.New(64)
	x := make([]uint8, 64*224*224*3)
	for i := range x {
		x[i] = uint8(rand.Uint32())
	}
	put(b, td, "image", tensor.Must(tensor.From(x, 64, 224, 224, 3)))
	path := filepath.Join(testkit.TempDir(b), "images")
	require.NoError(b, memmap.Save(path, td))
	s := serve(b, view.Options{}, path)
	server := httptest.NewServer(s)
	defer server.Close()
	page(b, s, "/pictures?k=image")
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 6, MaxIdleConnsPerHost: 6}}
	for b.Loop() {
		var all sync.WaitGroup
		for row := range 64 {
			all.Go(func() {
				answer, err := client.Get(fmt.Sprintf("%s/picture?k=image&row=%d", server.URL, row))
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			})
		}
		all.Wait()
	}
}
