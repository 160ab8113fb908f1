//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// TestLastSwap publishes generations at known times, and asks other sessions at each step of a
// publication, right after Wait, and after the control file was made again: LastSwap is always the
// time of the generation that Latest says.
func TestLastSwap(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	a, b := foundOpen(t, dir), foundOpen(t, dir)
	var began [20]time.Time // of the publication of each generation
	var ended [20]time.Time
	agrees := func(c *samplecache.Cache) uint64 {
		st, err := c.Stats()
		require.NoError(t, err)
		if n := st.Latest; n > 0 && (st.LastSwap.Before(began[n]) || !ended[n].IsZero() && st.LastSwap.After(ended[n])) {
			t.Errorf("generation %d: got LastSwap %v, want %v to %v", n, st.LastSwap, began[n], ended[n])
		}
		require.Equal(t, st.Latest, st.Swaps)
		require.Equal(t, st.Latest == 0, st.LastSwap.IsZero())
		return st.Latest
	}
	var steps atomic.Int64
	dircache.CrashPoints(func(string) {
		if steps.Add(1); t.Context().Err() == nil {
			agrees(b)
		}
	})
	defer dircache.CrashPoints(nil)
	p, err := a.Producer("")
	require.NoError(t, err)
	for n := 1; n < 10; n++ {
		began[n] = time.Now()
		require.NoError(t, p.Put(t.Context(), foundOne(1)))
		g, err := b.Wait(t.Context(), uint64(n-1))
		require.NoError(t, err)
		require.Equal(t, uint64(n), agrees(b))
		require.NoError(t, g.Close())
		ended[n] = time.Now()
	}
	require.Greater(t, steps.Load(), int64(50))
	dircache.CrashPoints(nil)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	for _, how := range []func() error{
		func() error { return dircache.Reboot(dir) },
		func() error { return os.Truncate(filepath.Join(dir, "control"), 0) },
		func() error { return os.Remove(filepath.Join(dir, "control")) },
	} {
		require.NoError(t, how())
		if _, err := os.Stat(filepath.Join(dir, "control")); err != nil { // as the error says
			require.NoError(t, os.WriteFile(filepath.Join(dir, "control"), nil, 0o644))
		}
		c := foundOpen(t, dir)
		require.Equal(t, uint64(9), agrees(c))
		require.NoError(t, c.Close())
	}
}

// TestRemoved removes the directory of a cache, makes it again, or replaces its control file, while
// sessions wait in it: they return an error, OnError is not called for ever, and what is put
// afterwards is not acknowledged.
func TestRemoved(t *testing.T) {
	again := func(dir string) error {
		return errors.Join(os.RemoveAll(dir), dircache.Create(dir, foundOne(0), samplecache.Config{Samples: 2}))
	}
	for rule, how := range map[string]func(dir string) error{
		"removed":    os.RemoveAll,
		"made again": again,
		"made again thrice": func(dir string) error { // numbers of directories are used again
			return errors.Join(again(dir), again(dir), again(dir))
		},
		"moved away":      func(dir string) error { return os.Rename(dir, dir+"-old") },
		"without control": func(dir string) error { return os.Remove(filepath.Join(dir, "control")) },
		"with another control": func(dir string) error {
			at := filepath.Join(dir, "control")
			return errors.Join(os.Remove(at), os.WriteFile(at, nil, 0o644))
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			dir := foundMake(t, samplecache.Config{Samples: 2})
			var reports atomic.Int64
			open := func() *samplecache.Cache {
				c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{OnError: func(error) { reports.Add(1) }})
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			a, b := open(), open()
			p, err := a.Producer("p")
			require.NoError(t, err)
			slot, err := p.Reserve(t.Context())
			require.NoError(t, err)
			other, err := p.Reserve(t.Context())
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			waits := make(chan error, 3)
			go func() { _, err := b.Wait(ctx, 0); waits <- err }()
			go func() { _, err := b.Group("g", 1).Epoch(ctx, 0); waits <- err }()
			go func() {
				q, err := b.Producer("q")
				if err == nil {
					_, err = q.Reserve(ctx)
				}
				waits <- err
			}()
			time.Sleep(50 * time.Millisecond)
			require.NoError(t, how(dir))
			require.ErrorIs(t, slot.Commit(t.Context()), fs.ErrNotExist)
			require.NoError(t, slot.Abort())
			require.ErrorIs(t, other.Commit(t.Context()), fs.ErrNotExist, "a Put returns it, too")
			for range cap(waits) {
				require.ErrorIs(t, <-waits, fs.ErrNotExist)
			}
			_, err = b.Latest(ctx)
			require.ErrorIs(t, err, fs.ErrNotExist)
			before := reports.Load()
			time.Sleep(700 * time.Millisecond)
			require.LessOrEqual(t, reports.Load(), before+1)
		})
	}
}
