package mongowire_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// wirehead runs the original's programs, which are not part of this module.
type wirehead struct {
	t           *testing.T
	python, dir string
	config      string
}

// original returns the original's programs with a config for a server, or skips the test.
func original(t *testing.T, addr string, samples int, more ...string) *wirehead {
	w := &wirehead{t: t, python: os.Getenv("TENSORDICT_PYTHON"), dir: os.Getenv("WIREHEAD_DIR")}
	if w.python == "" {
		t.Skip("TENSORDICT_PYTHON names no Python with torch, pymongo and yaml")
	}
	if w.dir == "" {
		t.Skip("WIREHEAD_DIR names no folder with wirehead's generator.py, dataset.py and log.py")
	}
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	if len(more) > 0 {
		host = more[0] + "@" + host
	}
	w.config = filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("MONGOHOST: %q\nPORT: %s\nDBNAME: unit\nSWAP_CAP: %d\nSAMPLE: [data, label]\nWRITE_COLLECTION: write\nREAD_COLLECTION: read\nTEMP_COLLECTION: temp\nCOUNTER_COLLECTION: counter\nCHUNKSIZE: 1\n", host, port, samples)
	require.NoError(t, os.WriteFile(w.config, []byte(text), 0o644))
	return w
}

// prelude loads the original's programs and has the samples: number i is cubes of i and of 7*i.
const prelude = `
import importlib.util, itertools, json, sys, time
import numpy as np, torch
folder, config = sys.argv[1:3]
def load(name):
    spec = importlib.util.spec_from_file_location(name, f"{folder}/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
side = 96
def cubes(first, n):
    for i in range(first, first + n):
        yield tuple(np.full((side, side, side), k * i % 250, dtype=np.uint8) for k in (1, 7))
def generate(first, n):
    load("generator").WireheadGenerator(cubes(first, n), config, n_samples=n).run()
def check(ds):
    n = len(ds)
    for i, s in ds[list(range(n))].items():
        a, b = s["input"], s["label"]
        assert a.shape == b.shape == (side, side, side) and a.dtype == torch.float32 and b.dtype == torch.uint8
        v = int(a[0, 0, 0])
        assert (a == v).all() and (b == b[0, 0, 0]).all(), i
        assert any(k % 250 == v and 7 * k % 250 == int(b[0, 0, 0]) for k in range(1000)), (v, int(b[0, 0, 0]))
    return n
`

// run runs a program after the prelude and returns what it prints.
func (w *wirehead) run(program string) string {
	w.t.Helper()
	cmd := exec.CommandContext(within(w.t, 3*time.Minute), w.python, "-W", "ignore", "-c", prelude+program, w.dir, w.config)
	cmd.Dir = filepath.Dir(w.config)
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// TestOriginal runs the original's generator, dataset and logger, unmodified.
func TestOriginal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s, addr := serve(t, nil, mongowire.Options{Samples: 5, Create: inDir(dir, 5)})
	w := original(t, addr, 5)
	out := w.run(`
generate(0, 14) # 2 generations and 4 samples
ds = load("dataset").MongoheadDataset(config)
assert len(ds) == 5 and check(ds) == 5
pairs = load("dataset").MongoTupleheadDataset(config)[[0, 3]]
assert len(pairs) == 2
log = load("log").WireheadLogger(config)
history = log.history()
assert len(history) == 2 and history[0].swap_timestamp <= history[1].swap_timestamp, history
snap = log.snapshot()
assert (snap.samples_started, snap.samples_completed, snap.in_flight, snap.is_swapping) == (4, 4, 0, False), snap
assert snap.write_docs == 8 and snap.read_docs == 10 and snap.mongo_active_ops == 0, snap
print(json.dumps(sorted(json.loads(snap.to_jsonl()))))
print("as it should be")
`)
	require.Contains(t, out, "as it should be")
	require.NotContains(t, out, "error")
	require.Equal(t, 2, strings.Count(out, "Dataset: Data is ready"))
	for name := range snapshotOf(t, s) {
		require.Contains(t, out, fmt.Sprintf("%q", name))
	}
	requireCubes(t, dir, 2, 5, 10)
}

