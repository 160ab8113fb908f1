package samplecachetest

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// patience is how long one rule may take, or anything that a rule waits for.
const patience = time.Minute

// moment is how long something has to wait that should wait for ever.
const moment = 30 * time.Millisecond

// A kit is what a rule is checked with.
type kit struct {
	*testing.T
	test string // the test that has called TestEngine
	open Open
	ctx  context.Context         // ends so late that whoever is still waiting would wait for ever
	end  context.CancelCauseFunc // ends it at once
}

// newKit returns a kit, which fails t if goroutines or mappings are left when t has ended.
func newKit(t *testing.T, test string, open Open) *kit {
	t.Helper()
	limited, cancel := context.WithTimeout(t.Context(), patience)
	ctx, end := context.WithCancelCause(limited)
	k := &kit{t, test, open, ctx, end}
	goroutines, mappings := runtime.NumGoroutine(), mapping.Live()
	t.Cleanup(func() { // the last of all
		end(nil)
		cancel()
		k.nothingLeft(goroutines, mappings)
	})
	return k
}

// nothingLeft waits until there are no more goroutines and mappings than there were.
func (k *kit) nothingLeft(goroutines, mappings int) {
	k.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		g, m := runtime.NumGoroutine(), mapping.Live()
		switch {
		case g <= goroutines && m <= mappings:
			return
		case time.Now().After(end):
			stacks := make([]byte, 1<<20)
			k.Errorf("left when all is closed: %d goroutines and %d mappings\n%s",
				g-goroutines, m-mappings, stacks[:runtime.Stack(stacks, true)])
			return
		}
		runtime.GC() // a mapping that nobody refers to goes with it
	}
}

// parentOf returns the name of the test that t is a subtest of.
func parentOf(t *testing.T) string { return t.Name()[:strings.LastIndexByte(t.Name(), '/')] }

// A place is where a cache is kept.
type place struct {
	k    *kit
	name string
}

// create makes a cache of the usual samples.
func (k *kit) create(config samplecache.Config) *place {
	k.Helper()
	return k.createOf(id{}.sample(), config)
}

// createOf makes a cache of samples like one.
func (k *kit) createOf(schema *tdict.TensorDict, config samplecache.Config) *place {
	k.Helper()
	p := &place{k, filepath.Join(k.TempDir(), "cache")}
	if k.open(k.T, p.name, schema, config) == nil {
		k.Fatal("Open: got no engine")
	}
	return p
}

// join joins the cache, until the end of the test at the latest.
func (p *place) join() *samplecache.Cache {
	p.k.Helper()
	opt := samplecache.Options{OnError: func(err error) { p.k.Errorf("OnError: %v", err) }}
	c, err := samplecache.Open(p.k.ctx, p.k.open(p.k.T, p.name, nil, samplecache.Config{}), opt)
	p.k.must(err)
	p.k.Cleanup(func() {
		if s, err := c.Stats(); err == nil && p.k.Failed() {
			p.k.Logf("in the end: %+v", s)
		}
		if err := c.Close(); err != nil && !errors.Is(err, samplecache.ErrClosed) {
			p.k.Errorf("close: %v", err)
		}
	})
	return c
}

// joins joins the cache several times.
func (p *place) joins(n int) (all []*samplecache.Cache) {
	p.k.Helper()
	for range n {
		all = append(all, p.join())
	}
	return all
}
