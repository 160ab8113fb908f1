package samplecache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Cache is the membership of one process in a circular cache of samples: it puts samples through
// Producers and reads generations.
//
// Methods that wait do so until their context ends, without polling. The error then wraps the cause
// of the context and says what the method waited for. A nil context never ends.
//
// Safe for concurrent use.
type Cache struct {
	session engine.Session
	about   engine.About
	leaves  []leaf
	verify  Verify

	lent  gate          // entered while memory of the engine is used; shut by Close
	life  chan struct{} // closed by Close
	moved signal        // raised when a number or rows are given back: blocked calls try again

	mu       sync.Mutex
	groups   map[groupKey]*Group
	held     map[uint64]*held
	verified map[uint64][]atomic.Uint64 // a bit for each row whose checksums were compared
	newest   uint64                     // the latest generation that was ever open
}

// Open joins the cache of an engine, until [Cache.Close] or the end of the process. If a process
// was killed in the middle of an operation, this or another Open completes the operation.
//
// Open returns [ErrEngine] for a nil engine, [ErrConfig] for invalid options, and the errors of the
// engine: see dircache.Engine and natscache.Engine. With [Options.Await] it returns the cause of
// ctx and the last of these errors if ctx ends before there is a cache.
func Open(ctx context.Context, e Engine, opt Options) (*Cache, error) {
	if isNil(e) {
		return nil, fmt.Errorf("open: %w: got nil", ErrEngine)
	}
	if opt.Verify > Never {
		return nil, fmt.Errorf("open: %w: got Verify %d", ErrConfig, opt.Verify)
	}
	s, err := join(orBackground(ctx), e, opt)
	if err != nil {
		return nil, err
	}
	c := &Cache{
		session: s, about: s.About(), verify: opt.Verify, life: make(chan struct{}),
		groups: map[groupKey]*Group{}, held: map[uint64]*held{}, verified: map[uint64][]atomic.Uint64{},
	}
	for key, x := range c.about.Schema.Tensors() {
		c.leaves = append(c.leaves, leaf{key, x.DType(), x.Shape(), x.ByteSize()})
	}
	c.lent.start(nil)
	return c, nil
}

