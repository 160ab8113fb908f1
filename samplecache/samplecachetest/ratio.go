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
		k.Run(fmt.Sprintf("%+v", limits), func(t *testing.T) { keepRatio(newKit(t, k.suite), limits) })
	}
}

// A ratio is the counts of two groups and all producers. A count is raised before something that
// may have happened then, or after it has surely happened.
type ratio struct {
	samplecache.Limits
	reserved, committed atomic.Int64 // samples
	asked, taken        [2]atomic.Int64
}

// keepRatio has two groups read and three producers put.
func keepRatio(k *kit, limits samplecache.Limits) {
	p := k.create(samplecache.Config{Samples: 4, MaxHold: time.Hour, Limits: limits})
	r, sessions := &ratio{Limits: limits}, p.joins(3)
	readers, writers := k.crew(), k.crew()
	for i := range 2 {
		group := sessions[i].Group(fmt.Sprint("group-", i), 1)
		readers.start(func(ctx context.Context) error { return r.read(ctx, group, i) })
	}
	k.eventually("groups are entered", func() bool { return len(k.stats(sessions[0]).Groups) == 2 })
	readers.start(r.look)
	for i, c := range sessions {
		producer := k.producer(c, fmt.Sprint("gen-", i))
		writers.start(func(ctx context.Context) error { return r.put(ctx, producer) })
	}
	go func() { // an error of the readers ends the writers
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
		r.reserved.Add(1)
		if err := commit(ctx, s, p.Name()); err != nil {
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
		if err == nil {
			err = g.Close()
		}
		if err != nil {
			return about(err, "epoch %d", epoch) // an open generation is closed with its cache
		}
	}
}

// look compares the counts again and again. At the moment between what is loaded first and what is
// loaded then, there were at least as many of the one, and at most as many of the other.
func (r *ratio) look(ctx context.Context) error {
	for ctx.Err() == nil {
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
	}
	return nil
}

func (r *ratio) diff(inserts, taken int64) float64 {
	return float64(inserts-int64(r.MinSize))*r.PerInsert - float64(taken)
}
