package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/tdict"
)

// A Cache is a process's part in a circular cache of samples: it puts samples through Producers and
// reads generations. What it waits for, it waits for without polling, until its context ends; the
// error is then that of the context, and says what was waited for.
//
// Safe for concurrent use.
type Cache struct {
	session Session
	schema  *tdict.TensorDict

	mu     sync.Mutex
	groups map[string]*Group
}

// Open joins the cache that an engine keeps, until [Cache.Close] or the end of the process. What a
// process that was killed has left is mended by the next that joins, or by those that are there.
//
// Open returns [ErrEngine] for a nil engine, and the errors of the engine: see dircache.Engine.
func Open(ctx context.Context, engine Engine, opt Options) (*Cache, error) {
	if engine == nil {
		return nil, fmt.Errorf("open: %w: got nil", ErrEngine)
	}
	if opt.Verify > Never {
		return nil, fmt.Errorf("open: %w: got Verify %d", ErrConfig, opt.Verify)
	}
	s, err := engine.Join(ctx, opt)
	if err != nil {
		return nil, err
	}
	return &Cache{session: s, schema: s.Schema(), groups: map[string]*Group{}}, nil
}

// Config returns what the cache was made with, defaults filled in.
func (c *Cache) Config() Config { return c.session.Config() }

// Schema returns what a sample is like: a dictionary of batch shape [] whose tensors have a shape
// and a dtype but no elements. The caller owns it.
func (c *Cache) Schema() *tdict.TensorDict { return c.schema.Copy() }

// Close leaves the cache. Slots that are not committed are given back, generations and names are
// let go; all that c gave out is [ErrClosed] from now on, and memory that an operation under way
// has begun to use stays until that ends. Others go on. Close returns ErrClosed if it was called
// before.
func (c *Cache) Close() error { return c.session.Close() }

// Latest returns the generation published last, which is held until its Close, [ErrEmpty] if there
// is none yet: see [Cache.Wait].
func (c *Cache) Latest(ctx context.Context) (*Generation, error) {
	for before := uint64(0); ; {
		id, err := c.session.Latest(ctx)
		if err == nil && id == 0 {
			err = ErrEmpty
		}
		if err != nil {
			return nil, fmt.Errorf("latest: %w", err)
		}
		g, err := c.At(ctx, id)
		if !errors.Is(err, ErrGenerationGone) || id == before {
			return g, err
		}
		before = id // others were published meanwhile
	}
}

// At returns a generation by its number, held until its Close. It returns [ErrGenerationGone] if it
// is not kept any more, or was not published yet.
func (c *Cache) At(ctx context.Context, id uint64) (*Generation, error) {
	rows, err := c.session.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Generation{id: id, cache: c, rows: rows}, nil
}

// Wait returns the generation published last, once its number is more than after; 0 waits for the
// first. It is held until its Close.
func (c *Cache) Wait(ctx context.Context, after uint64) (*Generation, error) {
	err := c.await(ctx, "wait", func() error {
		id, err := c.session.Latest(ctx)
		if err == nil && id <= after {
			err = &BlockedError{func() string { return c.whyNot(id) }}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.Latest(ctx)
}

// whyNot says why no generation after one has been published.
func (c *Cache) whyNot(id uint64) string {
	s, err := c.session.Stats(context.Background())
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("the latest generation is %d, the next has %d of %d samples", id, s.Committed, s.Samples)
	if s.PublishWaits != "" {
		text += " and waits for " + s.PublishWaits
	}
	return text
}

// Keep moves a generation out of the cache: it becomes a dataset of its own at path, which must not
// exist and which memmap.Open and Python read. Whoever reads it goes on. On the file system of the
// cache that copies nothing: the files have two names until the generation retires, and are the
// dataset's alone from then on, since the cache makes a new directory in its stead. Until then do
// not write to the dataset. It has no checksums; a copy that memmap.Save makes of it has.
func (c *Cache) Keep(ctx context.Context, id uint64, path string) error {
	return c.session.Keep(ctx, id, path)
}

// Forget lets go of a producer's name and its numbers, so that the name can begin anew. It returns
// [ErrProducerBusy] if somebody puts samples under it, and [ErrProducer] if nobody ever has.
func (c *Cache) Forget(ctx context.Context, name string) error {
	return c.session.Forget(ctx, name)
}

// Stats returns what is known of the cache at present.
func (c *Cache) Stats() (Stats, error) { return c.session.Stats(context.Background()) }

// await calls try until it is not blocked, or ctx ends.
func (c *Cache) await(ctx context.Context, op string, try func() error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if err := try(); !errors.Is(err, ErrBlocked) {
		return err
	}
	for {
		changed := c.session.Changed()
		err := try()
		if !errors.Is(err, ErrBlocked) {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", op, context.Cause(ctx), explained(err))
		}
	}
}

// explained returns an [ErrBlocked] that says what it is about as of now.
func explained(err error) error {
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return fmt.Errorf("%w: %s", ErrBlocked, blocked.Why())
	}
	return err
}
