package memcache_test

import (
	"sync"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
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
