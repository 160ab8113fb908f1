package loader

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// A readAhead tells a source which rows will be wanted soon, a stretch of batches at a time: that
// which follows the one that the loop is in. Within a stretch it tells of rows in ascending order,
// so that neighbours are read together.
type readAhead struct {
	*maker
	source   Prefetcher // nil if there is nobody to tell
	steps    int
	rowBytes int

	at      atomic.Int64  // the step that the loop is at
	moved   chan struct{} // has room for one: at has changed
	running sync.WaitGroup
}

// stretches is how many of them are ahead of the loop.
const stretches = 4

// newReadAhead returns what looks ahead of a run of so many steps.
func newReadAhead(m *maker, steps int) *readAhead {
	a := &readAhead{maker: m, steps: steps, moved: make(chan struct{}, 1)}
	if m.opt.ReadAhead > 0 && steps > 0 {
		a.source, _ = m.src.(Prefetcher)
	}
	return a
}

// start begins to look ahead, until ctx ends.
func (a *readAhead) start(ctx context.Context) {
	if a.source == nil {
		return
	}
	about, err := describe(a.src)
	if err != nil || about.RowBytes == 0 {
		return // fetching says what is wrong
	}
	a.rowBytes = about.RowBytes
	a.running.Go(func() {
		_ = workers.Call(func() error { // a panic, too, is one of advice only
			a.run(ctx)
			return nil
		})
	})
}

// reached notes that the loop is at a step.
func (a *readAhead) reached(step int) {
	if a.rowBytes == 0 {
		return
	}
	a.at.Store(int64(step))
	select {
	case a.moved <- struct{}{}:
	default:
	}
}

// wait waits until nobody looks ahead any more.
func (a *readAhead) wait() { a.running.Wait() }

// run tells of one stretch after the other, until ctx ends or the source cannot be told.
func (a *readAhead) run(ctx context.Context) {
	var ends []int // of the stretches that the loop is in or has yet to come to
	for next := 0; next < a.steps; {
		at := int(a.at.Load())
		next = max(next, at) // what the loop has come to it reads itself
		for len(ends) > 0 && ends[0] <= at {
			ends = ends[1:]
		}
		if len(ends) == stretches {
			select {
			case <-ctx.Done():
				return
			case <-a.moved:
			}
			continue
		}
		rows, stop := a.rows(ctx, next)
		if ctx.Err() != nil || a.source.Prefetch(rows...) != nil {
			return // it is advice only; fetching says what is wrong
		}
		next, ends = stop, append(ends, stop)
	}
}

// maxStretch is how many rows a stretch has at most, as there is a list of them.
const maxStretch = 1 << 18

// rows returns the rows of a stretch, ascending, each once, and the step after it. It has at least
// one batch, and no further one that makes it too long.
func (a *readAhead) rows(ctx context.Context, start int) (rows []int, stop int) {
	most := min(a.opt.ReadAhead/stretches/a.rowBytes, maxStretch)
	var s slot
	for stop = start; stop < a.steps && ctx.Err() == nil; stop++ {
		s.rows = a.plan.Batch(a.number(stop), s.rows)
		if len(rows) > 0 && len(rows)+len(s.rows.Rows) > most {
			break
		}
		rows = append(rows, a.fetched(&s)...)
	}
	slices.Sort(rows)
	return slices.Compact(rows), stop
}
