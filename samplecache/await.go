package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// errClosed is the error of a cache that is closed.
var errClosed = fmt.Errorf("cache: %w", ErrClosed)

// call calls the engine, unless the cache is closed.
func (c *Cache) call(fn func() error) error {
	if c == nil || !c.lent.isOpen() {
		return errClosed
	}
	return fn()
}

// await calls try until it does not return [ErrBlocked], or ctx or the cache ends. try calls the
// engine. Errors begin with op.
func (c *Cache) await(ctx context.Context, op string, try func() error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", op, err)
		}
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for err = c.call(try); errors.Is(err, ErrBlocked); {
		changed, moved := c.session.Changed(), c.moved.next()
		if err = c.call(try); !errors.Is(err, ErrBlocked) {
			return err
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

// explained returns an [ErrBlocked] with its reason as of now.
func explained(err error) error {
	if blocked, ok := errors.AsType[*engine.BlockedError](err); ok {
		return fmt.Errorf("%w: %s", ErrBlocked, blocked.Why())
	}
	return err
}

// until waits until done can be received from, or ctx or the cache ends.
func (c *Cache) until(ctx context.Context, done <-chan struct{}) error {
	if c == nil || !c.lent.isOpen() {
		return errClosed
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

// orBackground returns ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
