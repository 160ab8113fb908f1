//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
)

// generatorOf returns a generator that puts into a cache.
func generatorOf(t testing.TB, e engine.Engine) *generator {
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	p, err := c.Producer("gen")
	require.NoError(t, err)
	all := &putting{cmd: &putCmd{}, cache: c, most: 1 << 20, late: t.Context(), fail: func(err error) { t.Errorf("the cache has failed: %v", err) }}
	return &generator{putting: all, producer: p}
}

// FuzzFrames reads any bytes after two samples: the two are put, and what follows is put only if it
// is a sample. The outcome does not depend on the pieces in which the bytes come.
func FuzzFrames(f *testing.F) {
	good := frameOf(f, sampleOf(f, 1))
	f.Add([]byte{})
	f.Add(good)
	f.Add(good[:500])
	f.Add([]byte("Epoch 1: loss 0.5\n"))
	f.Add(append(bytes.Clone(good[:7]), 0x80))
	e, err := memcache.New(sampleOf(f, 0), samplecache.Config{Samples: 3})
	require.NoError(f, err)
	g := generatorOf(f, e)
	f.Fuzz(func(t *testing.T, b []byte) {
		stream := append(bytes.Repeat(good, 2), b...)
		at := g.producer.Next()
		var err error
		testkit.MaxBytes(t, uint64(200_000+100*len(b)), func() { err = g.copy(context.Background(), bytes.NewReader(stream)) })
		whole := g.producer.Next() - at
		require.GreaterOrEqual(t, whole, uint64(2))
		require.LessOrEqual(t, whole, uint64(2+len(b)/1000))
		if err == nil {
			require.True(t, len(b) == 0 || whole > 2)
		}
		at += whole
		again := g.copy(context.Background(), iotest.OneByteReader(bytes.NewReader(stream)))
		require.Equal(t, err == nil, again == nil)
		require.Equal(t, whole, g.producer.Next()-at)
	})
}

// A fullEngine is a cache in memory whose disk is full for the first calls of Reserve.
type fullEngine struct {
	engine.Engine
	calls atomic.Int64 // that will fail
}

func (e *fullEngine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.Engine.Join(ctx, opt)
	return fullSession{s, e}, err
}

type fullSession struct {
	engine.Session
	e *fullEngine
}

func (s fullSession) Claim(ctx context.Context, name string) (engine.Claim, error) {
	c, err := s.Session.Claim(ctx, name)
	return fullClaim{c, s.e}, err
}

type fullClaim struct {
	engine.Claim
	e *fullEngine
}

func (c fullClaim) Reserve(ctx context.Context, number uint64) (engine.Row, error) {
	if c.e.calls.Add(-1) >= 0 {
		return nil, &fs.PathError{Op: "write", Path: "c/gen-0000000002", Err: syscall.ENOSPC}
	}
	return c.Claim.Reserve(ctx, number)
}

// An ender is a function that is called when something is written.
type ender func()

func (e ender) Write(b []byte) (int, error) {
	e()
	return len(b), nil
}

// TestDiskFull puts while the disk is full for a while: the samples are put once there is room.
func TestDiskFull(t *testing.T) {
	e, err := memcache.New(sampleOf(t, 0), samplecache.Config{Samples: 3})
	require.NoError(t, err)
	full := &fullEngine{Engine: e}
	full.calls.Store(2)
	quick(t)
	g := generatorOf(t, full)
	var told bytes.Buffer
	g.session = &session{errs: &told}
	good := frameOf(t, sampleOf(t, 1))
	require.NoError(t, g.copy(t.Context(), bytes.NewReader(bytes.Repeat(good, 2))))
	require.EqualValues(t, 2, g.producer.Next())
	require.Equal(t, "tdict: program 0: reserve: write c/gen-0000000002: no space left on device: waiting for room\n", told.String())

	full.calls.Store(1 << 30)
	late, end := context.WithCancelCause(t.Context())
	g.late = late
	g.session.errs = ender(func() { end(errors.New("--grace has passed")) })
	require.EqualError(t, g.copy(t.Context(), bytes.NewReader(good)), "--grace has passed")
}

// TestRunEnded starts no program after SIGTERM.
func TestRunEnded(t *testing.T) {
	e, err := memcache.New(sampleOf(t, 0), samplecache.Config{Samples: 3})
	require.NoError(t, err)
	g := generatorOf(t, e)
	ctx, end := ended(t)
	end()
	var told bytes.Buffer
	g.session, g.cmd.Program = &session{ctx: ctx, errs: &told}, []string{"nothing-of-the-kind"}
	g.run(ctx)
	require.Empty(t, told.String())
}
