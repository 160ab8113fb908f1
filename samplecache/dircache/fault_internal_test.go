//go:build unix

package dircache

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/host"
	"github.com/go-tensordict/tensordict/samplecache"
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
	dir = filepath.Join(t.TempDir(), "cache")
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
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, g.ID())
	td, err := g.Fetch(t.Context(), []int{0, 1, 2, 3}, nil)
	require.NoError(t, err)
	require.Equal(t, []int64{8, 9, 10, 11}, tensor.Must(tdict.Slice[int64](td, "n")))
	require.NoError(t, g.Close())
	require.NoError(t, p.Close())
}

// kinds names a word of each kind.
func kinds(samples int) map[string]int {
	l := newLayout(samples)
	all := map[string]int{
		"latest": latestWord, "filling": fillingWord, "free": freeWord, "full": fullWord, "joins": joinsWord,
		"peers": peersWord, "locker": lockerWord, "swap at": swapAtWord, "swap took": swapTookWord,
		"unused": swapTookWord + 1, "slot": l.slots, "last slot": l.slots + samples - 1, "since": l.since,
	}
	entry := func(kind string, at, n int) {
		for i := range n {
			all[fmt.Sprintf("%s %d", kind, i)] = at + i
		}
	}
	entry("peer", l.peer(0), peerWords)
	entry("another peer", l.peer(5), peerWords)
	entry("producer", l.producer(0), producerName+3)
	entry("number of a producer", l.producer(0)+producerDone, 2)
	entry("another producer", l.producer(7), producerName+2)
	entry("group", l.group(0), groupEpochs)
	entry("epoch", l.epoch(0, 0), epochWords)
	entry("another group", l.group(63), 2)
	entry("seat", l.seats, 2)
	entry("retired", l.retired+retiredWords, retiredWords)
	return all
}

// damage changes a byte of a word of a control file.
func damage(t *testing.T, dir string, word int) {
	t.Helper()
	change(t, filepath.Join(dir, controlName), int64(word)*8, func(b []byte) { b[word%8] ^= 0x41 })
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

// TestW15DamagedWords damages a word of each kind while nobody takes part: nothing is lost.
func TestW15DamagedWords(t *testing.T) {
	for name, word := range kinds(4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := half(t)
			damage(t, dir, word)
			requireHalf(t, openHere(t, Engine{Dir: dir}))
		})
	}
}

// TestW15DamagedWordsInUse damages a word of each kind while somebody takes part: what he does is
// right or an error that names the file, he can leave, and who comes then finds all.
func TestW15DamagedWordsInUse(t *testing.T) {
	for name, word := range kinds(4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := half(t)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			told := make(chan error, 100)
			c, err := samplecache.Open(ctx, Engine{Dir: dir}, samplecache.Options{OnError: func(err error) { told <- err; cancel() }})
			require.NoError(t, err)
			p, err := c.Producer("p")
			require.NoError(t, err)
			e, err := c.Group("train", 1).Epoch(ctx, 0)
			require.NoError(t, err)
			damage(t, dir, word)
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
			c = openHere(t, Engine{Dir: dir})
			p, err = c.Producer("p")
			require.NoError(t, err)
			require.GreaterOrEqual(t, p.Next(), acked, "an acknowledged number is forgotten")
		})
	}
}

// TestHostileWords puts numbers into the control file that are sealed well and make no sense:
// errors perhaps, and no panic, and the files of others stay.
func TestHostileWords(t *testing.T) {
	for name, word := range kinds(4) {
		for _, v := range []uint64{1, maxPeers + 1, 1 << 31, wordMax} {
			t.Run(fmt.Sprintf("%s is %d", name, v), func(t *testing.T) {
				t.Parallel()
				dir := half(t)
				change(t, filepath.Join(dir, controlName), int64(word)*8, func(b []byte) {
					binary.LittleEndian.PutUint64(b, seal(v))
				})
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				c, err := samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{OnError: func(error) { cancel() }})
				if err != nil {
					return
				}
				_, _ = c.Stats()
				if p, err := c.Producer("p"); err == nil {
					_ = p.Put(ctx, one(1))
					_ = p.Put(ctx, one(2))
				}
				if e, err := c.Group("train", 1).Epoch(ctx, 0); err == nil {
					_ = e.Close()
				}
				_ = c.Forget(ctx, "p")
				_ = c.Close()
			})
		}
	}
}

// rehost rewrites the ids in the header of a control file.
func rehost(t *testing.T, dir, boot, machine string) {
	t.Helper()
	path := filepath.Join(dir, controlName)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(b[96:224])
	copy(b[96:160], boot)
	copy(b[160:224], machine)
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli))
	require.NoError(t, os.WriteFile(path, b, 0o666))
}

func TestOtherHost(t *testing.T) {
	if host.Machine() == "" {
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
		rehost(t, dir, host.Boot(), "name-of-a-container")
		requireHalf(t, openHere(t, Engine{Dir: dir}))
	})
	t.Run("the machine was started anew", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, "earlier-boot", host.Machine())
		requireHalf(t, openHere(t, Engine{Dir: dir}))
		requireHalfAgain(t, dir)
	})
	t.Run("a machine that is not known", func(t *testing.T) {
		dir := half(t)
		rehost(t, dir, "another-boot", "")
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
		{"a newer version", func(m *manifest) { m.Version = 2 }, errors.ErrUnsupported},
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
		{"a number beyond the words", func(m *manifest) { m.Producers[0].Floor = math.MaxUint64 }, samplecache.ErrCorrupt},
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
				require.NoError(t, m.write(dir))
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
			require.NoError(t, m.write(dir))
			c, err := samplecache.Open(t.Context(), Engine{Dir: dir}, samplecache.Options{})
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrCorrupt)
				return
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
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
	require.EqualValues(t, 1, fields["version"])
	require.EqualValues(t, 2, fields["latest"])
	require.Equal(t, []any{map[string]any{"key": "n", "dtype": "int64", "shape": []any{1.}}}, fields["schema"])
	require.Equal(t, []any{map[string]any{"name": "p", "life": 1., "floor": 8., "above": 0.}}, fields["producers"])
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