// join joins the cache. With [Options.Await] it tries again and again, since an engine cannot say
// when a cache is made.
func join(ctx context.Context, e Engine, opt Options) (engine.Session, error) {
	last := error(nil) // of the Join before
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		s, err := e.Join(ctx, engine.Options{OnError: opt.OnError})
		if err != nil && ctx.Err() != nil && last != nil { // Join may not say what is missing
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
		last = err
		if !opt.Await || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrUnavailable) {
			return s, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// isNil reports whether e is nil or a nil pointer.
func isNil(e Engine) bool { return e == nil || fmt.Sprintf("%p", e) == "0x0" }

// Config returns the config of the cache, with the defaults filled in.
func (c *Cache) Config() Config { return c.about.Config }

// Schema returns the schema of the samples: a dictionary of batch shape [] whose tensors have a
// shape and a dtype but no elements. The caller owns it.
func (c *Cache) Schema() *tdict.TensorDict {
	if c.about.Schema == nil {
		return tdict.New()
	}
	return c.about.Schema.Copy()
}

// patience is how long methods without a context wait for other members or for servers.
const patience = 10 * time.Second

// Close leaves the cache. It frees the slots that are not committed, and releases generations and
// names. Everything that c gave out returns [ErrClosed] afterwards. Other processes are not
// affected.
//
// Close does not wait for operations that read or write the engine's memory: if there are any, the
// process leaves the cache when the last of them ends. Close returns ErrClosed if it was called
// before.
func (c *Cache) Close() error {
	if !c.lent.shut() {
		return errClosed
	}
	close(c.life)
	if ready(c.lent.empty) {
		return c.session.Close()
	}
	go func() {
		<-c.lent.empty
		_ = c.session.Close() // Close has returned
	}()
	return nil
}

// Latest returns the generation published last, and holds it until its Close. It returns [ErrEmpty]
// if no generation was published yet: see [Cache.Wait].
func (c *Cache) Latest(ctx context.Context) (*Generation, error) {
	return c.open(ctx, "latest", 0, func(uint64) error { return ErrEmpty })
}

// Wait returns the generation published last, and holds it until its Close. It waits until the
// number of that generation is greater than after; 0 waits for the first generation.
func (c *Cache) Wait(ctx context.Context, after uint64) (*Generation, error) {
	return c.open(ctx, "wait", after, func(latest uint64) error {
		return &engine.BlockedError{Why: func() string { return c.whyNot(latest) }}
	})
}

// open returns the generation published last, if its number is greater than after. If not, it
// returns otherwise(latest).
func (c *Cache) open(ctx context.Context, op string, after uint64, otherwise func(latest uint64) error) (g *Generation, err error) {
	ctx = orBackground(ctx)
	err = c.await(ctx, op, func() error {
		for before := uint64(0); ; {
			id, err := c.session.Latest(ctx)
			if err == nil && id <= after {
				err = otherwise(id)
			}
			if err != nil {
				return err
			}
			g, err = c.tryOpen(ctx, id)
			if err == nil {
				return nil
			}
			if !errors.Is(err, ErrGenerationGone) || id == before {
				return fmt.Errorf("generation %d: %w", id, err)
			}
			before = id // it was replaced meanwhile
		}
	})
	return g, err
}

// At returns the generation with number id, and holds it until its Close. It returns
// [ErrGenerationGone] if the generation is not kept any more, or was not published yet.
func (c *Cache) At(ctx context.Context, id uint64) (g *Generation, err error) {
	ctx = orBackground(ctx)
	err = c.await(ctx, fmt.Sprintf("generation %d", id), func() (err error) {
		g, err = c.tryOpen(ctx, id)
		return err
	})
	return g, err
}

// whyNot says why no generation after id has been published.
func (c *Cache) whyNot(id uint64) string {
	s, err := c.stats(whyPatience)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("the latest generation is %d, the next has %d of %d samples", id, s.Committed, s.Samples)
	if s.PublishWaits != "" {
		text += " and waits for " + s.PublishWaits
	}
	return text
}

// whyPatience is how long a method whose context has ended looks for the reason that it was
// blocked.
const whyPatience = 20 * time.Millisecond

// Forget removes a producer's name and its numbers, so that the name can start again at 0. It
// returns [ErrProducerBusy] if the name is in use, and [ErrProducer] if no sample was ever put
// under it.
func (c *Cache) Forget(ctx context.Context, name string) error {
	ctx = orBackground(ctx)
	op := fmt.Sprintf("forget %q", name)
	if err := checkName(ErrProducer, name); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return c.await(ctx, op, func() error { return c.session.Forget(ctx, name) })
}

// Stats describes the present state of the cache.
func (c *Cache) Stats() (Stats, error) { return c.stats(patience) }

func (c *Cache) stats(patience time.Duration) (s Stats, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = c.call(func() (err error) {
		s, err = c.session.Stats(ctx)
		return err
	})
	return s, err
}

// maxName is the maximum length of a name, in bytes.
const maxName = 64

// checkName returns an error that wraps is unless name is 1 to 64 bytes of UTF-8.
func checkName(is error, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d of UTF-8", is, len(name), maxName)
	}
	return nil
}

// Keep makes a dataset of generation id at path, which memmap.Open and Python read. It returns
// fs.ErrExist if path exists. Readers of the generation are not affected. Keep compares checksums
// as [Generation.Fetch] does: if a row is damaged, it returns a [RowError] and makes no dataset.
//
// An engine that keeps generations in files, such as dircache, copies nothing if path is on the
// same file system: the dataset shares the files. Do not write to the dataset before the generation
// retires; after that the files are the dataset's alone, since the cache makes new ones. The
// dataset has no checksums; a copy made by memmap.Save has them. The samples of other engines are
// copied.
func (c *Cache) Keep(ctx context.Context, id uint64, path string) error {
	ctx = orBackground(ctx)
	op := fmt.Sprintf("keep generation %d", id)
	g, err := c.At(ctx, id)
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	td, err := g.all(ctx) // compares checksums: a copy would have right ones of wrong bytes
	if k, ok := c.session.(engine.Keeper); ok && err == nil {
		err = c.await(ctx, op, func() error { return k.Keep(ctx, id, path) })
	} else if err == nil {
		err = memmap.SaveWith(ctx, path, td, memmap.SaveOptions{NoSync: !c.about.Config.Durable, NoReplace: true})
	} else {
		err = fmt.Errorf("keep: %w", err)
	}
	return errors.Join(err, g.Close())
}

// all returns all rows, as views if the engine has them in memory.
func (g *Generation) all(ctx context.Context) (*tdict.TensorDict, error) {
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	if !g.inMemory {
		return g.Fetch(ctx, rows, nil)
	}
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", g.name(), context.Cause(ctx))
		}
		if _, err := g.Slice(row, row+1); err != nil {
			return nil, err
		}
	}
	return g.Slice(0, g.Len())
}
