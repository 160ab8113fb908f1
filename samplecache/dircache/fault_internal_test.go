//go:build unix

package dircache

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// one returns a sample of one number.
func one(n int64) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.From([]int64{n}, 1))}))
}

// half makes a cache of generations of four samples: 1 and 2 are published, and 3 has two samples.
// The producer "p" has put them all.
func half(t *testing.T) (dir string) {
	t.Helper()
	dir = newDir(t)
	require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: 4}))
	c := openHere(t, Engine{Dir: dir})
	p, err := c.Producer("p")
	require.NoError(t, err)
	for n := range int64(10) {
		require.NoError(t, p.Put(t.Context(), one(n)))
	}
	require.NoError(t, c.Close())
	return dir
}

// newDir returns the path of a new cache.
func newDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(testkit.MemoryDir(t), "cache")
}

// soon returns a context that ends when something counts as hung.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func openHere(t *testing.T, e Engine) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{OnError: func(err error) { t.Logf("told: %v", err) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// requireHalf checks that a cache is what half has made, and goes on.
func requireHalf(t *testing.T, c *samplecache.Cache) {
	t.Helper()
	p, err := c.Producer("p")
	require.NoError(t, err)
	require.EqualValues(t, 10, p.Next())
	for _, n := range []int64{10, 11} {
		require.NoError(t, p.Put(t.Context(), one(n)))
	}
	g, err := c.Wait(soon(t), 2)
	require.NoError(t, err)
	require.EqualValues(t, 3, g.ID())
	td, err := g.Fetch(t.Context(), []int{0, 1, 2, 3}, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []int64{8, 9, 10, 11}, tensor.Must(tdict.Slice[int64](td, "n")))
	require.NoError(t, g.Close())
	require.NoError(t, p.Close())
}

// halfWords names a word of each kind in the control file of half, and what lies besides.
func halfWords() map[string]int64 {
	all := Words()
	all["header"], all["magic"] = 200, 0
	all["counts"], all["other counts"] = CountsAt()
	return all
}

// damage changes bytes of the control file.
func damage(t *testing.T, dir string, at int64) {
	t.Helper()
	change(t, filepath.Join(dir, controlName), at, func(b []byte) { b[0] ^= 0x41; b[5] ^= 0x80 })
}

// change changes eight bytes of a file.
func change(t *testing.T, path string, at int64, fn func(b []byte)) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	b := make([]byte, 8)
	_, err = f.ReadAt(b, at)
	require.NoError(t, err)
	fn(b)
	_, err = f.WriteAt(b, at)
	require.NoError(t, err)
}

// TestW15DamagedWords damages a word of each kind while nobody takes part, and while somebody does:
// what is done then is right or an error that names the file, all can leave, and nothing is lost.
func TestW15DamagedWords(t *testing.T) {
	for name, at := range halfWords() {
		t.Run("at rest/"+name, func(t *testing.T) {
			t.Parallel()
			dir := half(t)
			damage(t, dir, at)
			requireHalf(t, openHere(t, Engine{Dir: dir}))
		})
		t.Run("in use/"+name, func(t *testing.T) {
			t.Parallel()
			dir := half(t)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			c, err := samplecache.Open(ctx, Engine{Dir: dir}, samplecache.Options{OnError: func(error) { cancel() }})
			require.NoError(t, err)
			p, err := c.Producer("p")
			require.NoError(t, err)
			e, err := c.Group("train", 1).Epoch(ctx, 0)
			require.NoError(t, err)
			damage(t, dir, at)
			acked := uint64(10)
			check := func(err error) {
				t.Helper()
				if err != nil && !errors.Is(err, context.Canceled) {
					require.ErrorIs(t, err, samplecache.ErrCorrupt)
					require.ErrorContains(t, err, "control")
				}
			}
			for range 2 {
				if err := p.Put(ctx, one(int64(acked))); err == nil {
					acked++
				} else {
					check(err)
				}
			}
			_, err = c.Stats()
			check(err)
			check(e.Close())
			_, err = c.Group("train", 1).Epoch(ctx, 1)
			check(err)
			check(c.Close())
			require.NotErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it hangs")
			p, err = openHere(t, Engine{Dir: dir}).Producer("p")
			require.NoError(t, err)
			require.GreaterOrEqual(t, p.Next(), acked, "an acknowledged number is forgotten")
		})
	}
}

