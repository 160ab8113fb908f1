package loader

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// A readAhead asks a source to prefetch rows, one stretch of batches at a time, ahead of the loop.
// The rows of a stretch are sorted, so that neighbouring rows are read together.
type readAhead struct {
	*maker
	source   Prefetcher // nil if there is nothing to prefetch
	steps    int
	rowBytes int

	at      atomic.Int64  // current step of the loop
	moved   chan struct{} // signals, with capacity 1, that at has changed
	running sync.WaitGroup
}

// stretches is the number of stretches that are prefetched ahead of the loop.
const stretches = 4

// newReadAhead returns the readAhead of a run of steps steps.
func newReadAhead(m *maker, steps int) *readAhead {
	a := &readAhead{maker: m, steps: steps, moved: make(chan struct{}, 1)}
	if m.opt.ReadAhead > 0 && steps > 0 {
		a.source, _ = m.src.(Prefetcher)
	}
	return a
}

// start starts a goroutine that prefetches until ctx ends.
func (a *readAhead) start(ctx context.Context) {
	if a.source == nil {
		return
	}
	about, err := describe(a.src)
	if err != nil || about.RowBytes == 0 {
		return // Fetch returns the error
	}
	a.rowBytes = about.RowBytes
	a.running.Go(func() {
		_ = workers.Call(func() error { // prefetching is optional, so a panic is ignored
			a.run(ctx)
			return nil
		})
	})
}

// reached records the current step of the loop.
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

// wait waits for the goroutine.
func (a *readAhead) wait() { a.running.Wait() }

// run prefetches one stretch after the other, until ctx ends or Prefetch returns an error.
func (a *readAhead) run(ctx context.Context) {
	var ends []int // ends of the stretches that the loop has not finished
	for next := 0; next < a.steps; {
		at := int(a.at.Load())
		next = max(next, at) // the loop reads its current batch itself
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
			return // prefetching is optional; Fetch returns the error
		}
		next, ends = stop, append(ends, stop)
	}
}

// maxStretch is the largest number of rows in a stretch, which are kept in a list.
const maxStretch = 1 << 18

// rows returns the rows of the stretch that begins at step start, sorted and without duplicates,
// and the step after it. A stretch has at least one batch; further batches must fit its share of
// Options.ReadAhead.
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
