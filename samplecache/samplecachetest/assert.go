package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// must ends the test unless err is nil.
func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// wants ends the test unless err is a certain one.
func (k *kit) wants(what string, err, want error) {
	k.Helper()
	if !errors.Is(err, want) {
		k.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// refuses is wants of the error of a call that has a result too: k.refuses("At", err)(c.At(ctx, 1)).
func (k *kit) refuses(what string, want error) func(result any, err error) {
	return func(_ any, err error) {
		k.Helper()
		k.wants(what, err, want)
	}
}

// equal ends the test unless got is what was wanted.
func equal[T comparable](k *kit, what string, got, want T) {
	k.Helper()
	if got != want {
		k.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// got returns a function that returns v, and ends the test unless err is nil: got(c.Stats())(k).
func got[T any](v T, err error) func(k *kit) T {
	return func(k *kit) T {
		k.Helper()
		k.must(err)
		return v
	}
}

// waits ends the test unless fn waits until its context ends, and then says so, and for what.
func (k *kit) waits(what string, fn func(ctx context.Context) error) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, moment)
	defer cancel()
	began := time.Now()
	err := fn(ctx)
	k.wants(what, err, context.DeadlineExceeded)
	k.wants(what, err, engine.ErrBlocked)
	k.Logf("%s: %v", what, err)
	if took := time.Since(began); took > moment+2*time.Second {
		k.Errorf("%s returned %v after its context ended", what, took-moment)
	}
}

// eventually waits until something holds.
func (k *kit) eventually(what string, holds func() bool) {
	k.Helper()
	for end := time.Now().Add(patience / 2); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.Fatalf("%s: not after %v", what, patience/2)
		}
	}
}

// A crew is goroutines that work at the same time. The first error ends the context of all.
type crew struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once
	err    error // the first, unless the crew was over before
}

// errOver is the cause when a crew has nothing to do any more.
var errOver = errors.New("over")

// crew returns a crew without members.
func (k *kit) crew() *crew {
	c := &crew{}
	c.ctx, c.cancel = context.WithCancelCause(k.ctx)
	k.Cleanup(func() { _ = c.stop() }) // of a test that has failed before
	return c
}

// start adds a member.
func (c *crew) start(fn func(ctx context.Context) error) {
	c.wg.Go(func() {
		if err := fn(c.ctx); err != nil && context.Cause(c.ctx) != errOver {
			c.once.Do(func() { c.err = err })
			c.cancel(err)
		}
	})
}

// finish waits for all members, and returns the first error.
func (c *crew) finish() error {
	c.wg.Wait()
	c.cancel(errOver)
	return c.err
}

// stop has the members end, and returns the first error.
func (c *crew) stop() error {
	c.cancel(errOver)
	return c.finish()
}

// about returns err, if there is one, with what it is about.
func about(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
