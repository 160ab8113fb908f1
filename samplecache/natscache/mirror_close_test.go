package natscache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// mirrored returns a cache with one generation, its Engine with a mirror of it, and a generation
// that is held there.
func mirrored(t *testing.T) (p *samplecache.Producer, e natscache.Engine, reader *samplecache.Cache, g *samplecache.Generation, stop func()) {
	t.Helper()
	e = newCache(t, newServer(t).url(), numbered(0), samplecache.Config{Samples: 3})
	p = producer(t, open(t, e), "gen")
	e.Mirror = filepath.Join(t.TempDir(), "mirror")
	stop = mirror(t, e, e.Mirror)
	reader, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() }) // ErrClosed if the test did
	puts(t, p, 3)
	eventually(t, patience, "a mapped generation", func() bool {
		var err error
		g, err = reader.At(t.Context(), 1)
		require.NoError(t, err)
		if _, err := g.Slice(0, 1); err == nil {
			return true
		}
		require.NoError(t, g.Close())
		return false
	})
	return p, e, reader, g, stop
}

// TestMirrorReplaced replaces a mirror while a generation is held in it: the generation stays as it
// is until it is closed.
func TestMirrorReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, e natscache.Engine){
		"removed": func(t *testing.T, e natscache.Engine) { require.NoError(t, os.RemoveAll(e.Mirror)) },
		"made again": func(t *testing.T, e natscache.Engine) {
			require.NoError(t, os.RemoveAll(e.Mirror))
			t.Cleanup(mirror(t, e, e.Mirror))
			eventually(t, patience, "another mirror", func() bool {
				_, err := os.Stat(e.Mirror)
				return err == nil
			})
		},
		"moved": func(t *testing.T, e natscache.Engine) { require.NoError(t, os.Rename(e.Mirror, e.Mirror+".old")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, e, reader, g, stop := mirrored(t)
			view, err := g.Slice(0, 3)
			require.NoError(t, err)
			memory := tensor.Must(tdict.Slice[int64](view, "large"))
			stop()
			replace(t, e)
			puts(t, p, 3)
			other, err := reader.At(t.Context(), 2)
			require.NoError(t, err)
			sees(t, other, 3)
			require.Equal(t, int64(2), memory[2<<18], "memory that was lent")
			require.True(t, sees(t, g, 0))
			require.NoError(t, reader.Close())
		})
	}
}

// TestMirrorClosed closes a session while Open waits for a mirror that does not go on: Close does
// not wait, as Open would for two seconds.
func TestMirrorClosed(t *testing.T) {
	t.Parallel()
	quickly(t, time.Second, func() time.Duration { return closesWhileOpening(t) })
}

func closesWhileOpening(t *testing.T) time.Duration {
	p, e, reader, g, stop := mirrored(t)
	stop()
	at, err := dircache.Engine{Dir: e.Mirror}.Join(t.Context(), engine.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, at.Close()) }()
	_, err = again(soon(t), func() (engine.Claim, error) { return at.Claim(t.Context(), "mirror") }) // as a Mirror that is stopped
	require.NoError(t, err)
	puts(t, p, 3)
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			_, err := reader.At(t.Context(), 2)
			done <- err
		}()
	}
	time.Sleep(200 * time.Millisecond) // they may wait
	began := time.Now()
	require.NoError(t, reader.Close())
	for range cap(done) {
		if err := <-done; err != nil && !errors.Is(err, samplecache.ErrClosed) {
			t.Errorf("At while the cache is closed: %v", err)
		}
	}
	took := time.Since(began)
	require.Error(t, g.Close())
	return took
}

