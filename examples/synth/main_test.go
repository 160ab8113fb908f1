package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMain is also what generators run that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-generator" {
		main()
		return
	}
	os.Exit(m.Run())
}

// needsCache skips a test where the system has no caches.
func needsCache(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	err := dircache.Create(dir, schema(), samplecache.Config{Samples: 4})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system has no caches: ", err)
	}
	require.NoError(t, err)
	return dir
}

// TestRun runs the example as it stands, which leaves no files.
func TestRun(t *testing.T) {
	needsCache(t)
	*dir = t.TempDir()
	got := run()
	require.Len(t, got, *procs)
	images, err := got.count()
	require.NoError(t, err)
	require.Equal(t, 8*32, images)
	left, err := os.ReadDir(*dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestKilledGeneratorGoesOn kills a generator and starts it again, and draws all that was published
// a second time.
func TestKilledGeneratorGoesOn(t *testing.T) {
	at := needsCache(t)
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: at}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	p := start(at, 3)
	require.Zero(t, p.from)
	requireDrawn(t, c, 0)
	require.NoError(t, p.Process.Kill())
	require.Error(t, p.Wait())
	p = start(at, 3)
	require.GreaterOrEqual(t, p.from, uint64(4))
	requireDrawn(t, c, p.from/4+1)
	require.NoError(t, p.in.Close())
	require.NoError(t, p.Wait())
}

// requireDrawn checks the samples of a generation later than one.
func requireDrawn(t *testing.T, c *samplecache.Cache, after uint64) {
	t.Helper()
	g, err := c.Wait(t.Context(), after)
	require.NoError(t, err)
	want := tdict.New()
	require.NoError(t, want.Set("image", tensor.Must(tensor.New(tensor.Uint8, 128, 128))))
	for row := range g.Len() {
		info, err := g.Info(row)
		require.NoError(t, err)
		require.Equal(t, "gen-3", info.Producer)
		draw(want, 3, info.Number)
		got, err := g.Fetch(context.Background(), []int{row}, nil)
		require.NoError(t, err)
		require.True(t, slices.Equal(pixels(want), pixels(got)), "image %d", info.Number)
	}
	require.NoError(t, g.Close())
}

func pixels(td *tdict.TensorDict) []uint8 { return tensor.Must(tdict.Slice[uint8](td, "image")) }

// TestLedger has numbers that are missing, and that come twice.
func TestLedger(t *testing.T) {
	images, err := ledger{"gen-0": {5, 7, 6}, "gen-1": {0}}.count()
	require.NoError(t, err)
	require.Equal(t, 4, images)
	_, err = ledger{"gen-0": {5, 8, 6}}.count()
	require.EqualError(t, err, "gen-0: got image 8, want 7")
	_, err = ledger{"gen-0": {5, 6, 6}}.count()
	require.EqualError(t, err, "gen-0: got image 6, want 7")
}
