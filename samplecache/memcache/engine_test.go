package memcache_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestEngine(t *testing.T) {
	var engines sync.Map // by place
	samplecachetest.TestEngine(t, samplecachetest.Driver{
		Create: func(_ testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
			e, err := memcache.New(schema, config)
			engines.Store(place, e)
			return err
		},
		Engine: func(_ testing.TB, place string) engine.Engine {
			e, _ := engines.Load(place)
			return e.(*memcache.Engine)
		},
		OneProcess: true,
	})
}

// start joins a new cache of generations of one sample.
func start(t *testing.T) (*samplecache.Cache, *tdict.TensorDict) {
	t.Helper()
	sample := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.From([]int64{5}, 1))}))
	e, err := memcache.New(sample, samplecache.Config{Samples: 1})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{Verify: samplecache.Always})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, sample
}

// TestInfoIsTheCallers changes the sums that Info has returned: the cache has its own.
func TestInfoIsTheCallers(t *testing.T) {
	c, sample := start(t)
	p, err := c.Producer("")
	require.NoError(t, err)
	require.NoError(t, p.Put(t.Context(), sample))
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	info, err := g.Info(0)
	require.NoError(t, err)
	info.Sums[0]++
	_, err = g.Fetch(t.Context(), []int{0}, nil)
	require.NoError(t, err)
}

// TestUnusedNames claims a name under which nothing is put: it is no producer then.
func TestUnusedNames(t *testing.T) {
	c, sample := start(t)
	for _, name := range []string{"unused", "used"} {
		p, err := c.Producer(name)
		require.NoError(t, err)
		if name == "used" {
			require.NoError(t, p.Put(t.Context(), sample))
		}
		require.NoError(t, p.Close())
	}
	st, err := c.Stats()
	require.NoError(t, err)
	require.Len(t, st.Producers, 1)
	require.Equal(t, "used", st.Producers[0].Name)
}

// TestLargeLeaves refuses leaves that no memory holds, by name, before anything is allocated.
func TestLargeLeaves(t *testing.T) {
	byteOf := tensor.Must(tensor.From([]uint8{1}, 1))
	meta := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.NewMeta(tensor.Uint8, shape...)) }
	for name, tt := range map[string]struct {
		samples int
		leaves  tdict.Entries
		is      error
	}{
		"bytes that no address reaches": {1, tdict.Entries{"small": meta(1), "x": tensor.Must(byteOf.Expand(1 << 62))}, engine.ErrSchema},
		"a size that overflows":         {1, tdict.Entries{"small": meta(1), "x": tensor.Must(tensor.Must(tensor.From([]int64{1}, 1)).Expand(1 << 61))}, engine.ErrSchema},
		"one leaf":                      {1, tdict.Entries{"small": meta(1), "x": meta(1 << 46)}, engine.ErrConfig},
		"many samples":                  {1 << 20, tdict.Entries{"small": meta(1), "x": meta(1 << 20)}, engine.ErrConfig},
		"all leaves":                    {1, tdict.Entries{"a": meta(1 << 35), "b": meta(1 << 35), "x": meta(1)}, engine.ErrConfig},
	} {
		schema := tensor.Must(tdict.FromMap(nil, tt.leaves))
		_, err := memcache.New(schema, engine.Config{Samples: tt.samples})
		require.ErrorIs(t, err, tt.is, name)
		require.ErrorContains(t, err, `"x"`, name)
	}
}

// TestNobodysEngine uses an engine that New has not made.
func TestNobodysEngine(t *testing.T) {
	for _, e := range []*memcache.Engine{nil, {}} {
		_, err := e.Join(t.Context(), engine.Options{})
		require.ErrorIs(t, err, engine.ErrEngine)
		_, err = samplecache.Open(t.Context(), e, samplecache.Options{})
		require.ErrorIs(t, err, engine.ErrEngine)
	}
}

// TestHeldIsSaid reads a generation for too long: the error of a producer names MaxHeld and the
// generations.
func TestHeldIsSaid(t *testing.T) {
	sample := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.From([]int64{5}, 1))}))
	e, err := memcache.New(sample, samplecache.Config{Samples: 1, Retain: -1, MaxHeld: 1})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	p, err := c.Producer("")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, p.Put(t.Context(), sample))
		_, err = c.Latest(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, p.Put(t.Context(), sample))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = p.Reserve(ctx)
	require.EqualError(t, err, "reserve: context deadline exceeded: blocked: waiting for a free slot: generation 4 waits for readers: MaxHeld is 1, and generations [1 2], which are not retained any more, are still read")
	_, err = c.Wait(ctx, 3)
	require.ErrorContains(t, err, "context deadline exceeded")
	require.NoError(t, c.Close())
}
