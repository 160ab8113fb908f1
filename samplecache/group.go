package samplecache

import (
	"context"
	"fmt"

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

	turn turn        // of who enters or leaves
	seat engine.Seat // nil before the first epoch
	over bool
}

// A groupKey tells memberships apart.
type groupKey struct {
	name  string
	world int
}

// Group returns the membership of a group that world ranks read, which all say the same. It is
// entered with the first [Group.Epoch], which says what is wrong with name or world, and left with
// [Group.Close] or [Cache.Close]. Called again with the same name and number of ranks, it returns
// the same membership.
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
// fixes it: it is the one published last then; the other ranks get the same, which is kept until as
// many as the group has ranks have closed it, or their processes have ended. Epoch waits for the
// first generation, and, if [Limits.MaxPasses] says so, for the next.
//
// An epoch is counted per call: a rank that asks for one again, as after it was started anew, must
// not have closed it. Epochs of the last eight that were begun can be asked for; of an older one,
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
