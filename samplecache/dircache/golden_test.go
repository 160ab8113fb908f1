//go:build unix

package dircache_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var goldenFlag = flag.Bool("golden", false, "make testdata/golden-v3 anew: only for a format that is not released")

const goldenV3 = "testdata/golden-v3"

// goldenSample returns the samples in testdata/golden-v3.
func goldenSample(n int) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":   tensor.Must(tensor.From([]uint8{uint8(n), 1, 2, 255}, 2, 2)),
		"label/n": tensor.Must(tensor.From([]int32{int32(-n)}, 1)),
		"none":    tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
}

// TestW20MakeGolden makes the golden directory, if it is told to, without the second of the counts
// of groups, since zeros lie before it.
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
	_, err := c.Group("train", 2).Epoch(soon(t), 7)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(goldenV3))
	require.NoError(t, os.CopyFS(goldenV3, os.DirFS(dir))) // as if all were killed
	first, _ := dircache.CountsAt()
	require.NoError(t, os.Truncate(filepath.Join(goldenV3, "control"), first+1024))
}

// golden returns a copy of the golden directory, as if this machine had made it since it was
// started.
func golden(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.CopyFS(dir, os.DirFS(goldenV3)))
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777)) // what a module has is read-only
	}))
	_, second := dircache.CountsAt()
	require.NoError(t, os.Truncate(filepath.Join(dir, "control"), second+16))
	boot, err := host.Boot()
	require.NoError(t, err)
	machine, err := host.Machine()
	require.NoError(t, err)
	require.NoError(t, dircache.Rehost(dir, boot, machine))
	return dir
}

// TestW20GoldenV2 refuses a cache of the version before, and says what to do. Nothing is changed.
func TestW20GoldenV2(t *testing.T) {
	before := contents("testdata/golden-v2")
	err := opened("testdata/golden-v2")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "MANIFEST")
	require.ErrorContains(t, err, "version 2")
	require.ErrorContains(t, err, "knows 3: make a new cache")
	require.Equal(t, before, contents("testdata/golden-v2"))
}

// TestW20Golden opens a cache of version 3, and finds exactly what was in it, also where the words
// of the control file are made again.
func TestW20Golden(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("control is made again %v", again), func(t *testing.T) {
			dir := golden(t)
			if again {
				require.NoError(t, dircache.Reboot(dir))
			}
			requireGolden(t, joinSound(t, dir))
		})
	}
}

// requireGolden checks a cache that is as the golden one, and goes on.
func requireGolden(t *testing.T, c *samplecache.Cache) {
	t.Helper()
	require.Equal(t, samplecache.Config{Samples: 2, Retain: 1, MaxHeld: 2, MaxHold: time.Minute}, c.Config())
	schema := tensor.Must(engine.Schema(goldenSample(0)))
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
