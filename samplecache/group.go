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

// A Group is a membership of a group of ranks that read the same generations, epoch by epoch, such
// as the processes of one training job. A cache may have several groups, each with epochs of its
// own; limits count for each of them.
//
// Safe for concurrent use.
type Group struct {
	cache *Cache
	name  string
	world int

	turn turn        // held to enter or leave
	seat engine.Seat // nil before the first epoch
	over bool
}

// A groupKey tells memberships apart.
type groupKey struct {
	name  string
	world int
}

// Group returns the membership of a group of world ranks. All members give the same number. The
// first [Group.Epoch] enters the group, and returns an error if name or world is invalid;
// [Group.Close] or [Cache.Close] leaves it. Called again with the same name and number of ranks,
// Group returns the same membership.
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

// Epoch returns the generation of an epoch of the group. The first rank that asks for an epoch
// fixes it: it is the one published last then. The other ranks get the same. It is kept until all
// ranks have closed it, or their processes have ended. Epoch waits for the first generation, and,
// if [Limits.MaxPasses] says so, for the next.
//
// Each Close counts for one rank. If a rank asks for an epoch again after it has closed it, and
// closes it again, it counts as two ranks, and another rank may find the generation gone; Epoch
// does not detect that. Epochs of the last eight that were begun can be asked for; of an older one,
// and of one whose generation is not kept any more, the error is [ErrGenerationGone]. Epoch returns
// [ErrGroup] if the group has another number of ranks or cannot be named so, or if there are too
// many groups, and [ErrClosed].
func (g *Group) Epoch(ctx context.Context, epoch uint64) (*Generation, error) {
	return g.begin(ctx, epoch, engine.Want{})
}

// begin waits for an epoch.
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
	opening, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // or the epoch would be used up
	defer cancel()
	gen, err := g.cache.At(opening, pass.ID())
	if err != nil {
		_ = g.cache.call(pass.Close) // err says what is wrong
		return nil, err
	}
	gen.pass = pass
	return gen, nil
}

// enter becomes a member, if g is not one.
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

// Close leaves the group: its generations stay open, but limits do not wait for g any more. It
// returns [ErrClosed] if it was called before.
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

// ResumeOptions say what happens if the generation of a state is gone. The zero value is the
// default.
type ResumeOptions struct {
	// OrLatest goes on with the generation published last, at the same place of its own order. By
	// default it is [ErrGenerationGone].
	OrLatest bool
}

// Resume returns the generation that a run was reading, as the state of its loader says, and the
// state to restore a loader of that generation from: the same, unless opt has it go on with
// another.
//
//	g, state, err := c.Resume(ctx, state, samplecache.ResumeOptions{})
//	l, err := loader.New(g, opt)
//	err = l.Restore(state)
//
// It returns [ErrGenerationGone] if the generation is not kept any more, or is of another cache.
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

// Resume is [Group.Epoch] for an epoch that was interrupted: if the epoch has no generation yet, it
// gets the one that the state of a loader names. So all ranks agree, also if opt has them go on
// with another one. While the group has no members, the generation is kept only as long as
// [Config.Retain] says. Callers keep the number of the epoch, beside the state.
func (g *Group) Resume(ctx context.Context, epoch uint64, state loader.State, opt ResumeOptions) (*Generation, loader.State, error) {
	return g.cache.resume(state, opt, func(id uint64) (*Generation, error) {
		return g.begin(ctx, epoch, engine.Want{Generation: id, OrLatest: opt.OrLatest})
	})
}

// resume opens the generation that a state names, or the latest if it names none and opt allows
// that.
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

// version returns how the state of a loader names a generation.
func (c *Cache) version(id uint64) string {
	return c.about.ID + "/" + strconv.FormatUint(id, 10)
}
