package samplecachetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// patience is how long a rule may take. Something that it waits for may take half of that.
var patience = time.Minute

// moment is how long something has to wait that should wait for ever.
const moment = 30 * time.Millisecond

// A kit is what a rule is checked with.
type kit struct {
	*testing.T
	*suite
	ctx context.Context         // ends so late that whoever is still waiting would wait for ever
	end context.CancelCauseFunc // ends it at once
}

// newKit returns a kit, which fails t if goroutines or mappings are left when t has ended.
func newKit(t *testing.T, s *suite) *kit {
	t.Helper()
	limited, cancel := context.WithTimeout(t.Context(), patience)
	ctx, end := context.WithCancelCause(limited)
	k := &kit{t, s, ctx, end}
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
	for end := time.Now().Add(patience / 12); ; time.Sleep(time.Millisecond) {
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

// A place is where a cache is kept.
type place struct {
	k    *kit
	name string
}

// create makes a cache of the usual samples.
func (k *kit) create(config engine.Config) *place {
	k.Helper()
	return k.createOf(id{}.sample(), config)
}

// createOf makes a cache of samples like one, or skips the test.
func (k *kit) createOf(schema *tdict.TensorDict, config engine.Config) *place {
	k.Helper()
	p := &place{k, "cache-" + rand.Text()}
	err := k.Create(k.T, p.name, schema, config)
	if errors.Is(err, errors.ErrUnsupported) {
		k.skip(fmt.Sprintf("%+v: %v", config, err))
	}
	k.must(err)
	return p
}

// A member is one member of a cache.
type member struct {
	*samplecache.Cache
	session engine.Session
	engine  engine.Engine
}

// Join joins the cache, and keeps the session.
func (m *member) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	var err error
	m.session, err = m.engine.Join(ctx, opt)
	return m.session, err
}

// open joins the cache.
func (p *place) open(ctx context.Context) (*member, error) {
	opt := samplecache.Options{OnError: func(err error) { p.k.Errorf("OnError: %v", err) }}
	m := &member{engine: p.k.Engine(p.k.T, p.name)}
	var err error
	m.Cache, err = samplecache.Open(ctx, m, opt)
	return m, err
}

// member joins the cache, until the end of the test at the latest.
func (p *place) member() *member {
	p.k.Helper()
	m := got(p.open(p.k.ctx))(p.k)
	p.k.Cleanup(func() {
		if s, err := m.Stats(); err == nil && p.k.Failed() {
			p.k.Logf("in the end: %+v", s)
		}
		if err := m.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			p.k.Errorf("close: %v", err)
		}
	})
	return m
}

// join is member of which only the cache is wanted.
func (p *place) join() *samplecache.Cache {
	p.k.Helper()
	return p.member().Cache
}

// joins joins the cache several times.
func (p *place) joins(n int) (all []*samplecache.Cache) {
	p.k.Helper()
	for range n {
		all = append(all, p.join())
	}
	return all
}

// within returns how long what a dead session holds may stay taken.
func (m *member) within() time.Duration { return m.session.About().Lease + patience/60 }
