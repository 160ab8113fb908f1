package samplecache_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// An observer can be looked at without a Join.
type observer struct {
	samplecache.Engine
	err error
}

func (o observer) Join(context.Context, engine.Options) (engine.Session, error) {
	panic("it was joined")
}

func (o observer) Observe(context.Context) (engine.About, engine.Stats, error) {
	return engine.About{Config: samplecache.Config{Samples: 7}}, samplecache.Stats{Latest: 5}, o.err
}

// TestObserve looks at an engine that can be observed, and at one that has to be joined.
func TestObserve(t *testing.T) {
	c, st, err := samplecache.Observe(t.Context(), observer{})
	require.NoError(t, err)
	require.Equal(t, 7, c.Samples)
	require.Equal(t, uint64(5), st.Latest)
	_, _, err = samplecache.Observe(t.Context(), observer{err: samplecache.ErrCorrupt})
	require.ErrorIs(t, err, samplecache.ErrCorrupt)
	_, _, err = samplecache.Observe(t.Context(), nil)
	require.ErrorIs(t, err, samplecache.ErrEngine)

	e := memory(t, samplecache.Config{Samples: 2, Retain: -1})
	cache, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	p, err := cache.Producer("gen")
	require.NoError(t, err)
	var held *samplecache.Generation
	for n := range int64(7) {
		require.NoError(t, p.Put(t.Context(), marked(n)))
		if n == 1 {
			held, err = cache.Latest(t.Context())
			require.NoError(t, err)
		}
	}
	var forever context.Context
	c, st, err = samplecache.Observe(forever, e)
	require.NoError(t, err)
	require.Equal(t, cache.Config(), c)
	require.Equal(t, uint64(3), st.Latest)
	require.Equal(t, []samplecache.HolderStats{{Generation: 1, PID: os.Getpid()}}, st.Holders)
	require.Len(t, st.Members, 2)
	require.NoError(t, errors.Join(held.Close(), cache.Close()))
	_, st, err = samplecache.Observe(t.Context(), e)
	require.NoError(t, err)
	require.Len(t, st.Members, 1, "it left, too")
	require.Empty(t, st.Holders)
}
