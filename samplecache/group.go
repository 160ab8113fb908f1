package samplecache

import (
	"context"
	"fmt"
	"sync"
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

	mu   sync.Mutex
	seat Seat // nil before the first epoch
	over bool
}

// Group returns the membership of a group that is read by so many ranks, which all say the same. It
// is entered with the first [Group.Epoch], and left with [Group.Close] or [Cache.Close]. Called
// again with the same name and number of ranks, it returns the same membership.
func (c *Cache) Group(name string, world int) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.groups[name]; g != nil && g.world == world {
		return g
	}
	g := &Group{cache: c, name: name, world: world}
	if c.groups[name] == nil {
		c.groups[name] = g
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
	return g.begin(ctx, epoch, Want{})
}

// begin waits for an epoch.
func (g *Group) begin(ctx context.Context, epoch uint64, want Want) (*Generation, error) {
	seat, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	var pass Pass
	err = g.cache.await(ctx, fmt.Sprintf("epoch %d of group %q", epoch, g.name), func() (err error) {
		pass, err = seat.Begin(ctx, epoch, want)
		return err
	})
	if err != nil {
		return nil, err
	}
	gen, err := g.cache.At(context.WithoutCancel(ctx), pass.ID()) // or the epoch would be used up
	if err != nil {
		_ = pass.Close() // err says what is wrong
		return nil, err
	}
	gen.pass = pass
	return gen, nil
}

// enter becomes a member, if g is not one.
func (g *Group) enter(ctx context.Context) (Seat, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return nil, fmt.Errorf("group %q: %w", g.name, ErrClosed)
	}
	if g.seat != nil {
		return g.seat, nil
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
	g.cache.mu.Lock()
	if g.cache.groups[g.name] == g {
		delete(g.cache.groups, g.name)
	}
	g.cache.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return ErrClosed
	}
	g.over = true
	if g.seat == nil {
		return nil
	}
	return g.seat.Close()
}
