package loader

import (
	"context"
	"sync"
)

// A budget bounds the bytes of the batches that are made ahead of the loop. It assumes that an
// unfinished batch will have the bytes of the largest batch so far.
type budget struct {
	limit int // 0 means no limit

	mu      sync.Mutex
	changed *sync.Cond
	waiting int // bytes of batches that wait for the loop
	making  int // number of batches being made
	largest int // bytes of a batch; -1 if none was made
	next    int // the next step to enter
	wanted  int // the step that the loop needs next
}

func newBudget(limit int) *budget {
	b := &budget{limit: limit, largest: -1}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// enter waits until the batch of step may be made: after the earlier steps have entered, and either
// the budget allows it or the loop needs it.
func (b *budget) enter(ctx context.Context, step int) error {
	if b.limit == 0 {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for step != b.next || step != b.wanted && !b.fits() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.changed.Wait()
	}
	b.next++
	b.making++
	b.changed.Broadcast()
	return nil
}

// fits reports whether one more batch may be made. Until the first is made, its size is unknown.
func (b *budget) fits() bool {
	return b.largest >= 0 && b.waiting+(b.making+1)*b.largest <= b.limit
}

// made records that a batch was made, and its bytes.
func (b *budget) made(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.making--
	b.waiting += bytes
	b.largest = max(b.largest, bytes)
	b.changed.Broadcast()
}

// leave records that the loop got the batch of step, and its bytes.
func (b *budget) leave(bytes, step int) {
	if b.limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting -= bytes
	b.wanted = step + 1
	b.changed.Broadcast()
}
