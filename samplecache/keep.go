package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

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
