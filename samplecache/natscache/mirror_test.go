package natscache_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbered returns the sample of a number: two leaves, one larger than a chunk.
func numbered(n int64) *tdict.TensorDict {
	large := make([]int64, 1<<18)
	for i := range large {
		large[i] = n + int64(i)
	}
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"n": tensor.Scalar(n), "none": tensor.Must(tensor.New(tensor.Int8, 0)), "large": tensor.Must(tensor.From(large, len(large))),
	}))
}

// newCache makes a cache on a server.
func newCache(t testing.TB, url string, schema *tdict.TensorDict, config samplecache.Config) natscache.Engine {
	t.Helper()
	require.NoError(t, natscache.Create(t.Context(), url, "images", schema, natscache.Config{Config: config, Lease: lease}))
	return natscache.Engine{URL: url, Name: "images"}
}

// open joins a cache until the end of the test.
func open(t testing.TB, e samplecache.Engine) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{OnError: func(err error) { t.Errorf("OnError: %v", err) }})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := c.Close(); !errors.Is(err, samplecache.ErrClosed) {
			require.NoError(t, err)
		}
	})
	return c
}

// puts puts samples with consecutive numbers.
func puts(t testing.TB, p *samplecache.Producer, n int) {
	t.Helper()
	for range n {
		require.NoError(t, p.Put(t.Context(), numbered(int64(p.Next()))))
	}
}

// mirror runs Mirror until the returned function is called.
func mirror(t testing.TB, e natscache.Engine, dir string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- natscache.Mirror(ctx, e, dir) }()
	return func() {
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	}
}

// sees reads a generation whole, and reports whether it is mapped.
func sees(t testing.TB, g *samplecache.Generation, first int64) (mapped bool) {
	t.Helper()
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	td, err := g.Fetch(t.Context(), rows, nil)
	require.NoError(t, err)
	for i, n := range tensor.Must(tdict.Slice[int64](td, "n")) {
		require.Equal(t, first+int64(i), n)
		one, err := td.Index(ix.At(i))
		require.NoError(t, err)
		require.True(t, one.Equal(numbered(n)), "row %d", i)
	}
	_, err = g.Slice(0, 1)
	require.NoError(t, g.Close())
	return err == nil
}

func TestMirror(t *testing.T) {
	e := newCache(t, newServer(t).url(), numbered(0), samplecache.Config{Samples: 3})
	c, dir := open(t, e), filepath.Join(t.TempDir(), "mirror")
	e.Mirror = dir
	reader := open(t, e)
	p, err := c.Producer("gen")
	require.NoError(t, err)
	latest := func() *samplecache.Generation {
		g, err := reader.Latest(t.Context())
		require.NoError(t, err)
		return g
	}
	puts(t, p, 3)
	require.False(t, sees(t, latest(), 0), "there is no mirror yet")
	puts(t, p, 2)
	stop := mirror(t, e, dir)
	require.Eventually(t, func() bool { return sees(t, latest(), 0) }, time.Minute, time.Millisecond)
	puts(t, p, 1)
	require.True(t, sees(t, latest(), 3), "rows are copied as they are committed")
	puts(t, p, 3)
	g := latest()
	puts(t, p, 9)
	require.True(t, sees(t, latest(), 15))
	require.True(t, sees(t, g, 6), "a generation that is held stays")
	puts(t, p, 1) // of a generation that the mirror does not complete
	stop()
	puts(t, p, 2)
	require.False(t, sees(t, latest(), 18), "the mirror has stopped")
	stop = mirror(t, e, dir)
	require.Eventually(t, func() bool { return sees(t, latest(), 18) }, time.Minute, time.Millisecond)
	require.ErrorIs(t, natscache.Mirror(t.Context(), e, dir), samplecache.ErrProducerBusy)
	at := open(t, dircache.Engine{Dir: dir})
	local, err := at.Latest(t.Context())
	require.NoError(t, err)
	require.True(t, sees(t, local, 18), "dircache reads it")
	stop()
	work := t.TempDir()
	t.Chdir(work)
	require.NoError(t, os.WriteFile("mine", nil, 0o600))
	require.NoError(t, os.Symlink("nothing", "link"))
	for dir, is := range map[string]error{"": samplecache.ErrConfig, ".": fs.ErrExist, work: fs.ErrExist, "link": fs.ErrExist} {
		require.ErrorIs(t, natscache.Mirror(t.Context(), e, dir), is, "a directory that is no mirror")
		require.FileExists(t, filepath.Join(work, "mine"))
	}
	other := e
	other.Name = "others"
	require.NoError(t, natscache.Create(t.Context(), e.URL, other.Name, numbered(0), natscache.Config{Config: samplecache.Config{Samples: 3}}))
	require.ErrorIs(t, natscache.Mirror(t.Context(), other, dir), fs.ErrExist, "a mirror of another cache")
}

// BenchmarkMirror fetches rows of 2 MiB from a mirror, and the same rows from its directory by
// dircache.
func BenchmarkMirror(b *testing.B) {
	e := newCache(b, newServer(b).url(), numbered(0), samplecache.Config{Samples: 16})
	e.Mirror = filepath.Join(b.TempDir(), "mirror")
	defer mirror(b, e, e.Mirror)()
	c := open(b, e)
	p, err := c.Producer("gen")
	require.NoError(b, err)
	puts(b, p, 16)
	latest := func(c *samplecache.Cache) *samplecache.Generation {
		g, err := c.Wait(b.Context(), 0)
		require.NoError(b, err)
		return g
	}
	var took [2]time.Duration
	var dst [2]*tdict.TensorDict
	all := []*samplecache.Generation{latest(c), latest(open(b, dircache.Engine{Dir: e.Mirror}))}
	for n := -1; b.Loop(); n++ { // the first round compares checksums
		for i, g := range all {
			began := time.Now()
			if dst[i], err = g.Fetch(b.Context(), []int{3, 9, 12, 0}, dst[i]); err != nil {
				b.Fatal(err)
			}
			if n >= 0 {
				took[i] += time.Since(began)
			}
		}
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "of-dircache")
}
