package samplecachetest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
)

// InMemory returns a driver of engines that wrap makes of memcache's, or of memcache's. In another
// process a place has a cache of its own.
func InMemory(wrap func(*memcache.Engine) engine.Engine) Driver {
	var engines sync.Map
	create := func(_ testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
		e, err := memcache.New(schema, config)
		if wrap == nil {
			engines.Store(place, e)
		} else if err == nil {
			engines.Store(place, wrap(e))
		}
		return err
	}
	return Driver{
		Create: create,
		Engine: func(t testing.TB, place string) engine.Engine {
			if _, ok := engines.Load(place); !ok {
				_ = create(t, place, id(0).sample(), engine.Config{Samples: 5})
			}
			e, _ := engines.Load(place)
			return e.(engine.Engine)
		},
		OneProcess: true,
	}
}

// CheckRules checks an engine for the rules whose names begin with words. Patience is how long a
// rule may take, and grace how long a call may take to return once its context has ended.
func CheckRules(t *testing.T, d Driver, patience, grace time.Duration, words string) {
	t.Helper()
	s, some := newSuite(t, d), []rule(nil)
	s.patience, s.grace = patience, grace
	for _, r := range rules {
		if strings.HasPrefix(r.name, words) {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		t.Fatalf("no rule begins with %q", words)
	}
	s.check(t, some)
}

// Rules returns the names of all rules.
func Rules() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}
