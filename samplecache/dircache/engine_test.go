package dircache_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// TestEngine checks the directory engine with the kit that every engine is checked with.
func TestEngine(t *testing.T) {
	samplecachetest.TestEngine(t, func(t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config) samplecache.Engine {
		t.Helper()
		if schema != nil {
			if err := dircache.Create(place, schema, config); err != nil {
				t.Fatal(err)
			}
		}
		return dircache.Engine{Dir: place}
	})
}
