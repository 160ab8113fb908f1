//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
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

func TestFoundForget(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 200})
	c := foundOpen(t, dir)
	foundPut(t, c, "gen", 100)
	require.NoError(t, c.Forget(t.Context(), "gen"))
	p, err := c.Producer("gen")
	require.NoError(t, err)
	require.EqualValues(t, 0, p.Next())
	require.NoError(t, p.Close())
	foundPut(t, c, "", 100) // published
	p, err = c.Producer("gen")
	require.NoError(t, err)
	require.EqualValues(t, 0, p.Next(), "numbers that were forgotten are back")
}

func TestFoundForgetRebuild(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 200})
	c := foundOpen(t, dir)
	foundPut(t, c, "gen", 100)
	require.NoError(t, c.Forget(t.Context(), "gen"))
	foundPut(t, c, "gen", 10) // 0..9 anew, acknowledged
	s, _ := c.Stats()
	require.Equal(t, 110, s.Committed)
	require.NoError(t, c.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "control"))) // as after a reboot
	c = foundOpen(t, dir)
	s, _ = c.Stats()
	require.Equal(t, 110, s.Committed, "acknowledged samples")
	p, err := c.Producer("gen")
	require.NoError(t, err)
	require.EqualValues(t, 10, p.Next())
}

func TestFoundForgetManifest(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 10})
	c := foundOpen(t, dir)
	foundPut(t, c, "gen", 10) // published
	require.NoError(t, c.Forget(t.Context(), "gen"))
	p, err := c.Producer("gen")
	require.NoError(t, err)
	require.NoError(t, p.Close())
	foundPut(t, c, "", 10)
	require.NoError(t, c.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "control")))
	c = foundOpen(t, dir)
	p, err = c.Producer("gen")
	require.NoError(t, err)
	require.EqualValues(t, 0, p.Next(), "numbers that were forgotten are back")
}

func TestFoundSeats(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 1)
	g := c.Group("train", 1)
	var open []*samplecache.Generation
	for n := range uint64(9000) { // ten epochs are open at a time
		e, err := g.Epoch(t.Context(), n)
		require.NoError(t, err, "epoch %d", n)
		if open = append(open, e); len(open) > 10 {
			require.NoError(t, open[0].Close())
			open = open[1:]
		}
	}
}

func TestFoundGroupEntry(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 4)
	a := c.Group("a", 1)
	ga, err := a.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, a.Close()) // "its generations stay open"
	b0, b1 := c.Group("b", 2), d.Group("b", 2)
	g1, err := b1.Epoch(t.Context(), 0)
	require.NoError(t, err)
	g0, err := b0.Epoch(t.Context(), 0)
	require.NoError(t, err)
	foundPut(t, c, "", 4)
	foundPut(t, c, "", 0)
	s, _ := c.Stats()
	t.Logf("before: latest %d waits %q groups %+v", s.Latest, s.PublishWaits, s.Groups)
	require.NoError(t, ga.Close())
	require.NoError(t, g1.Close())
	s, _ = c.Stats()
	t.Logf("then: latest %d waits %q groups %+v", s.Latest, s.PublishWaits, s.Groups)
	time.Sleep(50 * time.Millisecond)
	s, _ = c.Stats()
	require.EqualValues(t, 0, s.Groups[0].Taken, "rank 0 of b has not read one row and is not done: its epoch is settled")
	_ = g0
}

func TestFoundGroupTaken(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -3, MaxDiff: 5}})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 4)
	a := c.Group("a", 1)
	ga, err := a.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	gb, err := c.Group("b", 1).Epoch(t.Context(), 0)
	require.NoError(t, err)
	before, _ := c.Stats()
	_, err = ga.Fetch(t.Context(), []int{0, 1}, nil)
	require.NoError(t, err)
	after, _ := c.Stats()
	require.Equal(t, before.Groups[0].Taken, after.Groups[0].Taken, "rows that group a took count for group b")
	_ = gb
}

func TestFoundMaxHoldAlone(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1, MaxHold: 100 * time.Millisecond})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 1)
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	foundPut(t, c, "", 5)
	time.Sleep(time.Second)
	_, err = g.Fetch(t.Context(), []int{0}, nil)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
}

