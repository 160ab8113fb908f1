package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/samplecache"
)

const batch = 8 // volumes

// train trains with what the cache has, epoch after epoch, for some time. Each epoch is a pass over
// the generation that was published last. It calls published with each generation that is new.
func (r *result) train(c *samplecache.Cache, d time.Duration, published func(*samplecache.Generation) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	began, last := time.Now(), uint64(0)
	group := c.Group("train", 1)
	for epoch := uint64(0); ctx.Err() == nil; epoch++ {
		at := time.Now()
		g, err := group.Epoch(ctx, epoch)
		r.waited += time.Since(at)
		if ctx.Err() != nil {
			break
		}
		if err == nil && g.ID() != last {
			last, err = g.ID(), published(g)
		}
		if err == nil {
			err = r.epoch(ctx, g, epoch)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	r.took = time.Since(began)
	return group.Close()
}

// epoch trains with each volume of a generation once, in random order.
func (r *result) epoch(ctx context.Context, g *samplecache.Generation, epoch uint64) (err error) {
	defer func() { err = errors.Join(err, g.Close()) }()
	l, err := loader.New(g, loader.Options{Batch: batch, Sampler: sampler.Random(), Seed: epoch})
	if err != nil {
		return err
	}
	for td, err := range l.Batches(ctx) {
		if err == nil {
			err = r.learn(td, td.Shape()[0])
		}
		if err != nil {
			return err
		}
	}
	r.waited += l.Stats().Waited
	return nil
}
