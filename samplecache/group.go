package samplecache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A Group is a membership in a group of ranks that read the same generations, epoch by epoch, such
// as the processes of a training job. A cache may have several groups. Each has its own epochs, and
// limits apply to each of them.
//
// Safe for concurrent use.
type Group struct {
	cache *Cache
	name  string
	world int

	turn turn        // held while seat or over change
	seat engine.Seat // nil before the first epoch
	over bool        // Close was called
}

// A groupKey identifies a membership.
type groupKey struct {
	name  string
	world int
}

// Group returns the membership in a group of world ranks. All members must give the same world.
// Calls with the same name and world return the same membership.
//
// The first [Group.Epoch] enters the group, and returns an error if name or world is invalid.
// [Group.Close] or [Cache.Close] leaves it.
func (c *Cache) Group(name string, world int) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[groupKey{name, world}]
	if g == nil {
		g = &Group{cache: c, name: name, world: world, turn: newTurn()}
		if c.groups != nil {
			c.groups[groupKey{name, world}] = g
		}
	}
	return g
}

// Epoch returns the generation of an epoch of the group. When the first rank asks for an epoch, the
// epoch gets the generation published last. The other ranks get the same generation, which is kept
// until all ranks have closed it, or their processes have ended. Epoch waits for the first
// generation, and for the next one where [Limits.MaxPasses] demands it.
//
// Each Close counts for one rank. If a rank asks for an epoch again after it has closed it, and
// closes it again, it counts as two ranks, and another rank may find the generation gone; Epoch
// does not detect that.
//
// Epoch returns
//
//   - [ErrGenerationGone] if the epoch is older than the last eight epochs begun, or if its
//     generation is not kept any more,
//   - [ErrGroup] if the name is invalid, the group has another number of ranks, or there are too
//     many groups,
//   - [ErrClosed] if g or the cache is closed.
func (g *Group) Epoch(ctx context.Context, epoch uint64) (*Generation, error) {
	return g.begin(ctx, epoch, engine.Want{})
}

// begin waits until a pass of the epoch can begin, and opens its generation.
func (g *Group) begin(ctx context.Context, epoch uint64, want engine.Want) (*Generation, error) {
	ctx = orBackground(ctx)
	op := fmt.Sprintf("epoch %d of group %q", epoch, g.name)
	if want.Generation > 0 {
		op += fmt.Sprintf(", to be generation %d", want.Generation)
	}
	var pass engine.Pass
	err := g.cache.await(ctx, op, func() error {
		seat, err := g.enter(ctx)
		if err == nil {
			pass, err = seat.Begin(ctx, epoch, want)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// If ctx ended this, the epoch would be used up.
	opening, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	gen, err := g.cache.At(opening, pass.ID())
	if err != nil {
		_ = g.cache.call(pass.Close) // err is returned instead
		return nil, err
	}
	gen.pass = pass
	return gen, nil
}

// enter returns the seat of g. It enters the group on first use.
func (g *Group) enter(ctx context.Context) (engine.Seat, error) {
	if err := g.cache.until(ctx, g.turn); err != nil {
		return nil, err
	}
	defer g.turn.done()
	if g.over {
		return nil, ErrClosed
	}
	if g.seat != nil {
		return g.seat, nil
	}
	err := checkName(ErrGroup, g.name)
	if err == nil && g.world < 1 {
		err = fmt.Errorf("%w: got %d ranks, want at least 1", ErrGroup, g.world)
	}
	if err != nil {
		return nil, err
	}
	seat, err := g.cache.session.Enter(ctx, g.name, g.world)
	if err == nil {
		g.seat = seat
	}
	return seat, err
}

// Close leaves the group. The group's generations stay open, but limits do not wait for g any more.
// Close returns [ErrClosed] if it was called before.
func (g *Group) Close() error {
	c := g.cache
	if err := c.until(context.Background(), g.turn); err != nil {
		return err
	}
	defer g.turn.done()
	if g.over {
		return fmt.Errorf("group %q: %w", g.name, ErrClosed)
	}
	g.over = true
	c.mu.Lock()
	if key := (groupKey{g.name, g.world}); c.groups[key] == g {
		delete(c.groups, key)
	}
	c.mu.Unlock()
	if g.seat == nil {
		return nil
	}
	return c.call(g.seat.Close)
}

// ResumeOptions say what Resume does if the generation of a state is gone. The zero value is the
// default.
type ResumeOptions struct {
	// OrLatest continues with the generation published last, at the same position of its order.
	// By default Resume returns [ErrGenerationGone].
	OrLatest bool
}

// Resume returns the generation that the state of a loader names, and the state from which a loader
// of that generation is restored. The returned state differs from the argument only if opt.OrLatest
// replaced the generation.
//
//	g, state, err := c.Resume(ctx, state, samplecache.ResumeOptions{})
//	l, err := loader.New(g, opt)
//	err = l.Restore(state)
//
// Resume returns [ErrGenerationGone] if the generation is not kept any more, or belongs to another
// cache.
func (c *Cache) Resume(ctx context.Context, state loader.State, opt ResumeOptions) (*Generation, loader.State, error) {
	return c.resume(state, opt, func(id uint64) (*Generation, error) {
		if id == 0 {
			return c.Latest(ctx)
		}
		g, err := c.At(ctx, id)
		if errors.Is(err, ErrGenerationGone) && opt.OrLatest {
			return c.Latest(ctx)
		}
		return g, err
	})
}

// Resume is [Group.Epoch] for an epoch that was interrupted. If the epoch has no generation yet, it
// gets the generation that state names, or, with opt.OrLatest, the latest if that one is gone. So
// all ranks get the same generation.
//
// While the group has no members, the generation is kept only as long as [Config.Retain] says. The
// caller stores the number of the epoch with the state.
func (g *Group) Resume(ctx context.Context, epoch uint64, state loader.State, opt ResumeOptions) (*Generation, loader.State, error) {
	return g.cache.resume(state, opt, func(id uint64) (*Generation, error) {
		return g.begin(ctx, epoch, engine.Want{Generation: id, OrLatest: opt.OrLatest})
	})
}

// resume opens the generation that state names. If state names no generation of this cache and opt
// allows the latest, it calls open(0).
func (c *Cache) resume(state loader.State, opt ResumeOptions, open func(id uint64) (*Generation, error)) (*Generation, loader.State, error) {
	if c == nil {
		return nil, state, errClosed
	}
	digits, ok := strings.CutPrefix(state.Source, c.about.ID+"/")
	id, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || id == 0 {
		id = 0
		if !opt.OrLatest {
			return nil, state, fmt.Errorf("resume: %w: the state is of %q, not of a generation of this cache", ErrGenerationGone, state.Source)
		}
	}
	g, err := open(id)
	if err == nil {
		state.Source = c.version(g.id)
	}
	return g, state, err
}

// version returns the name of generation id in the state of a loader.
func (c *Cache) version(id uint64) string {
	return c.about.ID + "/" + strconv.FormatUint(id, 10)
}
