package natscache_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// serve starts a server for the test.
func serve(t testing.TB) *natscache.Server {
	t.Helper()
	s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// urlVariable is the environment variable that gives processes the address of the server.
const urlVariable = "NATSCACHE_TEST_URL"

func TestEngine(t *testing.T) {
	url := os.Getenv(urlVariable)
	if !samplecachetest.Child() {
		url = serve(t).URL()
		t.Setenv(urlVariable, url)
	}
	samplecachetest.TestEngine(t, samplecachetest.Driver{
		Create: func(t testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
			return natscache.Create(t.Context(), url, place, schema, natscache.Config{Config: config, Lease: time.Second})
		},
		Engine: func(_ testing.TB, place string) engine.Engine {
			return natscache.Engine{URL: url, Name: place}
		},
	})
}

var _ = fmt.Sprint
