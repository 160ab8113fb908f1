//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func foundOne(n int64) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.From([]int64{n}, 1))}))
}

func foundMake(t *testing.T, c samplecache.Config) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, foundOne(0), c))
	return dir
}

func foundOpen(t *testing.T, dir string) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{OnError: func(err error) { t.Logf("OnError: %v", err) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func foundPut(t *testing.T, c *samplecache.Cache, name string, n int) {
	t.Helper()
	p, err := c.Producer(name)
	require.NoError(t, err)
	for i := range n {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		require.NoError(t, p.Put(ctx, foundOne(int64(i))))
		cancel()
	}
	require.NoError(t, p.Close())
}

// TestFoundForget begins a name anew: neither a publication nor a new start of the machine brings
// its numbers back, and what was put since stays.
func TestFoundForget(t *testing.T) {
	for _, again := range []int{0, 5} {
		for _, reboot := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d put again, machine started anew %v", again, reboot), func(t *testing.T) {
				dir := foundMake(t, samplecache.Config{Samples: 100})
				c := foundOpen(t, dir)
				foundPut(t, c, "gen", 130) // 100 are published
				require.NoError(t, c.Forget(t.Context(), "gen"))
				foundPut(t, c, "gen", again)
				if reboot {
					require.NoError(t, c.Close())
					require.NoError(t, dircache.Reboot(dir))
					c = foundOpen(t, dir)
				}
				s, err := c.Stats()
				require.NoError(t, err)
				require.Equal(t, 30+again, s.Committed)
				for range 2 {
					p, err := c.Producer("gen")
					require.NoError(t, err)
					require.EqualValues(t, again, p.Next())
					require.NoError(t, p.Close())
					foundPut(t, c, "", 70) // published
				}
			})
		}
	}
}

// TestFoundOrder puts a number far from the others into the first slot, and starts the machine
// anew.
func TestFoundOrder(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 100})
	c := foundOpen(t, dir)
	slot, err := putter(t, c, "").Reserve(soon(t))
	require.NoError(t, err)
	foundPut(t, c, "a", 70)
	require.NoError(t, slot.Abort())
	require.NoError(t, putter(t, c, "a").Put(soon(t), foundOne(70)))
	require.NoError(t, c.Close())
	require.NoError(t, dircache.Reboot(dir))
	c = foundOpen(t, dir)
	s, err := c.Stats()
	require.NoError(t, err)
	require.Equal(t, 71, s.Committed)
	require.EqualValues(t, 71, putter(t, c, "a").Next())
}

// TestFoundSeats begins many epochs, with new numbers and always with 0: nothing is used up.
func TestFoundSeats(t *testing.T) {
	n := 1000
	if *flipsFlag == "full" {
		n = 20_000
	}
	c := foundOpen(t, foundMake(t, samplecache.Config{Samples: 1}))
	foundPut(t, c, "", 1)
	for name, number := range map[string]func(i int) uint64{"new": func(i int) uint64 { return uint64(i) }, "0": func(int) uint64 { return 0 }} {
		g := c.Group(name, 1)
		var open []*samplecache.Generation
		for i := range n { // ten are open at a time
			e, err := g.Epoch(t.Context(), number(i))
			require.NoError(t, err, "epoch %d", i)
			if open = append(open, e); len(open) > 10 {
				require.NoError(t, open[0].Close())
				open = open[1:]
			}
		}
		require.NoError(t, g.Close())
		for _, e := range open {
			require.NoError(t, e.Close())
		}
	}
	s, err := c.Stats()
	require.NoError(t, err)
	require.Empty(t, s.Groups)
}

// TestFoundEpochsFarApart begins epochs whose numbers have bits in common: each has passes of its
// own.
func TestFoundEpochsFarApart(t *testing.T) {
	c := foundOpen(t, foundMake(t, samplecache.Config{Samples: 1, Limits: samplecache.Limits{MaxPasses: 70_000}}))
	g := c.Group("g", 1)
	latest := map[uint64]uint64{}
	for i, n := range []uint64{1, 1 + 1<<24, 1 + 1<<32, 1 + 1<<48, 1 + 1<<63, 1<<64 - 1} {
		foundPut(t, c, "", 1)
		e, err := g.Epoch(t.Context(), n)
		require.NoError(t, err)
		require.EqualValues(t, i+1, e.ID(), "epoch %d is new", n)
		latest[n] = e.ID()
		defer e.Close()
		if i == 2 {
			break // two are retired then, and held
		}
	}
	for n, id := range latest {
		e, err := g.Epoch(t.Context(), n)
		require.NoError(t, err)
		require.Equal(t, id, e.ID())
		require.NoError(t, e.Close())
	}
	for _, n := range []uint64{1 + 1<<48, 1 + 1<<63, 1<<64 - 1} {
		e, err := g.Epoch(t.Context(), n)
		require.NoError(t, err)
		require.EqualValues(t, 3, e.ID(), "epoch %d is new", n)
		require.NoError(t, e.Close())
	}
}

