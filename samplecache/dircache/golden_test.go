//go:build unix

package dircache_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var goldenFlag = flag.Bool("golden", false, "make testdata/golden-v1 anew: only for a format that is not released")

const goldenV1 = "testdata/golden-v1"

// goldenSample returns the samples in testdata/golden-v1.
func goldenSample(n int) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":   tensor.Must(tensor.From([]uint8{uint8(n), 1, 2, 255}, 2, 2)),
		"label/n": tensor.Must(tensor.From([]int32{int32(-n)}, 1)),
		"none":    tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
}

// TestW20MakeGolden makes the golden directory, if it is told to: without the control file, which
// is large, and what not every archive keeps: the link, and the empty directory of the FIFOs.
func TestW20MakeGolden(t *testing.T) {
	if !*goldenFlag {
		t.Skip("the golden directory stays as it is without -golden")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, goldenSample(0), samplecache.Config{Samples: 2, MaxHold: time.Minute}))
	c := joinSound(t, dir)
	one, two := putter(t, c, "gen-7"), putter(t, c, "gen-ü")
	for _, number := range []uint64{0, 1, 3} { // 2 is missing
		require.NoError(t, one.PutAt(soon(t), number, goldenSample(int(number))))
	}
	require.NoError(t, two.Put(soon(t), goldenSample(100)))
	none := putter(t, c, "")
	require.NoError(t, none.Put(soon(t), goldenSample(200)))
	require.NoError(t, c.Close())
	for _, name := range []string{"control", "current", "peers"} {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	require.NoError(t, os.RemoveAll(goldenV1))
	require.NoError(t, os.CopyFS(goldenV1, os.DirFS(dir)))
}

// golden returns a copy of the golden directory.
func golden(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.CopyFS(dir, os.DirFS(goldenV1)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "peers"), 0o777))
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777)) // what a module has is read-only
	}))
	return dir
}

// TestW20Golden opens a cache that the first version has made, and finds exactly what was in it.
func TestW20Golden(t *testing.T) {
	dir := golden(t)
	c := joinSound(t, dir)
	require.Equal(t, samplecache.Config{Samples: 2, Retain: 1, MaxHeld: 2, MaxHold: time.Minute}, c.Config())
	schema := tensor.Must(samplecache.Schema(goldenSample(0)))
	require.Equal(t, schema.String(), c.Schema().String())
	want := map[uint64][]struct {
		producer string
		number   uint64
		sample   int
	}{1: {{"gen-7", 0, 0}, {"gen-7", 1, 1}}, 2: {{"gen-7", 3, 3}, {"gen-ü", 0, 100}}}
	for id, rows := range want {
		g, err := c.At(soon(t), id)
		require.NoError(t, err)
		for i, row := range rows {
			td, err := g.Slice(i, i+1)
			require.NoError(t, err)
			requireSample(t, row.sample, td)
			info, err := g.Info(i)
			require.NoError(t, err)
			require.Equal(t, row.producer, info.Producer)
			require.Equal(t, row.number, info.Number)
			require.Len(t, info.Sums, 3)
			require.Equal(t, 2026, info.Time.UTC().Year())
		}
		require.NoError(t, g.Close())
	}
	_, err := c.At(soon(t), 3)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	st, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 2, st.Latest)
	require.Equal(t, 1, st.Committed, "one without a name")
	require.Equal(t, []samplecache.ProducerStats{
		{Name: "gen-7", Window: samplecache.Window{Floor: 2, Above: 2}}, {Name: "gen-ü", Window: samplecache.Window{Floor: 1}},
	}, st.Producers)

	p := putter(t, c, "gen-7")
	require.NoError(t, p.PutAt(soon(t), 3, goldenSample(9)), "it is there, and is not stored again")
	require.NoError(t, p.Put(soon(t), goldenSample(2)))
	require.EqualValues(t, 4, p.Next())
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	require.EqualValues(t, 3, g.ID())
	for i, n := range []int{200, 2} {
		requireSample(t, n, tensor.Must(g.Slice(i, i+1)))
	}
	require.NoError(t, g.Close())
}

// requireSample checks that td of batch shape [1] has a golden sample.
func requireSample(t *testing.T, n int, td *tdict.TensorDict) {
	t.Helper()
	want := goldenSample(n)
	for key, leaf := range want.Tensors() {
		got := tensor.Must(td.Tensor(key))
		require.True(t, leaf.Equal(tensor.Must(got.Reshape(leaf.Shape()...))), "%s of sample %d", key, n)
	}
}

// TestW20GoldenIsADataset opens a generation of the golden directory as what it is beside.
func TestW20GoldenIsADataset(t *testing.T) {
	ds, err := memmap.Open(filepath.Join(golden(t), "gen-0000000002"))
	require.NoError(t, err)
	defer ds.Close()
	require.Equal(t, []int{2}, []int(ds.Shape()))
	requireSample(t, 3, tensor.Must(ds.Index(ix.Range(0, 1))))
}