// TestHostileWords puts numbers into the control file that make no sense, sealed where words are:
// errors perhaps, and no panic, and what is there stays.
func TestHostileWords(t *testing.T) {
	for name, at := range Words() {
		for _, v := range []uint64{1, maxSessions + 1, 1 << 31, 1<<32 - 1} {
			t.Run(fmt.Sprintf("%s is %d", name, v), func(t *testing.T) {
				t.Parallel()
				dir := half(t)
				change(t, filepath.Join(dir, controlName), at, func(b []byte) {
					binary.LittleEndian.PutUint64(b, uint64(^uint32(v))<<32|v)
				})
				requireHalf(t, openHere(t, Engine{Dir: dir}))
			})
		}
	}
}

// TestWordsThatAreWrong has words that make sense and are not true. They are hints, and do no harm.
func TestWordsThatAreWrong(t *testing.T) {
	far := now() + uint64(time.Hour/time.Microsecond)
	tests := []struct {
		name  string
		words map[int]uint64
	}{
		{"a sweep to come", map[int]uint64{sweptWord: far}},
		{"a search to come", map[int]uint64{searchedWord: far}},
		{"nobody takes part", map[int]uint64{sessionsTable: 0, sessionsTable + 2: 0}},
		{"all take part", map[int]uint64{sessionsTable: 1, sessionsTable + 2: 1, sessionsTable + 4: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := half(t)
			write := func() {
				for at, v := range tt.words {
					change(t, filepath.Join(dir, controlName), int64(at)*8, func(b []byte) { binary.LittleEndian.PutUint64(b, v) })
				}
			}
			write()
			c, d := openHere(t, Engine{Dir: dir}), openHere(t, Engine{Dir: dir})
			write()
			p, err := c.Producer("")
			require.NoError(t, err)
			for range 2 { // by the second all slots were looked at
				slot, err := p.Reserve(soon(t))
				require.NoError(t, err)
				write()
				require.NoError(t, slot.Sample().SetIndex(one(5)))
				require.NoError(t, slot.Commit(soon(t)))
			}
			g, err := d.Wait(soon(t), 2)
			require.NoError(t, err)
			td, err := g.Fetch(t.Context(), []int{0, 1, 2, 3}, nil)
			require.NoError(t, err)
			require.ElementsMatch(t, []int64{8, 9, 5, 5}, tensor.Must(tdict.Slice[int64](td, "n")))
		})
	}
}

// halfTwice returns the cache of half, opened twice, with a producer of each.
func halfTwice(t *testing.T) (dir string, c *samplecache.Cache, p, q *samplecache.Producer) {
	t.Helper()
	dir = half(t)
	c = openHere(t, Engine{Dir: dir})
	p, err := c.Producer("")
	require.NoError(t, err)
	q, err = openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	return dir, c, p, q
}

// writeRecord changes the beginning of a record of the generation that half fills.
func writeRecord(t *testing.T, dir string, row int, fn func(b []byte)) {
	t.Helper()
	change(t, filepath.Join(dir, recordsPath(3)), int64(recordsHeader+row*recordSize(1)), fn)
	change(t, filepath.Join(dir, recordsPath(3)), int64(recordsHeader+row*recordSize(1)+8), func(b []byte) { binary.LittleEndian.PutUint64(b, 3) })
}

// TestWrongRecordsOfHeldSlots has records say that slots are free, or committed, which a session
// fills: nobody else gets them, nor does the session, and the samples count.
func TestWrongRecordsOfHeldSlots(t *testing.T) {
	dir, c, p, q := halfTwice(t)
	for _, v := range []uint64{0, 1, 1 << 63, 1<<64 - 1} {
		first, err := p.Reserve(soon(t))
		require.NoError(t, err)
		second, err := q.Reserve(soon(t))
		require.NoError(t, err)
		for i := range 2 {
			writeRecord(t, dir, 2+i, func(b []byte) { binary.LittleEndian.PutUint64(b, v) })
		}
		for _, one := range []*samplecache.Producer{p, q} {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
			_, err = one.Reserve(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, "of four slots, two are committed and two reserved")
		}
		require.NoError(t, second.Abort())
		require.NoError(t, first.Abort())
	}
	requireHalf(t, c)
}

