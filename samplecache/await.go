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

// until waits until a channel is closed, or ctx or the cache ends.
func (c *Cache) until(ctx context.Context, done <-chan struct{}) error {
	if closed(done) {
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

// A turn is a lock that a context can stop waiting for.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for a turn; done must follow.
func (c *Cache) take(ctx context.Context, t turn) error {
	if c == nil || closed(c.life) {
		return errClosed
	}
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-c.life:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) done() { <-t }

// orBackground returns ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
