package samplecachetest_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// An author of an engine writes this test, TestEngine, with the engine in place of dircache's.
func ExampleTestEngine() {
	_ = func(t *testing.T) {
		samplecachetest.TestEngine(t, func(t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config) samplecache.Engine {
			if schema != nil {
				if err := dircache.Create(place, schema, config); err != nil {
					t.Fatal(err)
				}
			}
			return dircache.Engine{Dir: place}
		})
	}
}
