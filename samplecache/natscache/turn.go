package natscache

import (
	"context"
	"time"
)

// A turn is a lock that a goroutine can wait for with a context.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take locks. It returns the error of a context that ends before.
func (t turn) take(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// done unlocks.
func (t turn) done() { <-t }

// sleep waits for d, and reports whether ctx has not ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
