package samplecache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// add puts n samples without a name.
func add(t *testing.T, c *samplecache.Cache, n int) {
	t.Helper()
	p := producer(t, c, "")
	fill(t, p, n)
	require.NoError(t, p.Close())
}

func TestSeats(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 1})
	c := join(t, m)
	add(t, c, 1)
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

func TestGroupEntry(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})
	c, d := join(t, m), join(t, m)
	add(t, c, 4)
	a := c.Group("a", 1)
	ga, err := a.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, a.Close()) // "its generations stay open"
	b0, b1 := c.Group("b", 2), d.Group("b", 2)
	g1, err := b1.Epoch(t.Context(), 0)
	require.NoError(t, err)
	_, err = b0.Epoch(t.Context(), 0)
	require.NoError(t, err)
	add(t, c, 4)
	require.NoError(t, ga.Close())
	require.NoError(t, g1.Close())
	s, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 0, s.Groups[0].Taken, "rank 0 of b has not read one row and is not done: its epoch is settled")
}

func TestGroupTaken(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 4, MaxHold: time.Minute, Limits: samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -3, MaxDiff: 5}})
	c := join(t, m)
	add(t, c, 4)
	a := c.Group("a", 1)
	ga, err := a.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	_, err = c.Group("b", 1).Epoch(t.Context(), 0)
	require.NoError(t, err)
	before, _ := c.Stats()
	_, err = ga.Fetch(t.Context(), []int{0, 1}, nil)
	require.NoError(t, err)
	after, _ := c.Stats()
	require.Equal(t, before.Groups[0].Taken, after.Groups[0].Taken, "rows that group a took count for group b")
}

func TestMaxHoldAlone(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 1, MaxHold: 100 * time.Millisecond})
	c := join(t, m)
	add(t, c, 1)
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	add(t, c, 5)
	require.Eventually(t, func() bool {
		_, err = g.Fetch(t.Context(), []int{0}, nil)
		return errors.Is(err, samplecache.ErrGenerationGone)
	}, patience, 10*time.Millisecond)
}

func TestMaxHoldTurns(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 1, MaxHold: 60 * time.Millisecond, MaxHeld: 1})
	c, d := join(t, m), join(t, m)
	add(t, c, 1)
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	add(t, c, 3)
	both := []*samplecache.Cache{d, c}
	began := time.Now()
	for i := range 20 {
		time.Sleep(20 * time.Millisecond)
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

func TestBackwards(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 2, Limits: samplecache.Limits{MinPasses: 1}})
	c := join(t, m)
	add(t, c, 2)
	g := c.Group("g", 1)
	e, err := g.Epoch(t.Context(), 5)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	add(t, c, 2) // 2
	e, err = g.Epoch(t.Context(), 4)
	require.NoError(t, err)
	require.EqualValues(t, 2, e.ID())
	add(t, c, 2) // full, 3 waits until g has read 2
	other := c.Group("other", 1)
	o, err := other.Epoch(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, o.Close()) // tidies
	s, _ := c.Stats()
	require.EqualValues(t, 2, s.Latest, "group g has not read one row of 2: %+v", s.Groups)
}

// roomy are limits that let a group run ahead, and count its rows.
var roomy = samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -20, MaxDiff: 50}

// TestAgain has a rank start anew in an epoch that is settled since it ended: its rows were
// counted then.
func TestAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m := memory(t, samplecache.Config{Samples: 4, MaxHold: time.Minute, Limits: roomy})
	c, d := join(t, m), join(t, m)
	add(t, c, 4)
	e0, err := c.Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	_, err = d.Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, e0.Close())
	require.NoError(t, d.Close())
	s, err := c.Stats()
	require.NoError(t, err)
	settled := s.Groups[0].Taken

	e1, err := join(t, m).Group("g", 2).Epoch(ctx, 0)
	require.NoError(t, err)
	_, err = e1.Fetch(ctx, []int{2, 3}, nil)
	require.NoError(t, err)
	s, err = c.Stats()
	require.NoError(t, err)
	require.Equal(t, settled, s.Groups[0].Taken)
}

// TestEpochContext ends the context of Epoch at any moment: an epoch that it does not return is not
// used up.
func TestEpochContext(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MaxPasses: 10_000}})
	c := join(t, m)
	add(t, c, 4)
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

// TestTooManyMembers has more members than ranks, whose passes nobody could count.
func TestTooManyMembers(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 4})
	c, d := join(t, m), join(t, m)
	add(t, c, 4)
	_, err := c.Group("g", 1).Epoch(t.Context(), 0)
	require.NoError(t, err)
	_, err = d.Group("g", 1).Epoch(t.Context(), 0)
	require.ErrorIs(t, err, samplecache.ErrGroup)
	require.NoError(t, c.Close())
	add(t, d, 4)
	e, err := d.Group("g", 1).Epoch(t.Context(), 0)
	require.NoError(t, err, "the other has left")
	require.NoError(t, e.Close())
}
