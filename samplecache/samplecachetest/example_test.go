package samplecachetest_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// An author of an engine writes this test, TestEngine, with the engine in place of memcache's.
func ExampleTestEngine() {
	_ = func(t *testing.T) {
		engines := map[string]engine.Engine{} // by place
		samplecachetest.TestEngine(t, samplecachetest.Driver{
			Create: func(_ testing.TB, place string, schema *tdict.TensorDict, config engine.Config) (err error) {
				engines[place], err = memcache.New(schema, config)
				return err
			},
			Engine:     func(_ testing.TB, place string) engine.Engine { return engines[place] },
			OneProcess: true,
		})
	}
}
