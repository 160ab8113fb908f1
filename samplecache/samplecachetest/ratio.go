package samplecachetest

import (
	"context"
	"fmt"
	"sync"
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
	mu                  sync.Mutex
	reserved, committed int // samples
	asked, taken        [2]int
}

// keepRatio has two groups read and three producers put.
func keepRatio(k *kit, limits samplecache.Limits) {
	place := k.create(samplecache.Config{Samples: 4, MaxHold: time.Hour, Limits: limits})
	r, sessions := &ratio{Limits: limits}, place.joins(3)
	readers, writers := k.crew(), k.crew()
	for i := range 2 {
		group := sessions[i].Group(fmt.Sprint("group-", i), 1)
		readers.start(func(ctx context.Context) error { return r.read(ctx, group, i) })
	}
	k.eventually("groups are entered", func() bool { return len(sessions[0].stats().Groups) == 2 })
	for i, m := range sessions {
		p := m.producer(fmt.Sprint("gen-", i))
		writers.start(func(ctx context.Context) error { return r.put(ctx, p) })
	}
	writers.finish()
	readers.stop()
	readers.finish()
}

// put puts samples.
func (r *ratio) put(ctx context.Context, p *samplecache.Producer) error {
	for range many(20, 500) {
		s, err := p.Reserve(ctx)
		if err == nil {
			err = r.count(&r.reserved)
		}
		if err == nil {
			err = commit(ctx, s, p.Name())
		}
		if err == nil {
			err = r.count(&r.committed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads all rows, epoch after epoch.
func (r *ratio) read(ctx context.Context, group *samplecache.Group, which int) error {
	for epoch := uint64(0); ; epoch++ {
		g, err := group.Epoch(ctx, epoch)
		for row := 0; err == nil && row < g.Len(); row++ {
			if err = r.count(&r.asked[which]); err == nil {
				_, err = g.Fetch(ctx, []int{row}, nil)
			}
			if err == nil {
				err = r.count(&r.taken[which])
			}
		}
		if err == nil {
			err = g.Close()
		}
		if err != nil {
			return err // an open generation is closed with its cache
		}
	}
}

// count raises a count, and compares them all.
func (r *ratio) count(n *int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
	for i := range 2 {
		most, least := r.diff(r.committed, r.asked[i]), r.diff(r.reserved, r.taken[i])
		if r.committed > r.MinSize && most > r.MaxDiff {
			return fmt.Errorf("the difference is at least %v, want at most %v", most, r.MaxDiff)
		}
		if r.taken[i] > 0 && least < r.MinDiff {
			return fmt.Errorf("the difference is at most %v, want at least %v", least, r.MinDiff)
		}
	}
	return nil
}

func (r *ratio) diff(inserts, taken int) float64 {
	return float64(inserts-r.MinSize)*r.PerInsert - float64(taken)
}
