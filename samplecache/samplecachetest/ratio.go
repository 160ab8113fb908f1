package samplecachetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// ratioKept checks W11: the inequality of limits, at every moment, while several put and read; and
// that all come to an end.
func ratioKept(k *kit) {
	for _, limits := range []samplecache.Limits{
		{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3},
		{PerInsert: 2.5, MinSize: 2, MinDiff: -4, MaxDiff: 8, MaxPasses: 3},
		{PerInsert: 0.5, MinSize: 4, MinDiff: -1, MaxDiff: 2},
		{PerInsert: 1.5, MinSize: 1, MinDiff: -3, MaxDiff: 5, MinPasses: 1, MaxPasses: 2},
	} {
		k.Run(fmt.Sprintf("%+v", limits), func(t *testing.T) { keepRatio(newKit(t, k.test, k.open), limits) })
	}
}

// A ratio is what takes part in checking the inequality. Counts are raised before something that
// may have happened then, or after it has surely happened.
type ratio struct {
	samplecache.Limits
	reserved, committed atomic.Int64 // samples
	asked, taken        [2]atomic.Int64
}

// keepRatio has two groups read and three producers put.
func keepRatio(k *kit, limits samplecache.Limits) {
	p := k.create(samplecache.Config{Samples: 4, MaxHold: time.Minute, Limits: limits})
	r, sessions := &ratio{Limits: limits}, p.joins(3)
	readers, writers := k.crew(), k.crew()
	for i := range 2 {
		group := sessions[i].Group(fmt.Sprint("group-", i), 1)
		readers.start(func(ctx context.Context) error { return r.read(ctx, group, i) })
	}
	k.eventually("groups are entered", func() bool { return len(k.stats(sessions[0]).Groups) == 2 })
	readers.start(func(ctx context.Context) error { return r.look(ctx, sessions[2]) })
	for i := range 3 {
		producer := k.producer(sessions[i], fmt.Sprint("gen-", i))
		writers.start(func(ctx context.Context) error { return r.put(ctx, producer) })
	}
	go func() { // what the readers find ends the writers
		<-readers.ctx.Done()
		writers.cancel(errOver)
	}()
	err := writers.finish()
	if failed := readers.stop(); err == nil {
		err = failed
	}
	k.must(err)
}

// put puts samples.
func (r *ratio) put(ctx context.Context, p *samplecache.Producer) error {
	for range 50 {
		s, err := p.Reserve(ctx)
		if err != nil {
			return about(err, "after %d samples, and %d and %d rows", r.committed.Load(), r.taken[0].Load(), r.taken[1].Load())
		}
		if s.Number()%7 == 3 {
			if err := s.Abort(); err != nil {
				return err
			}
			if s, err = p.Reserve(ctx); err != nil {
				return err
			}
		}
		r.reserved.Add(1)
		if err = s.Sample().UpdateInPlace(idOf(p.Name(), s.Number()).sample()); err == nil {
			err = s.Commit(ctx)
		}
		if err != nil {
			return err
		}
		r.committed.Add(1)
	}
	return nil
}

// read reads all rows, epoch after epoch.
func (r *ratio) read(ctx context.Context, group *samplecache.Group, which int) error {
	for epoch := uint64(0); ; epoch++ {
		g, err := group.Epoch(ctx, epoch)
		for row := 0; err == nil && row < g.Len(); row++ {
			r.asked[which].Add(1)
			if _, err = g.Fetch(ctx, []int{row}, nil); err == nil {
				r.taken[which].Add(1)
			}
		}
		if context.Cause(ctx) == errOver {
			return nil // g is closed with its cache
		}
		if err == nil {
			err = g.Close()
		}
		if err != nil {
			return about(err, "epoch %d", epoch)
		}
	}
}

// look looks at the counts again and again.
func (r *ratio) look(ctx context.Context, c *samplecache.Cache) error {
	for ctx.Err() == nil {
		if err := r.bounded(); err != nil {
			return err
		}
		if err := r.boundedStats(c); err != nil {
			return err
		}
	}
	return nil
}