func TestFoundMaxHoldTurns(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1, MaxHold: 300 * time.Millisecond, MaxHeld: 1})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 1)
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	foundPut(t, c, "", 3)
	both := []*samplecache.Cache{d, c}
	began := time.Now()
	for i := range 20 {
		time.Sleep(100 * time.Millisecond)
		next, err := both[i%2].At(t.Context(), 1)
		if errors.Is(err, samplecache.ErrGenerationGone) {
			return
		}
		require.NoError(t, err)
		_ = g.Close()
		g = next
	}
	_, err = g.Fetch(t.Context(), []int{0}, nil)
	require.Error(t, err, "still read %v after it was retired", time.Since(began))
}

func TestFoundSymlink(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	c := foundOpen(t, link)
	foundPut(t, c, "", 3)
}

func TestFoundBackwards(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 2, Limits: samplecache.Limits{MinPasses: 1}})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 2)
	g := c.Group("g", 1)
	e, err := g.Epoch(t.Context(), 5)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	foundPut(t, c, "", 2) // 2
	e, err = g.Epoch(t.Context(), 4)
	require.NoError(t, err)
	require.EqualValues(t, 2, e.ID())
	foundPut(t, c, "", 2) // full, 3 waits until g has read 2
	other := c.Group("other", 1)
	o, err := other.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, o.Close()) // tidies
	s, _ := c.Stats()
	require.EqualValues(t, 2, s.Latest, "group g has not read one row of 2: %+v", s.Groups)
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
	s, _ := c.Stats()
	t.Logf("%d: %q", s.Latest, s.PublishWaits)
	_, err = e2.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began := time.Now()
	e3, err := c.Wait(ctx, 2)
	require.NoError(t, err, "3 is full and group g has read 2: nobody publishes it")
	t.Logf("published after %v", time.Since(began))
	_ = e3
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
	began := time.Now()
	_, err = c.Wait(ctx, 2)
	require.NoError(t, err, "3 is full and group g has read 2: nobody publishes it")
	t.Logf("published after %v", time.Since(began))
}

// roomy are limits that let a group run ahead, and count its rows.
var roomy = samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -20, MaxDiff: 50}

// TestFoundAgain has a rank start anew in an epoch that is settled since it ended: its rows were
// counted then.
func TestFoundAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dir := foundMake(t, samplecache.Config{Samples: 4, Limits: roomy})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 4)
	e0, err := c.Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	_, err = d.Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, e0.Close())
	require.NoError(t, d.Close())
	s, err := c.Stats()
	require.NoError(t, err)
	settled := s.Groups[0].Taken

	e1, err := foundOpen(t, dir).Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	_, err = e1.Fetch(ctx, []int{2, 3}, nil)
	require.NoError(t, err)
	s, err = c.Stats()
	require.NoError(t, err)
	require.Equal(t, settled, s.Groups[0].Taken)
}

// TestFoundEpochContext ends the context of Epoch at any moment: an epoch that it does not return is
// not used up.
func TestFoundEpochContext(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MaxPasses: 10_000}})
	c := foundOpen(t, dir)
	foundPut(t, c, "", 4)
	g := c.Group("g", 1)
	begun := int64(0)
	for n := range uint64(300) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(n) * time.Microsecond)
			cancel()
		}()
		e, err := g.Epoch(ctx, n)
		if err == nil {
			begun++
			require.NoError(t, e.Close())
		}
		s, err := c.Stats()
		require.NoError(t, err)
		if len(s.Groups) > 0 {
			require.Equal(t, 4*begun, s.Groups[0].Taken, "epoch %d", n)
		}
		cancel()
	}
}

// TestFoundTooManyMembers has more members than ranks, whose passes nobody could count.
func TestFoundTooManyMembers(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 4})
	c, d := foundOpen(t, dir), foundOpen(t, dir)
	foundPut(t, c, "", 4)
	_, err := c.Group("g", 1).Epoch(t.Context(), 0)
	require.NoError(t, err)
	_, err = d.Group("g", 1).Epoch(t.Context(), 0)
	require.ErrorIs(t, err, samplecache.ErrGroup)
	require.NoError(t, c.Close())
	foundPut(t, d, "", 4)
	e, err := d.Group("g", 1).Epoch(t.Context(), 0)
	require.NoError(t, err, "the other has left")
	require.NoError(t, e.Close())
}
