package loader

import (
	"context"
	"sync"
)

// A budget bounds the bytes of the batches that are made ahead of the loop. Of a batch that is
// being made it is taken that it has as many as the largest so far.
type budget struct {
	limit int // 0 for none

	mu      sync.Mutex
	changed *sync.Cond
	waiting int // bytes of batches that wait for the loop
	making  int // how many are being made
	largest int // bytes of a batch; -1 if none was made
	next    int // the step that enters next
	wanted  int // the step that the loop wants next
}

func newBudget(limit int) *budget {
	b := &budget{limit: limit, largest: -1}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// enter waits until the batch of a step may be made, after those before it: there is room for it,
// or the loop wants it.
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
	for step != b.next || step != b.wanted && !b.room() {
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

// room reports whether one more batch may be made; until one was, nobody knows how large they are.
func (b *budget) room() bool {
	return b.largest >= 0 && b.waiting+(b.making+1)*b.largest <= b.limit
}

// settle records a batch that was made, and its bytes.
func (b *budget) settle(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.making--
	b.waiting += bytes
	b.largest = max(b.largest, bytes)
	b.changed.Broadcast()
}

// leave records that the loop was given the batch of a step, and its bytes.
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