// TestFreeSlotSaidToBeCommitted has the record of a free slot say that it is committed, with a
// wrong checksum, while the other slots are not free: who waits finds it at once, or when all
// others are committed.
func TestFreeSlotSaidToBeCommitted(t *testing.T) {
	dir, c, p, q := halfTwice(t)
	first, err := p.Reserve(soon(t))
	require.NoError(t, err)
	damage := func() {
		for i := range 2 {
			writeRecord(t, dir, 2+i, func(b []byte) { b[0]++ })
		}
	}
	damage()
	second, err := q.Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, second.Abort())
	damage()
	require.NoError(t, first.Abort())
	requireHalf(t, c)
}

// TestW15WordsWhileAllWork writes words of sessions and times at random, and the first of
// the counts of groups, while producers, ranks and readers work: each sample is in one generation,
// whole, and nobody stops.
func TestW15WordsWhileAllWork(t *testing.T) {
	const samples, puts = 4, 60
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: samples, Retain: 16, MaxHeld: 16}))
	f, err := os.OpenFile(filepath.Join(dir, controlName), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	caches := []*samplecache.Cache{openHere(t, Engine{Dir: dir}), openHere(t, Engine{Dir: dir})}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var working, harming sync.WaitGroup
	for i := range 4 {
		working.Go(func() {
			p, err := caches[i%2].Producer(fmt.Sprint(i))
			for n := 0; n < puts/4 && err == nil; n++ {
				err = p.Put(ctx, one(int64(i*puts+n)))
			}
			assert.NoError(t, err)
		})
	}
	for i, c := range caches {
		working.Go(func() {
			var err error
			for n := uint64(0); n < 30 && err == nil; n++ {
				var g *samplecache.Generation
				if g, err = c.Group(fmt.Sprint("g", i), 1).Epoch(ctx, n); err == nil {
					_, err = g.Fetch(ctx, []int{0, 1, 2, 3}, nil)
					err = errors.Join(err, g.Close())
				}
			}
			assert.NoError(t, err)
		})
	}
	done := make(chan struct{})
	harming.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Microsecond):
			}
			at, v := int64(sessionsTable+rand.N(8))*8, rand.Uint64N(2)
			switch rand.N(4) {
			case 0:
				v = rand.Uint64()
			case 1:
				at = int64([]int{wantedWord, sweptWord, searchedWord, swapTookWord}[rand.N(4)]) * 8
			case 2:
				at = countsAt + rand.Int64N(40)
			}
			_, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, v), at)
			assert.NoError(t, err)
		}
	})
	working.Wait()
	g, err := caches[0].Wait(ctx, puts/samples-1)
	require.NoError(t, err, "while words are still wrong")
	require.NoError(t, g.Close())
	close(done)
	harming.Wait()
	seen := map[int64]bool{}
	for id := uint64(1); id <= puts/samples; id++ {
		g, err := caches[1].At(ctx, id)
		require.NoError(t, err)
		td, err := g.Fetch(ctx, []int{0, 1, 2, 3}, nil)
		require.NoError(t, err)
		for _, n := range tensor.Must(tdict.Slice[int64](td, "n")) {
			require.False(t, seen[n], "sample %d is there twice", n)
			seen[n] = true
		}
		require.NoError(t, g.Close())
	}
	require.Len(t, seen, puts)
}

// rehost rewrites the ids in the header of a control file.
func rehost(t *testing.T, dir, boot, machine string) {
	t.Helper()
	require.NoError(t, Rehost(dir, boot, machine))
}