// bounded returns an error if the counts of this process break the inequality: at the moment
// between what is read first and what is read then, there were at least as many of the one, and at
// most as many of the other.
func (r *ratio) bounded() error {
	for i := range 2 {
		inserts := r.committed.Load()
		taken := r.asked[i].Load()
		if d := r.diff(inserts, taken); inserts > int64(r.MinSize) && d > r.MaxDiff {
			return fmt.Errorf("the difference is at least %v after %d samples and %d rows, want at most %v", d, inserts, taken, r.MaxDiff)
		}
		taken = r.taken[i].Load()
		inserts = r.reserved.Load()
		if d := r.diff(inserts, taken); taken > 0 && d < r.MinDiff {
			return fmt.Errorf("the difference is at most %v after %d samples and %d rows, want at least %v", d, inserts, taken, r.MinDiff)
		}
	}
	return nil
}

// boundedStats is bounded of what the engine says.
func (r *ratio) boundedStats(c *samplecache.Cache) error {
	first, err := c.Stats()
	if err != nil {
		return err
	}
	then, err := c.Stats()
	if err != nil {
		return err
	}
	inserts := int64(first.Latest)*int64(first.Samples) + int64(first.Committed)
	for _, g := range then.Groups {
		if d := r.diff(inserts, g.Taken); inserts > int64(r.MinSize) && d > r.MaxDiff {
			return fmt.Errorf("the difference is at least %v after %d samples and %d rows, by Stats, want at most %v", d, inserts, g.Taken, r.MaxDiff)
		}
	}
	return nil
}

func (r *ratio) diff(inserts, taken int64) float64 {
	return float64(inserts-int64(r.MinSize))*r.PerInsert - float64(taken)
}

// errEnough is the cause of contexts that end.
var errEnough = fmt.Errorf("the test has waited enough")

// contextsEnd checks W11: Reserve, Fetch, Epoch and Wait return soon after their context has ended.
func contextsEnd(k *kit) {
	limits := samplecache.Limits{PerInsert: 1, MinSize: 2, MinDiff: -1, MaxDiff: 3}
	c := k.create(samplecache.Config{Samples: 2, MaxHold: time.Minute, Limits: limits}).join()
	group := c.Group("group", 1)
	k.ends("Wait", func(ctx context.Context) error { _, err := c.Wait(ctx, 0); return err })
	k.ends("Epoch", func(ctx context.Context) error { _, err := group.Epoch(ctx, 0); return err })
	p := k.producer(c, "gen")
	k.fill(c, p, 1)
	g := got(group.Epoch(k.ctx, 0))(k)
	k.ends("Fetch", func(ctx context.Context) error { _, err := g.Fetch(ctx, []int{0, 1, 0, 1, 0}, nil); return err })
	k.must(puts(k.ctx, p, 1))
	_ = got(p.Reserve(k.ctx))(k) // a second slot
	k.ends("Reserve", func(ctx context.Context) error { _, err := p.Reserve(ctx); return err })
	k.must(g.Close())
}

// ends ends the test unless fn waits and returns once its context ends.
func (k *kit) ends(what string, fn func(ctx context.Context) error) {
	k.Helper()
	ctx, cancel := context.WithCancelCause(k.ctx)
	defer cancel(nil)
	var ended atomic.Int64
	timer := time.AfterFunc(moment, func() { ended.Store(time.Now().UnixNano()); cancel(errEnough) })
	defer timer.Stop()
	err := fn(ctx)
	returned := time.Now().UnixNano()
	k.wants(what, err, errEnough)
	k.wants(what, err, samplecache.ErrBlocked)
	took := time.Duration(returned - ended.Load())
	k.Logf("%s returned after %v: %v", what, took, err)
	if took > 2*time.Second {
		k.Errorf("%s returned %v after its context ended", what, took)
	}
}
