//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A tapped is an engine that remembers the session that joined.
type tapped struct {
	dircache.Engine
	session engine.Session
	cache   *samplecache.Cache // of benchmarks
}

func (e *tapped) Join(ctx context.Context, opt engine.Options) (s engine.Session, err error) {
	s, err = e.Engine.Join(ctx, opt)
	e.session = s
	return s, err
}

// A part is what a process does with a cache.
type part struct {
	c    *samplecache.Cache
	tell func(format string, args ...any)
	base int64 // of the producers of this process
	last uint64
	tags atomic.Int64 // samples without a name
}

// put puts one sample, and tells before and after.
func (w *part) put(ctx context.Context, p *samplecache.Producer, who int64) error {
	if who >= unnamed {
		m := stamp{who, w.tags.Add(1)}
		w.tell("put %d %d", m.who, m.number)
		if err := p.Put(ctx, m.marked()); err != nil {
			return err
		}
		w.tell("ok %d %d", m.who, m.number)
		return nil
	}
	s, err := p.Reserve(ctx)
	if err != nil {
		return err
	}
	m := stamp{who, int64(s.Number())}
	if err := m.write(s.Sample()); err != nil {
		return err
	}
	w.tell("put %d %d", m.who, m.number)
	if err := s.Commit(ctx); err != nil {
		return err
	}
	w.tell("ok %d %d", m.who, m.number)
	return nil
}

// batch puts as many samples as a generation has, from three producers at once, and then sees what
// was published.
func (w *part) batch(ctx context.Context) error {
	errs := make(chan error, 3)
	for i, n := range []int{1, 1, 2} {
		go func() {
			who := w.base + int64(i)
			if i == 2 {
				who += unnamed
			}
			p, err := w.c.Producer(producerOf(who))
			for range n {
				if err == nil {
					err = w.put(ctx, p, who)
				}
			}
			if err == nil {
				err = p.Close()
			}
			errs <- err
		}()
	}
	err := errors.Join(<-errs, <-errs, <-errs)
	if err == nil {
		err = w.see(ctx)
	}
	return err
}

// see tells of the generations that it has not seen yet, and waits for one. If another process puts
// samples too, one of the two sees each: neither puts more than a generation without seeing.
func (w *part) see(ctx context.Context) error {
	g, err := w.c.Wait(ctx, w.last)
	if err != nil {
		return err
	}
	defer g.Close()
	for id := max(w.last+1, g.ID()-min(g.ID()-1, 1)); id < g.ID(); id++ {
		if err := w.tellOf(ctx, id); err != nil && !errors.Is(err, samplecache.ErrGenerationGone) {
			return err
		}
	}
	w.last = g.ID()
	return w.tellAll(ctx, g)
}

// tellOf tells of a generation.
func (w *part) tellOf(ctx context.Context, id uint64) error {
	g, err := w.c.At(ctx, id)
	if err != nil {
		return err
	}
	defer g.Close()
	return w.tellAll(ctx, g)
}

// tellAll tells of all rows of a generation.
func (w *part) tellAll(ctx context.Context, g *samplecache.Generation) error {
	stamps, err := readStamps(ctx, g)
	if err != nil {
		return err
	}
	text := ""
	for _, m := range stamps {
		text += fmt.Sprintf(" %d:%d", m.who, m.number)
	}
	w.tell("saw %d%s", g.ID(), text)
	return nil
}

// A hand is a process at work in the matrix: each round of its work passes all crash points.
type hand struct {
	part
	dir   string
	keep  string // directory to keep generations in
	alone bool
	round int
}

// open opens the cache.
func (h *hand) open(ctx context.Context) (err error) {
	h.c, err = samplecache.Open(ctx, dircache.Engine{Dir: h.dir}, samplecache.Options{OnError: func(err error) { h.tell("error %v", err) }})
	return err
}

