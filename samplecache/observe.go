package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Observe returns the config and the present state of the cache of an engine. The process does not
// become a member if the engine can be observed without that, as dircache.Engine can; then Observe
// changes nothing, and wakes nobody. Otherwise it joins and leaves the cache.
//
// It returns the errors of [Open]. It does not wait.
func Observe(ctx context.Context, e Engine) (Config, Stats, error) {
	if isNil(e) {
		return Config{}, Stats{}, fmt.Errorf("observe: %w: got nil", ErrEngine)
	}
	ctx = orBackground(ctx)
	if o, ok := e.(engine.Observer); ok {
		about, st, err := o.Observe(ctx)
		return about.Config, st, err
	}
	s, err := e.Join(ctx, engine.Options{})
	if err != nil {
		return Config{}, Stats{}, err
	}
	st, err := s.Stats(ctx)
	return s.About().Config, st, errors.Join(err, s.Close())
}