// TestFoundMaxHold opens a generation again and again after it was retired, by turns and alone:
// once MaxHold has passed it is gone for all.
func TestFoundMaxHold(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1, MaxHold: 200 * time.Millisecond, MaxHeld: 1})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 1)
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	foundPut(t, c, "", 3)
	both := []*samplecache.Cache{d, c}
	for i := 0; ; i++ {
		require.Less(t, i, 40, "still read")
		time.Sleep(20 * time.Millisecond)
		next, err := both[i%2].At(t.Context(), 1)
		if errors.Is(err, samplecache.ErrGenerationGone) {
			break
		}
		require.NoError(t, err)
		_ = g.Close()
		g = next
	}
	time.Sleep(20 * time.Millisecond)
	_, err = g.Fetch(t.Context(), []int{0}, nil)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
}

func TestFoundSymlink(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	c := foundOpen(t, link)
	foundPut(t, c, "", 3)
}

func TestFoundTakeSoon(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1, Limits: samplecache.Limits{MinPasses: 1}})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 1)
	g := c.Group("g", 1)
	e1, err := g.Epoch(t.Context(), 0)
	require.NoError(t, err)
	_, err = e1.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
	foundPut(t, c, "", 1) // 2 is published; 1 is held, no store for 3
	e2, err := g.Epoch(t.Context(), 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, e2.ID())
	require.NoError(t, e1.Close())
	foundPut(t, c, "", 1) // 3 is full, and waits for g to read 2
	_, err = e2.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = c.Wait(ctx, 2)
	require.NoError(t, err, "3 is full and group g has read 2: nobody publishes it")
}

func TestFoundTakeNobody(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1, Limits: samplecache.Limits{MinPasses: 1}})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 1)
	h, err := d.At(t.Context(), 1)
	require.NoError(t, err)
	g := c.Group("g", 1)
	e1, err := g.Epoch(t.Context(), 0)
	require.NoError(t, err)
	_, err = e1.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
	require.NoError(t, e1.Close())
	foundPut(t, c, "", 1) // 2 is published; 1 is held, no store for 3
	e2, err := g.Epoch(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	time.Sleep(100 * time.Millisecond)
	foundPut(t, c, "", 1) // 3 is full, and waits for g to read 2
	_, err = e2.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	_, err = c.Wait(ctx, 2)
	require.NoError(t, err, "3 is full and group g has read 2: nobody publishes it")
}

// TestFoundLeafGone removes a leaf of a published generation: it is damaged, not gone.
func TestFoundLeafGone(t *testing.T) {
	for _, name := range []string{"n.memmap", "meta.json", ".samples"} {
		t.Run(name, func(t *testing.T) {
			dir := foundMake(t, samplecache.Config{Samples: 1})
			c := foundOpen(t, dir)
			foundPut(t, c, "", 1)
			require.NoError(t, os.Remove(filepath.Join(dir, "gen-0000000001", name)))
			for _, open := range []func() (*samplecache.Generation, error){
				func() (*samplecache.Generation, error) { return c.At(soon(t), 1) },
				func() (*samplecache.Generation, error) { return c.Latest(soon(t)) },
			} {
				_, err := open()
				require.ErrorIs(t, err, samplecache.ErrCorrupt)
				require.NotErrorIs(t, err, samplecache.ErrGenerationGone)
				require.Equal(t, 1, strings.Count(err.Error(), "corrupt"), err)
				require.ErrorContains(t, err, "gen-0000000001/"+name)
			}
		})
	}
}

// TestFoundNoDirectory has a file in the place of a generation.
func TestFoundNoDirectory(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 1)
	at := filepath.Join(dir, "gen-0000000001")
	require.NoError(t, os.RemoveAll(at))
	require.NoError(t, os.WriteFile(at, nil, 0o666))
	_, err := c.At(soon(t), 1)
	require.ErrorIs(t, err, samplecache.ErrCorrupt)
}

// TestFoundGroupErrors is about errors of groups: they are about no file, and a membership that was
// closed meanwhile is closed.
func TestFoundGroupErrors(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	s, err := dircache.Engine{Dir: dir}.Join(t.Context(), engine.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	seat, err := s.Enter(t.Context(), "train", 1)
	require.NoError(t, err)
	_, err = s.Enter(t.Context(), "train", 2)
	require.ErrorIs(t, err, engine.ErrGroup)
	require.NotContains(t, err.Error(), dir)
	foundPut(t, foundOpen(t, dir), "", 1)
	dircache.DoAt("locked", 1, func() {
		dircache.CrashPoints(nil)
		require.NoError(t, seat.Close())
	})
	t.Cleanup(func() { dircache.CrashPoints(nil) })
	_, err = seat.Begin(t.Context(), 0, engine.Want{})
	require.ErrorIs(t, err, engine.ErrClosed)
}