// desert has a session die that holds a slot, a name, a generation and an epoch.
func (h *hand) desert(ctx context.Context) error {
	e := &tapped{Engine: dircache.Engine{Dir: h.dir}}
	c, err := samplecache.Open(ctx, e, samplecache.Options{})
	if err != nil {
		return err
	}
	p, err := c.Producer(producerOf(h.base + 9))
	if err == nil {
		_, err = p.Reserve(ctx)
	}
	if err == nil {
		_, err = c.Group(fmt.Sprint("deserted-", h.base), 1).Epoch(ctx, 0)
	}
	if err != nil {
		return err
	}
	return dircache.Vanish(e.session)
}

// hold reads a generation for so long that its store is put aside.
func (h *hand) hold(ctx context.Context) error {
	g, err := h.c.Latest(ctx)
	for range 3 {
		if err == nil {
			err = h.batch(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := g.Close(); err != nil {
		return err
	}
	return h.batch(ctx)
}

// moveOut keeps the latest generation, and goes on until its store is retired.
func (h *hand) moveOut(ctx context.Context) error {
	path := filepath.Join(h.keep, fmt.Sprintf("%d-%d", os.Getpid(), h.round))
	g, err := h.c.Latest(ctx)
	if err != nil {
		return err
	}
	if err := h.c.Keep(ctx, g.ID(), path); err != nil {
		return err
	}
	h.tell("kept %d %s", g.ID(), path)
	return errors.Join(g.Close(), h.batch(ctx), h.batch(ctx))
}

// epoch reads an epoch of a group.
func (h *hand) epoch(ctx context.Context) error {
	group := h.c.Group(fmt.Sprint("train-", h.base), 1)
	g, err := group.Epoch(ctx, uint64(h.round))
	if err == nil {
		_, err = readStamps(ctx, g)
	}
	if err != nil {
		return err
	}
	return errors.Join(g.Close(), group.Close())
}

// again leaves the cache; if nobody else takes part, its control file is lost then, in some way.
func (h *hand) again(ctx context.Context) error {
	err := h.c.Close()
	if err == nil && h.alone {
		err = loseControl(h.dir, h.round)
	}
	if err == nil {
		err = h.open(ctx)
	}
	return err
}

// loseControl has the control file of a cache made again when it is opened next.
func loseControl(dir string, how int) error {
	control := filepath.Join(dir, "control")
	switch how % 3 {
	case 0:
		return dircache.Reboot(dir)
	case 1:
		return os.Truncate(control, 100)
	}
	info, err := os.Stat(control)
	if err == nil {
		err = os.WriteFile(control, make([]byte, info.Size()), 0o666)
	}
	return err
}

// work does one round.
func (h *hand) work(ctx context.Context) error {
	for _, do := range []func(context.Context) error{h.batch, h.desert, h.batch, h.hold, h.moveOut, h.epoch, h.again} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestProcessWorks is a process that works in a cache, and falls. Arguments: directory, where to
// keep generations, whether it is alone, number of its first producer, rounds, and when it falls.
func TestProcessWorks(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	passed := sync.Map{}
	if k.Args[5] == "trace" {
		dircache.CrashPoints(func(m string) { n, _ := passed.LoadOrStore(m, new(atomic.Int64)); n.(*atomic.Int64).Add(1) })
	} else {
		falls(t, k, 5)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+k.Number(t, 4))*20*time.Second)
	defer cancel()
	h := &hand{dir: k.Args[0], keep: k.Args[1], alone: k.Args[2] == "true"}
	h.tell, h.base = k.Tell, int64(k.Number(t, 3))
	h.tags.Store(rand.Int64N(1<<40) << 20) // others may have the same base
	require.NoError(t, h.open(ctx))
	k.Tell("open")
	for ; h.round < k.Number(t, 4); h.round++ {
		require.NoError(t, h.work(ctx), "round %d", h.round)
	}
	require.NoError(t, h.c.Close())
	passed.Range(func(m, n any) bool { k.Tell("point %d %s", n.(*atomic.Int64).Load(), m); return true })
	k.Tell("done")
}
