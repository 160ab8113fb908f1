package samplecache

import (
	"context"
	"errors"
	"fmt"
)

// errClosed is the error of a cache that is closed.
var errClosed = fmt.Errorf("cache: %w", ErrClosed)

// call calls the engine, unless the cache is closed.
func (c *Cache) call(fn func() error) error {
	if c == nil || !c.calls.enter() {
		return errClosed
	}
	defer c.calls.leave()
	return fn()
}

// await calls try, which calls the engine, until it is not blocked, or ctx or the cache ends. Errors
// begin with op.
func (c *Cache) await(ctx context.Context, op string, try func() error) error {
	if err := c.retry(ctx, try); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// retry is await without op.
func (c *Cache) retry(ctx context.Context, try func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := c.call(try)
	for errors.Is(err, ErrBlocked) {
		changed := c.session.Changed()
		if err = c.call(try); !errors.Is(err, ErrBlocked) {
			break
		}
		var moved <-chan struct{}
		if b, ok := errors.AsType[*beyond](err); ok {
			moved = b.moved
		}
		select {
		case <-changed:
		case <-moved:
		case <-c.life:
			return errClosed
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), explained(err))
		}
	}
	return err
}

// explained returns an [ErrBlocked] that says what it is about as of now.
func explained(err error) error {
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return fmt.Errorf("%w: %s", ErrBlocked, blocked.Why())
	}
	return err
}

// until waits until something can be received, or ctx or the cache ends.
func (c *Cache) until(ctx context.Context, done <-chan struct{}) error {
	switch {
	case c == nil || ready(c.life):
		return errClosed
	case ready(done):
		return nil
	}
	select {
	case <-done:
		return nil
	case <-c.life:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A turn is a lock that a context can stop waiting for: who receives from it has it.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t.done()
	return t
}

// done ends a turn.
func (t turn) done() { t <- struct{}{} }

// orBackground returns ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
