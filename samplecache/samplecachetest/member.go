package samplecachetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A place is the name of a cache.
type place struct {
	k    *kit
	name string
}

// create makes a cache whose samples are like id.sample.
func (k *kit) create(config engine.Config) *place {
	k.Helper()
	return k.createOf(id(0).sample(), config)
}

// createOf makes a cache of samples like schema. It skips the test if the engine does not support
// config.
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
	k       *kit
	engine  engine.Engine
	session engine.Session
}

// Join implements engine.Engine. It joins the cache, and stores the session.
func (m *member) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	var err error
	m.session, err = m.engine.Join(ctx, opt)
	return m.session, err
}

// join joins the cache, until the end of the test at the latest.
func (p *place) join() *member {
	k := p.k
	k.Helper()
	m := &member{k: k, engine: k.Engine(k.T, p.name)}
	opt := samplecache.Options{OnError: func(err error) { k.Errorf("OnError: %v", err) }}
	m.Cache = got(samplecache.Open(k.ctx, m, opt))(k)
	k.Cleanup(func() {
		if s, err := m.Stats(); err == nil && k.Failed() {
			k.Logf("at the end: %+v", s)
		}
		if err := m.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			k.Errorf("close: %v", err)
		}
	})
	return m
}

// joins joins the cache n times.
func (p *place) joins(n int) (all []*member) {
	p.k.Helper()
	for range n {
		all = append(all, p.join())
	}
	return all
}

// within returns how long a dead session may still hold things.
func (m *member) within() time.Duration { return m.session.About().Lease + time.Second }

// producer returns a producer with a name.
func (m *member) producer(name string) *samplecache.Producer {
	m.k.Helper()
	return got(m.Producer(name))(m.k)
}

// claim returns a producer with a name. A session that has died may still have the name for a
// while.
func (m *member) claim(name string) *samplecache.Producer {
	m.k.Helper()
	for end := time.Now().Add(m.within()); ; time.Sleep(time.Millisecond) {
		p, err := m.Producer(name)
		if !errors.Is(err, samplecache.ErrProducerBusy) || time.Now().After(end) {
			return got(p, err)(m.k)
		}
	}
}

// fill puts samples until the given generation is published.
func (m *member) fill(p *samplecache.Producer, generation uint64) {
	m.k.Helper()
	s := m.stats()
	m.k.puts(p, int(generation-s.Latest)*s.Samples-s.Committed)
	equal(m.k, "the generation published last", m.stats().Latest, generation)
}

// stats returns the Stats of the cache.
func (m *member) stats() samplecache.Stats {
	m.k.Helper()
	return got(m.Stats())(m.k)
}

// latest returns the generation published last.
func (m *member) latest() *samplecache.Generation {
	m.k.Helper()
	return got(m.Latest(m.k.ctx))(m.k)
}

// epoch begins an epoch of a group.
func (m *member) epoch(group string, world int, epoch uint64) *samplecache.Generation {
	m.k.Helper()
	return got(m.Group(group, world).Epoch(m.k.ctx, epoch))(m.k)
}

// pass begins an epoch of a group and closes its generation. It returns the generation.
func (m *member) pass(group string, world int, epoch uint64) uint64 {
	m.k.Helper()
	g := m.epoch(group, world, epoch)
	m.k.must(g.Close())
	return g.ID()
}
