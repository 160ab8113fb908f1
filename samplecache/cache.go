package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Cache is a process's part in a circular cache of samples: it puts samples through Producers and
// reads generations. Methods that wait do so until their context ends, without polling; the error
// is then that of the context, and says what was waited for. A nil context never ends.
//
// Safe for concurrent use.
type Cache struct {
	session engine.Session
	about   engine.About
	leaves  []leaf
	verify  Verify

	lent  gate          // entered while memory of the engine is used; shut by Close
	life  chan struct{} // closed by Close
	moved signal        // raised when a number or rows were given back, for calls that are blocked

	mu       sync.Mutex
	groups   map[groupKey]*Group
	held     map[uint64]*held
	verified map[uint64][]atomic.Uint64 // rows of generations whose sums were compared, a bit each
	newest   uint64                     // the latest generation that was ever open
}

// Open joins the cache that an engine keeps, until [Cache.Close] or the end of the process. If a
// process was killed in the middle of an operation, Open, or another process, completes it.
//
// Open returns [ErrEngine] for a nil engine, [ErrConfig] for wrong options, and the errors of the
// engine: see dircache.Engine.
func Open(ctx context.Context, e Engine, opt Options) (*Cache, error) {
	if isNil(e) {
		return nil, fmt.Errorf("open: %w: got nil", ErrEngine)
	}
	if opt.Verify > Never {
		return nil, fmt.Errorf("open: %w: got Verify %d", ErrConfig, opt.Verify)
	}
	s, err := e.Join(orBackground(ctx), engine.Options{OnError: opt.OnError})
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

// isNil reports whether there is no engine, not even behind a pointer.
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

// patience is how long methods without a context wait for other members or servers.
const patience = 10 * time.Second

// Close leaves the cache. It gives back the slots that are not committed, and lets go of
// generations and names; whatever c gave out returns [ErrClosed] from now on. Close does not wait
// for operations that read or write lent memory: if there are any, the process leaves when the last
// of them ends. Other processes go on. Close returns ErrClosed if it was called before.
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
		_ = c.session.Close() // nobody waits for it
	}()
	return nil
}

// Latest returns the generation published last, which is held until its Close, [ErrEmpty] if there
// is none yet: see [Cache.Wait].
func (c *Cache) Latest(ctx context.Context) (*Generation, error) {
	return c.open(ctx, "latest", 0, func(uint64) error { return ErrEmpty })
}

// Wait returns the generation published last, once its number is more than after; 0 waits for the
// first. It is held until its Close.
func (c *Cache) Wait(ctx context.Context, after uint64) (*Generation, error) {
	return c.open(ctx, "wait", after, func(latest uint64) error {
		return &engine.BlockedError{Why: func() string { return c.whyNot(latest) }}
	})
}

// open returns the generation published last, if its number is more than after. Otherwise it
// returns the error of otherwise.
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
			before = id // others were published meanwhile
		}
	})
	return g, err
}

// At returns a generation by its number, held until its Close. It returns [ErrGenerationGone] if it
// is not kept any more, or was not published yet.
func (c *Cache) At(ctx context.Context, id uint64) (g *Generation, err error) {
	ctx = orBackground(ctx)
	err = c.await(ctx, fmt.Sprintf("generation %d", id), func() (err error) {
		g, err = c.tryOpen(ctx, id)
		return err
	})
	return g, err
}

// whyNot says why no generation after one has been published.
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

// whyPatience is how long a method whose context has ended asks for the reason.
const whyPatience = 20 * time.Millisecond

// Forget lets go of a producer's name and its numbers, so that the name can begin anew. It returns
// [ErrProducerBusy] if somebody puts samples under it, and [ErrProducer] if nobody ever has.
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

// maxName is how many bytes a name may have.
const maxName = 64

// checkName returns an error that wraps is for a name that is not 1 to 64 bytes of UTF-8.
func checkName(is error, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d of UTF-8", is, len(name), maxName)
	}
	return nil
}

// Keep makes a dataset of a generation at path, which must not exist, or it is fs.ErrExist.
// memmap.Open and Python read it. Others who read the generation go on.
//
// An engine that keeps generations in files, as dircache does, copies nothing on the same file
// system: the files have two names until the generation retires, and are the dataset's alone from
// then on, since the cache makes new ones. Until then do not write to the dataset. It has no
// checksums; a copy that memmap.Save makes of it has. Of other engines the samples are copied.
func (c *Cache) Keep(ctx context.Context, id uint64, path string) error {
	ctx = orBackground(ctx)
	if k, ok := c.session.(engine.Keeper); ok {
		return c.await(ctx, fmt.Sprintf("keep generation %d", id), func() error { return k.Keep(ctx, id, path) })
	}
	g, err := c.At(ctx, id)
	if err != nil {
		return err
	}
	td, err := g.all(ctx)
	if err == nil {
		err = memmap.SaveWith(ctx, path, td, memmap.SaveOptions{NoSync: !c.about.Config.Durable, NoReplace: true})
	}
	return errors.Join(err, g.Close())
}

// all returns all rows, as views if the engine has them in memory.
func (g *Generation) all(ctx context.Context) (*tdict.TensorDict, error) {
	td, err := g.Slice(0, g.Len())
	if !errors.Is(err, errors.ErrUnsupported) {
		return td, err
	}
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	return g.Fetch(ctx, rows, nil)
}