// TestMirrorStuck reads while a Mirror does not go on. The first read waits for it, and no other
// one.
func TestMirrorStuck(t *testing.T) {
	t.Parallel()
	p, e, reader, g, stop := mirrored(t)
	stop()
	at, err := dircache.Engine{Dir: e.Mirror}.Join(t.Context(), engine.Options{})
	require.NoError(t, err)
	_, err = again(soon(t), func() (engine.Claim, error) { return at.Claim(t.Context(), "mirror") }) // as a Mirror that is stopped
	require.NoError(t, err)
	waits := 0
	latest := func(first int64) (mapped bool) {
		puts(t, p, 3)
		began := time.Now()
		other, err := reader.Latest(t.Context())
		if time.Since(began) > time.Second {
			waits++
		}
		require.NoError(t, err)
		return sees(t, other, first)
	}
	require.False(t, latest(3))
	waits = 0
	for n := range int64(4) {
		require.False(t, latest(6+3*n))
	}
	require.LessOrEqual(t, waits, 1, "of four reads; one may be slow on a busy machine")
	require.NoError(t, g.Close())
	require.NoError(t, at.Close())
	defer mirror(t, e, e.Mirror)()
	for first := int64(18); !latest(first); first += 3 {
		require.Less(t, first, int64(600), "it goes on")
	}
}

// TestMirrorDamaged reads while a mirror cannot be read: samples come from the servers.
func TestMirrorDamaged(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]struct {
		told   bool // OnError learns of it
		damage func(dir string) error
	}{
		"an empty mark": {true, func(dir string) error { return os.Truncate(filepath.Join(dir, "mirror.json"), 0) }},
		"no mark":       {true, func(dir string) error { return os.Remove(filepath.Join(dir, "mirror.json")) }},
		"another's mark": {false, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "mirror.json"), []byte(`{"name":"x"}`), 0o600)
		}},
		"a file": {true, func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }},
		"nothing but a mark": {false, func(dir string) error {
			mark, err := os.ReadFile(filepath.Join(dir, "mirror.json"))
			return errors.Join(err, os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "mirror.json"), mark, 0o600))
		}},
		"a part is missing": {false, func(dir string) error {
			all, err := filepath.Glob(filepath.Join(dir, "*"))
			for _, one := range all {
				if !bytes.HasSuffix([]byte(one), []byte(".json")) {
					err = errors.Join(err, os.RemoveAll(one))
				}
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, e, reader, g, stop := mirrored(t)
			stop()
			require.NoError(t, is.damage(e.Mirror))
			puts(t, p, 3)
			told := make(chan error, 100)
			late, err := samplecache.Open(t.Context(), e, samplecache.Options{OnError: func(err error) { told <- err }})
			require.NoError(t, err)
			defer func() { require.NoError(t, late.Close()) }()
			for n, c := range []*samplecache.Cache{reader, late} {
				for range 2 {
					other, err := c.At(t.Context(), 2)
					if err != nil {
						t.Errorf("reader %d: %v", n, err)
						continue
					}
					sees(t, other, 3)
				}
			}
			require.True(t, sees(t, g, 0))
			if is.told {
				require.ErrorContains(t, <-told, "the mirror: ")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err = natscache.Mirror(ctx, e, e.Mirror)
			t.Log("Mirror:", err)
		})
	}
}

// TestMirrorMoved removes a mirror, and replaces it by one of an earlier cache of the same name,
// again and again while two Mirrors make it: no Mirror ends, unless the other one fills it.
func TestMirrorMoved(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	e := newCache(t, s.url(), marked("", 0, 8), samplecache.Config{Samples: 3})
	dir := filepath.Join(t.TempDir(), "mirror")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				err := natscache.Mirror(ctx, e, dir)
				if ctx.Err() == nil && !errors.Is(err, samplecache.ErrProducerBusy) {
					t.Errorf("Mirror ends: %v", err)
					return
				}
			}
		})
	}
	for n := range longtests.Times(300, 20_000) {
		away := fmt.Sprint(dir, ".", n)
		_ = os.Rename(dir, away) // it may not be there
		if n%2 == 0 {
			earlier := fmt.Sprint(dir, ".earlier", n)
			require.NoError(t, os.Mkdir(earlier, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(earlier, "mirror.json"), []byte(`{"name":"images","id":"earlier"}`), 0o600))
			_ = os.Rename(earlier, dir) // another may be there
			_ = os.RemoveAll(earlier)
		}
		_ = os.RemoveAll(away) // who has it open may make files in it
		time.Sleep(rand.N(10 * time.Millisecond))
	}
	cancel()
	all.Wait()
}
