package samplecachetest

import (
	"context"
	"errors"
	"sync"
)

// A crew is goroutines that work at the same time. If one fails, so does the test, and nobody waits
// any more.
type crew struct {
	k    *kit
	ctx  context.Context
	stop context.CancelFunc // has all end, which is no failure then
	all  sync.WaitGroup
}

// crew returns a crew without members.
func (k *kit) crew() *crew {
	c := &crew{k: k}
	c.ctx, c.stop = context.WithCancel(k.ctx)
	k.Cleanup(func() { // of a test that has failed before
		c.stop()
		c.all.Wait()
	})
	return c
}

// start adds a member.
func (c *crew) start(fn func(ctx context.Context) error) {
	c.all.Go(func() {
		if err := fn(c.ctx); err != nil && !errors.Is(c.ctx.Err(), context.Canceled) {
			c.k.Error(err)
			c.k.end()
		}
	})
}

// finish waits for all members, and ends the test if it has failed.
func (c *crew) finish() {
	c.k.Helper()
	c.all.Wait()
	if c.k.Failed() {
		c.k.FailNow()
	}
}
