package samplecachetest

import (
	"context"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A left is what somebody has still in hands when the cache is closed.
type left struct {
	cache    *samplecache.Cache
	producer *samplecache.Producer
	nameless *samplecache.Producer
	slot     *samplecache.Slot
	at, of   *samplecache.Generation // the latter of an epoch
	group    *samplecache.Group
}

// closedCalls are calls of all that a cache gives out.
var closedCalls = map[string]func(ctx context.Context, l *left) error{
	"Close":              func(_ context.Context, l *left) error { return l.cache.Close() },
	"Latest":             func(ctx context.Context, l *left) error { _, err := l.cache.Latest(ctx); return err },
	"At":                 func(ctx context.Context, l *left) error { _, err := l.cache.At(ctx, 1); return err },
	"Wait":               func(ctx context.Context, l *left) error { _, err := l.cache.Wait(ctx, 0); return err },
	"Wait for another":   func(ctx context.Context, l *left) error { _, err := l.cache.Wait(ctx, 9); return err },
	"Keep":               func(ctx context.Context, l *left) error { return l.cache.Keep(ctx, 1, "kept") },
	"Forget":             func(ctx context.Context, l *left) error { return l.cache.Forget(ctx, "other") },
	"Stats":              func(_ context.Context, l *left) error { _, err := l.cache.Stats(); return err },
	"Producer":           func(_ context.Context, l *left) error { _, err := l.cache.Producer("new"); return err },
	"Producer, no name":  func(_ context.Context, l *left) error { _, err := l.cache.Producer(""); return err },
	"Reserve":            func(ctx context.Context, l *left) error { _, err := l.producer.Reserve(ctx); return err },
	"Reserve, no name":   func(ctx context.Context, l *left) error { _, err := l.nameless.Reserve(ctx); return err },
	"ReserveAt":          func(ctx context.Context, l *left) error { _, err := l.producer.ReserveAt(ctx, 9); return err },
	"Put":                func(ctx context.Context, l *left) error { return l.producer.Put(ctx, id{}.sample()) },
	"Commit":             func(ctx context.Context, l *left) error { return l.slot.Commit(ctx) },
	"Abort":              func(_ context.Context, l *left) error { return l.slot.Abort() },
	"Sample":             func(_ context.Context, l *left) error { _, err := l.slot.Sample().Clone(); return err },
	"Fetch":              func(ctx context.Context, l *left) error { _, err := l.at.Fetch(ctx, []int{0}, nil); return err },
	"Fetch of an epoch":  func(ctx context.Context, l *left) error { _, err := l.of.Fetch(ctx, []int{0}, nil); return err },
	"Slice":              func(_ context.Context, l *left) error { _, err := l.at.Slice(0, 1); return err },
	"Info":               func(_ context.Context, l *left) error { _, err := l.at.Info(0); return err },
	"Generation.Close":   func(_ context.Context, l *left) error { return l.at.Close() },
	"Close of an epoch":  func(_ context.Context, l *left) error { return l.of.Close() },
	"Epoch":              func(ctx context.Context, l *left) error { _, err := l.group.Epoch(ctx, 1); return err },
	"Epoch of a new one": func(ctx context.Context, l *left) error { _, err := l.cache.Group("new", 1).Epoch(ctx, 0); return err },
	"Group.Close":        func(_ context.Context, l *left) error { return l.group.Close() },
}

// closedForAll checks W18: whatever is used after Close is ErrClosed.
func closedForAll(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	other := place.join()
	k.fill(other, k.producer(other, "other"), 1)
	c := place.join()
	l := &left{cache: c, producer: k.producer(c, "gen"), nameless: k.producer(c, ""), group: c.Group("train", 1)}
	l.slot = got(l.producer.Reserve(k.ctx))(k)
	l.at, l.of = got(c.Latest(k.ctx))(k), got(l.group.Epoch(k.ctx, 0))(k)
	k.must(c.Close())
	for what, call := range closedCalls {
		k.wants(what+" after Close", call(k.ctx, l), samplecache.ErrClosed)
	}
	k.fill(other, k.producer(other, "more"), 2) // others go on
}
