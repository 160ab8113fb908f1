package memcache_test

import (
	"sync"
	"testing"

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
