package natscache_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// urlVariable is the environment variable that gives processes the address of the server.
const urlVariable = "NATSCACHE_TEST_URL"

// driver returns the driver of caches on the server of the test, which it starts.
func driver(t *testing.T, config natscache.Config, engineOf func(t testing.TB, e natscache.Engine) engine.Engine) samplecachetest.Driver {
	url := os.Getenv(urlVariable)
	if !samplecachetest.Child() {
		url = newServer(t).url()
		t.Setenv(urlVariable, url)
	}
	config.Lease = lease
	return samplecachetest.Driver{
		Create: func(t testing.TB, place string, schema *tdict.TensorDict, of engine.Config) error {
			config := config
			config.Config = of
			return natscache.Create(t.Context(), url, place, schema, config)
		},
		Engine: func(t testing.TB, place string) engine.Engine {
			return engineOf(t, natscache.Engine{URL: url, Name: place})
		},
	}
}

// TestEngine checks sessions that share the connection of their process.
func TestEngine(t *testing.T) {
	samplecachetest.TestEngine(t, driver(t, natscache.Config{}, func(_ testing.TB, e natscache.Engine) engine.Engine { return e }))
}

// TestEngineApart checks sessions that have connections of their own, which can be cut.
func TestEngineApart(t *testing.T) {
	samplecachetest.TestEngine(t, driver(t, natscache.Config{Memory: true}, func(t testing.TB, e natscache.Engine) engine.Engine {
		return &apart{e, newLink(t, strings.TrimPrefix(e.URL, "nats://"))}
	}))
}

// An apart is an engine whose session has a link of its own.
type apart struct {
	natscache.Engine
	link *link
}

func (a *apart) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	e := a.Engine
	e.URL = a.link.url()
	s, err := e.Join(ctx, opt)
	if err != nil {
		return nil, err
	}
	return struct {
		engine.Session
		samplecachetest.Cutter
	}{s, a.link}, nil
}
