package dircache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// placesVariable says where the caches of TestEngine lie, also to the processes that it starts.
const placesVariable = "DIRCACHE_TEST_PLACES"

// TestEngine checks the directory engine with the kit that every engine is checked with.
func TestEngine(t *testing.T) {
	if !samplecachetest.Child() {
		t.Setenv(placesVariable, t.TempDir())
	}
	at := func(place string) string { return filepath.Join(os.Getenv(placesVariable), place) }
	samplecachetest.TestEngine(t, samplecachetest.Driver{
		Create: func(_ testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
			return dircache.Create(at(place), schema, config)
		},
		Engine: func(_ testing.TB, place string) engine.Engine { return dircache.Engine{Dir: at(place)} },
	})
}
