package samplecache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
)

// A lateEngine is an engine of a cache that the first calls of Join do not find.
type lateEngine struct {
	samplecache.Engine
	errs []error // one for each of these calls
}

func (e *lateEngine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	if len(e.errs) > 0 {
		err := e.errs[0]
		e.errs = e.errs[1:]
		return nil, err
	}
	return e.Engine.Join(ctx, opt)
}

// TestOpenAwaits opens caches that are not there yet.
func TestOpenAwaits(t *testing.T) {
	missing, away := fmt.Errorf("open x: %w", fs.ErrNotExist), fmt.Errorf("open y: %w", samplecache.ErrUnavailable)
	for _, tt := range []struct {
		name  string
		await bool
		errs  []error
		err   error
	}{
		{"it is there", true, nil, nil},
		{"it is made soon", true, []error{missing, missing}, nil},
		{"servers answer soon", true, []error{away, missing, away}, nil},
		{"without Await", false, []error{missing}, fs.ErrNotExist},
		{"without Await, servers", false, []error{away}, samplecache.ErrUnavailable},
		{"another error", true, []error{missing, samplecache.ErrCorrupt}, samplecache.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := memcache.New(tdict.New(), samplecache.Config{Samples: 1})
			require.NoError(t, err)
			c, err := samplecache.Open(t.Context(), &lateEngine{e, tt.errs}, samplecache.Options{Await: tt.await})
			require.ErrorIs(t, err, tt.err)
			if err == nil {
				require.NoError(t, c.Close())
			}
		})
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("too late"))
	defer cancel()
	_, err := samplecache.Open(ctx, neverEngine{}, samplecache.Options{Await: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "too late: open x: file does not exist")
}

// A neverEngine is an engine of a cache that is never made.
type neverEngine struct{ samplecache.Engine }

func (neverEngine) Join(ctx context.Context, _ engine.Options) (engine.Session, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("open x: %w", fs.ErrNotExist)
}
