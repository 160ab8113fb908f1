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

// A kit is the state of one rule's check.
type kit struct {
	*testing.T
	*suite
	ctx     context.Context    // ends after patience: a call that still waits then would wait for ever
	end     context.CancelFunc // ends ctx
	inGroup bool               // k belongs to a crew
}

// newKit returns a kit. It fails t if goroutines or mappings are left when t has ended.
func newKit(t *testing.T, s *suite) *kit {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), s.patience)
	k := &kit{T: t, suite: s, ctx: ctx, end: end}
	goroutines, mappings := runtime.NumGoroutine(), mapping.Live()
	t.Cleanup(func() { // runs last
		end()
		k.nothingLeft(goroutines, mappings)
	})
	return k
}

// nothingLeft waits until there are no more than the given numbers of goroutines and mappings.
func (k *kit) nothingLeft(goroutines, mappings int) {
	k.Helper()
	for end := time.Now().Add(k.patience / 12); ; time.Sleep(time.Millisecond) {
		g, m := runtime.NumGoroutine(), mapping.Live()
		switch {
		case g <= goroutines && m <= mappings:
			return
		case time.Now().After(end):
			stacks := make([]byte, 1<<20)
			k.Errorf("left after everything was closed: %d goroutines and %d mappings\n%s",
				g-goroutines, m-mappings, stacks[:runtime.Stack(stacks, true)])
			return
		}
		runtime.GC() // unmaps unreachable mappings
	}
}

// A crew is a group of goroutines that work at the same time and share a kit. If one of them fails,
// the test fails and all of them end.
type crew struct {
	kit
	stop context.CancelFunc // ends all goroutines without failing the test
	all  sync.WaitGroup
}

// crew returns a crew without goroutines.
func (k *kit) crew() *crew {
	c := &crew{kit: *k}
	c.ctx, c.stop = context.WithCancel(k.ctx)
	c.inGroup = true
	k.Cleanup(func() { // for a test that failed
		c.stop()
		c.all.Wait()
	})
	return c
}

// start starts a goroutine.
func (c *crew) start(fn func(k *kit)) { c.all.Go(func() { fn(&c.kit) }) }

// finish waits for all goroutines, and ends the test if it has failed.
func (c *crew) finish() {
	c.Helper()
	c.all.Wait()
	if c.Failed() {
		c.FailNow()
	}
}

// fatalf fails the test, and ends it, or ends the goroutine of a crew. After crew.stop it does not
// fail the test.
func (k *kit) fatalf(format string, args ...any) {
	k.Helper()
	if !k.inGroup || !errors.Is(k.ctx.Err(), context.Canceled) {
		k.Errorf(format, args...)
		k.end()
	}
	if k.inGroup {
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

// got returns a function that returns v, and ends the test if err is not nil: got(m.At(ctx, 1))(k).
func got[T any](v T, err error) func(k *kit) T {
	return func(k *kit) T {
		k.Helper()
		k.must(err)
		return v
	}
}

// unblocked calls fn until it does not return engine.ErrBlocked: another session may have a lock
// for a short time.
func unblocked[T any](k *kit, fn func() (T, error)) (v T, err error) {
	for {
		if v, err = fn(); !errors.Is(err, engine.ErrBlocked) || k.ctx.Err() != nil {
			return v, err
		}
		time.Sleep(time.Millisecond)
	}
}

// wants ends the test unless err wraps want.
func (k *kit) wants(what string, err, want error) {
	k.Helper()
	if !errors.Is(err, want) {
		k.fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// refuses is wants for a call that also has a result: k.refuses("At", err)(m.At(ctx, 1)).
func (k *kit) refuses(what string, want error) func(result any, err error) {
	return func(_ any, err error) {
		k.Helper()
		k.wants(what, err, want)
	}
}

// equal ends the test unless got == want.
func equal[T comparable](k *kit, what string, got, want T) {
	k.Helper()
	if got != want {
		k.fatalf("%s: got %v, want %v", what, got, want)
	}
}

// briefly calls fn with a context that ends after timeout. It fails the test unless fn returns by
// then, or k.grace later.
func (k *kit) briefly(what string, timeout time.Duration, fn func(ctx context.Context) error) error {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	began := time.Now()
	err := fn(ctx)
	k.soon(began, timeout+k.grace, what)
	return err
}

// waits ends the test unless fn waits until its context ends, and then returns an error that says
// so and names the reason.
func (k *kit) waits(what string, fn func(ctx context.Context) error) {
	k.Helper()
	err := k.briefly(what, k.shortWait, fn)
	for timeout := 4 * k.shortWait; errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, engine.ErrBlocked) && timeout < k.patience/4; timeout *= 4 {
		err = k.briefly(what, timeout, fn) // fn had no time to find out why it waits
	}
	k.wants(what, err, context.DeadlineExceeded)
	k.wants(what, err, engine.ErrBlocked)
	k.Logf("%s: %v", what, err)
}

// soon fails the test if more than most has passed since began.
func (k *kit) soon(began time.Time, most time.Duration, what string) {
	k.Helper()
	if took := time.Since(began); took > most {
		k.Errorf("%s took %v, want at most %v", what, took, most)
	}
}

// eventually waits until holds returns true.
func (k *kit) eventually(what string, holds func() bool) {
	k.Helper()
	for end := time.Now().Add(k.patience / 2); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.fatalf("%s: not after %v", what, k.patience/2)
		}
	}
}