func TestOtherHost(t *testing.T) {
	machine, err := host.Machine()
	require.NoError(t, err)
	boot, err := host.Boot()
	require.NoError(t, err)
	if machine == "" {
		t.Skip("this machine has no id, so that another cannot be told")
	}
	t.Run("another machine", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, "another-boot", "another-machine")
		before, err := os.ReadFile(filepath.Join(dir, controlName))
		require.NoError(t, err)
		_, err = samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{})
		require.ErrorIs(t, err, samplecache.ErrOtherHost)
		require.ErrorContains(t, err, "control")
		after, err := os.ReadFile(filepath.Join(dir, controlName))
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after), "nothing was changed")
		requireHalf(t, openHere(t, Engine{Dir: dir, Adopt: true}))
		requireHalfAgain(t, dir)
	})
	t.Run("a container of this machine", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, boot, "name-of-a-container")
		requireHalf(t, openHere(t, Engine{Dir: dir}))
	})
	t.Run("the machine was started anew", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, "earlier-boot", machine)
		requireHalf(t, openHere(t, Engine{Dir: dir}))
		requireHalfAgain(t, dir)
	})
	t.Run("a machine that is not known", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, "another-boot", "\x00")
		_, err := samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{})
		require.ErrorIs(t, err, samplecache.ErrOtherHost)
	})
}

// requireHalfAgain checks that the cache opens without Adopt now.
func requireHalfAgain(t *testing.T, dir string) {
	t.Helper()
	c := openHere(t, Engine{Dir: dir})
	p, err := c.Producer("p")
	require.NoError(t, err)
	require.EqualValues(t, 12, p.Next())
}

// TestHostileManifests opens caches whose MANIFEST has a right sum and makes no sense.
func TestHostileManifests(t *testing.T) {
	tests := []struct {
		name string
		set  func(m *manifest)
		err  error
	}{
		{"the version before", func(m *manifest) { m.Version = 1 }, errors.ErrUnsupported},
		{"a newer version", func(m *manifest) { m.Version = formatVersion + 1 }, errors.ErrUnsupported},
		{"another format", func(m *manifest) { m.Format = "tensordict.other" }, samplecache.ErrCorrupt},
		{"no samples", func(m *manifest) { m.Config.Samples = 0 }, samplecache.ErrCorrupt},
		{"too many samples", func(m *manifest) { m.Config.Samples = 1 << 30 }, samplecache.ErrCorrupt},
		{"fewer samples", func(m *manifest) { m.Config.Samples = 3 }, samplecache.ErrCorrupt},
		{"more samples", func(m *manifest) { m.Config.Samples = 1 << 20 }, samplecache.ErrCorrupt},
		{"retains too many", func(m *manifest) { m.Config.Retain = 1 << 40 }, samplecache.ErrCorrupt},
		{"limits that cannot be", func(m *manifest) { m.Config.Limits = samplecache.Limits{PerInsert: -1} }, samplecache.ErrCorrupt},
		{"a generation that cannot be", func(m *manifest) { m.Latest = math.MaxUint64 }, samplecache.ErrCorrupt},
		{"a dtype that is none", func(m *manifest) { m.Schema[0].DType = "string" }, samplecache.ErrCorrupt},
		{"another dtype", func(m *manifest) { m.Schema[0].DType = "float64" }, samplecache.ErrCorrupt},
		{"another shape", func(m *manifest) { m.Schema[0].Shape = []int{2} }, samplecache.ErrCorrupt},
		{"another key", func(m *manifest) { m.Schema[0].Key = "m" }, samplecache.ErrCorrupt},
		{"no keys", func(m *manifest) { m.Schema = nil }, samplecache.ErrCorrupt},
		{"a key twice", func(m *manifest) { m.Schema = append(m.Schema, m.Schema[0]) }, samplecache.ErrCorrupt},
		{"a key that is none", func(m *manifest) { m.Schema[0].Key = "~" }, samplecache.ErrCorrupt},
		{"a shape that cannot be", func(m *manifest) { m.Schema[0].Shape = []int{-1} }, samplecache.ErrCorrupt},
		{"a shape beyond memory", func(m *manifest) { m.Schema[0].Shape = []int{1 << 60} }, samplecache.ErrCorrupt},
		{"shapes that together are", func(m *manifest) { m.Schema[0].Shape = []int{1 << 58} }, samplecache.ErrCorrupt},
		{"too many producers", func(m *manifest) { m.Producers = make([]producerSpec, maxProducers+1) }, samplecache.ErrCorrupt},
		{"a name that cannot be", func(m *manifest) { m.Producers[0].Name = strings.Repeat("x", 65) }, samplecache.ErrCorrupt},
		{"a producer twice", func(m *manifest) { m.Producers = append(m.Producers, m.Producers[0]) }, samplecache.ErrCorrupt},
		{"no life", func(m *manifest) { m.Producers[0].Life = 0 }, samplecache.ErrCorrupt},
	}
	for _, tt := range tests {
		for _, rebuilt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/control is made again %v", tt.name, rebuilt), func(t *testing.T) {
				t.Parallel()
				dir := half(t)
				if rebuilt {
					require.NoError(t, os.Remove(filepath.Join(dir, controlName)))
				}
				m, err := readManifest(dir)
				require.NoError(t, err)
				tt.set(m)
				require.NoError(t, m.write(dir, 0o777))
				before := listing(t, dir)
				c, err := samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{})
				if err == nil {
					var p *samplecache.Producer
					if p, err = c.Producer("p"); err == nil {
						_, err = p.Reserve(t.Context())
					}
					_ = c.Close()
				}
				require.ErrorIs(t, err, tt.err)
				require.Subset(t, listing(t, dir), before, "nothing is removed")
			})
		}
	}
}

