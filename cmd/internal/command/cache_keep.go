package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

type removeCmd struct{ placeFlags }

func (c *removeCmd) Run(s *session) error {
	if c.Place.remote() {
		at, err := c.at(s)
		if err != nil {
			return err
		}
		return s.servers.Remove(s.ctx, at)
	}
	if err := c.local(s); err != nil {
		return err
	}
	return dircache.Remove(string(c.Place))
}

type keepCmd struct {
	placeFlags
	ID   string `arg:"" help:"Number of the generation, or latest."`
	Path string `arg:"" help:"The dataset to make."`
}

func (c *keepCmd) Run(s *session) (err error) {
	id, err := strconv.ParseUint(c.ID, 10, 64)
	if err != nil && c.ID != "latest" {
		return s.usage("<id> %s: want a number, or latest", c.ID)
	}
	cache, err := c.open(s, waitFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	if c.ID != "latest" {
		return cache.Keep(s.ctx, id, c.Path)
	}
	g, err := cache.Latest(s.ctx)
	if err != nil {
		return err
	}
	return errors.Join(cache.Keep(s.ctx, g.ID(), c.Path), g.Close())
}

type cacheVerifyCmd struct{ placeFlags }

func (c *cacheVerifyCmd) Run(s *session) (err error) {
	e, err := c.engine(s, nil)
	if err != nil {
		return err
	}
	cache, err := samplecache.Open(s.ctx, e, samplecache.Options{Verify: samplecache.Always})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	stats, err := cache.Stats()
	if err != nil {
		return err
	}
	ids := stats.Held
	for id := stats.Latest - min(stats.Latest, uint64(max(cache.Config().Retain, 0))); id <= stats.Latest; id++ {
		ids = append(ids, id)
	}
	wrong, verified := 0, 0
	for _, id := range ids {
		g, err := cache.At(s.ctx, id)
		if err == nil {
			n, failed := verifyRows(s, g)
			err = errors.Join(failed, g.Close())
			wrong += n
		}
		if err == nil {
			verified++
		} else if !errors.Is(err, samplecache.ErrGenerationGone) { // retired meanwhile, or there was none
			return err
		}
	}
	s.endBar()
	if wrong > 0 {
		return errNo
	}
	fmt.Fprintf(s.out, "%s: sound, generations: %d, samples of each: %d\n", c.Place, verified, stats.Samples)
	return nil
}

// verifyRows compares the checksums of all rows of a generation, and prints the rows that differ.
// It returns [samplecache.ErrGenerationGone] if not all could be compared.
func verifyRows(s *session, g *samplecache.Generation) (wrong int, err error) {
	for row := range g.Len() {
		if s.ctx.Err() != nil {
			return wrong, context.Cause(s.ctx)
		}
		_, err := g.Slice(row, row+1)
		if errors.Is(err, errors.ErrUnsupported) { // the samples are not in memory
			_, err = g.Fetch(s.ctx, []int{row}, nil)
		}
		bad, ok := errors.AsType[*samplecache.RowError](err)
		switch {
		case ok:
			fmt.Fprintln(s.out, bad)
			wrong++
		case err != nil:
			return wrong, err
		}
		s.progress(int64(row+1), int64(g.Len()))
	}
	return wrong, nil
}

type mirrorCmd struct {
	placeFlags
	Dir string `arg:"" help:"A directory of this machine that does not exist, or is a mirror of the cache."`
	waitFlags
}

func (c *mirrorCmd) Run(s *session) error {
	if !c.Place.remote() {
		return s.usage("<place> %s: want nats://HOST/NAME: processes of this machine read a directory as it is", c.Place)
	}
	at, err := c.at(s)
	if err != nil {
		return err
	}
	if c.Wait != 0 { // Mirror does not wait
		cache, err := c.open(s, c.waitFlags)
		if err != nil {
			return err
		}
		if err := cache.Close(); err != nil {
			return err
		}
	}
	at.Tell = s.tell
	err = s.servers.Mirror(s.ctx, at, c.Dir)
	if s.ctx.Err() != nil {
		return nil // a mirror has no other end
	}
	return err
}
