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
	g, err := c.resumed(ctx, state)
	if errors.Is(err, ErrGenerationGone) && opt.OrLatest {
		g, err = c.Latest(ctx)
	}
	if err != nil {
		return nil, state, err
	}
	state.Source = c.version(g.id)
	return g, state, nil
}

// Resume is [Group.Epoch] for an epoch that was interrupted: if it has no generation yet, it gets
// that which the state of a loader says. So all ranks agree, also where opt has them go on with
// another. While no rank is there the generation is kept only as [Config.Retain] says. The number
// of the epoch is the caller's to keep, beside the state.
func (g *Group) Resume(ctx context.Context, epoch uint64, state loader.State, opt ResumeOptions) (*Generation, loader.State, error) {
	want := engine.Want{OrLatest: opt.OrLatest}
	held, err := g.cache.resumed(ctx, state)
	switch {
	case err == nil:
		defer held.Close() // once the epoch keeps it
		want.Generation = held.id
	case !errors.Is(err, ErrGenerationGone) || !opt.OrLatest:
		return nil, state, err
	}
	gen, err := g.begin(ctx, epoch, want)
	if err != nil {
		return nil, state, err
	}
	state.Source = g.cache.version(gen.id)
	return gen, state, nil
}

// resumed returns the generation that a state is of.
func (c *Cache) resumed(ctx context.Context, state loader.State) (*Generation, error) {
	if c == nil {
		return nil, errClosed
	}
	id, err := c.generationOf(state)
	if err != nil {
		return nil, err
	}
	return c.At(ctx, id)
}

// version returns what the state of a loader says of a generation.
func (c *Cache) version(id uint64) string {
	return c.about.ID + "/" + strconv.FormatUint(id, 10)
}

// generationOf is the reverse.
func (c *Cache) generationOf(state loader.State) (uint64, error) {
	digits, ok := strings.CutPrefix(state.Source, c.about.ID+"/")
	id, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("resume: %w: the state is of %q, not of a generation of this cache", ErrGenerationGone, state.Source)
	}
	return id, nil
}