// listing returns the names of all that is in a cache but of what a rebuild makes.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel := strings.TrimPrefix(path, dir); rel != "/"+controlName && !strings.HasPrefix(rel, "/"+newPrefix) {
			names = append(names, rel)
		}
		return err
	}))
	return names
}

// TestManifestOfAnother opens a cache that has the MANIFEST of another one of the same schema.
func TestManifestOfAnother(t *testing.T) {
	tests := []struct {
		name   string
		latest uint64
	}{
		{"that is behind", 0},
		{"that is one behind", 1},
		{"that is as far", 2},
		{"that is ahead", 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := half(t)
			m, err := newManifest(one(0), samplecache.Config{Samples: 4})
			require.NoError(t, err)
			m.Latest = tt.latest
			require.NoError(t, m.write(dir, 0o777))
			c, err := samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{})
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrCorrupt)
				return
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			g, err := c.Latest(ctx)
			require.NotErrorIs(t, err, context.DeadlineExceeded, "it spins")
			if err == nil {
				_, err = g.Fetch(ctx, []int{0, 1, 2, 3}, nil)
				_ = g.Close()
			}
			if tt.latest == 9 {
				require.Error(t, err, "it was never published here")
			}
		})
	}
}

// TestW20ManifestIsJSON checks that the MANIFEST is JSON that people can read, with the fields that
// FORMAT.md describes and no others.
func TestW20ManifestIsJSON(t *testing.T) {
	dir := half(t)
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(b, &fields))
	require.Greater(t, bytes.Count(b, []byte("\n")), len(fields), "it has lines")
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	for name := range fields {
		require.Contains(t, string(format), name)
	}
	require.Equal(t, "tensordict.samplecache", fields["format"])
	require.EqualValues(t, formatVersion, fields["version"])
	require.EqualValues(t, 2, fields["latest"])
	require.Equal(t, []any{map[string]any{"key": "n", "dtype": "int64", "shape": []any{1.}}}, fields["schema"])
	p := fields["producers"].([]any)[0].(map[string]any)
	require.NotZero(t, p["life"])
	delete(p, "life")
	require.Equal(t, map[string]any{"name": "p", "floor": 8., "above": 0.}, p)
	require.EqualValues(t, 4, fields["config"].(map[string]any)["samples"])
	_, err = time.Parse(time.RFC3339Nano, fields["published"].(string))
	require.NoError(t, err)
	require.Len(t, fields["sum"], 8)
}

// FuzzManifest reads any text as a MANIFEST: an error with a name, or one that says the same again.
func FuzzManifest(f *testing.F) {
	m, err := newManifest(one(0), samplecache.Config{Samples: 4})
	if err != nil {
		f.Fatal(err)
	}
	m.Producers = []producerSpec{{"p", 1, samplecache.Window{Floor: 3, Above: 6}}}
	text, err := m.text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":"tensordict.samplecache","version":2}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseManifest(b)
		if err != nil {
			if !errors.Is(err, samplecache.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		again, err := m.text()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseManifest(again); err != nil {
			t.Fatalf("got %v from what it wrote itself", err)
		}
	})
}
