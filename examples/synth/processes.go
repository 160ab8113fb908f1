package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// withProcesses trains with volumes of a cache that so many generators fill. If asked to, it kills
// one of them on the way.
func withProcesses(n int, kill bool, d time.Duration) (r result, err error) {
	tmp, err := os.MkdirTemp(parent(), "synth-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	at := filepath.Join(tmp, "cache")
	// No generation is published before the trainer has read the one before it.
	config := samplecache.Config{Samples: *samples, Limits: samplecache.Limits{MinPasses: 1}}
	if err := dircache.Create(at, schema(), config); err != nil {
		return r, err
	}
	c, err := samplecache.Open(context.Background(), dircache.Engine{Dir: at}, samplecache.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	all := make([]*process, n)
	for by := range all {
		if all[by], err = start(at, by); err != nil {
			return r, err
		}
	}
	if err := r.begin(c); err != nil {
		return r, err
	}
	replaced := make(chan error, 1)
	time.AfterFunc(d/2, func() {
		if kill {
			replaced <- replace(all, at)
		}
		close(replaced)
	})
	seen := ledger{}
	err = r.train(c, d, seen.enter)
	if err = errors.Join(err, <-replaced); err == nil {
		err = r.finish(c, all)
	}
	if kill && err == nil {
		r.story, err = seen.story(all[0])
	}
	return r, err
}

// begin waits for the first generation, so that what follows is how it goes on.
func (r *result) begin(c *samplecache.Cache) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := c.Wait(ctx, 0)
	if err != nil {
		return err
	}
	r.drawn, err = drawn(c)
	return errors.Join(err, g.Close())
}

// drawn returns how many volumes were ever put in a cache.
func drawn(c *samplecache.Cache) (int, error) {
	stats, err := c.Stats()
	return int(stats.Swaps)*stats.Samples + stats.Committed, err
}

// replace kills the first generator and starts it again.
func replace(all []*process, dir string) (err error) {
	if err = all[0].kill(); err == nil {
		all[0], err = start(dir, 0)
	}
	return err
}

// finish stops the generators and counts what they have done.
func (r *result) finish(c *samplecache.Cache, all []*process) error {
	total, err := drawn(c)
	if err != nil {
		return err
	}
	r.drawn = total - r.drawn
	for _, p := range all {
		waited, err := p.stop()
		if err != nil {
			return err
		}
		r.idle += waited / time.Duration(len(all))
	}
	return nil
}

// parent returns the directory to make the cache in.
func parent() string {
	if info, err := os.Stat("/dev/shm"); *dir == "" && err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return *dir
}
