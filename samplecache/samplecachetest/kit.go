package samplecachetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A kit is what a rule is checked with.
type kit struct {
	*testing.T
	*suite
	ctx    context.Context    // ends so late that whoever is still waiting would wait for ever
	end    context.CancelFunc // ends it at once
	crewed bool               // k is a crew's
}

// newKit returns a kit, which fails t if goroutines or mappings are left when t has ended.
func newKit(t *testing.T, s *suite) *kit {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), s.patience)
	k := &kit{T: t, suite: s, ctx: ctx, end: end}
	goroutines, mappings := runtime.NumGoroutine(), mapping.Live()
	t.Cleanup(func() { // the last of all
		end()
		k.nothingLeft(goroutines, mappings)
	})
	return k
}

// nothingLeft waits until there are no more goroutines and mappings than there were.
func (k *kit) nothingLeft(goroutines, mappings int) {
	k.Helper()
	for end := time.Now().Add(k.patience / 12); ; time.Sleep(time.Millisecond) {
		g, m := runtime.NumGoroutine(), mapping.Live()
		switch {
		case g <= goroutines && m <= mappings:
			return
		case time.Now().After(end):
			stacks := make([]byte, 1<<20)
			k.Errorf("left when all is closed: %d goroutines and %d mappings\n%s",
				g-goroutines, m-mappings, stacks[:runtime.Stack(stacks, true)])
			return
		}
		runtime.GC() // a mapping that nobody refers to goes with it
	}
}

// A crew is goroutines that work at the same time, each with the kit of the crew. If one fails, so
// does the test, and nobody waits any more.
type crew struct {
	kit
	stop context.CancelFunc // has all end, which is no failure then
	all  sync.WaitGroup
}

// crew returns a crew without members.
func (k *kit) crew() *crew {
	c := &crew{kit: *k}
	c.ctx, c.stop = context.WithCancel(k.ctx)
	c.crewed = true
	k.Cleanup(func() { // of a test that has failed before
		c.stop()
		c.all.Wait()
	})
	return c
}

// start adds a member.
func (c *crew) start(fn func(k *kit)) { c.all.Go(func() { fn(&c.kit) }) }

// finish waits for all members, and ends the test if it has failed.
func (c *crew) finish() {
	c.Helper()
	c.all.Wait()
	if c.Failed() {
		c.FailNow()
	}
}

// fatalf fails the test, and ends it, or the goroutine of a crew. A crew that was stopped does not
// fail.
func (k *kit) fatalf(format string, args ...any) {
	k.Helper()
	if !k.crewed || !errors.Is(k.ctx.Err(), context.Canceled) {
		k.Errorf(format, args...)
		k.end()
	}
	if k.crewed {
		runtime.Goexit()
	}
	k.FailNow()
}

// must ends the test unless err is nil.
func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.fatalf("%v", err)
	}
}

// got returns a function that returns v, and ends the test unless err is nil: got(m.At(ctx, 1))(k).
func got[T any](v T, err error) func(k *kit) T {
	return func(k *kit) T {
		k.Helper()
		k.must(err)
		return v
	}
}

// unblocked calls fn until it is not blocked: another session may have a lock for a moment.
func unblocked[T any](k *kit, fn func() (T, error)) (v T, err error) {
	for {
		if v, err = fn(); !errors.Is(err, engine.ErrBlocked) || k.ctx.Err() != nil {
			return v, err
		}
		time.Sleep(time.Millisecond)
	}
}

// wants ends the test unless err is a certain one.
func (k *kit) wants(what string, err, want error) {
	k.Helper()
	if !errors.Is(err, want) {
		k.fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// refuses is wants of the error of a call that has a result too: k.refuses("At", err)(m.At(ctx,
// 1)).
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
		k.fatalf("%s: got %v, want %v", what, got, want)
	}
}

// briefly calls fn with a context that ends after a moment. It fails the test unless fn returns
// soon.
func (k *kit) briefly(what string, moment time.Duration, fn func(ctx context.Context) error) error {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, moment)
	defer cancel()
	began := time.Now()
	err := fn(ctx)
	k.soon(began, moment+k.grace, what)
	return err
}

// waits ends the test unless fn waits until its context ends, and then says so, and for what.
func (k *kit) waits(what string, fn func(ctx context.Context) error) {
	k.Helper()
	err := k.briefly(what, k.moment, fn)
	for moment := 4 * k.moment; errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, engine.ErrBlocked) && moment < k.patience/4; moment *= 4 {
		err = k.briefly(what, moment, fn) // it was too short to find out what fn waits for
	}
	k.wants(what, err, context.DeadlineExceeded)
	k.wants(what, err, engine.ErrBlocked)
	k.Logf("%s: %v", what, err)
}

// soon fails the test unless something has taken at most some time.
func (k *kit) soon(began time.Time, most time.Duration, what string) {
	k.Helper()
	if took := time.Since(began); took > most {
		k.Errorf("%s took %v, want at most %v", what, took, most)
	}
}

// eventually waits until something holds.
func (k *kit) eventually(what string, holds func() bool) {
	k.Helper()
	for end := time.Now().Add(k.patience / 2); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.fatalf("%s: not after %v", what, k.patience/2)
		}
	}
}