// inDir returns an Options.Create that makes a cache in a directory.
func inDir(dir string, samples int) createFunc {
	return func(ctx ctx, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		if err := dircache.Create(dir, schema, samplecache.Config{Samples: samples}); err != nil {
			return nil, err
		}
		return samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
	}
}

// requireCubes opens a directory as a Go program would, and wants the samples from one number on,
// before another, in the generation published last.
func requireCubes(t *testing.T, dir string, generation uint64, from, to int) {
	t.Helper()
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	require.Equal(t, generation, g.ID())
	td, err := g.Slice(0, g.Len())
	require.NoError(t, err)
	var data, label []uint8
	for key, into := range map[string]*[]uint8{"data": &data, "label": &label} {
		x, err := td.Tensor(nestedKey(key))
		require.NoError(t, err)
		require.NoError(t, tensor.Read(x, func(b []uint8) {
			for i := range g.Len() {
				cube := b[i*96*96*96:][:96*96*96]
				for _, v := range cube {
					if v != cube[0] {
						t.Fatalf("sample %d of %s is not all %d", i, key, cube[0])
					}
				}
				*into = append(*into, cube[0])
			}
		}))
	}
	seen := map[int]bool{}
	for i := range data {
		require.Equal(t, byte(7*int(data[i])%250), label[i])
		seen[int(data[i])] = true
	}
	for n := from; n < to; n++ {
		require.True(t, seen[n], "sample %d", n)
	}
}

// TestOriginals runs three of the original's generators at once, while its dataset and a Go program
// read, until each sample has been put, and none twice.
func TestOriginals(t *testing.T) {
	c := memory(t, pair(t, 96, 96, 96), 7)
	_, addr := serve(t, c, mongowire.Options{})
	w := original(t, addr, 7)
	seen := map[int]int{}
	read := make(chan error, 1)
	go func() {
		for id := uint64(1); id <= 6; id++ {
			g, err := c.Wait(t.Context(), id-1)
			if err == nil && g.ID() != id {
				err = fmt.Errorf("generation %d was missed", id)
			}
			for row := 0; err == nil && row < g.Len(); row++ {
				var td *tdict.TensorDict
				if td, err = g.Slice(row, row+1); err == nil {
					err = tensor.Read(tensor.Must(td.Tensor("data")), func(b []uint8) { seen[int(b[0])]++ })
				}
			}
			if err != nil {
				read <- err
				return
			}
			_ = g.Close()
		}
		read <- nil
	}()
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() { w.run(fmt.Sprintf("generate(%d, 14)", 14*i)) })
	}
	all.Go(func() {
		w.run(`
for _ in range(5):
    assert check(load("dataset").MongoheadDataset(config)) == 7
`)
	})
	all.Wait()
	require.NoError(t, <-read)
	require.Len(t, seen, 42)
	for n, times := range seen {
		require.Equal(t, 1, times, "sample %d", n)
	}
}

// TestGoPutsForTheOriginal has a Go program put samples into the directory that the original's
// dataset reads.
func TestGoPutsForTheOriginal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, pair(t, 96, 96, 96), samplecache.Config{Samples: 3}))
	open := func() *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	_, addr := serve(t, open(), mongowire.Options{User: "lab", Password: "a secret"})
	w := original(t, addr, 3, "lab:a%20secret")
	p, err := open().Producer("go")
	require.NoError(t, err)
	for i := range 3 {
		td := tdict.New()
		require.NoError(t, td.Set("data", filled(t, byte(i), 96, 96, 96)))
		require.NoError(t, td.Set("label", filled(t, byte(7*i), 96, 96, 96)))
		require.NoError(t, p.Put(t.Context(), td))
	}
	require.Contains(t, w.run(`
ds = load("dataset").MongoheadDataset(config)
print(check(ds), "samples")
generate(100, 3)
`), "3 samples")
	requireCubes(t, dir, 2, 100, 103)
}
