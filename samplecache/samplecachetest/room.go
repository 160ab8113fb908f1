package samplecachetest

import (
	"context"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// reserving returns the Reserve of a producer, for kit.waits.
func reserving(p *samplecache.Producer) func(ctx context.Context) error {
	return func(ctx context.Context) error { _, err := p.Reserve(ctx); return err }
}

// roomFirst checks W10: each slot has one sample, and if no slot is free, Reserve waits until one
// is aborted.
func roomFirst(k *kit) {
	place := k.create(samplecache.Config{Samples: 4})
	one, other := place.join(), place.join()
	p, q := one.producer("one"), other.producer("other")
	slots := make([]*samplecache.Slot, 4)
	for i := range slots {
		slots[i] = got(p.Reserve(k.ctx))(k)
	}
	k.must(slots[1].Abort())
	equal(k, "slots reserved, after Abort", other.stats().Reserved, 3)
	slots[1] = got(p.Reserve(k.ctx))(k)
	equal(k, "the number that was given back", slots[1].Number(), 1)
	equal(k, "slots listed", len(other.stats().Slots), 4)
	k.waits("Reserve without room", reserving(q))
	equal(k, "Next, after waiting in vain", q.Next(), 0)
	crew := k.crew()
	crew.start(func(k *kit) { k.puts(q, 1) })
	time.Sleep(k.shortWait) // it waits by now
	k.must(slots[2].Abort())
	crew.finish()
	for _, i := range []int{3, 0, 1} {
		k.commit(slots[i], "one")
	}
	g := other.latest()
	equal(k, "the generation published last", g.ID(), 1)
	newBook(4).see(k, g)
}

// ratioed are limits under which a group must take two rows before the third sample is put.
var ratioed = samplecache.Limits{PerInsert: 1, MinSize: 2, MinDiff: -2, MaxDiff: 3}

// blockedAtOnce checks W11: an engine does not wait for other members.
func blockedAtOnce(k *kit) {
	m := k.create(samplecache.Config{Samples: 2, MaxHold: time.Hour, Limits: ratioed}).join()
	began := time.Now()
	seat := got(unblocked(k, func() (engine.Seat, error) { return m.session.Enter(k.ctx, "train", 1) }))(k)
	k.refuses("Begin before there is a generation", samplecache.ErrBlocked)(seat.Begin(k.ctx, 0, engine.Want{}))
	m.fill(m.producer("gen"), 1)
	claim := got(unblocked(k, func() (engine.Claim, error) { return m.session.Claim(k.ctx, "") }))(k)
	pass := got(unblocked(k, func() (engine.Pass, error) { return seat.Begin(k.ctx, 0, engine.Want{}) }))(k)
	var err error
	for number := uint64(0); err == nil; number++ {
		_, err = claim.Reserve(k.ctx, number)
	}
	k.wants("Reserve beyond the limits", err, samplecache.ErrBlocked)
	for err = nil; err == nil; {
		_, err = pass.Take(k.ctx, 1)
	}
	k.wants("Take beyond the limits", err, samplecache.ErrBlocked)
	k.soon(began, k.grace, "what is blocked")
}
