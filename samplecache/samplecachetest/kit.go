package samplecachetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A kit is what a rule is checked with.
type kit struct {
	*testing.T
	*suite
	ctx context.Context    // ends so late that whoever is still waiting would wait for ever
	end context.CancelFunc // ends it at once
}

// newKit returns a kit, which fails t if goroutines or mappings are left when t has ended.
func newKit(t *testing.T, s *suite) *kit {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), s.patience)
	k := &kit{t, s, ctx, end}
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

// create makes a cache of the usual samples.
func (k *kit) create(config engine.Config) *place {
	k.Helper()
	return k.createOf(id{}.sample(), config)
}

// createOf makes a cache of samples like one, or skips the test.
func (k *kit) createOf(schema *tdict.TensorDict, config engine.Config) *place {
	k.Helper()
	p := &place{k, "cache-" + rand.Text()}
	err := k.Create(k.T, p.name, schema, config)
	if errors.Is(err, errors.ErrUnsupported) {
		k.skip(fmt.Sprintf("%+v: %v", config, err))
	}
	k.must(err)
	return p
}

// must ends the test unless err is nil.
func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
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

// wants ends the test unless err is a certain one.
func (k *kit) wants(what string, err, want error) {
	k.Helper()
	if !errors.Is(err, want) {
		k.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// refuses is wants of the error of a call that has a result too: k.refuses("At", err)(m.At(ctx, 1)).
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

// briefly calls fn with a context that ends after a moment. It fails the test unless fn returns soon.
func (k *kit) briefly(what string, fn func(ctx context.Context) error) error {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, k.moment)
	defer cancel()
	began := time.Now()
	err := fn(ctx)
	k.soon(began, k.moment+k.grace, what)
	return err
}

// waits ends the test unless fn waits until its context ends, and then says so, and for what.
func (k *kit) waits(what string, fn func(ctx context.Context) error) {
	k.Helper()
	err := k.briefly(what, fn)
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
			k.Fatalf("%s: not after %v", what, k.patience/2)
		}
	}
}
