package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// errClosed is the error of a cache that is closed.
var errClosed = fmt.Errorf("cache: %w", ErrClosed)

// call calls fn, which calls the engine, unless the cache is closed.
func (c *Cache) call(fn func() error) error {
	if c == nil || !c.lent.isOpen() {
		return errClosed
	}
	return fn()
}

// await calls try, which calls the engine, until try does not return [ErrBlocked], or ctx or the
// cache ends. Errors begin with op.
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

// explained replaces a BlockedError by [ErrBlocked] with the present reason.
func explained(err error) error {
	if blocked, ok := errors.AsType[*engine.BlockedError](err); ok {
		return fmt.Errorf("%w: %s", ErrBlocked, blocked.Why())
	}
	return err
}

// until receives from done. It returns an error if ctx or the cache ends first.
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

// orBackground returns ctx, or the background context if ctx is nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
