package samplecachetest

import (
	"context"
	"errors"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A holding is a cache of which one session holds all that others need.
type holding struct {
	k      *kit
	place  *place
	audit  *auditor
	writer *member
	p      *samplecache.Producer
	name   string
}

// holding makes the cache, in which one generation is published.
func (k *kit) holding() *holding {
	k.Helper()
	h := &holding{k: k, name: "held", place: k.create(samplecache.Config{Samples: 2, Retain: -1, MaxHeld: -1, Limits: everySeen})}
	h.audit, h.writer = h.place.audit(), h.place.member()
	h.p = k.producer(h.writer.Cache, "gen")
	k.must(puts(k.ctx, h.p, 2))
	return h
}

// A taken is what a session holds.
type taken struct {
	producer   *samplecache.Producer
	slots      []*samplecache.Slot
	generation *samplecache.Generation
}

// takeAll takes the name, all slots, the latest generation, and the one seat of a group.
func (m *member) takeAll(ctx context.Context, name string) (t taken, err error) {
	if t.producer, err = m.Producer(name); err != nil {
		return t, err
	}
	for range m.Config().Samples {
		s, err := t.producer.Reserve(ctx)
		if err == nil {
			err = write(s, name)
		}
		if err != nil {
			return t, err
		}
		t.slots = append(t.slots, s)
	}
	t.generation, err = m.Group(name, 1).Epoch(ctx, 0)
	return t, err
}

// freed ends the test unless all that was held is free within the lease.
func (h *holding) freed() {
	k, began := h.k, time.Now()
	k.Helper()
	k.must(puts(k.ctx, h.p, 6)) // while generation 1 is held there is room for one more
	k.must(got(h.writer.claim(h.name))(k).Close())
	group := h.writer.Group(h.name, 1)
	k.must(got(group.Epoch(k.ctx, 0))(k).Close())
	k.must(group.Close())
	took := time.Since(began)
	k.Logf("all was free after %v, with a lease of %v", took, h.writer.session.About().Lease)
	if took > h.writer.within() {
		k.Errorf("all was free after %v, want at most %v", took, h.writer.within())
	}
}

// claim returns a producer whose name may be in use by a session that has died.
func (m *member) claim(name string) (*samplecache.Producer, error) {
	for end := time.Now().Add(m.within()); ; time.Sleep(time.Millisecond) {
		p, err := m.Producer(name)
		if !errors.Is(err, samplecache.ErrProducerBusy) || time.Now().After(end) {
			return p, err
		}
	}
}
