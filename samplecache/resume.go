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

// Resume is [Group.Epoch] for an epoch that was interrupted: if it has no generation yet, it gets
// that which the state of a loader says. So all ranks agree, also where opt has them go on with
// another. While no rank is there the generation is kept only as [Config.Retain] says. The number
// of the epoch is the caller's to keep, beside the state.
func (g *Group) Resume(ctx context.Context, epoch uint64, state loader.State, opt ResumeOptions) (*Generation, loader.State, error) {
	return g.cache.resume(state, opt, func(id uint64) (*Generation, error) {
		return g.begin(ctx, epoch, engine.Want{Generation: id, OrLatest: opt.OrLatest})
	})
}

// resume opens the generation that a state is of, or 0 if it is of none and the latest may do.
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

// version returns what the state of a loader says of a generation.
func (c *Cache) version(id uint64) string {
	return c.about.ID + "/" + strconv.FormatUint(id, 10)
}
