package samplecache_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tensor"
)

// published returns a cache that has published generations of 4 samples.
func published(t *testing.T, generations int) (*samplecache.Cache, *samplecache.Producer) {
	t.Helper()
	c := join(t, memory(t, samplecache.Config{Samples: 4}))
	p := producer(t, c, "gen")
	fill(t, p, 4*generations)
	return c, p
}

// interrupted returns the state of a loader after the first batch of a generation.
func interrupted(t *testing.T, g *samplecache.Generation) loader.State {
	t.Helper()
	l, err := loader.New(g, loader.Options{Batch: 1})
	require.NoError(t, err)
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		break
	}
	state := l.State()
	require.NoError(t, g.Close())
	return state
}

// left returns how many batches a loader of a generation gives when it is restored.
func left(t *testing.T, g *samplecache.Generation, state loader.State) int {
	t.Helper()
	l, err := loader.New(g, loader.Options{Batch: 1})
	require.NoError(t, err)
	require.NoError(t, l.Restore(state))
	return l.Left()
}

func TestResume(t *testing.T) {
	c, p := published(t, 1)
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	state := interrupted(t, g)

	fill(t, p, 4*1)
	g, _, err = c.Resume(t.Context(), state, samplecache.ResumeOptions{OrLatest: true})
	require.NoError(t, err)
	require.EqualValues(t, 1, g.ID(), "the one that it was reading, as long as that is kept")
	require.Equal(t, 3, left(t, g, state))
	require.NoError(t, g.Close())

	latest, err := c.Latest(t.Context())
	require.NoError(t, err)
	l, err := loader.New(latest, loader.Options{Batch: 1})
	require.NoError(t, err)
	require.ErrorIs(t, l.Restore(state), loader.ErrState, "a state of another generation")
	require.NoError(t, latest.Close())

	fill(t, p, 4*2)
	_, _, err = c.Resume(t.Context(), state, samplecache.ResumeOptions{})
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	g, state, err = c.Resume(t.Context(), state, samplecache.ResumeOptions{OrLatest: true})
	require.NoError(t, err)
	require.EqualValues(t, 4, g.ID())
	require.Equal(t, 3, left(t, g, state), "the same place of its order")
	require.NoError(t, g.Close())
}

func TestResumeOfAnotherCache(t *testing.T) {
	other, _ := published(t, 1)
	g, err := other.Latest(t.Context())
	require.NoError(t, err)
	state := interrupted(t, g)
	c, _ := published(t, 1)
	_, _, err = c.Resume(t.Context(), state, samplecache.ResumeOptions{})
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	_, _, err = c.Resume(t.Context(), loader.State{}, samplecache.ResumeOptions{})
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
}

// TestGroupResume has the ranks of a group agree, also on another generation than the state says.
func TestGroupResume(t *testing.T) {
	c, p := published(t, 1)
	g, err := c.Group("before", 1).Epoch(t.Context(), 5)
	require.NoError(t, err)
	state := interrupted(t, g)
	group := c.Group("train", 2)
	fill(t, p, 4*1)
	for rank := range 2 {
		g, resumed, err := group.Resume(t.Context(), 5, state, samplecache.ResumeOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, g.ID(), "rank %d", rank)
		require.Equal(t, state, resumed)
		require.NoError(t, g.Close())
	}
	fill(t, p, 4*2)
	_, _, err = group.Resume(t.Context(), 6, state, samplecache.ResumeOptions{})
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	for rank := range 2 {
		g, resumed, err := group.Resume(t.Context(), 7, state, samplecache.ResumeOptions{OrLatest: true})
		require.NoError(t, err)
		require.EqualValues(t, 4, g.ID(), "rank %d", rank)
		require.Equal(t, 3, left(t, g, resumed))
		require.NoError(t, g.Close())
		fill(t, p, 4*1) // which changes nothing for the other
	}
}

// TestResumesAgree resumes in a group and without one what cannot be had: both are
// ErrGenerationGone, or go on with the latest.
func TestResumesAgree(t *testing.T) {
	c, p := published(t, 1)
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	state := interrupted(t, g)
	fill(t, p, 4*3)
	id := strings.TrimSuffix(state.Source, "/1")
	for name, source := range map[string]string{
		"gone": id + "/1", "generation 0": id + "/0", "unpublished": id + "/5", "foreign": "x/3", "no state": "", "no number": id + "/x",
	} {
		state.Source = source
		for epoch, opt := range []samplecache.ResumeOptions{{}, {OrLatest: true}} {
			one, first, failed := c.Resume(soon(t), state, opt)
			two, second, err := c.Group(name, 1).Resume(soon(t), uint64(epoch), state, opt)
			require.Equal(t, errors.Is(failed, samplecache.ErrGenerationGone), errors.Is(err, samplecache.ErrGenerationGone), name)
			require.Equal(t, first, second, name)
			require.Equal(t, opt.OrLatest, err == nil, name)
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrGenerationGone, name)
				continue
			}
			require.EqualValues(t, []uint64{4, 4}, []uint64{one.ID(), two.ID()}, name)
			require.NoError(t, errors.Join(one.Close(), two.Close()))
		}
	}
}

// TestResumeLapsed resumes what another rank has held past MaxHold: it is gone.
func TestResumeLapsed(t *testing.T) {
	m := memory(t, samplecache.Config{Samples: 4, Retain: -1, MaxHold: 10 * time.Millisecond})
	c, d := join(t, m), join(t, m)
	p := producer(t, c, "p")
	fill(t, p, 4)
	g, err := c.Group("g", 2).Epoch(soon(t), 0)
	require.NoError(t, err)
	state := interrupted(t, tensor.Must(d.Latest(soon(t))))
	fill(t, p, 4)
	require.Eventually(t, func() bool {
		_, err := g.Fetch(soon(t), []int{0}, nil)
		return errors.Is(err, samplecache.ErrGenerationGone)
	}, patience, time.Millisecond)
	for _, one := range []*samplecache.Cache{c, d} {
		require.ErrorIs(t, errOf2(one.Group("g", 2).Resume(soon(t), 0, state, samplecache.ResumeOptions{})), samplecache.ErrGenerationGone)
		require.ErrorIs(t, errOf2(one.Resume(soon(t), state, samplecache.ResumeOptions{})), samplecache.ErrGenerationGone)
	}
}
