package samplecachetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// ratioKept checks W11: the inequality of the limits always holds while several sessions put and
// read, and all of them come to an end.
func ratioKept(k *kit) {
	for _, limits := range []samplecache.Limits{
		{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3},
		{PerInsert: 2.5, MinSize: 2, MinDiff: -4, MaxDiff: 8, MaxPasses: 3},
		{PerInsert: 0.5, MinSize: 4, MinDiff: -1, MaxDiff: 2},
		{PerInsert: 1.5, MinSize: 1, MinDiff: -3, MaxDiff: 5, MinPasses: 1, MaxPasses: 2},
	} {
		k.keepRatio(limits)
	}
}

// A ratio has the counts of two groups and of all producers. asked and committed bound what the
// engine may have counted: a group's asked is raised before it takes a row, taken after it;
// reserved is raised after Reserve, and committed after Commit.
type ratio struct {
	samplecache.Limits
	mu                  sync.Mutex
	reserved, committed int // samples
	asked, taken        [2]int
}

// keepRatio makes two groups read row after row, and three producers put.
func (k *kit) keepRatio(limits samplecache.Limits) {
	place := k.create(samplecache.Config{Samples: 4, MaxHold: time.Hour, Limits: limits})
	r, sessions := &ratio{Limits: limits}, place.joins(3)
	readers, writers := k.crew(), k.crew()
	for i := range 2 {
		group := sessions[i].Group(fmt.Sprint("group-", i), 1)
		readers.start(func(k *kit) {
			for epoch := uint64(0); ; epoch++ {
				g := got(group.Epoch(k.ctx, epoch))(k)
				for row := range g.Len() {
					r.count(k, &r.asked[i])
					_ = got(g.Fetch(k.ctx, []int{row}, nil))(k)
					r.count(k, &r.taken[i])
				}
				k.must(g.Close())
			}
		})
	}
	k.eventually("groups are entered", func() bool { return len(sessions[0].stats().Groups) == 2 })
	for i, m := range sessions {
		p := m.producer(fmt.Sprint("gen-", i))
		writers.start(func(k *kit) {
			for range longtests.Times(12, 500) {
				s := got(p.Reserve(k.ctx))(k)
				r.count(k, &r.reserved)
				k.commit(s, p.Name())
				r.count(k, &r.committed)
			}
		})
	}
	writers.finish()
	readers.stop()
	readers.finish()
}

// count increments *n, and checks all counts against the limits.
func (r *ratio) count(k *kit, n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
	for i := range 2 {
		least, most := r.diff(r.committed, r.asked[i]), r.diff(r.reserved, r.taken[i])
		if r.committed > r.MinSize && least > r.MaxDiff {
			k.fatalf("the difference is at least %v, want at most %v", least, r.MaxDiff)
		}
		if r.taken[i] > 0 && most < r.MinDiff {
			k.fatalf("the difference is at most %v, want at least %v", most, r.MinDiff)
		}
	}
}

func (r *ratio) diff(inserts, taken int) float64 {
	return float64(inserts-r.MinSize)*r.PerInsert - float64(taken)
}
