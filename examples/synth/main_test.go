package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
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

// TestCompare runs the whole for a moment.
func TestCompare(t *testing.T) {
	needsCache(t)
	*seconds, *samples, *procs, *dir = 0.2, 8, 2, t.TempDir()
	var out strings.Builder
	require.NoError(t, compare(&out))
	for _, part := range []string{"the trainer", "processes: 1", "processes: 2", "gen-0 was killed", "none is missing, none came twice"} {
		require.Contains(t, out.String(), part)
	}
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
	p, err := start(at, 3)
	require.NoError(t, err)
	requireDrawn(t, c, 0)
	require.NoError(t, p.kill())
	p, err = start(at, 3)
	require.NoError(t, err)
	from, err := strconv.Atoi(p.from)
	require.NoError(t, err)
	require.GreaterOrEqual(t, from, 4)
	requireDrawn(t, c, uint64(from/4+1))
	_, err = p.stop()
	require.NoError(t, err)
}

// requireDrawn checks the samples of a generation later than one.
func requireDrawn(t *testing.T, c *samplecache.Cache, after uint64) {
	t.Helper()
	g, err := c.Wait(t.Context(), after)
	require.NoError(t, err)
	want := blank()
	for row := range g.Len() {
		info, err := g.Info(row)
		require.NoError(t, err)
		require.Equal(t, "gen-3", info.Producer)
		require.NoError(t, draw(want, 3, info.Number))
		got, err := g.Fetch(context.Background(), []int{row}, nil)
		require.NoError(t, err)
		for key := range want.Leaves() {
			require.True(t, slices.Equal(numbers(t, want, string(key)), numbers(t, got, string(key))), "%s of volume %d", key, info.Number)
		}
	}
	require.NoError(t, g.Close())
}

func numbers(t *testing.T, td *tdict.TensorDict, key string) []uint8 {
	t.Helper()
	x, err := td.Tensor(nestedkey.Key(key))
	require.NoError(t, err)
	return tensor.Must(tensor.Of[uint8](x))
}

// TestDraw draws over what was there, with every label, each of a brightness of its own.
func TestDraw(t *testing.T) {
	first, second := blank(), blank()
	for i, v := range numbers(t, second, "label") {
		numbers(t, second, "label")[i] = v + 9
	}
	require.NoError(t, draw(first, 1, 2))
	require.NoError(t, draw(second, 1, 2))
	label, image := numbers(t, first, "label"), numbers(t, first, "image")
	require.True(t, slices.Equal(label, numbers(t, second, "label")))
	require.True(t, slices.Equal(image, numbers(t, second, "image")))
	var sum, count [labels]int
	for i, l := range label {
		sum[l], count[l] = sum[l]+int(image[i]), count[l]+1
	}
	for l := range labels {
		require.NotZero(t, count[l], l)
		require.InDelta(t, 20+28*l, sum[l]/count[l], 28, l)
	}
	require.NoError(t, draw(second, 1, 3))
	require.False(t, slices.Equal(label, numbers(t, second, "label")))
}

// TestLedger has numbers that are missing, and that come twice.
func TestLedger(t *testing.T) {
	p := &process{from: "6"}
	story, err := ledger{"gen-0": {5, 7, 6}, "gen-1": {0}}.story(p)
	require.NoError(t, err)
	require.Contains(t, story, "volume 6.\nThe trainer got 4 volumes of 2 generators")
	_, err = ledger{"gen-0": {5, 8, 6}}.story(p)
	require.EqualError(t, err, "volume 7 of gen-0 is missing, or is there twice")
	_, err = ledger{"gen-0": {5, 6, 6}}.story(p)
	require.EqualError(t, err, "volume 7 of gen-0 is missing, or is there twice")
}

// TestModel learns two labels, one of which is more frequent where both are as bright.
func TestModel(t *testing.T) {
	var m model
	m.train([]uint8{10, 10, 10, 200}, []uint8{3, 3, 2, 5})
	require.Zero(t, m.accuracy()) // nothing was known yet
	m.train([]uint8{10, 10, 200, 201}, []uint8{3, 2, 5, 0})
	require.InDelta(t, 3./8, m.accuracy(), 1e-9)
}
